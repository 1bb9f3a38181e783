/**
 * The two kinds of transaction of the Catalog, as `CatalogContext` has them. They differ in what is kept in memory: all that was made of
 * documents and tools holds until the next `transact`, and a workspace that takes deliveries or audits calls all day is not to have it
 * made anew for each of them.
 */
import type { CatalogContext } from './context.ts';
import { dropMadeDefinitions } from './made-tool-definitions.ts';
import { dropAllDefinitions } from './server-definitions.ts';
import { dropBacklog } from './triggers/deliveries/backlog.ts';

type Transactions = Pick<CatalogContext, 'transact' | 'record' | 'writes'>;

/** `context`: of the object whose storage this is; asked for when a transaction fails. */
export function createTransactions(storage: Pick<DurableObjectStorage, 'transactionSync'>, context: () => CatalogContext): Transactions {
  let writes = 0;
  const attempt = <T>(work: () => T, forget: () => void): T => {
    try {
      return storage.transactionSync(work);
    } catch (error) {
      // What was read and counted within it never was.
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
        // Writing a schedule may end runs of it.
        dropBacklog(context());
      });
    },
    record: (work) => attempt(work, () => dropBacklog(context())),
  };
}
