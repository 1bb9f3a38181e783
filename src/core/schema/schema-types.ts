/** JSON Schema types as foreign schemas spell them. Used by the argument check and its messages. */
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** Returns the types; null: any type, also if the schema names a type that JSON Schema does not have. */
export function typesOf(schema: JsonSchema): string[] | null {
  const written = typeof schema.type === 'string' ? [schema.type] : Array.isArray(schema.type) ? schema.type : null;
  if (written === null || !written.every((type) => knownTypes.has(type))) return null;
  return isNullable(schema) ? [...written, 'null'] : written;
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

const knownTypes: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
