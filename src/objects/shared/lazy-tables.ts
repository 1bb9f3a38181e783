/**
 * Tables that an object creates when it first stores something in them: each table and index takes a row and a page of 4 kB, and most
 * objects use few of them. Until then, a statement that only reads or deletes finds nothing, and creates nothing.
 */
import { hasTable, statementsOf, tableOf } from './migrate.ts';

/** The statements that create each table and its indexes in the newest form, by its name. */
export type LazyTables = Readonly<Record<string, readonly string[]>>;

/** Returns all tables of a schema but `eager`. */
export function lazyTables(steps: readonly string[], eager: readonly string[]): LazyTables {
  const statements = steps.flatMap(statementsOf).filter((statement) => !eager.includes(tableOf(statement)));
  return Object.fromEntries(Map.groupBy(statements, tableOf));
}

const named = /\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g;
/** Its result has a row even if the tables are empty. */
const alwaysHasRow = /^SELECT\b(?!.*\bHAVING\b).*\b(?:count|sum|min|max|EXISTS)\s*\(/s;
const unknownTable = /no such table: (\w+)/;

/** The names of the tables of a statement, by its text. Statements are constants of the code. */
const namesByStatement = new Map<string, readonly string[]>();

/** Returns an interface to the object's database in which these tables seem to exist. Keywords of its statements are in upper case. */
export function withLazyTables(sql: SqlStorage, tables: LazyTables): SqlStorage {
  const existing = new Set([...sql.exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`)].map(({ name }) => name));
  const missing = new Set(Object.keys(tables).filter((name) => !existing.has(name)));
  if (missing.size === 0) return sql;
  const create = (name: string): void => {
    // Another interface to the same database may have created it.
    if (!hasTable(sql, name)) for (const statement of tables[name] ?? []) sql.exec(statement);
    missing.delete(name);
  };
  const exec: SqlStorage['exec'] = (query, ...bindings) => {
    if (missing.size > 0) {
      const names = namesIn(query);
      const absent = names.filter((name) => missing.has(name));
      if (absent.length > 0) {
        if (absent.length === names.length && !query.startsWith('INSERT') && !alwaysHasRow.test(query)) return noRows<never>();
        for (const name of absent) create(name);
      }
    }
    try {
      return sql.exec(query, ...bindings);
    } catch (error) {
      // The transaction that created the table was rolled back.
      const [, name = ''] = unknownTable.exec(String(error)) ?? [];
      if (tables[name] === undefined) throw error;
      create(name);
      return exec(query, ...bindings);
    }
  };
  const lazy: Pick<SqlStorage, 'exec' | 'databaseSize'> = {
    exec,
    get databaseSize() {
      return sql.databaseSize;
    },
  };
  // The other members are the classes of its cursors and statements, which nothing uses.
  return lazy as SqlStorage;
}

/** The cursor of a statement that found nothing; without a statement, which would take longer. */
function noRows<Row extends Record<string, SqlStorageValue>>(): SqlStorageCursor<Row> {
  const nothing: Row[] = [];
  const cursor: Pick<SqlStorageCursor<Row>, 'toArray' | 'one' | 'rowsRead' | 'rowsWritten' | typeof Symbol.iterator> = {
    toArray: () => [],
    one() {
      throw new Error('no row');
    },
    rowsRead: 0,
    rowsWritten: 0,
    [Symbol.iterator]: () => nothing[Symbol.iterator](),
  };
  // The others are not used.
  return cursor as SqlStorageCursor<Row>;
}

function namesIn(query: string): readonly string[] {
  let names = namesByStatement.get(query);
  if (names === undefined) {
    names = [...new Set([...query.matchAll(named)].map(([, name = '']) => name))].filter((name) => name !== 'SET');
    namesByStatement.set(query, names);
  }
  return names;
}
