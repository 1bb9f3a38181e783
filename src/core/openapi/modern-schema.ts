/**
 * Converts one part of a document's schemas to JSON Schema 2020-12: rewrites OpenAPI 3.0 spellings (`nullable`, boolean bounds, `example`)
 * and removes keywords without use for callers (`xml`, `discriminator`, `x-…`). Does not visit nested parts; `schemas.ts` does. OpenAPI
 * 3.0.4, "Schema Object"; 3.1.1, "Schema Object".
 */
import { isDeeperThan } from '../json/json-depth.ts';
import { limits } from '../limits.ts';
import { cutUtf8 } from '../tools/result-bound.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, listOf } from '../json/wire-value.ts';

/** A default, an example or a list of values in an imported schema that nests deeper is left out. */
const maxOpenApiDataDepth = 8;

/** Skips `$ref`, which the reader handles. */
export function toJsonSchema2020(part: JsonSchema): JsonSchema {
  const entries = Object.entries(part).flatMap(([keyword, value]) => rewrite(keyword, value, part));
  if (Array.isArray(part.examples) === false && isSmallData(part.example)) entries.push(['examples', [part.example]]);
  const schema = Object.fromEntries(entries);
  return part.nullable === true ? allowNull(schema) : schema;
}

function rewrite(keyword: string, value: unknown, part: JsonSchema): [string, unknown][] {
  if (silent.has(keyword) || keyword.startsWith('x-')) return [];
  switch (keyword) {
    case 'description':
      return typeof value === 'string' ? [[keyword, cutUtf8(value, limits.maxOperationDescriptionBytes)]] : [];
    case 'title':
    case 'format':
    case 'pattern':
      return typeof value === 'string' ? [[keyword, value]] : [];
    case 'required': {
      // Some documents write `required: true` in a property.
      const names = listOf(value).filter((name) => typeof name === 'string');
      return names.length === 0 ? [] : [[keyword, [...new Set(names)]]];
    }
    case 'examples': {
      const examples = listOf(value).filter(isSmallData).slice(0, maxExamples);
      return examples.length === 0 ? [] : [[keyword, examples]];
    }
    case 'default':
      return isShallow(value) ? [[keyword, value]] : [];
    case 'const':
      return isShallow(value) ? [[keyword, value]] : [];
    case 'enum':
      return Array.isArray(value) && value.length > 0 && isShallow(value) ? [[keyword, value]] : [];
    case 'minimum':
      return typeof value !== 'number' ? [] : [[part.exclusiveMinimum === true ? 'exclusiveMinimum' : keyword, value]];
    case 'maximum':
      return typeof value !== 'number' ? [] : [[part.exclusiveMaximum === true ? 'exclusiveMaximum' : keyword, value]];
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value === 'number' ? [[keyword, value]] : [];
    default:
      return [[keyword, value]];
  }
}

const silent: ReadonlySet<string> = new Set([
  ...['xml', 'externalDocs', 'discriminator', 'nullable', 'readOnly', 'writeOnly', 'example', '$comment'],
  // Keywords that name parts: references are pointers into the document and are rewritten to the tool's definitions.
  ...[
    '$schema',
    '$id',
    '$anchor',
    '$dynamicAnchor',
    '$dynamicRef',
    '$recursiveRef',
    '$recursiveAnchor',
    '$vocabulary',
    '$defs',
    'definitions',
  ],
]);

const maxExamples = 3;
const maxExampleCharacters = 500;

function isSmallData(value: unknown): boolean {
  if (value === undefined || !isShallow(value)) return false;
  return typeof value === 'string' ? value.length <= maxExampleCharacters : JSON.stringify(value).length <= maxExampleCharacters;
}

function isShallow(value: unknown): boolean {
  return !isDeeperThan(value, maxOpenApiDataDepth);
}

export function allowNull(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (typeof type === 'string' && schema.allOf === undefined && schema.anyOf === undefined && schema.oneOf === undefined) {
    const values = Array.isArray(rest.enum) && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {};
    return { type: type === 'null' ? type : [type, 'null'], ...rest, ...values };
  }
  if (Array.isArray(type)) return type.includes('null') ? schema : { ...schema, type: [...type, 'null'] };
  const words = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword === 'description' || keyword === 'title'));
  const rules = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !Object.hasOwn(words, keyword)));
  return Object.keys(rules).length === 0 ? schema : { ...words, anyOf: [rules, { type: 'null' }] };
}

/** Returns whether the property applies to this side: `readOnly` only to output, `writeOnly` only to input. */
export function appliesToSide(property: unknown, side: 'input' | 'output'): boolean {
  if (!isRecord(property)) return true;
  return side === 'input' ? property.readOnly !== true : property.writeOnly !== true;
}
