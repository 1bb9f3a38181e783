/**
 * The `AuditShard` Durable Object: one of the logs of a workspace's audit (contract §9). It has the rows of the calls whose ids are hashed to
 * it, so that calls do not depend on the Catalog. `objects/audit/client/audit-client.ts` calls it.
 */
import { DurableObject } from 'cloudflare:workers';
import type { AuditRow } from '../../core/records/audit.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem, toOutcome, type Outcome } from '../../core/problem.ts';
import { readSettings } from '../../core/people/settings.ts';
import type { LogCheck, LogCheckRequest, LogPage, LogRequest, RenewedSignatures } from '../../ports/audit-log.ts';
import { checkLog, createAuditKey, renewHeadSignatures, type SignedLog } from '../shared/audit-chain.ts';
import type { AuditShardRpc, ShardName } from './client/audit-client.ts';
import { AlarmDriver } from '../shared/alarm-driver.ts';
import type { DueJob } from '../shared/due-job.ts';
import { createAuditKeeper } from '../shared/audit-keeper.ts';
import type { RetentionNeeds } from '../shared/audit-retention.ts';
import { appendCall, auditLogSchema, dropLaterHeads, readLog } from '../shared/audit-log.ts';
import type { BackupName, BackupRpc, RestoreStep } from '../../storage/backup/backup-objects.ts';
import { type BackupPlan, ObjectBackup, requireWorkspace } from '../../storage/backup/object-backup.ts';
import { restoreShard } from '../../storage/backup/restore-shard.ts';
import type { ReadPosition } from '../../storage/backup/table-reader.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { requireActiveWorkspace } from '../catalog/client/active-workspace.ts';
import { migrate, schemaSteps } from '../shared/migrate.ts';
import type { ErasableRpc } from '../shared/workspace-objects.ts';
import { wire } from '../../wiring/wire.ts';
import { createGroupCommit } from '../shared/group-commit.ts';

/** `meta`: which shard of which workspace it is, one row. */
export const auditShardMigrations = schemaSteps(
  `${auditLogSchema}
  CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT!, shard INTEGER!);
  `,
);

/** Rows are only appended, and the heads after them are deleted by a restore. */
const backupPlan: BackupPlan = { migrations: auditShardMigrations, loose: ['audit_log', 'audit_heads'], skipped: [] };

/** When a failed alarm is retried. */
const retryMs = 60_000;

/** `append`: stores all rows or none, durably. Every call without a session waits for it. */
type Opened = { log: SignedLog; append(rows: readonly AuditRow[]): Promise<void>; keeper: DueJob };

export class AuditShard extends DurableObject<Bindings> implements AuditShardRpc, BackupRpc, ErasableRpc {
  #opened: (Opened & ShardName) | null = null;
  readonly #backup = new ObjectBackup(this.ctx.storage, backupPlan);
  readonly #alarm = new AlarmDriver({
    ...{ storage: this.ctx.storage, log: wire(this.env).log, retryMs, overdueMs: 0 },
    jobs: () => {
      const name = this.#storedName();
      return name === null ? [] : [this.#open(name).keeper];
    },
  });

  append(name: ShardName, rows: readonly AuditRow[]): Promise<Outcome<void>> {
    return toOutcome(async () => {
      // The first row: it may come after the workspace was deleted.
      if (this.#storedName() === null) await requireActiveWorkspace(this.env, name.workspace);
      await this.#open(name).append(rows);
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
    this.#alarm.forget();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  renewSignatures(name: ShardName, after: number): Promise<Outcome<RenewedSignatures>> {
    return toOutcome(async () => await renewHeadSignatures(this.#open(name).log, after));
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

  override async alarm(): Promise<void> {
    if (!this.#backup.isRestoring && this.#storedName() !== null) await this.#alarm.run();
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
    const store = (appends: readonly (readonly AuditRow[])[]): PromiseFulfilledResult<void>[] => {
      const rows = appends.flat().map((row) => ({ ...row, requested: row.requested.slice(0, limits.maxToolNameLength) }));
      const insert = (): void => rows.forEach((row) => void appendCall(log, row));
      if (rows.length === 1) insert();
      else storage.transactionSync(insert);
      // In the same commit.
      if (this.#alarm.at === null) void this.#alarm.arm();
      return appends.map(() => ({ status: 'fulfilled', value: undefined }));
    };
    const append = createGroupCommit({ store, sync: () => storage.sync() });
    return { workspace, shard, log, keeper, append };
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
