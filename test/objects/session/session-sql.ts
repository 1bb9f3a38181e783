/** The database of a session's object, in which the tables that it has not created yet are empty. */
import { lazySessionTables } from '../../../src/objects/session/object/schema.ts';
import { withLazyTables } from '../../../src/objects/shared/lazy-tables.ts';

export const sessionSql = ({ sql }: Pick<DurableObjectStorage, 'sql'>): SqlStorage => withLazyTables(sql, lazySessionTables);
