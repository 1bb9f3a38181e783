/** JSON Schema's types, as foreign schemas spell them. Used by the argument check and by the words of its faults. */
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

/** null: any type. Types that JSON Schema does not know make it any, too. */
export function typesOf(schema: JsonSchema): string[] | null {
  const written = typeof schema.type === 'string' ? [schema.type] : Array.isArray(schema.type) ? schema.type : null;
  if (written === null || !written.every((type) => knownTypes.has(type))) return null;
  return isNullable(schema) ? [...written, 'null'] : written;
}

/** OpenAPI's `nullable`; and many a `{"type": "string", "default": null}` means that null may be sent as well. */
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

const knownTypes: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
