/**
 * How long an answer is waited for: progress begins the time anew, a question to a person stops it, and a total ends it in any case.
 * Not the SDK's own time-outs, which run on while a person thinks.
 */
import { limits } from '../../core/limits.ts';

export type PatienceOptions = {
  /** For one answer, or one sign of life. */
  eachMs: number;
  totalMs?: number;
  /** `ms`: which of the two ran out. */
  onLate(ms: number): void;
};

export class Patience {
  readonly #eachMs: number;
  readonly #onLate: (ms: number) => void;
  #each: ReturnType<typeof setTimeout> | undefined;
  readonly #total: ReturnType<typeof setTimeout>;
  #questions = 0;
  #isOver = false;

  constructor({ eachMs, totalMs = limits.maxServerCallMs, onLate }: PatienceOptions) {
    this.#eachMs = eachMs;
    this.#onLate = onLate;
    this.#total = setTimeout(() => this.#late(totalMs), totalMs);
    this.renew();
  }

  /** A sign of life. */
  renew(): void {
    clearTimeout(this.#each);
    if (this.#questions > 0 || this.#isOver) return;
    this.#each = setTimeout(() => this.#late(this.#eachMs), this.#eachMs);
  }

  /** Somebody else is waited for, not the server. */
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
