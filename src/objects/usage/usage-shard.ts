/**
 * The `UsageShard` Durable Object: a part of a workspace's daily sums and of its request log. It counts each report once, answers queries
 * over its part, and deletes by alarm what is older than the workspace's settings. `objects/usage/client/usage-shards.ts` has its clients.
 *
 * - `meta(key, value)`: `workspace`, for the alarm; `closed`: the workspace is being deleted.
 * - `model_usage`, `tool_usage`: one row for each day and combination of key, agent, toolset, and model, or tool and the name that was called;
 *   an empty text where there is none. Deleted after `retention.usageDays`.
 * - `requests(id, …)`: the request log; `part`: the last part that was counted. `body`: JSON of `StoredRequest`. Deleted after
 *   `retention.requestDays`, and earlier, oldest first, in a shard of more than 8 GB.
 * - `request_bodies(id, …)`: what a request of `requests` and its response contained, if `requestLog.bodies` was on; deleted when it is off.
 * - `objects(id, kind, until)`: objects of the workspace that no list has (`objects/shared/workspace-objects.ts`), for as long as they may exist.
 * - `counted(id, at)`: reports without a row in `requests`, for a day.
 */
import { DurableObject } from 'cloudflare:workers';
import { limits } from '../../core/limits/limits.ts';
import type { WorkspaceSettings } from '../../core/people/workspace.ts';
import { dayOf, type UsageReport } from '../../core/records/usage.ts';
import type { ArgumentsOf, Handlers, RemotePort, ResultOf } from '../../ports/remote.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { isClockSettled } from '../../platform/settled-clock.ts';
import { isActiveWorkspace } from '../catalog/client/active-workspace.ts';
import { hasTable, migrate, schemaSteps } from '../shared/migrate.ts';
import type { ErasableRpc } from '../shared/workspace-objects.ts';
import type { NotedObject, UsageShardPort } from './client/usage-shard-client.ts';
import { wire } from '../../wiring/wire.ts';
import type { BackupName, BackupRpc, RestoreStep } from '../../storage/backup/backup-objects.ts';
import { type BackupPlan, ObjectBackup, requireWorkspace } from '../../storage/backup/object-backup.ts';
import { restoreShard } from '../../storage/backup/restore-shard.ts';
import type { ReadPosition } from '../../storage/backup/table-reader.ts';
import { type Outcome, toOutcome } from '../../core/problem.ts';
import { DailySums, namesSchema, savedSchema, sumsSchema } from './daily-sums.ts';
import { RequestRows, requestsSchema } from './request-rows.ts';

const dayMs = 86_400_000;
const sweepMs = dayMs / 4;
/** Rows of a table that are deleted at a time; the alarm continues at once. */
const maxSweptRows = 2_000;
const maxSweptBodies = 200;
const countedMs = dayMs;

export const usageMigrations = schemaSteps(
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT!) WITHOUT ROWID;
  CREATE TABLE counted (id TEXT PRIMARY KEY, at INTEGER!) WITHOUT ROWID;
  CREATE INDEX counted_by_time ON counted (at);
  CREATE TABLE objects (id TEXT PRIMARY KEY, kind TEXT!, until INTEGER!) WITHOUT ROWID;
  CREATE INDEX objects_by_time ON objects (until);
  ${sumsSchema}${requestsSchema}`,
  namesSchema,
  savedSchema,
);

/** Sums and rows of requests are independent of each other. */
const backupPlan: BackupPlan = {
  migrations: usageMigrations,
  loose: ['counted', 'model_usage', 'tool_usage', 'requests', 'request_bodies'],
  skipped: ['objects'],
};

export class UsageShard extends DurableObject<Bindings> implements RemotePort<UsageShardPort>, BackupRpc, ErasableRpc {
  readonly #sums: DailySums;
  readonly #requests: RequestRows;
  readonly #backup: ObjectBackup;
  #isArmed = false;
  #isCreated = false;

  readonly #port: Handlers<UsageShardPort> = {
    record: async (workspace, reports) => {
      this.#backup.requireUsable();
      // What a deleted workspace still reports is dropped.
      if (!(await this.#arm(workspace))) return;
      this.ctx.storage.transactionSync(() => {
        this.#sums.add(reports.filter((report) => this.#isNew(report)));
      });
      // The sender deletes its rows after this.
      await this.ctx.storage.sync();
    },
    noteObject: async (workspace, { kind, id }, until) => {
      this.#backup.requireUsable();
      if (!(await this.#arm(workspace))) return false;
      this.ctx.storage.sql.exec('INSERT OR REPLACE INTO objects (id, kind, until) VALUES (?, ?, ?)', id, kind, until);
      await this.ctx.storage.sync();
      return true;
    },
    closeWorkspace: async (_workspace, limit) => {
      const { sql } = this.ctx.storage;
      if (!hasTable(sql, 'objects')) return { objects: [], count: 0 };
      sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('closed', '')");
      const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM objects').one();
      return { objects: sql.exec<NotedObject>('SELECT kind, id FROM objects ORDER BY id LIMIT ?', limit).toArray(), count };
    },
    forgetObjects: async (ids) => {
      for (const id of ids) this.ctx.storage.sql.exec('DELETE FROM objects WHERE id = ?', id);
    },
    sums: async (query, after) => {
      this.#create();
      return { rows: this.#sums.groups(query, after), totals: query.who === true ? null : this.#sums.totals(query) };
    },
    requests: async (query, before) => {
      this.#create();
      return this.#requests.list(query, before);
    },
    request: async (id) => {
      this.#create();
      return this.#requests.find(id);
    },
    withBodies: async (ids) => {
      this.#create();
      return this.#requests.withBodies(ids);
    },
  };

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#backup = new ObjectBackup(ctx.storage, backupPlan);
    this.#sums = new DailySums(ctx.storage.sql);
    this.#requests = new RequestRows(ctx.storage.sql);
  }

  readBackup({ object }: BackupName, at: ReadPosition | null): ReturnType<BackupRpc['readBackup']> {
    return toOutcome(() => {
      this.#create();
      return this.#backup.read(object, at);
    });
  }

  restoreStep({ workspace }: BackupName, request: RestoreStep): Promise<Outcome<void>> {
    const end = (): void => {
      const stored = this.#storedWorkspace();
      if (stored !== undefined) requireWorkspace(stored, workspace);
      this.#backup.end();
      if (stored !== undefined) void this.ctx.storage.setAlarm(Date.now() + sweepMs);
    };
    return toOutcome(async () => {
      this.#create();
      await restoreShard(this.ctx, this.#backup, request, end);
      if (request.step === 'abandon') migrate(this.ctx.storage, usageMigrations);
    });
  }

  run<Name extends keyof UsageShardPort>(
    method: Name,
    args: ArgumentsOf<UsageShardPort, Name>,
  ): Promise<Outcome<ResultOf<UsageShardPort, Name>>> {
    return toOutcome(() => this.#port[method](...args));
  }

  async eraseWorkspace(): Promise<void> {
    this.#isArmed = false;
    this.#isCreated = false;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  /** Deletes what is too old. Sets the next alarm first: the platform's own retries are finite. */
  override async alarm(): Promise<void> {
    if (this.#backup.isRestoring) return;
    const { sql } = this.ctx.storage;
    const workspace = this.#storedWorkspace();
    if (workspace === undefined) return;
    const now = Date.now();
    await this.ctx.storage.setAlarm(now + sweepMs);
    if (!(await isClockSettled())) return;
    this.#create();
    sql.exec('DELETE FROM objects WHERE id IN (SELECT id FROM objects WHERE until < ? LIMIT ?)', now, maxSweptRows);
    const settings = await this.#settings(workspace);
    if (settings === null) return;
    const { retention, requestLog } = settings;
    const isFull = sql.databaseSize > limits.maxUsageShardBytes;
    const hasMore = [
      this.#requests.sweep(isFull ? now : now - retention.requestDays * dayMs, maxSweptRows) >= maxSweptRows,
      this.#sums.sweep(dayOf(now - retention.usageDays * dayMs)),
      sql.exec('DELETE FROM counted WHERE id IN (SELECT id FROM counted WHERE at < ? LIMIT ?)', now - countedMs, maxSweptRows).rowsWritten >
        0,
    ];
    if (!requestLog.bodies && this.#requests.sweepBodies(maxSweptBodies) === maxSweptBodies) hasMore.push(true);
    if (hasMore.includes(true)) await this.ctx.storage.setAlarm(now + limits.publishIntervalMs);
  }

  /** Counts a report of the request log, or another one, by its id. */
  #isNew(report: UsageReport): boolean {
    if (report.request !== null) return this.#requests.add(report, report.request);
    const insert = 'INSERT OR IGNORE INTO counted (id, at) VALUES (?, ?)';
    return this.ctx.storage.sql.exec(insert, report.id, Date.now()).rowsWritten > 0;
  }

  #storedWorkspace(): string | undefined {
    if (!hasTable(this.ctx.storage.sql, 'meta')) return undefined;
    const query = `SELECT value FROM meta WHERE key = 'workspace'`;
    return this.ctx.storage.sql.exec<{ value: string }>(query).toArray()[0]?.value;
  }

  /** Creates the tables, or migrates them to the newest schema. */
  #create(): void {
    if (!this.#isCreated && !this.#backup.isRestoring) migrate(this.ctx.storage, usageMigrations);
    this.#isCreated = !this.#backup.isRestoring;
  }

  /** Returns false if the workspace does not exist, or is being deleted: nothing of it may be stored. */
  async #arm(workspace: string): Promise<boolean> {
    if (this.#storedWorkspace() === undefined && !(await isActiveWorkspace(this.env, workspace))) return false;
    this.#create();
    if (this.ctx.storage.sql.exec("SELECT 1 FROM meta WHERE key = 'closed'").toArray().length > 0) return false;
    if (this.#isArmed) return true;
    this.ctx.storage.sql.exec(`INSERT OR IGNORE INTO meta (key, value) VALUES ('workspace', ?)`, workspace);
    const at = await this.ctx.storage.getAlarm();
    // One that is further ahead was set while the clock was.
    if (at === null || at > Date.now() + sweepMs) await this.ctx.storage.setAlarm(Date.now() + sweepMs);
    this.#isArmed = true;
    return true;
  }

  /** null if they cannot be read: then nothing is deleted, since the workspace may keep rows for longer than the default. */
  async #settings(workspace: string): Promise<WorkspaceSettings | null> {
    const { directory, log } = wire(this.env);
    try {
      return await directory.workspaceSettings(workspace);
    } catch (error) {
      log.error('the settings of a workspace cannot be read', { cause: String(error) });
      return null;
    }
  }
}
