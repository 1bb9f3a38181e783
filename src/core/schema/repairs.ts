/**
 * The repairs of a call's arguments while they are checked (`input-schema.ts`): values that clients send as JSON text, and null for arguments
 * that are optional. They are made in place, and undone where they do not make the value valid.
 */
import { readValue } from '../json/json-repair.ts';
import { jsonKey } from './schema-parts.ts';
import { fieldPath, preview } from './input-fault-text.ts';
import type { Repair } from '../tools/argument-repair.ts';

/** Repairs that are listed one by one. */
const maxListedRepairs = 20;

type Container = Record<string, unknown> | unknown[];
/** `to`: undefined removes the member. */
type Change = { parent: Container; path: readonly (string | number)[]; from: unknown; to: unknown };

export class Repairs {
  readonly #made: Change[] = [];

  /** The number of repairs so far, for `undo`. */
  get mark(): number {
    return this.#made.length;
  }

  make(change: Change): void {
    this.#made.push(change);
    setMember(change.parent, change.path, change.to);
  }

  /** Undoes the repairs since the mark, and returns them. */
  undo(mark: number): Change[] {
    const undone = this.#made.splice(mark);
    for (const { parent, path, from } of undone.toReversed()) setMember(parent, path, from);
    return undone;
  }

  /** Returns what was repaired; if that is a lot, the last one counts the rest. */
  list(): Repair[] {
    const shown = this.#made.slice(0, maxListedRepairs);
    const listed = shown.map(({ path, from, to }) => ({ path: fieldPath(path), from: preview(from), to: preview(to) }));
    const more = this.#made.length - shown.length;
    return more === 0 ? listed : [...listed, { path: '', from: `${more} more values`, to: 'repaired like these' }];
  }
}

/** Equal repairs have equal keys. */
export function changesKey(changes: readonly Change[]): string {
  return jsonKey(changes.map(({ path, to }) => (to === undefined ? [path] : [path, to])));
}

/**
 * Returns what a rejected value may stand for, in a list of at most one: the value of its JSON text, or undefined for an optional null, which
 * means that the argument is absent. `depth`: how deep it is nested.
 */
export function meaningsOf(value: unknown, isOptional: boolean, depth: number): unknown[] {
  if (value === null) return isOptional ? [undefined] : [];
  if (typeof value !== 'string') return [];
  // Models also write Python's spelling.
  const text = /^\s*(?:true|false)\s*$/i.test(value) ? value.toLowerCase() : value;
  const meant = readValue(text, depth);
  return meant === undefined || typeof meant === 'string' ? [] : [meant];
}

function setMember(parent: Container, path: readonly (string | number)[], value: unknown): void {
  const key = path.at(-1) ?? '';
  if (value === undefined) Reflect.deleteProperty(parent, key);
  // Defined rather than assigned, since a member may be called `__proto__`.
  else Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}
