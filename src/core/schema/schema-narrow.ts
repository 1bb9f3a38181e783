/**
 * Narrows a schema's parts to what one provider accepts (`schema-dialects.ts`). Works on a clean tree without references. Rules that cannot
 * be expressed are described in words, so that the model still sees them. Never accepts less than before, except for the dialect whose
 * objects must be closed. Used by the schema compiler.
 */
import { pointer, pointerTokens } from '../json/json-pointer.ts';
import { limits } from '../limits/limits.ts';
import { alternativesOf, type AlternativesContext, mergeAllOf, appendDescription, withoutOtherTypes } from './schema-alternatives.ts';
import { withChoice } from './schema-merge.ts';
import type { DialectRules } from './schema-dialects.ts';
import { keywordOf } from './schema-keywords.ts';
import { fixedChoices, distinct, isPermissive, mapParts, sameJson, typeOutline, without } from './schema-parts.ts';
import { type SchemaReport, previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

export type NarrowContext = {
  rules: DialectRules;
  report: SchemaReport;
  parts: number;
  effort: { left: number };
  /** Alternatives share parts: each is narrowed once, and counted (`parts`) at each use. */
  done: Map<object, { depth: number; orNull: boolean; parts: number; schema: JsonSchema | false }>;
};
type Place = { path: string; depth: number; orNull?: boolean };

/** `false`: no value matches. `orNull`: null is accepted as well. */
export function narrowToDialect(narrowing: NarrowContext, part: unknown, place: Place): JsonSchema | false {
  if (part === false) return false;
  const schema = isRecord(part) ? part : {};
  const { depth, orNull = false } = place;
  const known = narrowing.done.get(schema);
  const isKnown = known?.depth === depth && known.orNull === orNull;
  const before = narrowing.parts;
  narrowing.parts += isKnown ? known.parts : 1;
  if (narrowing.parts > limits.maxSchemaParts) {
    narrowing.report.add(place.path, `removed: more than ${limits.maxSchemaParts} parts; any value is accepted`);
    return narrowing.rules.closed ? listed(typedAlternatives({}), orNull) : {};
  }
  if (isKnown) return known.schema;
  const narrowed = narrowOne(narrowing, schema, place);
  narrowing.done.set(schema, { depth, orNull, parts: narrowing.parts - before, schema: narrowed });
  return narrowed;
}

function narrowOne(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema | false {
  const { rules, report, effort } = narrowing;
  const isDeep = rules.maxDepth !== null && place.depth > rules.maxDepth;
  if (isDeep && !isPermissive(typeOutline(schema))) report.add(place.path, `more than ${rules.maxDepth} levels deep: reduced to its type`);
  const whole = isDeep ? typeOutline(schema) : schema;
  if (rules.composition === 'apart' || hasOddChoices(rules, whole)) return narrowAlternatives(narrowing, whole, place);
  const at = { path: place.path, report, effort };
  const merged = rules.composition === 'any' ? whole : mergeAllOf(whole, at, rules.composition === 'one');
  return merged === false ? false : narrowPlain(narrowing, rules.composition === 'one' ? oneUnion(merged, at) : merged, place);
}

/** Choices of types that `enum` cannot contain; each becomes a separate schema. */
function hasOddChoices({ choices }: DialectRules, schema: JsonSchema): boolean {
  return choices !== 'any' && (fixedChoices(schema) ?? []).some((value) => typeof value !== 'string' && typeof value !== 'number');
}

/** Converts `oneOf` to `anyOf`. */
function oneUnion(schema: JsonSchema, place: AlternativesContext): JsonSchema {
  if (!Array.isArray(schema.oneOf)) return schema;
  place.report.add(pointer(place.path, 'oneOf'), 'converted to anyOf: more than one alternative may match');
  if (schema.anyOf === undefined) {
    return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword === 'oneOf' ? 'anyOf' : keyword, value]));
  }
  const both = mergeAllOf({ ...without(schema, 'oneOf'), allOf: [{ anyOf: schema.oneOf }] }, place, true);
  return both === false ? without(schema, 'oneOf') : both;
}

function narrowAlternatives(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema | false {
  const { rules, report } = narrowing;
  const alternatives = alternativesOf(schema, { path: place.path, report, effort: narrowing.effort });
  const isNullable = place.orNull === true || alternatives.some(isNull);
  const others = alternatives.filter((alternative) => !isNull(alternative));
  const narrowed = distinct(others.map((alternative) => narrowPlain(narrowing, alternative, { ...place, orNull: false })));
  // An alternative that accepts any value replaces the others.
  const any = narrowed.find((one) => isPermissive(one));
  const union = any === undefined ? narrowed : rules.closed ? typedAlternatives(any) : [any];
  if (any !== undefined && rules.closed)
    report.add(place.path, 'any value: only strings, numbers, booleans and lists of strings can be described');
  if (union.length === 0)
    return isNullable ? onlyNull(alternatives.find(isNull) ?? { type: 'null' }, { rules, report, path: place.path }) : false;
  const result = rules.null === 'flag' ? flagged(union, isNullable) : listed(union, isNullable);
  if (alternatives.length === 1 && alternatives[0] === schema) return result;
  if (sameJson(result, schema)) return schema;
  report.add(place.path, 'its types and alternatives are listed separately');
  return result;
}

/** For dialects in which each part must have a type. */
function typedAlternatives(any: JsonSchema): JsonSchema[] {
  const types = ['string', 'number', 'boolean'].map((type) => ({ ...any, type }));
  return [...types, { ...any, type: 'array', items: { type: 'string' } }];
}

function isNull(schema: JsonSchema): boolean {
  return schema.type === 'null';
}

function onlyNull(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  const narrowed = typeOutline(schema);
  if (rules.null === 'type' && sameJson(narrowed, schema)) return schema;
  report.add(path, 'always null: described by its type and description');
  // Gemini's `parameters` has no null type.
  return rules.null === 'type' ? narrowed : appendDescription({ ...narrowed, type: 'string', nullable: true }, 'Always null.');
}

/** OpenAPI's form. No keyword is allowed next to `anyOf`, so the flag is on its first branch. */
function flagged(union: JsonSchema[], isNullable: boolean): JsonSchema {
  const [first = {}, ...others] = union;
  const one = isNullable && !isPermissive(first) ? { ...first, nullable: true } : first;
  return others.length === 0 ? one : { anyOf: [one, ...others] };
}

function listed(union: JsonSchema[], isNullable: boolean): JsonSchema {
  const [first = {}, ...others] = union;
  if (others.length > 0) return { anyOf: isNullable ? [...union, { type: 'null' }] : union };
  if (!isNullable || isPermissive(first)) return first;
  if (first.enum === undefined) return { ...first, type: [first.type, 'null'] };
  return { anyOf: [first, { type: 'null' }] };
}

type Part = Pick<NarrowContext, 'rules' | 'report'> & { path: string };

function narrowPlain(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema {
  const { rules, report } = narrowing;
  const part: Part = { rules, report, path: place.path };
  const rewritten = passes.reduce((result, pass) => pass(result, part), schema);
  const narrowed = withFields(narrowParts(narrowing, rewritten, place), part);
  const isClosed = (rules.closed || rules.sealed) && [narrowed.type].flat().includes('object');
  return isClosed ? closed(narrowed, schema, part) : narrowed;
}

/** Applied in order, before the nested parts are visited. Each pass returns the same object if it changes nothing. */
const passes: readonly ((schema: JsonSchema, part: Part) => JsonSchema)[] = [
  ...[withType, withoutConst, withoutExclusiveBounds, withoutTuple, withItems, describeUnsupported],
];

function narrowParts(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema {
  const { rules, report } = narrowing;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const narrowed = mapParts(schema, place.path, (part, path, keyword) => {
    if (typeof part === 'boolean' && (keyword !== 'properties' || rules.composition === 'any')) {
      if (keyword !== 'anyOf' && keyword !== 'oneOf') return part;
      // A branch that no value matches is dropped.
      if (!part) report.add(path, 'removed: no value matches it');
      return part ? {} : undefined;
    }
    const orNull = rules.closed && keyword === 'properties' && !required.has(pointerTokens(path).at(-1));
    if (orNull) report.add(path, 'optional: null means "not given" and is removed from the call');
    const narrowed = narrowToDialect(narrowing, part, { path, depth: place.depth + 1, orNull });
    if (narrowed !== false) return narrowed;
    report.add(path, 'removed: no value matches it');
    return keyword === 'properties' || keyword === 'anyOf' || keyword === 'oneOf' ? undefined : {};
  });
  return Array.isArray(narrowed.anyOf) && narrowed.anyOf.length === 0 ? without(narrowed, 'anyOf') : narrowed;
}

/** Allows no other fields, and makes every field required where the dialect says so. */
function closed(schema: JsonSchema, before: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (before.additionalProperties !== false) {
    report.add(pointer(path, 'additionalProperties'), 'closed: fields that are not described are not accepted');
  }
  if (rules.sealed) return schema.additionalProperties === false ? schema : { ...schema, additionalProperties: false };
  const names = Object.keys(isRecord(schema.properties) ? schema.properties : {});
  const isComplete = sameJson(schema.required, names) && schema.additionalProperties === false;
  return isComplete ? schema : { ...schema, required: names, additionalProperties: false };
}

/** For providers that require a type: derives it from the other keywords, and removes keywords of other types. */
function withType(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (rules.keywords === null) return schema;
  if (typeof schema.type === 'string') {
    const fitting = withoutOtherTypes(schema, schema.type);
    if (fitting !== schema) report.add(path, `keywords that do not apply to the type ${schema.type} are removed`);
    return fitting;
  }
  if (schema.type !== undefined || schema.anyOf !== undefined || schema.enum !== undefined) return schema;
  const types = new Set(Object.keys(schema).flatMap((keyword) => keywordOf(keyword).of ?? []));
  const [type] = types;
  if (type === undefined || types.size > 1) return schema;
  report.add(path, `the type is missing: ${type} is derived from the other keywords`);
  return { type, ...schema };
}

function withoutConst(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (!Object.hasOwn(schema, 'const') || rules.keywords?.has('const') !== false) return schema;
  report.add(pointer(path, 'const'), 'converted to an enum with one choice');
  return withChoice(schema);
}

/** Converts an exclusive bound: for integers to the next integer; otherwise to the bound itself, and `describeUnsupported` describes the rest. */
function withoutExclusiveBounds(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (rules.keywords?.has('exclusiveMinimum') !== false) return schema;
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
function withoutTuple(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (rules.keywords === null && !rules.needsItems) return schema;
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
function describeUnsupported(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  const words: string[] = [];
  const left = Object.keys(schema).filter((keyword) => !isTaken(rules, keyword, schema[keyword], schema));
  for (const keyword of left) {
    if (keyword === 'enum' && coversType(schema)) continue;
    const value = schema[keyword];
    const isDescribed = !silent.has(keyword) && (typeof value !== 'object' || keyword === 'enum' || keyword === 'default');
    if (isDescribed) words.push(`${keyword}: ${previewValue(value)}`);
    if (keyword !== '$schema' && keyword !== '$comment')
      report.add(pointer(path, keyword), isDescribed ? 'not supported: moved to the description' : 'not supported: removed');
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
  ...['$schema', '$comment', 'deprecated', 'readOnly', 'writeOnly', 'example', 'additionalProperties'],
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

function withItems(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
  if (!rules.needsItems || isRecord(schema.items) || ![schema.type].flat().includes('array')) return schema;
  report.add(path, 'its items are not described: any item is accepted');
  return { ...schema, items: {} };
}

/** Applies the rules about fields, once the fields are known. */
function withFields(schema: JsonSchema, { rules, path, report }: Part): JsonSchema {
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
