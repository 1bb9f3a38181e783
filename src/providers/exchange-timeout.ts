/** The idle timeout of one exchange with a provider, and the signal that it aborts. */
import { createIdleTimeout, type IdleTimeout, unlessAborted } from '../engine/timeout.ts';
import type { Clock } from '../ports/runtime.ts';

export class ExchangeTimeout {
  /** What the exchange was waiting for when a deadline passed; otherwise null. */
  expired: string | null = null;
  readonly #controller = new AbortController();
  readonly #idle: IdleTimeout;
  readonly #outer: AbortSignal | undefined;
  readonly #forward = () => this.#abort();
  #waitsFor = '';
  #onAbort: (() => void) | null = null;

  constructor(clock: Clock, outer?: AbortSignal) {
    this.#outer = outer;
    this.#idle = createIdleTimeout(clock, {});
    this.#idle.start(() => {
      this.expired = this.#waitsFor;
      this.#abort();
    });
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#forward);
  }

  /** Aborts when a deadline passes or the outer signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Requires progress within `ms`. `what` completes "The provider x …". */
  extend(ms: number, what: string): void {
    this.#waitsFor = what;
    this.#idle.extend(ms);
  }

  /** Calls `act` once on abort, immediately if already aborted. For work that does not listen to the signal. */
  onAbort(act: () => void): void {
    if (this.signal.aborted) act();
    else this.#onAbort = act;
  }

  /** Rejects on abort, whether or not `work` listens to the signal. */
  async guard<T>(work: Promise<T>): Promise<T> {
    return await unlessAborted(work, this.signal);
  }

  /** Stops the timeouts; the exchange continues. */
  stop(): void {
    this.#onAbort = null;
    this.#idle.stop();
    this.#outer?.removeEventListener('abort', this.#forward);
  }

  #abort(): void {
    this.#controller.abort(this.#outer?.aborted ? this.#outer.reason : new DOMException('The exchange was aborted.', 'AbortError'));
    const act = this.#onAbort;
    this.stop();
    act?.();
  }
}
