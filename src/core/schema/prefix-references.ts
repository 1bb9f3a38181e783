/**
 * Repairs the references of a schema whose root changed: `#/properties/a` may be gone or may mean another part, and unused `$defs` would
 * reveal hidden arguments. Parts that are still referenced are copied from the source to `$defs`.
 */
import { dataKeywords, namedParts, without } from './schema-parts.ts';
import { resolvePointer } from './schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, mapMembers } from '../json/wire-value.ts';

/** `body`: the changed root. References to `$defs` keep their text; the targets of others are copied to `$defs`. */
export function prefixReferences(body: JsonSchema, source: JsonSchema): JsonSchema {
  const kept = { $defs: new Map<string, unknown>(), definitions: new Map<string, unknown>() };
  /** Reference as written → new reference. */
  const moved = new Map<string, string>();
  const waiting: (() => void)[] = [];
  /** A part is referenced by an anchor or an id, so any definition may be needed. */
  let byName = false;

  const walk = (part: unknown, isRoot = false): unknown => {
    if (Array.isArray(part)) return part.map((item) => walk(item));
    return isRecord(part) ? walkSchema(part, isRoot) : part;
  };
  const walkSchema = (schema: JsonSchema, isRoot = false): JsonSchema =>
    mapMembers(schema, (value, keyword) => {
      if (typeof value === 'string' && (keyword === '$ref' || keyword === '$dynamicRef')) return move(value);
      if (dataKeywords.has(keyword) || (isRoot && (keyword === '$defs' || keyword === 'definitions'))) return value;
      return namedParts.has(keyword) && isRecord(value) ? mapMembers(value, (part) => walk(part)) : walk(value);
    });
  /** Returns the new text of a reference. */
  const move = (reference: string): string => {
    if (reference !== '#' && !reference.startsWith('#/')) {
      byName = true;
      return reference;
    }
    const known = moved.get(reference);
    if (known !== undefined) return known;
    const [, home, key] = /^#\/(\$defs|definitions)\/([\w.$-]+)(?:\/|$)/.exec(reference) ?? [];
    if ((home === '$defs' || home === 'definitions') && key !== undefined) {
      const parts = source[home];
      if (isRecord(parts) && Object.hasOwn(parts, key)) keep(home, key, parts[key]);
      moved.set(reference, reference);
      return reference;
    }
    const part = resolvePointer(source, reference);
    if (part === undefined) return reference;
    const place = freeKey(source, kept.$defs);
    moved.set(reference, `#/$defs/${place}`);
    keep('$defs', place, isRecord(part) ? without(part, '$defs', 'definitions') : part);
    return `#/$defs/${place}`;
  };
  const keep = (home: keyof typeof kept, key: string, part: unknown): void => {
    if (kept[home].has(key)) return;
    kept[home].set(key, part);
    waiting.push(() => kept[home].set(key, walk(part)));
  };

  const schema = { ...walkSchema(body, true) };
  // Copied parts may refer to others, which are appended to the list.
  for (let index = 0; index < waiting.length; index += 1) waiting[index]?.();
  for (const home of ['$defs', 'definitions'] as const) {
    const definitions = source[home];
    const all: JsonSchema = { ...(byName && isRecord(definitions) ? definitions : {}), ...Object.fromEntries(kept[home]) };
    if (Object.keys(all).length > 0) schema[home] = all;
    else delete schema[home];
  }
  return schema;
}

function freeKey({ $defs }: JsonSchema, kept: ReadonlyMap<string, unknown>): string {
  for (let number = kept.size + 1; ; number += 1) {
    const key = `part_${number}`;
    if (!(isRecord($defs) && Object.hasOwn($defs, key)) && !kept.has(key)) return key;
  }
}
