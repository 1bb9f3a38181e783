/** The timeouts of the project: a limit for one promise or signal, an idle timeout that progress extends, and waits that end with a signal. */
import type { Clock } from '../ports/runtime.ts';

type Timer = Pick<Clock, 'after'>;

/**
 * Returns the value of `work`, or after `ms` what `onTimeout` returns or throws. The work itself continues, and a later failure of it is
 * ignored. Abort the work after this has settled, not in `onTimeout`: its rejection could settle first.
 */
export async function withTimeout<T, Late = T>(
  timer: Timer,
  work: Promise<T>,
  ms: number,
  onTimeout: () => Late | PromiseLike<Late>,
): Promise<T | Late> {
  let disarm = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    disarm = timer.after(ms, resolve);
  });
  try {
    return await Promise.race([work, late.then(onTimeout)]);
  } finally {
    disarm();
  }
}

export type TimedAbort = ReturnType<typeof abortAfter>;

/**
 * Returns a signal that aborts with `reason` after `ms`, or with `outer`. Not `AbortSignal.timeout`: it cannot be cleared, and prevents the
 * eviction of a session's Durable Object until it fires.
 */
export function abortAfter(timer: Timer, ms: number, reason: () => unknown, outer?: AbortSignal) {
  const controller = new AbortController();
  const follow = (): void => abort(outer?.reason);
  const clear = timer.after(ms, () => abort(reason()));
  /** From then on the signal aborts by `abort` only. */
  const disarm = (): void => {
    clear();
    outer?.removeEventListener('abort', follow);
  };
  /** Also clears the timer. */
  const abort = (cause: unknown): void => {
    disarm();
    controller.abort(cause);
  };
  if (outer?.aborted) follow();
  else outer?.addEventListener('abort', follow);
  return { signal: controller.signal, abort, disarm };
}

export const abandoned = Symbol('abandoned');

/** How often a waiting request looks at the work of another one: at first after 1 ms, then less often. */
const usualLookMs = 16;

/**
 * Waits for work that another request of this isolate has started. Returns `abandoned` after `ms`, or at once if that request has ended:
 * the platform drops the work of a request whose client has disconnected, or whose Durable Object was reset.
 *
 * It looks at times of its own whether the work is done: code that awaits a promise of another Durable Object can be continued in that
 * object, where any use of its own storage fails (seen in workerd on busy machines, also through `Promise.race`).
 */
export async function joinWork<T>(timer: Timer, work: Promise<T>, ms: number, longestLookMs = usualLookMs): Promise<T | typeof abandoned> {
  let outcome: (() => T | typeof abandoned) | null = null;
  work.then(
    (value) => {
      outcome = () => value;
    },
    (error: unknown) => {
      outcome = () => {
        if (error instanceof Error && endedRequest.test(error.message)) return abandoned;
        throw error;
      };
    },
  );
  const look = (): typeof outcome => outcome;
  for (let leftMs = ms, nextMs = 1; look() === null && leftMs > 0; nextMs = Math.min(nextMs * 2, longestLookMs)) {
    const pauseMs = Math.min(nextMs, leftMs);
    await new Promise<void>((resolve) => void timer.after(pauseMs, resolve));
    leftMs -= pauseMs;
  }
  return (look() ?? (() => abandoned))();
}

/** How workerd rejects a promise that cannot settle (flag `handle_cross_request_promise_resolution`, in force since 2024-10-14). */
const endedRequest = /created by a request that has since ended/;

/**
 * Throws the signal's reason when it aborts. The work continues in the background: `late` receives its value, and its failure is ignored.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, late: (value: T) => unknown = () => {}): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(signal.reason);
      work.then(late).catch(() => {
        // A failure after the abort has no receiver.
      });
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export type IdleTimeout = ReturnType<typeof createIdleTimeout>;

export type IdleTimeoutOptions = {
  /** The time without progress. Default: none until the first `extend`. */
  idleMs?: number;
  /** The limit of the whole, pauses included. */
  maxMs?: number;
  /** After a pause, continues with the time that was left instead of restarting. */
  keepsRemaining?: boolean;
};

/** Uses a single timer for the idle timeout: when it fires, it compares the deadline, which each sign of progress moves. */
export function createIdleTimeout(clock: Pick<Clock, 'now' | 'after'>, options: IdleTimeoutOptions) {
  const { maxMs, keepsRemaining = false } = options;
  let idleMs = options.idleMs ?? Number.POSITIVE_INFINITY;
  let notify: ((ms: number) => void) | null = null;
  let deadline = Number.POSITIVE_INFINITY;
  let wakesAt = Number.POSITIVE_INFINITY;
  let remaining = 0;
  let pauses = 0;
  let disarmIdle = (): void => undefined;
  let disarmMax = (): void => undefined;
  const stop = (): void => {
    notify = null;
    disarmIdle();
    disarmMax();
  };
  const end = (ms: number): void => {
    const onTimeout = notify;
    stop();
    onTimeout?.(ms);
  };
  const watch = (): void => {
    disarmIdle();
    wakesAt = deadline;
    disarmIdle = clock.after(Math.max(0, deadline - clock.now()), () => {
      wakesAt = Number.POSITIVE_INFINITY;
      // The end of the pause sets the next timer.
      if (pauses > 0) return;
      if (deadline > clock.now()) watch();
      else end(idleMs);
    });
  };
  const restart = (ms: number): void => {
    if (notify === null) return;
    deadline = clock.now() + ms;
    if (pauses === 0 && deadline < wakesAt) watch();
  };
  return {
    /** Starts the timeouts. `onTimeout` is called once, with the timeout in milliseconds that expired. */
    start(onTimeout: (ms: number) => void): void {
      notify = onTimeout;
      restart(idleMs);
      if (maxMs !== undefined) disarmMax = clock.after(maxMs, () => end(maxMs));
    },
    /** Restarts the idle timeout, from now on with `ms` if given. */
    extend(ms?: number): void {
      if (ms !== undefined) idleMs = ms;
      restart(idleMs);
    },
    /** Pauses the idle timeout while `work` waits for someone else, such as the user. The total limit keeps running. */
    async pauseDuring<T>(work: Promise<T>): Promise<T> {
      if (pauses === 0) remaining = deadline - clock.now();
      pauses += 1;
      try {
        return await work;
      } finally {
        pauses -= 1;
        if (pauses === 0) restart(keepsRemaining ? Math.max(0, remaining) : idleMs);
      }
    },
    stop,
  };
}
