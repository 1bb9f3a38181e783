/** Where schemas stand in a schema (JSON Schema 2020-12, "Applicator"), and going through them. Used by all who walk one. */
import { pointer } from '../json-pointer.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

/** How a keyword holds schemas: one, a list, or one for each name. Other keywords hold data. */
const holders: ReadonlyMap<string, 'one' | 'list' | 'map'> = new Map([
  ...(['items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'] as const).map(
    (keyword) => [keyword, 'one'] as const,
  ),
  ...(['not', 'if', 'then', 'else', 'contentSchema'] as const).map((keyword) => [keyword, 'one'] as const),
  ...(['prefixItems', 'anyOf', 'oneOf', 'allOf'] as const).map((keyword) => [keyword, 'list'] as const),
  ...(['properties', 'patternProperties', 'dependentSchemas'] as const).map((keyword) => [keyword, 'map'] as const),
]);

/** Keywords whose members stand under names of their author's choice: there a key is no keyword. Those that only references lead into, too. */
export const namedParts: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies'],
  ...['$defs', 'definitions'],
]);

/** Keywords whose members are data: whatever stands in them is no schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);

/** `undefined`: the part is left out. */
export type Visit = (part: unknown, path: string, keyword: string) => unknown;

/** The same object where no part changed. */
export function mapParts(schema: JsonSchema, path: string, visit: Visit): JsonSchema {
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapKeyword(keyword, value, pointer(path, keyword), visit);
    if (mapped !== value) changed = true;
    if (mapped !== undefined) entries.push([keyword, mapped]);
  }
  return changed ? Object.fromEntries(entries) : schema;
}

function mapKeyword(keyword: string, value: unknown, path: string, visit: Visit): unknown {
  const holder = holders.get(keyword);
  if (holder === 'one') return visit(value, path, keyword);
  if (holder === 'list' && Array.isArray(value)) {
    const list = value.map((part: unknown, index) => visit(part, pointer(path, index), keyword));
    return list.every((part, index) => part === value[index]) ? value : list.filter((part) => part !== undefined);
  }
  if (holder === 'map' && isRecord(value)) {
    let changed = false;
    const entries: [string, unknown][] = [];
    for (const [name, part] of Object.entries(value)) {
      const mapped = visit(part, pointer(path, name), keyword);
      if (mapped !== part) changed = true;
      if (mapped !== undefined) entries.push([name, mapped]);
    }
    return changed ? Object.fromEntries(entries) : value;
  }
  return value;
}

/** Without these keywords; the same object where it has none of them. */
export function without(schema: JsonSchema, ...keywords: string[]): JsonSchema {
  if (!keywords.some((keyword) => Object.hasOwn(schema, keyword))) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

/** Keywords that say something to a reader and refuse no value. */
export const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
]);

export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-');
}

/** Takes any value at all. */
export function isPermissive(schema: JsonSchema): boolean {
  return Object.keys(schema).every(isAnnotation);
}

/** What is left of a part that cannot be told in full: its type and its words. */
export function outlineOf(part: unknown): JsonSchema {
  if (!isRecord(part)) return {};
  const { type, description } = part;
  return { ...(typeof type === 'string' && { type }), ...(typeof description === 'string' && { description }) };
}

/** Equal but for the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || (JSON.stringify(a)?.length === JSON.stringify(b)?.length && jsonKey(a) === jsonKey(b));
}

/** Each once, the first of equal ones. */
export function distinct<T>(values: readonly T[]): T[] {
  const unique = [...new Set(values)];
  if (unique.length < 2) return unique;
  const seen = new Set<string>();
  return unique.filter((value) => {
    const key = jsonKey(value);
    return !seen.has(key) && seen.add(key);
  });
}

/** Equal JSON values have equal keys, whatever the order of their fields. */
export function jsonKey(value: unknown): string {
  return (typeof value === 'object' && value !== null ? JSON.stringify(value, sortKeys) : JSON.stringify(value)) ?? 'undefined';
}

function sortKeys(_key: string, value: unknown): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}
