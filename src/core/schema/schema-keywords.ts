/**
 * The keywords of JSON Schema 2020-12, one table for all code that tells them apart: the meta-schemas ("Applicator", "Validation"), and what
 * servers require beyond them.
 */
import { isCount, isDeeperThan, isRecord } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';

type Keyword = {
  /** The type of the values that it applies to; null: any. */
  of: 'string' | 'number' | 'array' | 'object' | null;
  /** Whether it can have this value. */
  is(value: unknown): boolean;
  /** How it contains schemas: one, a list, or a map by name. Absent: it contains data. */
  holds?: 'one' | 'list' | 'map';
  /** Of two bounds, the higher `least` and the lower `most` accept less. */
  bound?: 'least' | 'most';
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === 'boolean';
const isSchemaList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isType = (value: unknown): boolean => typeof value === 'string' && typeNames.has(value);
const isUnique = (value: readonly unknown[]): boolean => new Set(value).size === value.length;
/** Data in a schema is not traversed, but a recursive `JSON.stringify` writes it. */
const isData = (value: unknown): boolean => value !== undefined && !isDeeperThan(value, limits.maxJsonDepth);

export const typeNames: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

const rows: readonly (readonly [names: readonly string[], keyword: Keyword])[] = [
  [['title', 'description', 'format', '$ref', '$dynamicRef', '$recursiveRef', '$comment'], { of: null, is: isText }],
  [['deprecated', 'readOnly', 'writeOnly'], { of: null, is: isFlag }],
  [['default', 'const'], { of: null, is: isData }],
  [['examples'], { of: null, is: (value) => Array.isArray(value) && isData(value) }],
  [['enum'], { of: null, is: (value) => Array.isArray(value) && value.length > 0 && isData(value) }],
  [
    ['type'],
    { of: null, is: (value) => (Array.isArray(value) ? value.length > 0 && isUnique(value) && value.every(isType) : isType(value)) },
  ],
  [['anyOf', 'oneOf', 'allOf'], { of: null, is: isSchemaList, holds: 'list' }],
  [['not', 'if', 'then', 'else'], { of: null, is: isSchema, holds: 'one' }],
  [['pattern'], { of: 'string', is: isText }],
  [['minLength'], { of: 'string', is: isCount, bound: 'least' }],
  [['maxLength'], { of: 'string', is: isCount, bound: 'most' }],
  [['contentEncoding', 'contentMediaType'], { of: 'string', is: isData }],
  [['contentSchema'], { of: 'string', is: isData, holds: 'one' }],
  [['minimum', 'exclusiveMinimum'], { of: 'number', is: isNumber, bound: 'least' }],
  [['maximum', 'exclusiveMaximum'], { of: 'number', is: isNumber, bound: 'most' }],
  [['multipleOf'], { of: 'number', is: (value) => isNumber(value) && (value as number) > 0 }],
  [['items', 'contains', 'unevaluatedItems'], { of: 'array', is: isSchema, holds: 'one' }],
  [['prefixItems'], { of: 'array', is: isSchemaList, holds: 'list' }],
  [['minItems'], { of: 'array', is: isCount, bound: 'least' }],
  [['maxItems'], { of: 'array', is: isCount, bound: 'most' }],
  [['minContains', 'maxContains'], { of: 'array', is: isCount }],
  [['uniqueItems'], { of: 'array', is: isFlag }],
  [['properties', 'patternProperties', 'dependentSchemas'], { of: 'object', is: isRecord, holds: 'map' }],
  [['additionalProperties', 'propertyNames', 'unevaluatedProperties'], { of: 'object', is: isSchema, holds: 'one' }],
  [['required'], { of: 'object', is: (value) => Array.isArray(value) && value.every(isText) && isUnique(value) }],
  [['dependentRequired'], { of: 'object', is: isRecord }],
  [['minProperties'], { of: 'object', is: isCount, bound: 'least' }],
  [['maxProperties'], { of: 'object', is: isCount, bound: 'most' }],
];

const keywords: ReadonlyMap<string, Keyword> = new Map(rows.flatMap(([names, keyword]) => names.map((name) => [name, keyword] as const)));
const unknown: Keyword = { of: null, is: isData };

/** Other keywords contain data, and apply to values of any type. */
export function keywordOf(name: string): Keyword {
  return keywords.get(name) ?? unknown;
}
