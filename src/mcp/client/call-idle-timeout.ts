/**
 * The idle timeout of a call: progress restarts it, a question to the user pauses it, and a total limit ends it in any case. The SDK's own
 * timeouts are not used, because they continue while the user answers.
 */
import { limits } from '../../core/limits.ts';

export type CallIdleTimeoutOptions = {
  /** Time for a response, or between two progress messages. */
  eachMs: number;
  totalMs?: number;
  /** `ms`: the limit that was reached. */
  onLate(ms: number): void;
};

export class CallIdleTimeout {
  readonly #eachMs: number;
  readonly #onLate: (ms: number) => void;
  #each: ReturnType<typeof setTimeout> | undefined;
  readonly #total: ReturnType<typeof setTimeout>;
  #questions = 0;
  #isOver = false;

  constructor({ eachMs, totalMs = limits.maxServerCallMs, onLate }: CallIdleTimeoutOptions) {
    this.#eachMs = eachMs;
    this.#onLate = onLate;
    this.#total = setTimeout(() => this.#late(totalMs), totalMs);
    this.renew();
  }

  /** Restarts the idle timeout. */
  renew(): void {
    clearTimeout(this.#each);
    if (this.#questions > 0 || this.#isOver) return;
    this.#each = setTimeout(() => this.#late(this.#eachMs), this.#eachMs);
  }

  /** Pauses the timeout while a question waits for its answer. */
  async during<T>(question: Promise<T>): Promise<T> {
    this.#questions += 1;
    clearTimeout(this.#each);
    try {
      return await question;
    } finally {
      this.#questions -= 1;
      this.renew();
    }
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#each);
    clearTimeout(this.#total);
  }

  #late(ms: number): void {
    if (this.#isOver) return;
    this.end();
    this.#onLate(ms);
  }
}
