/**
 * A schema's parts as one provider takes them (`schema-dialects.ts`): works on a clean tree without references. What cannot be told as a
 * rule is told in words (`schema-rewording.ts`), so that the model still knows of it. Never takes less than before, but for the dialect whose objects must be
 * closed. Used by the schema compiler.
 */
import { pointer, tokensOf } from '../json-pointer.ts';
import { limits } from '../limits.ts';
import { alternativesOf, type Place as AlternativesPlace, mergeAllOf, withWords } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import { distinct, isPermissive, mapParts, outlineOf, sameJson, without } from './schema-parts.ts';
import type { SchemaReport } from './schema-report.ts';
import { type At, reword, withFields } from './schema-rewording.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

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
  const schema = isRecord(part) ? part : {};
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
  if (union.length === 0)
    return isNullable ? onlyNull(rules, alternatives.find(isNull) ?? { type: 'null' }, { path: place.path, report }) : false;
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

function onlyNull(rules: DialectRules, schema: JsonSchema, { path, report }: At): JsonSchema {
  const told = outlineOf(schema);
  if (rules.null === 'type' && sameJson(told, schema)) return schema;
  report.add(path, 'always null: told by its type and its words');
  // `parameters` of Gemini has no type for null.
  return rules.null === 'type' ? told : withWords({ ...told, type: 'string', nullable: true }, 'Always null.');
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
  const narrowed = withFields(rules, narrowParts(narrowing, reword(rules, schema, at), place), at);
  return rules.closed && narrowed.type === 'object' ? closed(narrowing, narrowed, schema, place) : narrowed;
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
  return tokensOf(path).at(-1) ?? '';
}

/** Every field required, and no other taken. */
function closed({ report }: Narrowing, schema: JsonSchema, before: JsonSchema, { path }: Place): JsonSchema {
  if (before.additionalProperties !== false) {
    report.add(pointer(path, 'additionalProperties'), 'closed: fields that are not described cannot be given');
  }
  const names = Object.keys(isRecord(schema.properties) ? schema.properties : {});
  const isComplete = sameJson(schema.required ?? [], names) && schema.additionalProperties === false;
  return isComplete && schema.required !== undefined ? schema : { ...schema, required: names, additionalProperties: false };
}
