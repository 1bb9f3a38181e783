/** How to visit the parts of a schema, and what they have in common. Used by everything that traverses a schema. */
import { pointer } from '../json/json-pointer.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, mapItems, mapMembers } from '../json/wire-value.ts';
import { keywordOf, typeNames } from './schema-keywords.ts';

/**
 * Keywords whose member names are chosen by the author, so a key in them is not a keyword; including those that are only reachable by
 * reference.
 */
export const namedParts: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies'],
  ...['$defs', 'definitions'],
]);

/** Keywords that contain data, never schemas. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);

/** `undefined`: the part is removed. */
export type Visit = (part: unknown, path: string, keyword: string) => unknown;

/** Returns the same object if no part changed. */
export function mapParts(schema: JsonSchema, path: string, visit: Visit): JsonSchema {
  return mapMembers(schema, (value, keyword) => {
    const { holds } = keywordOf(keyword);
    const at = pointer(path, keyword);
    if (holds === 'one') return visit(value, at, keyword);
    if (holds === 'list' && Array.isArray(value)) return mapItems(value, (part, index) => visit(part, pointer(at, index), keyword));
    if (holds === 'map' && isRecord(value)) return mapMembers(value, (part, name) => visit(part, pointer(at, name), keyword));
    return value;
  });
}

/** Returns the schema without these keywords; the same object if it has none of them. */
export function without(schema: JsonSchema, ...keywords: string[]): JsonSchema {
  if (!keywords.some((keyword) => Object.hasOwn(schema, keyword))) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

/** Keywords that inform the reader and reject no value. */
export const annotations: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'],
]);

export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-');
}

/** Returns whether the schema accepts any value. */
export function isPermissive(schema: JsonSchema): boolean {
  return Object.keys(schema).every(isAnnotation);
}

/** Returns the outline of a part that cannot be described in full: its type and its texts. */
export function typeOutline(part: unknown): JsonSchema {
  if (!isRecord(part)) return {};
  const { type, description } = part;
  return { ...(typeof type === 'string' && { type }), ...(typeof description === 'string' && { description }) };
}

/** Returns whether the values are equal, ignoring the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || (JSON.stringify(a)?.length === JSON.stringify(b)?.length && jsonKey(a) === jsonKey(b));
}

/** Returns the values without duplicates; the first of equal values is kept. */
export function distinct<T>(values: readonly T[]): T[] {
  const unique = [...new Set(values)];
  if (unique.length < 2) return unique;
  const seen = new Set<string>();
  return unique.filter((value) => {
    const key = jsonKey(value);
    return !seen.has(key) && seen.add(key);
  });
}

/** Equal JSON values have equal keys, regardless of the order of their fields. */
export function jsonKey(value: unknown): string {
  return (typeof value === 'object' && value !== null ? JSON.stringify(value, sortKeys) : JSON.stringify(value)) ?? 'undefined';
}

function sortKeys(_key: string, value: unknown): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** Returns the types; null: any type, also if the schema names a type that JSON Schema does not have. */
export function typesOf(schema: JsonSchema): string[] | null {
  const written = typeof schema.type === 'string' ? [schema.type] : Array.isArray(schema.type) ? schema.type : null;
  if (written === null || !written.every((type) => typeNames.has(type))) return null;
  return isNullable(schema) ? [...written, 'null'] : written;
}

/** The only values of a part with `const` or `enum`; null: it has neither. */
export function fixedChoices(schema: JsonSchema): readonly unknown[] | null {
  return Object.hasOwn(schema, 'const') ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : null;
}

/** OpenAPI's `nullable`. A `{"type": "string", "default": null}` usually means that null may be sent, too. */
export function isNullable(schema: JsonSchema): boolean {
  return schema.nullable === true || schema.default === null;
}

export function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/** The narrowest type of a value. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
