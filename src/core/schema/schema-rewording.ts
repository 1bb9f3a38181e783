/**
 * One part of a schema in the keywords that a provider takes: what others can say is said by them, what is left is told in words, and what
 * must be said is. Its own parts are not looked into: that is `schema-narrow.ts`, which uses it.
 */
import { pointer } from '../json-pointer.ts';
import { limits } from '../limits.ts';
import { ofType, typeOfKeyword, withWords } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import { distinct, isPermissive, without } from './schema-parts.ts';
import { type SchemaReport, shown } from './schema-report.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

export type At = { path: string; report: SchemaReport };

/** Everything that comes before its parts are visited. */
export function reword(rules: DialectRules, schema: JsonSchema, at: At): JsonSchema {
  const typed = rules.keywords === null ? schema : withType(schema, at);
  return toldInWords(rules, withItems(rules, toldOtherwise(rules, typed, at), at), at);
}

/** Providers that ask for a type get the one that the other words are about; words about other types go. */
function withType(schema: JsonSchema, { path, report }: At): JsonSchema {
  if (typeof schema.type === 'string') {
    const fitting = ofType(schema, schema.type);
    if (fitting !== schema) report.add(path, `words that mean nothing for the type ${schema.type} are left out`);
    return fitting;
  }
  if (schema.type !== undefined || schema.anyOf !== undefined || schema.enum !== undefined) return schema;
  const types = new Set(Object.keys(schema).flatMap((keyword) => typeOfKeyword(keyword) ?? []));
  const [type] = types;
  if (type === undefined || types.size > 1) return schema;
  report.add(path, `the type is not said: ${type} is what its other words are about`);
  return { type, ...schema };
}

/** What other words of the dialect can say, without loss or nearly so. */
function toldOtherwise(rules: DialectRules, schema: JsonSchema, at: At): JsonSchema {
  const takes = (keyword: string): boolean => rules.keywords?.has(keyword) ?? true;
  let told = schema;
  if (Object.hasOwn(told, 'const') && !takes('const')) {
    at.report.add(pointer(at.path, 'const'), 'told as the only choice of enum');
    const entries = Object.entries(without(told, 'enum'));
    told = Object.fromEntries(entries.map(([keyword, value]) => (keyword === 'const' ? ['enum', [value]] : [keyword, value])));
  }
  if (!takes('exclusiveMinimum')) told = inclusive(told, at);
  return rules.keywords === null && !rules.needsItems ? told : withoutTuple(rules, told, at);
}

/** Of whole numbers the next one; of others the bound itself, and `toldInWords` says the rest. */
function inclusive(schema: JsonSchema, { path, report }: At): JsonSchema {
  let told = schema;
  const isWhole = schema.type === 'integer';
  const { exclusiveMinimum: above, exclusiveMaximum: below, minimum, maximum } = schema;
  if (typeof above === 'number') {
    const least = isWhole ? Math.floor(above) + 1 : above;
    told = { ...told, minimum: typeof minimum === 'number' ? Math.max(least, minimum) : least };
  }
  if (typeof below === 'number') {
    const most = isWhole ? Math.ceil(below) - 1 : below;
    told = { ...told, maximum: typeof maximum === 'number' ? Math.min(most, maximum) : most };
  }
  if (!isWhole || told === schema) return told;
  report.add(path, 'exclusive bounds are told as the next whole numbers');
  return without(told, 'exclusiveMinimum', 'exclusiveMaximum');
}

/** `items: false` as a number of items; a tuple, where it is not taken, as a list of any of its kinds. */
function withoutTuple(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : null;
  const isClosed = schema.items === false;
  let told = schema;
  if (isClosed) {
    const most = tuple?.length ?? 0;
    report.add(pointer(path, 'items'), 'told as maxItems');
    told = { ...without(told, 'items'), maxItems: typeof told.maxItems === 'number' ? Math.min(most, told.maxItems) : most };
  }
  if (tuple === null || rules.keywords?.has('prefixItems') !== false) return told;
  report.add(pointer(path, 'prefixItems'), 'told as items of any of these kinds, in any order');
  const all = isClosed ? tuple : [...tuple, told.items ?? {}];
  const kinds = distinct(all);
  const isAny = kinds.length > limits.maxSchemaBranches || kinds.some((item) => isRecord(item) && isPermissive(item));
  return { ...without(told, 'prefixItems'), items: isAny ? {} : kinds.length === 1 ? kinds[0] : { anyOf: kinds } };
}

/** Leaves out what the dialect does not take, and tells it in words as far as it is short. */
function toldInWords(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  const words: string[] = [];
  const left: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (isTaken(rules, keyword, value, schema)) continue;
    left.push(keyword);
    const isSaid = typeof value !== 'object' || keyword === 'enum' || keyword === 'default';
    if (keyword === 'enum' && coversType(schema)) continue;
    if (isSaid && !silent.has(keyword)) words.push(`${keyword}: ${shown(value)}`);
    if (keyword !== '$schema' && keyword !== '$comment') {
      report.add(pointer(path, keyword), isSaid && !silent.has(keyword) ? 'not taken: told in the description' : 'not taken: left out');
    }
  }
  if (left.length === 0) return schema;
  // Fields that a pattern let through are not refused for want of it.
  if (left.includes('patternProperties') && schema.additionalProperties !== undefined && schema.additionalProperties !== true) {
    left.push('additionalProperties');
    report.add(pointer(path, 'additionalProperties'), 'left out with patternProperties, which says what more it takes');
  }
  const kept = without(schema, ...left);
  return words.length === 0 ? kept : withWords(kept, `(${words.join('; ')})`);
}

/** Of no use to a model. */
const silent: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
  'example',
  'additionalProperties',
]);

function isTaken(rules: DialectRules, keyword: string, value: unknown, schema: JsonSchema): boolean {
  if (rules.keywords?.has(keyword) === false) return false;
  if (keyword === 'format') return rules.formats === null || rules.formats.has(String(value));
  if (keyword === 'pattern') return rules.lookaround || !/\(\?<?[=!]/.test(String(value));
  if (keyword !== 'enum' || !Array.isArray(value) || rules.choices === 'any') return true;
  if (rules.choices === 'scalars') return value.every((choice) => typeof choice === 'string' || typeof choice === 'number');
  return schema.type === 'string' && value.every((choice) => typeof choice === 'string' && choice !== '');
}

/** Both booleans are what the type says already. */
function coversType({ type, enum: choices }: JsonSchema): boolean {
  return type === 'boolean' && Array.isArray(choices) && choices.includes(true) && choices.includes(false);
}

function withItems(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  if (!rules.needsItems || isRecord(schema.items) || ![schema.type].flat().includes('array')) return schema;
  report.add(path, 'its items are not described: told as any');
  return { ...schema, items: {} };
}

/** What is to be said of its fields, once they are known. */
export function withFields(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  let told = schema;
  if (rules.needsFields && told.properties === undefined && [told.type].flat().includes('object')) {
    report.add(path, 'its fields are not described: told as an empty list of them');
    told = { ...told, properties: {} };
  }
  if (!rules.needsKnownRequired || !Array.isArray(told.required)) return told;
  const fields = isRecord(told.properties) ? told.properties : {};
  const known = told.required.filter((name) => Object.hasOwn(fields, String(name)));
  if (known.length === told.required.length) return told;
  report.add(pointer(path, 'required'), 'names of fields that are not described are left out');
  return known.length === 0 ? without(told, 'required') : { ...told, required: known };
}
