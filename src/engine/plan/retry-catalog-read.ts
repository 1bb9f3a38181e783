/**
 * Retries reads from the Catalog, so that a short outage does not end an accepted turn. Problems with their own code, such as a missing
 * provider, are not retried.
 */
import { backoffMs } from '../../core/limits/backoff.ts';
import { Problem } from '../../core/problem.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { retry } from '../retry.ts';

/** Retries of a turn's reads from the Catalog or the stores next to it: with the waits, 8 s in total. */
export const maxCatalogRetries = 4;
export const catalogRetryMs = 500;

/** Retries `read` with growing delays, up to `maxCatalogRetries` times. Throws the last error, or the signal's reason. */
export async function retryCatalogRead<T>(
  { clock, log }: { clock: Clock; log: Logger },
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  const policy = {
    maxRetries: maxCatalogRetries,
    delayMs: (error: unknown, failures: number) => (isOurFault(error) ? backoffMs({ firstMs: catalogRetryMs }, failures) : null),
    onRetry: (error: unknown, failures: number) =>
      log.error('reading from the catalog failed; retrying', { failures, cause: String(error) }),
  };
  return await retry({ clock, signal }, policy, read);
}

/** An error without a problem code comes from the platform. */
function isOurFault(error: unknown): boolean {
  return !(error instanceof Problem) || error.code === 'internal';
}
