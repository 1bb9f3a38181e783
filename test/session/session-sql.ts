/** The database of a session's object, in which the tables that it has not created yet are empty. */
import { lazySessionTables } from '../../src/session/object/newest-schema.ts';
import { withLazyTables } from '../../src/storage/lazy-tables.ts';

export const sessionSql = ({ sql }: Pick<DurableObjectStorage, 'sql'>): SqlStorage => withLazyTables(sql, lazySessionTables);

/** Creates the tables that a session of an earlier release has from the start. */
export function createAllTables({ sql }: Pick<DurableObjectStorage, 'sql'>): void {
  for (const statement of Object.values(lazySessionTables).flat()) sql.exec(statement);
}
