/**
 * A schema's parts as one provider takes them (`schema-dialects.ts`): works on a clean tree without references. What cannot be told as a
 * rule is told in words, so that the model still knows of it. Never takes less than before, but for the dialect whose objects must be
 * closed. Used by the schema compiler.
 */
import { limits } from './limits.ts';
import { alternativesOf, type Place as AlternativesPlace, mergeAllOf, ofType, typeOfKeyword, withWords } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import { distinct, isPermissive, mapParts, outlineOf, sameJson, without } from './schema-parts.ts';
import { pointer, type SchemaReport, shown } from './schema-report.ts';
import { isObject } from './schema-types.ts';
import type { JsonSchema } from './tool.ts';

export type Narrowing = {
  rules: DialectRules;
  report: SchemaReport;
  parts: number;
  effort: { left: number };
  /** Alternatives share parts: each is narrowed once, and counted (`parts`) wherever it stands. */
  done: Map<object, { depth: number; orNull: boolean; parts: number; schema: JsonSchema | false }>;
};
type Place = { path: string; depth: number; orNull?: boolean };

/** `false`: no value fits. `orNull`: null is taken as well. */
export function narrow(narrowing: Narrowing, part: unknown, place: Place): JsonSchema | false {
  if (part === false) return false;
  const schema = isObject(part) ? part : {};
  const { depth, orNull = false } = place;
  const known = narrowing.done.get(schema);
  const isKnown = known?.depth === depth && known.orNull === orNull;
  const before = narrowing.parts;
  narrowing.parts += isKnown ? known.parts : 1;
  if (narrowing.parts > limits.maxSchemaParts) {
    narrowing.report.add(place.path, `left out: more than ${limits.maxSchemaParts} parts; any value is taken`);
    return narrowing.rules.closed ? listed(anyClosed({}), orNull) : {};
  }
  if (isKnown) return known.schema;
  const narrowed = narrowOne(narrowing, schema, place);
  narrowing.done.set(schema, { depth, orNull, parts: narrowing.parts - before, schema: narrowed });
  return narrowed;
}

function narrowOne(narrowing: Narrowing, schema: JsonSchema, place: Place): JsonSchema | false {
  const { rules, report, effort } = narrowing;
  const isDeep = rules.maxDepth !== null && place.depth > rules.maxDepth;
  if (isDeep && !isPermissive(outlineOf(schema))) report.add(place.path, `more than ${rules.maxDepth} levels deep: told by its type alone`);
  const whole = isDeep ? outlineOf(schema) : schema;
  if (rules.composition === 'apart' || hasOddChoices(rules, whole)) return narrowApart(narrowing, whole, place);
  const at = { path: place.path, report, effort };
  const merged = rules.composition === 'any' ? whole : mergeAllOf(whole, at, rules.composition === 'one');
  return merged === false ? false : narrowPlain(narrowing, rules.composition === 'one' ? oneUnion(merged, at) : merged, place);
}

/** Choices that are told by their types, each for itself. */
function hasOddChoices({ choices }: DialectRules, schema: JsonSchema): boolean {
  const values = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : [];
  return choices !== 'any' && values.some((value) => typeof value !== 'string' && typeof value !== 'number');
}

/** `oneOf` as `anyOf`. */
function oneUnion(schema: JsonSchema, place: AlternativesPlace): JsonSchema {
  if (!Array.isArray(schema.oneOf)) return schema;
  place.report.add(pointer(place.path, 'oneOf'), 'told as anyOf: that only one may fit is not said');
  if (schema.anyOf === undefined) {
    return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword === 'oneOf' ? 'anyOf' : keyword, value]));
  }
  const both = mergeAllOf({ ...without(schema, 'oneOf'), allOf: [{ anyOf: schema.oneOf }] }, place, true);
  return both === false ? without(schema, 'oneOf') : both;
}

// ---- One part, alternatives apart ----

function narrowApart(narrowing: Narrowing, schema: JsonSchema, place: Place): JsonSchema | false {
  const { rules, report } = narrowing;
  const alternatives = alternativesOf(schema, { path: place.path, report, effort: narrowing.effort });
  const isNullable = place.orNull === true || alternatives.some(isNull);
  const others = alternatives.filter((alternative) => !isNull(alternative));
  const told = distinct(others.map((alternative) => narrowPlain(narrowing, alternative, { ...place, orNull: false })));
  // One that takes anything leaves nothing to the others.
  const any = told.find((one) => isPermissive(one));
  const union = any === undefined ? told : rules.closed ? anyClosed(any) : [any];
  if (any !== undefined && rules.closed) report.add(place.path, 'any value: only text, numbers, booleans and lists of text can be told');
  if (union.length === 0) return isNullable ? onlyNull(rules) : false;
  const result = rules.null === 'flag' ? flagged(union, isNullable) : listed(union, isNullable);
  if (alternatives.length === 1 && alternatives[0] === schema) return result;
  if (sameJson(result, schema)) return schema;
  report.add(place.path, 'its types and alternatives are told one by one');
  return result;
}

/** Where each part must have a type. */
function anyClosed(any: JsonSchema): JsonSchema[] {
  const types = ['string', 'number', 'boolean'].map((type) => ({ ...any, type }));
  return [...types, { ...any, type: 'array', items: { type: 'string' } }];
}

function isNull(schema: JsonSchema): boolean {
  return schema.type === 'null';
}

function onlyNull(rules: DialectRules): JsonSchema {
  // `parameters` of Gemini has no type for null.
  return rules.null === 'flag' ? { type: 'string', nullable: true, description: 'Always null.' } : { type: 'null' };
}

/** OpenAPI's way. Beside `anyOf` nothing may stand, so the flag is on its first. */
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

// ---- One plain part ----

function narrowPlain(narrowing: Narrowing, schema: JsonSchema, place: Place): JsonSchema {
  const { rules, report } = narrowing;
  const at = { path: place.path, report };
  const typed = rules.keywords === null ? schema : withType(schema, at);
  const told = toldInWords(rules, withItems(rules, toldOtherwise(rules, typed, at), at), at);
  const narrowed = withFields(rules, narrowParts(narrowing, told, place), at);
  return rules.closed && narrowed.type === 'object' ? closed(narrowing, narrowed, schema, place) : narrowed;
}

type At = { path: string; report: SchemaReport };

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
  const isAny = kinds.length > limits.maxSchemaBranches || kinds.some((item) => isObject(item) && isPermissive(item));
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

function narrowParts(narrowing: Narrowing, schema: JsonSchema, place: Place): JsonSchema {
  const { rules, report } = narrowing;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const narrowed = mapParts(schema, place.path, (part, path, keyword) => {
    if (typeof part === 'boolean' && (keyword !== 'properties' || rules.composition === 'any')) {
      if (keyword !== 'anyOf' && keyword !== 'oneOf') return part;
      // A branch that no value fits is none.
      if (!part) report.add(path, 'left out: no value fits it');
      return part ? {} : undefined;
    }
    const name = keyword === 'properties' ? nameOf(path) : '';
    const orNull = rules.closed && keyword === 'properties' && !required.has(name);
    if (orNull) report.add(path, 'optional: null stands for "not given", and must be left out of the call again');
    const told = narrow(narrowing, part, { path, depth: place.depth + 1, orNull });
    if (told !== false) return told;
    report.add(path, 'left out: no value fits it');
    return keyword === 'properties' || keyword === 'anyOf' || keyword === 'oneOf' ? undefined : {};
  });
  return Array.isArray(narrowed.anyOf) && narrowed.anyOf.length === 0 ? without(narrowed, 'anyOf') : narrowed;
}

/** The last name of a pointer. */
function nameOf(path: string): string {
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

function withItems(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  if (!rules.needsItems || isObject(schema.items) || ![schema.type].flat().includes('array')) return schema;
  report.add(path, 'its items are not described: told as any');
  return { ...schema, items: {} };
}

function withFields(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  let told = schema;
  if (rules.needsFields && told.properties === undefined && [told.type].flat().includes('object')) {
    report.add(path, 'its fields are not described: told as an empty list of them');
    told = { ...told, properties: {} };
  }
  if (!rules.needsKnownRequired || !Array.isArray(told.required)) return told;
  const fields = isObject(told.properties) ? told.properties : {};
  const known = told.required.filter((name) => Object.hasOwn(fields, String(name)));
  if (known.length === told.required.length) return told;
  report.add(pointer(path, 'required'), 'names of fields that are not described are left out');
  return known.length === 0 ? without(told, 'required') : { ...told, required: known };
}

/** Every field required, and no other taken. */
function closed({ report }: Narrowing, schema: JsonSchema, before: JsonSchema, { path }: Place): JsonSchema {
  if (before.additionalProperties !== false) {
    report.add(pointer(path, 'additionalProperties'), 'closed: fields that are not described cannot be given');
  }
  const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
  const isComplete = sameJson(schema.required ?? [], names) && schema.additionalProperties === false;
  return isComplete && schema.required !== undefined ? schema : { ...schema, required: names, additionalProperties: false };
}
