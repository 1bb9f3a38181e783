/**
 * The two kinds of transactions of `CatalogContext`. They differ in caching: what is derived from documents and tools is cached until
 * the next `transact`, and frequent deliveries or audit rows must not invalidate it.
 */
import type { CatalogContext } from '../context.ts';
import { dropAllDefinitions } from '../servers/server-definitions.ts';
import { dropBacklog } from '../triggers/deliveries/backlog.ts';

type Transactions = Pick<CatalogContext, 'transact' | 'record' | 'untilWrite'>;

/** `context`: of the object that owns the storage; read when a transaction fails. */
export function createTransactions(storage: Pick<DurableObjectStorage, 'transactionSync'>, context: () => CatalogContext): Transactions {
  const cached = new Map<unknown, unknown>();
  const attempt = <T>(work: () => T, forget: () => void): T => {
    try {
      return storage.transactionSync(work);
    } catch (error) {
      // Values read and counted within it are invalid.
      forget();
      throw error;
    }
  };
  return {
    untilWrite: <T>(read: (of: CatalogContext) => T): T => {
      if (!cached.has(read)) cached.set(read, read(context()));
      return cached.get(read) as T; // Returned by the same function.
    },
    transact: (work) => {
      cached.clear();
      return attempt(work, () => {
        cached.clear();
        dropAllDefinitions(context());
        // Writing a schedule may end its runs.
        dropBacklog(context());
      });
    },
    record: (work) => attempt(work, () => dropBacklog(context())),
  };
}
