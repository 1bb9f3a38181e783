/**
 * Repairs the references of a schema whose root changed: `#/properties/a` may be gone or may mean another part, and unused `$defs` would
 * reveal hidden arguments. Parts that are still referenced are copied from the source to `$defs`.
 */
import { dataKeywords, namedParts } from './schema-parts.ts';
import { resolvePointer } from './schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** `body`: the changed root. References to `$defs` keep their text; the targets of others are copied to `$defs`. */
export function prefixReferences(body: JsonSchema, source: JsonSchema): JsonSchema {
  const moving: Moving = { source, kept: { $defs: new Map(), definitions: new Map() }, moved: new Map(), waiting: [], byName: false };
  const schema = walk(moving, body);
  // Copied parts may refer to others, which are appended to the list.
  for (let index = 0; index < moving.waiting.length; index += 1) moving.waiting[index]?.();
  for (const home of homes) {
    const all = moving.byName && isRecord(source[home]) ? { ...source[home] } : {};
    for (const [key, part] of moving.kept[home]) all[key] = part;
    if (Object.keys(all).length > 0) schema[home] = all;
    else delete schema[home];
  }
  return schema;
}

type Home = '$defs' | 'definitions';
const homes: readonly Home[] = ['$defs', 'definitions'];

type Moving = {
  source: JsonSchema;
  kept: Record<Home, Map<string, unknown>>;
  /** Reference as written → new reference. */
  moved: Map<string, string>;
  waiting: (() => void)[];
  /** A part is referenced by an anchor or an id, so any definition may be needed. */
  byName: boolean;
};

function walk(moving: Moving, schema: JsonSchema, isRoot = true): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (typeof value === 'string' && (keyword === '$ref' || keyword === '$dynamicRef')) return [keyword, move(moving, value)];
      if (dataKeywords.has(keyword) || (isRoot && (keyword === '$defs' || keyword === 'definitions'))) return [keyword, value];
      if (namedParts.has(keyword) && isRecord(value))
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, walkAny(moving, part)]))];
      return [keyword, walkAny(moving, value)];
    }),
  );
}

function walkAny(moving: Moving, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => walkAny(moving, item));
  return isRecord(part) ? walk(moving, part, false) : part;
}

/** Returns the new text of a reference. */
function move(moving: Moving, reference: string): string {
  const { source, moved } = moving;
  if (reference !== '#' && !reference.startsWith('#/')) {
    moving.byName = true;
    return reference;
  }
  const known = moved.get(reference);
  if (known !== undefined) return known;
  const [, home, key] = /^#\/(\$defs|definitions)\/([\w.$-]+)(?:\/|$)/.exec(reference) ?? [];
  if ((home === '$defs' || home === 'definitions') && key !== undefined) {
    const parts = source[home];
    if (isRecord(parts) && Object.hasOwn(parts, key)) keep(moving, home, key, parts[key]);
    moved.set(reference, reference);
    return reference;
  }
  const part = resolvePointer(source, reference);
  if (part === undefined) return reference;
  const place = freeKey(moving);
  moved.set(reference, `#/$defs/${place}`);
  const { $defs: _defs, definitions: _definitions, ...bare } = isRecord(part) ? part : {};
  keep(moving, '$defs', place, isRecord(part) ? bare : part);
  return `#/$defs/${place}`;
}

function keep(moving: Moving, home: Home, key: string, part: unknown): void {
  const parts = moving.kept[home];
  if (parts.has(key)) return;
  parts.set(key, part);
  moving.waiting.push(() => parts.set(key, walkAny(moving, part)));
}

function freeKey({ source, kept }: Moving): string {
  const taken = isRecord(source.$defs) ? source.$defs : {};
  for (let number = kept.$defs.size + 1; ; number += 1) {
    const key = `part_${number}`;
    if (!Object.hasOwn(taken, key) && !kept.$defs.has(key)) return key;
  }
}
