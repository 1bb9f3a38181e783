/**
 * The `AuditShard` Durable Object: one of the logs of a workspace's audit (contract §9). It has the rows of the calls whose ids are hashed to
 * it, so that calls do not depend on the Catalog. `storage/audit-client.ts` calls it.
 */
import { DurableObject } from 'cloudflare:workers';
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { Problem, toOutcome, type Outcome } from '../core/problem.ts';
import { readSettings } from '../core/settings.ts';
import type { LogCheck, LogCheckRequest, LogPage, LogRequest, SignedAgain } from '../ports/audit-log.ts';
import { checkLog, createAuditKey, signHeadsAgain, type SignedLog } from '../storage/audit-chain.ts';
import type { AuditShardRpc, ShardName } from '../storage/audit-client.ts';
import { createAuditKeeper, type AuditKeeper } from '../storage/audit-keeper.ts';
import type { RetentionNeeds } from '../storage/audit-retention.ts';
import { appendCall, auditLogSchema, dropLaterHeads, readLog } from '../storage/audit-log.ts';
import type { BackupName, BackupRpc, RestoreStep } from '../storage/backup/backup-objects.ts';
import { type BackupPlan, ObjectBackup, requireWorkspace } from '../storage/backup/object-backup.ts';
import { restoreShard } from '../storage/backup/restore-shard.ts';
import type { ReadPosition } from '../storage/backup/table-reader.ts';
import type { Bindings } from '../storage/bindings.ts';
import { requireActiveWorkspace } from '../storage/active-workspace.ts';
import { migrate } from '../storage/schema.ts';
import type { ErasableRpc } from '../storage/workspace-objects.ts';
import { wire } from '../wire.ts';
import { createAuditWriter, type AuditWriter } from './audit-writer.ts';

/** The tables of a shard, as migrations to which new ones are only appended. `meta`: which shard of which workspace it is, one row. */
export const auditShardMigrations: readonly string[] = [
  `${auditLogSchema}
  CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT NOT NULL, shard INTEGER NOT NULL);
  `,
];

/** Rows are only appended, and the heads after them are deleted by a restore. */
const backupPlan: BackupPlan = { migrations: auditShardMigrations, loose: ['audit_log', 'audit_heads'], skipped: [] };

/** When a failed alarm is retried. */
const retryMs = 60_000;

type Opened = { log: SignedLog; writer: AuditWriter; keeper: AuditKeeper };

export class AuditShard extends DurableObject<Bindings> implements AuditShardRpc, BackupRpc, ErasableRpc {
  #opened: (Opened & ShardName) | null = null;
  #alarmAt: number | null = null;
  readonly #backup = new ObjectBackup(this.ctx.storage, backupPlan);

  append(name: ShardName, rows: readonly AuditRow[]): Promise<Outcome<void>> {
    return toOutcome(async () => {
      // The first row: it may come after the workspace was deleted.
      if (this.#storedName() === null) await requireActiveWorkspace(this.env, name.workspace);
      await this.#open(name).writer.append(rows);
    });
  }

  read(name: ShardName, request: LogRequest): Promise<Outcome<LogPage>> {
    return toOutcome(() => readLog(this.#open(name).log, request));
  }

  check(name: ShardName, request: LogCheckRequest): Promise<Outcome<LogCheck>> {
    return toOutcome(async () => await checkLog(this.#open(name).log, request));
  }

  async eraseWorkspace(): Promise<void> {
    this.#opened = null;
    this.#alarmAt = null;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  signAgain(name: ShardName, after: number): Promise<Outcome<SignedAgain>> {
    return toOutcome(async () => await signHeadsAgain(this.#open(name).log, after));
  }

  readBackup(name: BackupName, at: ReadPosition | null): ReturnType<BackupRpc['readBackup']> {
    return toOutcome(() => {
      this.#open(toShardName(name));
      return this.#backup.read(name.object, at);
    });
  }

  restoreStep(name: BackupName, request: RestoreStep): Promise<Outcome<void>> {
    const end = (): void => {
      const own = toShardName(name);
      const meta = this.ctx.storage.sql.exec<ShardName>('SELECT workspace, shard FROM meta').toArray()[0];
      // A shard without calls has no rows.
      if (meta === undefined) {
        this.#backup.abandon();
        return;
      }
      requireWorkspace(meta.workspace, own.workspace);
      this.#backup.end(() => dropLaterHeads(this.ctx.storage.sql));
      void this.ctx.storage.setAlarm(Date.now() + retryMs);
    };
    return toOutcome(async () => await restoreShard(this.ctx, this.#backup, request, end));
  }

  /** Never throws: the platform stops retrying an alarm after a few failures. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    if (this.#backup.isRestoring) return;
    const name = this.#storedName();
    if (name === null) return;
    try {
      const { keeper } = this.#open(name);
      await keeper.runDue();
      this.#arm(keeper);
    } catch (error) {
      wire(this.env).log.error('an audit shard failed; it will be retried', { shard: name.shard, cause: String(error) });
      await this.ctx.storage.setAlarm(Date.now() + retryMs);
    }
  }

  /** An earlier alarm is kept. */
  #arm(keeper: AuditKeeper): void {
    if (this.#alarmAt !== null) return;
    this.#alarmAt = keeper.nextDue();
    if (this.#alarmAt !== null) void this.ctx.storage.setAlarm(this.#alarmAt);
  }

  /** The object is permanently bound to its first name. */
  #open(name: ShardName): Opened {
    this.#backup.requireUsable();
    this.#opened ??= this.#build(name);
    const { workspace, shard } = this.#opened;
    if (workspace !== name.workspace || shard !== name.shard) throw new Problem('internal', 'This is another audit shard.');
    return this.#opened;
  }

  #build(name: ShardName): Opened & ShardName {
    const { storage } = this.ctx;
    migrate(storage, auditShardMigrations);
    const { workspace, shard } = this.#storedName() ?? name;
    storage.sql.exec('INSERT OR IGNORE INTO meta (id, workspace, shard) VALUES (1, ?, ?)', workspace, shard);
    const master = createAuditKey(readSettings(this.env));
    const log: SignedLog = { sql: storage.sql, workspace, name: String(shard), now: () => Date.now(), master };
    const { catalog, directory, log: logger } = wire(this.env);
    const retention: RetentionNeeds = {
      days: async () => (await directory.workspaceSettings(workspace)).retention.auditDays,
      transact: (work) => storage.transactionSync(work),
      bucket: this.env.AUDIT_EXPORT ?? null,
      isFull: () => storage.sql.databaseSize > limits.maxAuditShardBytes,
      logFault: (cause) => logger.error('the audit does not follow its retention', { shard, cause }),
    };
    const keeper = createAuditKeeper(log, retention, (head) => catalog(workspace).storeAuditHead(shard, head));
    const insert = (rows: readonly AuditRow[]): void => {
      const append = (): void => rows.forEach((row) => void appendCall(log, row));
      if (rows.length === 1) append();
      else storage.transactionSync(append);
      // In the same commit.
      this.#arm(keeper);
    };
    return { workspace, shard, log, keeper, writer: createAuditWriter(insert, () => storage.sync()) };
  }

  #storedName(): ShardName | null {
    if (this.#opened !== null) return this.#opened;
    const { sql } = this.ctx.storage;
    if (sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").toArray().length === 0) return null;
    return sql.exec<ShardName>('SELECT workspace, shard FROM meta').toArray()[0] ?? null;
  }
}

function toShardName({ workspace, object }: BackupName): ShardName {
  return { workspace, shard: Number(object.id) };
}
