/** The changes made to a schema for a provider, each with its path and a message for the toolset's administrator. */
import { isDeeperThan } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToLength } from '../text/utf8.ts';

/** Reported changes of one tool's schema. */
export const maxSchemaChanges = 100;

/** `path`: a JSON Pointer into the schema as sent; '' is the root. */
export type SchemaChange = { path: string; message: string };

export class SchemaReport {
  readonly #changes: SchemaChange[] = [];
  readonly #seen = new Set<string>();
  #more = 0;

  /** `before`: changes of an earlier pass, reported first. */
  constructor(before?: SchemaReport) {
    if (before === undefined) return;
    for (const { path, message } of before.#changes) this.add(path, message);
    this.#more = before.#more;
  }

  add(path: string, message: string): void {
    const key = `${path} ${message}`;
    if (this.#seen.has(key)) return;
    if (this.#changes.length >= maxSchemaChanges) {
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

/** Returns a value of an untrusted schema as a message quotes it. */
export function previewValue(value: unknown): string {
  if (isDeeperThan(value, limits.maxJsonDepth)) return 'a very deep value';
  return cutToLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'), limits.maxQuotedLength).toWellFormed();
}
