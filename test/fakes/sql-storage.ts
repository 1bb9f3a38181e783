/** A Durable Object's SQLite in plain Node, for code that only needs `exec`. The real one is used by the workers tests. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

export function fakeSql(migrations: readonly string[]): SqlStorage {
  const database = new DatabaseSync(':memory:');
  for (const migration of migrations) database.exec(migration);
  const exec = (query: string, ...bindings: SQLInputValue[]) => {
    const rows = database.prepare(query).all(...bindings);
    return {
      toArray: () => rows,
      one: () => {
        if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
        return rows[0];
      },
      [Symbol.iterator]: () => rows[Symbol.iterator](),
    };
  };
  // Only the part that our tables use.
  return { exec } as unknown as SqlStorage;
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
