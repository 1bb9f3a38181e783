/**
 * The backup of one Durable Object: its rows as parts, and a restore in steps. While an object is being restored it has a table
 * `restoring`, and its class refuses other requests. `catalog`, `session`, `audit-shard` and `usage` use it; `backup-objects.ts` calls them.
 */
import type { BackedUpObject, TableRows } from '../../core/backup/archive.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { hasTable, migrate } from '../../objects/shared/migrate.ts';
import { restoreInProgress } from '../../objects/shared/object-client.ts';
import { type ReadPage, type ReadPosition, quotedName, readTables } from './table-reader.ts';
import { writeTables } from './table-writer.ts';

/** `loose`: tables as in `TableOrder`. `skipped`: tables that are not part of a backup, because they are derived. */
export type BackupPlan = { migrations: readonly string[]; loose: readonly string[]; skipped: readonly string[] };

/** `restoring_names`: only of the Catalog, for names in KV that the restored workspace does not have. `workspaces` and `joined`: of all workspaces. */
const own = ['restoring', 'restoring_names', 'restored_as', 'schema', 'workspaces', 'joined'];

export class ObjectBackup {
  readonly #storage: DurableObjectStorage;
  readonly #plan: BackupPlan;
  /** The count of changes starts anew with each instance of the object. */
  readonly #instance = crypto.randomUUID();
  #isRestoring: boolean;

  constructor(storage: DurableObjectStorage, plan: BackupPlan) {
    this.#storage = storage;
    this.#plan = plan;
    this.#isRestoring = hasTable(storage.sql, 'restoring');
  }

  get isRestoring(): boolean {
    return this.#isRestoring;
  }

  /** Throws `unavailable` during a restore. */
  requireUsable(): void {
    if (this.#isRestoring) throw new Problem('unavailable', restoreInProgress, { retryAfterMs: 60_000 });
  }

  /** Returns `changed` if the object has to be read again from the start. */
  read(object: BackedUpObject, at: ReadPosition | null): ReadPage | 'changed' {
    this.requireUsable();
    const { sql } = this.#storage;
    const changes = sql.exec<{ count: number }>('SELECT total_changes() AS count').one().count;
    const { loose, skipped, migrations } = this.#plan;
    const strict = this.#tables().filter((name) => !loose.includes(name) && !skipped.includes(name));
    const order = { strict, loose };
    return readTables({ sql, object, schema: migrations.length, order, stamp: `${this.#instance}.${changes}` }, at);
  }

  /**
   * Begins the restore; nothing is deleted yet. The caller then ends the instance of an object that was in use: its open statements would lock
   * the tables. `state`: JSON that `state` returns.
   */
  mark(state = '{}'): void {
    const { sql } = this.#storage;
    sql.exec('CREATE TABLE IF NOT EXISTS restoring (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL)');
    sql.exec('INSERT OR REPLACE INTO restoring (id, state) VALUES (1, ?)', state);
    this.#isRestoring = true;
  }

  /** Deletes everything and creates the tables of the release that wrote the rows. */
  begin(schema: number): void {
    this.#requireRestoring();
    const { migrations } = this.#plan;
    if (schema > migrations.length) throw newerRelease();
    const { sql } = this.#storage;
    this.#storage.transactionSync(() => this.#dropTables());
    migrate(this.#storage, migrations.slice(0, schema));
    for (const table of this.#tables()) {
      const clear = `DELETE FROM ${quotedName(table)}`;
      sql.exec(clear);
    }
  }

  write(tables: readonly TableRows[]): void {
    this.#requireRestoring();
    const known = new Set(this.#tables().filter((name) => !this.#plan.skipped.includes(name)));
    this.#storage.transactionSync(() => writeTables(this.#storage.sql, tables, known));
  }

  /** Brings the rows to the schema of this release. The object stays in the restore until `end`. */
  migrate(): void {
    this.#requireRestoring();
    migrate(this.#storage, this.#plan.migrations);
  }

  /** Ends the restore. `adjust` runs in its transaction. */
  end(adjust: () => void = () => undefined): void {
    this.#requireRestoring();
    this.#storage.transactionSync(() => {
      adjust();
      this.#storage.sql.exec('DROP TABLE restoring');
      this.#storage.sql.exec('DROP TABLE IF EXISTS restoring_names');
    });
    this.#isRestoring = false;
  }

  /** Deletes everything. The object is as if it had never been used, but for the tables of its migrations. */
  abandon(): void {
    this.#requireRestoring();
    this.#storage.transactionSync(() => {
      this.#dropTables();
      this.#storage.sql.exec('DROP TABLE IF EXISTS restored_as');
      this.#storage.sql.exec('DROP TABLE restoring');
    });
    this.#isRestoring = false;
  }

  state(): string {
    this.#requireRestoring();
    return this.#storage.sql.exec<{ state: string }>('SELECT state FROM restoring').one().state;
  }

  saveState(state: string): void {
    this.#storage.sql.exec('UPDATE restoring SET state = ?', state);
  }

  #requireRestoring(): void {
    if (!this.#isRestoring) throw new Problem('conflict', 'No restore is in progress. Send the archive from its first line.');
  }

  /** The tables of the migrations, and the numbers of their rows last. */
  #tables(): string[] {
    const query = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'
      ORDER BY name = 'sqlite_sequence', name`;
    const names = this.#storage.sql.exec<{ name: string }>(query).toArray();
    return names.map(({ name }) => name).filter((name) => !own.includes(name));
  }

  #dropTables(): void {
    const { sql } = this.#storage;
    for (const table of [...this.#tables(), 'schema']) {
      const drop = `DROP TABLE IF EXISTS ${quotedName(table)}`;
      if (table !== 'sqlite_sequence') sql.exec(drop);
    }
  }
}

export function newerRelease(): Problem {
  return new Problem('conflict', 'The archive was written by a newer release. Restore it with that release, or a newer one.');
}

/** Rows of another workspace would be unreadable here, and their keys and secrets invalid. */
export function requireWorkspace(found: string | undefined, workspace: string): void {
  if (found !== workspace) throw invalidRequest([{ path: 'meta', message: `the rows are not of the workspace ${workspace}` }]);
}
