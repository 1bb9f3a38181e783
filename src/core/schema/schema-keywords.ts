/**
 * Rewrites one part of a schema with the keywords that a provider accepts: converts what other keywords can express, describes the rest in
 * words, and adds what the provider requires. Does not visit nested parts; `schema-narrow.ts`, its caller, does.
 */
import { pointer } from '../json/json-pointer.ts';
import { limits } from '../limits.ts';
import { withoutOtherTypes, typeOfKeyword, appendDescription } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import { distinct, isPermissive, without } from './schema-parts.ts';
import { type SchemaReport, previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

export type PartContext = { path: string; report: SchemaReport };

/** All rewriting that is done before the nested parts are visited. */
export function rewriteKeywords(rules: DialectRules, schema: JsonSchema, at: PartContext): JsonSchema {
  const typed = rules.keywords === null ? schema : withType(schema, at);
  return describeUnsupported(rules, withItems(rules, convertKeywords(rules, typed, at), at), at);
}

/** For providers that require a type: derives it from the other keywords, and removes keywords of other types. */
function withType(schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  if (typeof schema.type === 'string') {
    const fitting = withoutOtherTypes(schema, schema.type);
    if (fitting !== schema) report.add(path, `keywords that do not apply to the type ${schema.type} are removed`);
    return fitting;
  }
  if (schema.type !== undefined || schema.anyOf !== undefined || schema.enum !== undefined) return schema;
  const types = new Set(Object.keys(schema).flatMap((keyword) => typeOfKeyword(keyword) ?? []));
  const [type] = types;
  if (type === undefined || types.size > 1) return schema;
  report.add(path, `the type is missing: ${type} is derived from the other keywords`);
  return { type, ...schema };
}

/** Converts what other keywords of the dialect can express with little or no loss. */
function convertKeywords(rules: DialectRules, schema: JsonSchema, at: PartContext): JsonSchema {
  const takes = (keyword: string): boolean => rules.keywords?.has(keyword) ?? true;
  let result = schema;
  if (Object.hasOwn(result, 'const') && !takes('const')) {
    at.report.add(pointer(at.path, 'const'), 'converted to an enum with one choice');
    const entries = Object.entries(without(result, 'enum'));
    result = Object.fromEntries(entries.map(([keyword, value]) => (keyword === 'const' ? ['enum', [value]] : [keyword, value])));
  }
  if (!takes('exclusiveMinimum')) result = inclusive(result, at);
  return rules.keywords === null && !rules.needsItems ? result : withoutTuple(rules, result, at);
}

/** Converts an exclusive bound: for integers to the next integer; otherwise to the bound itself, and `describeUnsupported` describes the rest. */
function inclusive(schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  let result = schema;
  const isWhole = schema.type === 'integer';
  const { exclusiveMinimum: above, exclusiveMaximum: below, minimum, maximum } = schema;
  if (typeof above === 'number') {
    const least = isWhole ? Math.floor(above) + 1 : above;
    result = { ...result, minimum: typeof minimum === 'number' ? Math.max(least, minimum) : least };
  }
  if (typeof below === 'number') {
    const most = isWhole ? Math.ceil(below) - 1 : below;
    result = { ...result, maximum: typeof maximum === 'number' ? Math.min(most, maximum) : most };
  }
  if (!isWhole || result === schema) return result;
  report.add(path, 'exclusive bounds are converted to the next integers');
  return without(result, 'exclusiveMinimum', 'exclusiveMaximum');
}

/** Converts `items: false` to a number of items, and an unsupported tuple to a list of any of its types. */
function withoutTuple(rules: DialectRules, schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : null;
  const isClosed = schema.items === false;
  let result = schema;
  if (isClosed) {
    const most = tuple?.length ?? 0;
    report.add(pointer(path, 'items'), 'converted to maxItems');
    result = { ...without(result, 'items'), maxItems: typeof result.maxItems === 'number' ? Math.min(most, result.maxItems) : most };
  }
  if (tuple === null || rules.keywords?.has('prefixItems') !== false) return result;
  report.add(pointer(path, 'prefixItems'), 'converted to items of any of these types, in any order');
  const all = isClosed ? tuple : [...tuple, result.items ?? {}];
  const kinds = distinct(all);
  const isAny = kinds.length > limits.maxSchemaBranches || kinds.some((item) => isRecord(item) && isPermissive(item));
  return { ...without(result, 'prefixItems'), items: isAny ? {} : kinds.length === 1 ? kinds[0] : { anyOf: kinds } };
}

/** Removes keywords that the dialect does not accept, and describes short ones in words. */
function describeUnsupported(rules: DialectRules, schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  const words: string[] = [];
  const left: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (isTaken(rules, keyword, value, schema)) continue;
    left.push(keyword);
    const isDescribed = typeof value !== 'object' || keyword === 'enum' || keyword === 'default';
    if (keyword === 'enum' && coversType(schema)) continue;
    if (isDescribed && !silent.has(keyword)) words.push(`${keyword}: ${previewValue(value)}`);
    if (keyword !== '$schema' && keyword !== '$comment') {
      report.add(
        pointer(path, keyword),
        isDescribed && !silent.has(keyword) ? 'not supported: moved to the description' : 'not supported: removed',
      );
    }
  }
  if (left.length === 0) return schema;
  // Without the pattern, fields that it allowed would be rejected.
  if (left.includes('patternProperties') && schema.additionalProperties !== undefined && schema.additionalProperties !== true) {
    left.push('additionalProperties');
    report.add(pointer(path, 'additionalProperties'), 'removed together with patternProperties, which it depends on');
  }
  const kept = without(schema, ...left);
  return words.length === 0 ? kept : appendDescription(kept, `(${words.join('; ')})`);
}

/** Keywords that are of no use to a model. */
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

/** The type boolean already implies both choices. */
function coversType({ type, enum: choices }: JsonSchema): boolean {
  return type === 'boolean' && Array.isArray(choices) && choices.includes(true) && choices.includes(false);
}

function withItems(rules: DialectRules, schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  if (!rules.needsItems || isRecord(schema.items) || ![schema.type].flat().includes('array')) return schema;
  report.add(path, 'its items are not described: any item is accepted');
  return { ...schema, items: {} };
}

/** Applies the rules about fields, once the fields are known. */
export function withFields(rules: DialectRules, schema: JsonSchema, { path, report }: PartContext): JsonSchema {
  let result = schema;
  if (rules.needsFields && result.properties === undefined && [result.type].flat().includes('object')) {
    report.add(path, 'its fields are not described: an empty list of fields is added');
    result = { ...result, properties: {} };
  }
  if (!rules.needsKnownRequired || !Array.isArray(result.required)) return result;
  const fields = isRecord(result.properties) ? result.properties : {};
  const known = result.required.filter((name) => Object.hasOwn(fields, String(name)));
  if (known.length === result.required.length) return result;
  report.add(pointer(path, 'required'), 'names of fields that are not described are removed');
  return known.length === 0 ? without(result, 'required') : { ...result, required: known };
}
