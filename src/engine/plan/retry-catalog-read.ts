/**
 * Retries reads from the Catalog, so that a short outage does not end an accepted turn. Problems with their own code, such as a missing
 * provider, are not retried.
 */
import { Problem } from '../../core/problem.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';

/** Retries of a turn's reads from the Catalog or the stores next to it: with the waits, 8 s in total. */
export const maxCatalogRetries = 4;
/** The wait before the first retry; each further wait is doubled. */
export const catalogRetryMs = 500;

/** Retries `read` with growing delays, up to `maxCatalogRetries` times. Throws the last error, or the signal's reason. */
export async function retryCatalogRead<T>(deps: { clock: Clock; log: Logger }, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOurFault(error) || failures >= maxCatalogRetries) throw error;
      deps.log.error('reading from the catalog failed; retrying', { failures: failures + 1, cause: String(error) });
      await deps.clock.sleep(catalogRetryMs * 2 ** failures, signal);
    }
  }
}

/** An error without a problem code comes from the platform. */
function isOurFault(error: unknown): boolean {
  return !(error instanceof Problem) || error.code === 'internal';
}
