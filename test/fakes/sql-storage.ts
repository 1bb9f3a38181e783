/** A Durable Object's SQLite in plain Node, for code that only needs `exec`. The real one is used by the workers tests. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { LazyTables } from '../../src/objects/shared/lazy-tables.ts';
import { statementsOf, tableOf } from '../../src/objects/shared/migrate.ts';

/** `lazy`: tables that are not created yet. */
export function fakeSql(migrations: readonly string[], lazy: LazyTables = {}): SqlStorage {
  const database = new DatabaseSync(':memory:');
  // Each empty table has a page, and tests open thousands of databases.
  database.exec('PRAGMA page_size = 512');
  for (const statement of migrations.flatMap(statementsOf)) if (!(tableOf(statement) in lazy)) database.exec(statement);
  const statements = new Map<string, StatementSync>();
  const rowsOf = (query: string, bindings: readonly unknown[]): object[] => {
    // Only the last statement of several returns rows.
    if (bindings.length === 0 && /;\s*\S/.test(query)) {
      database.exec(query);
      return [];
    }
    const statement = statements.get(query) ?? database.prepare(query);
    statements.set(query, statement);
    return statement.all(...bindings.map(toInput)).map(withBuffers);
  };
  const exec = (query: string, ...bindings: unknown[]) => {
    const rows = rowsOf(query, bindings);
    return {
      toArray: () => rows,
      one: () => {
        if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
        return rows[0];
      },
      [Symbol.iterator]: () => rows[Symbol.iterator](),
      /** Of the newest statement that wrote; read right after it. */
      get rowsWritten() {
        return Number(database.prepare('SELECT changes() AS count').get()?.count);
      },
    };
  };
  // Only the part that our tables use.
  return { exec } as unknown as SqlStorage;
}

/** The object takes and returns an `ArrayBuffer` where Node has its view. */
function toInput(value: unknown): SQLInputValue {
  // The other types are the same.
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as SQLInputValue);
}

function withBuffers(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? value.slice().buffer : value]));
}

/** The transactions of that storage. A nested one is rolled back alone, as in the object. */
export function fakeTransactions(sql: SqlStorage): Pick<DurableObjectStorage, 'transactionSync' | 'transaction'> {
  return {
    transactionSync(work) {
      sql.exec('SAVEPOINT work');
      try {
        const made = work();
        sql.exec('RELEASE work');
        return made;
      } catch (error) {
        sql.exec('ROLLBACK TO work');
        sql.exec('RELEASE work');
        throw error;
      }
    },
    async transaction(work) {
      let isUndone = false;
      const undo = () => {
        isUndone = true;
        sql.exec('ROLLBACK TO work');
      };
      sql.exec('SAVEPOINT work');
      try {
        return await work({ rollback: undo } as DurableObjectTransaction);
      } catch (error) {
        if (!isUndone) undo();
        throw error;
      } finally {
        sql.exec('RELEASE work');
      }
    },
  };
}
