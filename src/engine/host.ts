/**
 * The machine of the service, as the launcher reports it (`core/host-report.ts`): whether something can be stored, whether new work may begin,
 * and what is in progress while the service stops. In the memory of an isolate, which on one machine is the whole service.
 */
import { type HostReport, maxOpenFilesShare, type StorageFault } from '../core/host-report.ts';
import { MINUTE, SECOND } from '../core/limits/units.ts';
import { Problem } from '../core/problem.ts';
import type { Clock } from '../ports/runtime.ts';

export type ServiceHost = ReturnType<typeof createHost>;

/** `ask`: returns a new report of the launcher; null: there is no launcher. */
type HostParts = { clock: Pick<Clock, 'now'>; ask: (() => Promise<HostReport>) | null };

const faultTexts: Record<StorageFault, string> = {
  full: 'The disk of the data folder is full up to the reserve: nothing more is stored until there is room again. Reading and deleting work. Free some space, or move the data folder.',
  'read-only':
    'The data folder cannot be written: its disk is mounted read-only, or its permissions were changed. Reading works. See the log of the system.',
  failing:
    'The disk of the data folder did not take what was to be stored a moment ago. Reading works. See the log of the service and of the system.',
};
const storageRetryMs = 30 * SECOND;
/** A planned stop takes about as long as a start. */
const restartRetryMs = 5 * SECOND;
/** The platform can end a request without running any more of its code: what is older is not waited for. */
const longestWorkMs = 11 * MINUTE;

export function createHost({ clock, ask }: HostParts) {
  let last: HostReport | null = null;
  const working = new Set<{ since: number }>();
  const waiting = new Set<() => void>();

  const report = (next: HostReport): void => {
    last = next;
    if (next.stopping !== 'ending') return;
    for (const end of [...waiting]) end();
    waiting.clear();
  };
  const storageProblem = (): Problem | null => {
    const fault = last?.disk.fault ?? null;
    if (fault === null) return null;
    return new Problem('insufficient_storage', faultTexts[fault], { reason: fault, retryAfterMs: storageRetryMs });
  };
  const isStopping = (): boolean => last !== null && last.stopping !== 'no';
  const refresh = async (): Promise<void> => {
    if (ask !== null) report(await ask());
  };

  return {
    report,
    /** The newest report; null: none has come. */
    last: (): HostReport | null => last,
    isStopping,
    storageProblem,
    /** Throws `insufficient_storage`. `deletes`: makes room, which a full disk allows. */
    requireStorage({ deletes = false } = {}): void {
      const problem = storageProblem();
      if (problem !== null && !(deletes && last?.disk.fault === 'full')) throw problem;
    },
    /** Throws `unavailable` while the service stops. */
    requireRunning(): void {
      if (isStopping())
        throw new Problem('unavailable', 'The service is being stopped and takes no new work. Send the request again in a few seconds.', {
          retryAfterMs: restartRetryMs,
        });
    },
    /** Throws `unavailable` if the runtime has nearly as many files open as it may. */
    requireFiles(): void {
      const files = last?.files ?? null;
      if (files !== null && files.open > files.limit * maxOpenFilesShare)
        throw new Problem('unavailable', 'The service has too many open files and connections at the moment. Try again in a few seconds.', {
          retryAfterMs: restartRetryMs,
        });
    },
    /** Whether stored work may begin now; what may not stays due. */
    mayStart: (): boolean => !isStopping() && storageProblem() === null,
    /** Asks for the first report. Never rejects: without one, the service works as if all were well, and writes that fail are explained later. */
    async begin(): Promise<void> {
      if (last === null) await refresh().catch(() => undefined);
    },
    /** Returns the problem of the disk after an internal error, whose cause the runtime hides; null: it has another cause. */
    async explain(): Promise<Problem | null> {
      // A launcher that does not answer has said nothing of its disk: the error itself is in the log.
      await refresh().catch(() => undefined);
      return storageProblem();
    },
    /** Counts as work in progress until the returned function is called, which may be repeated. */
    hold(): () => void {
      const held = { since: clock.now() };
      working.add(held);
      return () => void working.delete(held);
    },
    async during<T>(work: () => Promise<T>): Promise<T> {
      const held = { since: clock.now() };
      working.add(held);
      try {
        return await work();
      } finally {
        working.delete(held);
      }
    },
    /** How much is in progress that a stop waits for. */
    busy(): number {
      const oldest = clock.now() - longestWorkMs;
      for (const held of working) if (held.since < oldest) working.delete(held);
      return working.size;
    },
    /** Settles as the work does, or rejects when the service ends before. */
    async orEnd<T>(work: Promise<T>): Promise<T> {
      if (ask === null) return await work;
      const { promise, reject } = Promise.withResolvers<never>();
      const end = (): void => reject(endProblem());
      waiting.add(end);
      try {
        return await Promise.race([work, promise]);
      } finally {
        waiting.delete(end);
      }
    },
    /** Resolves with the problem of what is still open when the service ends; null: `over` aborted before. */
    async untilEnd(over: AbortSignal | undefined): Promise<Problem | null> {
      if (over?.aborted === true) return null;
      const { promise, resolve } = Promise.withResolvers<Problem | null>();
      const end = (): void => resolve(endProblem());
      waiting.add(end);
      over?.addEventListener('abort', () => resolve(null), { once: true });
      return await promise.finally(() => waiting.delete(end));
    },
  };
}

function endProblem(): Problem {
  return new Problem(
    'unavailable',
    'The service stops before this has ended. A turn continues at the next start: read its events then. Anything else may have happened: check before you repeat it.',
    { retryAfterMs: restartRetryMs },
  );
}
