/**
 * Time-outs of one exchange with a provider. One timer at a time watches a deadline that moves with every read, because a
 * timer for each read would cost more than the read.
 */
import type { Clock } from '../ports/runtime.ts';

export class Patience {
  /** Set when a deadline passed: what was waited for. */
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

  /** Aborts when a deadline passes, and when the outer signal does. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on, something must come within `ms`. `what` completes "The provider x …". */
  allow(ms: number, what: string): void {
    if (this.#over) return;
    this.#deadline = this.#clock.now() + ms;
    this.#waitsFor = what;
    if (this.#deadline < this.#wakesAt) this.#watch();
  }

  /** Called once on abort, at once if it already happened. For what does not listen to the signal itself. */
  onAbort(act: () => void): void {
    if (this.signal.aborted) act();
    else this.#onAbort = act;
  }

  /** Rejects on abort, whether `work` listens to the signal or not. */
  async guard<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([
      work,
      new Promise<never>((_resolve, reject) => {
        this.onAbort(() => reject(this.signal.reason));
      }),
    ]);
  }

  /** No more time-outs; the exchange itself goes on. */
  stop(): void {
    this.#onAbort = null;
    this.#over = true;
    this.#disarm();
    this.#outer?.removeEventListener('abort', this.#forward);
  }

  #abort(): void {
    this.#controller.abort(this.#outer?.aborted ? this.#outer.reason : new DOMException('The exchange was given up.', 'AbortError'));
    const act = this.#onAbort;
    this.stop();
    act?.();
  }

  #watch(): void {
    this.#disarm();
    this.#wakesAt = this.#deadline;
    this.#disarm = this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => this.#wake());
  }

  /** The deadline may have moved on since the timer was set. */
  #wake(): void {
    if (this.#deadline > this.#clock.now()) {
      this.#watch();
      return;
    }
    this.expired = this.#waitsFor;
    this.#abort();
  }
}
