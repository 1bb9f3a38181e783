/**
 * Checks the database of an object with SQLite's own integrity check, and that it has the content of its object: a file that was restored manually
 * may be empty, or another object's. Writes nothing. The service must not be running.
 */
import { lstatSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StartFailure } from '../launch/start-failure.ts';
import { openDatabase } from '../sqlite.ts';

/** `id`: of the object, '' for the alarms of a class. `name`: as people know it. `number`: of a shard. `workspace`: null if it is not known. */
export type ObjectDatabase = { file: string; className: string; id: string; name: string; workspace: string | null; number: number | null };

/** A table of each class that no other class has. */
const ownTables: Readonly<Record<string, string>> = {
  ...{ Catalog: 'documents', Session: 'usage_ranges', AuditShard: 'audit_state', UsageShard: 'model_usage' },
};

/** Opens the file for reading. SQLite would create files beside a database without a log, unless `immutable` says that nothing changes. */
function openToRead(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  if ((sizeOf(`${file}-wal`) ?? 0) === 0) url.searchParams.set('immutable', '1');
  const database = openDatabase(url, { readOnly: true });
  // Nothing in a schema of others may have effects.
  database.exec('PRAGMA trusted_schema = OFF');
  return database;
}

/** Null: there is no such file. Links and folders are no databases. */
export function sizeOf(file: string): number | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats === undefined ? null : stats.isFile() ? stats.size : Number.NaN;
}

/** Rows of a query; null if the database cannot be read, or has no such table. */
export function readDatabase<Row>(file: string, query: string): Row[] | null {
  return tryRead(file, (database) => database.prepare(query).all() as Row[]).value ?? null;
}

/** Returns what is wrong with a database, in a few words; null: nothing. An object without rows may have an empty file. */
export function faultOf(database: ObjectDatabase): string | null {
  const { file, id } = database;
  const size = sizeOf(file);
  if (size === null) return 'is missing';
  if (Number.isNaN(size)) return 'is not a file';
  if (size === 0) return id === '' || database.className === 'Catalog' ? 'is empty' : null;
  const { value, fault } = tryRead(file, (opened) => integrityFault(opened) ?? contentFault(opened, database));
  return fault ?? value ?? null;
}

function tryRead<T>(file: string, read: (database: DatabaseSync) => T): { value?: T; fault?: string } {
  let database: DatabaseSync | null = null;
  try {
    database = openToRead(file);
    return { value: read(database) };
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    return { fault: `cannot be read (${error instanceof Error ? error.message : String(error)})` };
  } finally {
    database?.close();
  }
}

function integrityFault(database: DatabaseSync): string | null {
  const found = database.prepare('PRAGMA integrity_check(1)').get() as { integrity_check: string };
  return found.integrity_check === 'ok' ? null : `is damaged (${found.integrity_check.replace(/^\*\*\* in database main \*\*\*\n/, '')})`;
}

/** A deleted object has no tables but those of the runtime. */
function contentFault(database: DatabaseSync, { className, id, number, workspace }: ObjectDatabase): string | null {
  const query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
  const tables = (database.prepare(query).all() as { name: string }[]).map(({ name }) => name);
  if (id === '') return tables.every((name) => name === '_cf_ALARM') ? null : foreign;
  const own = tables.filter((name) => !name.startsWith('_cf_'));
  const expected = ownTables[className];
  if (own.length === 0 || expected === undefined) return null;
  if (!own.includes(expected)) return foreign;
  if (workspace === null || (className !== 'AuditShard' && className !== 'Catalog')) return null;
  const ownName =
    className === 'Catalog'
      ? "SELECT value AS workspace, NULL AS shard FROM meta WHERE key = 'workspace'"
      : 'SELECT workspace, shard FROM meta';
  const meta = database.prepare(ownName).get() as { workspace: string; shard: number | null } | undefined;
  if (meta === undefined || (meta.workspace === workspace && meta.shard === number)) return null;
  return `has the content of ${meta.shard === null ? 'the catalog' : `audit shard ${meta.shard}`} of the workspace ${meta.workspace}`;
}

const foreign = 'has the content of another file';
