/** What became of a schema on its way to a provider: every change at its place, in words for whoever looks after the tool. */
import { isDeeperThan } from '../json-depth.ts';
import { limits } from '../limits.ts';

/** `path`: a JSON Pointer into the schema as it is sent; '' is the whole of it. */
export type SchemaChange = { path: string; message: string };

export class SchemaReport {
  readonly #changes: SchemaChange[] = [];
  readonly #seen = new Set<string>();
  #more = 0;

  /** `before`: what was told already is told first. */
  constructor(before?: SchemaReport) {
    if (before === undefined) return;
    for (const { path, message } of before.#changes) this.add(path, message);
    this.#more = before.#more;
  }

  add(path: string, message: string): void {
    const key = `${path} ${message}`;
    if (this.#seen.has(key)) return;
    if (this.#changes.length >= limits.maxSchemaChanges) {
      this.#more += 1;
      return;
    }
    this.#seen.add(key);
    this.#changes.push({ path, message });
  }

  changes(): SchemaChange[] {
    if (this.#more === 0) return this.#changes;
    return [...this.#changes, { path: '', message: `${this.#more} further changes of these kinds` }];
  }
}

/** A value of a stranger's schema as a message repeats it. */
export function shown(value: unknown): string {
  if (isDeeperThan(value, limits.maxJsonDepth)) return 'a very deep value';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > limits.maxQuotedLength ? `${text.slice(0, limits.maxQuotedLength - 1)}…`.toWellFormed() : text;
}
