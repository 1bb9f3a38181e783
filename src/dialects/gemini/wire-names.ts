/**
 * Names and schemas of Gemini's API in the form that the rest of this folder reads: the API takes its members in both spellings (JSON of
 * Protocol Buffers: `systemInstruction` and `system_instruction`), and has schemas in a subset of OpenAPI (API reference "Schema").
 */
import { isRecord, mapItems } from '../../core/json/wire-value.ts';
import { makeNullable } from '../../core/schema/schema-cleanup.ts';
import { mapParts } from '../../core/schema/schema-parts.ts';

/** Members whose content may have any names. */
const free: ReadonlySet<string> = new Set(
  'args response parameters parametersJsonSchema responseSchema responseJsonSchema labels'.split(' '),
);

/** Returns the value with the names of its members in one spelling. The depth of bodies is bounded. */
export function inOneSpelling(value: unknown): unknown {
  if (Array.isArray(value)) return mapItems(value, inOneSpelling);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([given, member]) => {
      const name = toCamelCase(given);
      return [name, free.has(name) ? member : inOneSpelling(member)];
    }),
  );
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** 64-bit integers are texts in JSON. */
const counts: ReadonlySet<string> = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Returns a schema of the API as JSON Schema. */
export function toJsonSchema(given: unknown): unknown {
  if (!isRecord(given)) return given;
  const entries = Object.entries(given).flatMap(([keyword, value]): [string, unknown][] => {
    const name = toCamelCase(keyword);
    if (name === 'nullable' || name === 'propertyOrdering' || (name === 'type' && value === 'TYPE_UNSPECIFIED')) return [];
    if (name === 'type' && typeof value === 'string') return [[name, value.toLowerCase()]];
    return [[name, counts.has(name) && typeof value === 'string' ? Number(value) : value]];
  });
  const schema = mapParts(Object.fromEntries(entries), '', toJsonSchema);
  return given.nullable === true ? makeNullable(schema) : schema;
}
