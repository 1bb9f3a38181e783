/**
 * Reading what a turn needs from the Catalog, with patience: one that is silent or broken for a moment ends no turn that was
 * accepted. Not for what has an answer, such as a provider that is not there.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { Clock, Logger } from '../ports/runtime.ts';

/** Reads until it succeeds, a few times with growing waits; throws the last fault, or the signal's reason. */
export async function askCatalogAgain<T>(deps: { clock: Clock; log: Logger }, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOurFault(error) || failures >= limits.maxCatalogRetries) throw error;
      deps.log.error('the catalog could not be read; it is asked again', { failures: failures + 1, cause: String(error) });
      await deps.clock.sleep(limits.catalogRetryMs * 2 ** failures, signal);
    }
  }
}

/** Whatever is no problem with a code of its own comes from the platform. */
function isOurFault(error: unknown): boolean {
  return !(error instanceof Problem) || error.code === 'internal';
}
