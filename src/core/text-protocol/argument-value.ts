/**
 * The JSON of an argument that a model wrote as plain text, as in `<parameter=days>3</parameter>`: the tool's schema says what it is. What
 * does not fit the schema stays text, which the check of the arguments reports. Used by `written-calls.ts`.
 */
import { readArguments } from '../json/json-repair.ts';
import { isRecord, listOf, recordOf, stringOf, tryParse } from '../json/wire-value.ts';
import { typeOfValue } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';

/** `mended`: it was repaired. */
export type ArgumentValue = { json: string; mended?: boolean };

export function argumentValue(text: string, name: string, schema: JsonSchema | undefined): ArgumentValue {
  const types = typesOf(schema === undefined ? undefined : propertyOf(schema, name), schema ?? {}, 0);
  const value = text.trim();
  const asText = { json: JSON.stringify(text) };
  if (types.has('null') && /^(?:null|none)$/i.test(value)) return { json: 'null' };
  if (types.has('string')) return asText;
  // Digits stay as they were written, so that a number that would be rounded is noticed later.
  if (types.has('number') && jsonNumber.test(value)) return { json: value };
  if (types.has('boolean') && /^(?:true|false)$/i.test(value)) return { json: value.toLowerCase() };
  if (types.has('object') || types.has('array')) return structured(value) ?? asText;
  const isJson = types.size === 0 && !value.startsWith('"') && tryParse(value) !== undefined;
  return isJson ? { json: value } : asText;
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function structured(value: string): ArgumentValue | null {
  if (!/^[[{]/.test(value)) return null;
  const { state, arguments: read } = readArguments(`{"value":${value}}`, { ended: true, length: false });
  if (read === null || typeof read.value !== 'object') return null;
  return state === 'ok' ? { json: value } : { json: JSON.stringify(read.value), mended: true };
}

function propertyOf(schema: JsonSchema, name: string): unknown {
  const { properties, additionalProperties } = schema;
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** The types that a schema allows; `integer` counts as `number`. Empty: any. */
function typesOf(schema: unknown, root: JsonSchema, depth: number): ReadonlySet<string> {
  if (!isRecord(schema) || depth > maxDepth) return new Set();
  const definition = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(stringOf(schema.$ref));
  if (definition !== null) return typesOf(recordOf(root[definition[1] ?? ''])[definition[2] ?? ''], root, depth + 1);
  const own = [schema.type].flat().filter((type) => typeof type === 'string');
  const values = [...listOf(schema.enum), ...('const' in schema ? [schema.const] : [])].map(typeOfValue);
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(listOf).flatMap((part) => [...typesOf(part, root, depth + 1)]);
  const names = own.length > 0 ? own : [...values, ...parts];
  return new Set(names.map((type) => (type === 'integer' ? 'number' : type)));
}

const maxDepth = 8;
