/**
 * Type checks for fields of external JSON. A value of another type counts as absent, because servers send null, empty and zero values
 * for absent fields.
 */

import * as z from 'zod';

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The arguments of a call, as text or already parsed. */
export function argumentsOf(value: unknown): string | object | null {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) ? value : null;
}

/** A member may be called `constructor`, as those that all objects inherit. */
export function ownMember<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns undefined for invalid JSON; JSON itself has no undefined. */
export function tryParse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Invalid JSON: the caller reports it.
    return undefined;
  }
}

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * As a schema of a parsed JSON text, where every value is one. `z.json()` walks the value once more, and its recursion has no name in the
 * OpenAPI document.
 */
export const JsonValue = z
  .custom<JsonValue>((value) => value !== undefined, { message: 'is missing' })
  .meta({ id: 'JsonValue', description: 'Any JSON value.' });

// Code that walks a whole untrusted value recursively (cloning, hashing, `JSON.stringify`) overflows the stack if the value nests deep
// enough. `json-text.ts` measures text before it is parsed.

/** Whether arrays and objects nest more than `most` levels deep. Recurses no deeper than that, so any value is safe. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const member of Object.values(value)) if (isDeeperThan(member, most - 1)) return true;
  return false;
}

/** Returns the value with everything deeper than `most` levels replaced by null. */
export function cutBelow<Value>(value: Value, most: number): Value {
  // The shape is unchanged down to that depth, and deeper parts are not read.
  return isDeeperThan(value, most) ? (cut(value, most) as Value) : value;
}

function cut(value: unknown, most: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (most === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cut(item, most - 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, most - 1)]));
}

export type JsonPart = Json | readonly unknown[];

/** Returns all arrays and objects in a value, itself included; null if there are more than `most`. Iterative, for values of any depth. */
export function collectParts(value: unknown, most: number): JsonPart[] | null {
  const parts: JsonPart[] = [];
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    parts.push(next as JsonPart);
    if (parts.length > most) return null;
    for (const member of Object.values(next)) if (typeof member === 'object' && member !== null) waiting.push(member);
  }
  return parts;
}

/** Returns the record with what `map` returns; undefined leaves the member out. The same object if nothing changed. */
export function mapMembers(record: Json, map: (value: unknown, name: string) => unknown): Json {
  let isChanged = false;
  const members: [string, unknown][] = [];
  for (const [name, value] of Object.entries(record)) {
    const mapped = map(value, name);
    if (mapped !== value) isChanged = true;
    if (mapped !== undefined) members.push([name, mapped]);
  }
  // `fromEntries` creates `__proto__` as an ordinary member.
  return isChanged ? Object.fromEntries(members) : record;
}

/** The same for the items of a list. */
export function mapItems(list: readonly unknown[], map: (value: unknown, index: number) => unknown): readonly unknown[] {
  const mapped = list.map(map);
  return mapped.every((item, index) => item === list[index]) ? list : mapped.filter((item) => item !== undefined);
}

/** Returns a copy with every text changed, also the names of members. The caller has bounded the depth; an own `__proto__` stays a plain key. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), mapTexts(member, change)]));
}

/** Returns the value with the texts of its members changed, however deep, and not those of lists. The caller has bounded the depth. */
export function mapMemberTexts(value: unknown, change: (text: string, name: string) => string): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => mapMemberTexts(item, change));
  if (!isRecord(value)) return value;
  return mapMembers(value, (member, name) => (typeof member === 'string' ? change(member, name) : mapMemberTexts(member, change)));
}
