/**
 * The idle timeouts of one exchange with a provider. A single timer watches a deadline that each read moves, because a timer per read would
 * cost more than the read.
 */
import type { Clock } from '../ports/runtime.ts';

export class IdleTimeout {
  /** What the exchange was waiting for when a deadline passed; otherwise null. */
  expired: string | null = null;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #forward = () => this.#abort();
  #deadline = Number.POSITIVE_INFINITY;
  #waitsFor = '';
  #wakesAt = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => undefined;
  #onAbort: (() => void) | null = null;
  #over = false;

  constructor(clock: Clock, outer?: AbortSignal) {
    this.#clock = clock;
    this.#outer = outer;
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#forward);
  }

  /** Aborts when a deadline passes or the outer signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Requires progress within `ms`. `what` completes "The provider x …". */
  extend(ms: number, what: string): void {
    if (this.#over) return;
    this.#deadline = this.#clock.now() + ms;
    this.#waitsFor = what;
    if (this.#deadline < this.#wakesAt) this.#watch();
  }

  /** Calls `act` once on abort, immediately if already aborted. For work that does not listen to the signal. */
  onAbort(act: () => void): void {
    if (this.signal.aborted) act();
    else this.#onAbort = act;
  }

  /** Rejects on abort, whether or not `work` listens to the signal. */
  async guard<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([
      work,
      new Promise<never>((_resolve, reject) => {
        this.onAbort(() => reject(this.signal.reason));
      }),
    ]);
  }

  /** Stops the timeouts; the exchange continues. */
  stop(): void {
    this.#onAbort = null;
    this.#over = true;
    this.#disarm();
    this.#outer?.removeEventListener('abort', this.#forward);
  }

  #abort(): void {
    this.#controller.abort(this.#outer?.aborted ? this.#outer.reason : new DOMException('The exchange was aborted.', 'AbortError'));
    const act = this.#onAbort;
    this.stop();
    act?.();
  }

  #watch(): void {
    this.#disarm();
    this.#wakesAt = this.#deadline;
    this.#disarm = this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => this.#wake());
  }

  /** The deadline may have moved since the timer was set. */
  #wake(): void {
    if (this.#deadline > this.#clock.now()) {
      this.#watch();
      return;
    }
    this.expired = this.#waitsFor;
    this.#abort();
  }
}
