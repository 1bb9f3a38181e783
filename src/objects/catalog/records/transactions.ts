/**
 * The transactions of `CatalogContext`. The synchronous ones differ in caching: what is derived from documents and tools is cached until
 * the next `transact`, and frequent deliveries or audit rows must not invalidate it.
 */
import type { CatalogContext } from '../context.ts';
import { dropAllDefinitions } from '../servers/server-definitions.ts';
import { dropBacklog } from '../triggers/deliveries/backlog.ts';

type Transactions = Pick<CatalogContext, 'transact' | 'transactAll' | 'record' | 'untilWrite'>;
type Storage = Pick<DurableObjectStorage, 'transactionSync' | 'transaction'>;

/** `context`: of the object that owns the storage; read when a transaction fails. */
export function createTransactions(storage: Storage, context: () => CatalogContext): Transactions {
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
  const forgetAll = (): void => {
    cached.clear();
    dropAllDefinitions(context());
    // Writing a schedule may end its runs.
    dropBacklog(context());
  };
  return {
    untilWrite: <T>(read: (of: CatalogContext) => T): T => {
      if (!cached.has(read)) cached.set(read, read(context()));
      return cached.get(read) as T; // Returned by the same function.
    },
    transact: (work) => {
      cached.clear();
      return attempt(work, forgetAll);
    },
    transactAll: async (work, keeps) => {
      let isKept = false;
      try {
        return await storage.transaction(async (transaction) => {
          const result = await work();
          isKept = keeps(result);
          if (!isKept) transaction.rollback();
          return result;
        });
      } finally {
        if (!isKept) forgetAll();
      }
    },
    record: (work) => attempt(work, () => dropBacklog(context())),
  };
}
