/**
 * The two kinds of transactions of `CatalogContext`. They differ in caching: everything derived from documents and tools is cached until
 * the next `transact`, and frequent deliveries or audit rows must not invalidate it.
 */
import type { CatalogContext } from '../context.ts';
import { dropMadeDefinitions } from '../tools/made-tool-definitions.ts';
import { dropAllDefinitions } from '../servers/server-definitions.ts';
import { dropBacklog } from '../triggers/deliveries/backlog.ts';

type Transactions = Pick<CatalogContext, 'transact' | 'record' | 'writes'>;

/** `context`: of the object that owns the storage; read when a transaction fails. */
export function createTransactions(storage: Pick<DurableObjectStorage, 'transactionSync'>, context: () => CatalogContext): Transactions {
  let writes = 0;
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
    writes: () => writes,
    transact: (work) => {
      writes += 1;
      return attempt(work, () => {
        dropAllDefinitions(context());
        dropMadeDefinitions(context());
        // Writing a schedule may end its runs.
        dropBacklog(context());
      });
    },
    record: (work) => attempt(work, () => dropBacklog(context())),
  };
}
