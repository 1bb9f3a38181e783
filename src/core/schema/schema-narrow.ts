/**
 * Narrows a schema's parts to what one provider accepts (`schema-dialects.ts`). Works on a clean tree without references. Rules that cannot
 * be expressed are described in words (`schema-keywords.ts`), so that the model still sees them. Never accepts less than before, except
 * for the dialect whose objects must be closed. Used by the schema compiler.
 */
import { pointer, pointerTokens } from '../json/json-pointer.ts';
import { limits } from '../limits.ts';
import { alternativesOf, type AlternativesContext as AlternativesPlace, mergeAllOf, appendDescription } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import { distinct, isPermissive, mapParts, typeOutline, sameJson, without } from './schema-parts.ts';
import type { SchemaReport } from './schema-report.ts';
import { type PartContext, rewriteKeywords, withFields } from './schema-keywords.ts';
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
    return narrowing.rules.closed ? listed(anyClosed({}), orNull) : {};
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
  if (rules.composition === 'apart' || hasOddChoices(rules, whole)) return narrowApart(narrowing, whole, place);
  const at = { path: place.path, report, effort };
  const merged = rules.composition === 'any' ? whole : mergeAllOf(whole, at, rules.composition === 'one');
  return merged === false ? false : narrowPlain(narrowing, rules.composition === 'one' ? oneUnion(merged, at) : merged, place);
}

/** Choices of types that `enum` cannot contain; each becomes a separate schema. */
function hasOddChoices({ choices }: DialectRules, schema: JsonSchema): boolean {
  const values = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : [];
  return choices !== 'any' && values.some((value) => typeof value !== 'string' && typeof value !== 'number');
}

/** Converts `oneOf` to `anyOf`. */
function oneUnion(schema: JsonSchema, place: AlternativesPlace): JsonSchema {
  if (!Array.isArray(schema.oneOf)) return schema;
  place.report.add(pointer(place.path, 'oneOf'), 'converted to anyOf: more than one alternative may match');
  if (schema.anyOf === undefined) {
    return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword === 'oneOf' ? 'anyOf' : keyword, value]));
  }
  const both = mergeAllOf({ ...without(schema, 'oneOf'), allOf: [{ anyOf: schema.oneOf }] }, place, true);
  return both === false ? without(schema, 'oneOf') : both;
}

// ---- One part, split into alternatives ----

function narrowApart(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema | false {
  const { rules, report } = narrowing;
  const alternatives = alternativesOf(schema, { path: place.path, report, effort: narrowing.effort });
  const isNullable = place.orNull === true || alternatives.some(isNull);
  const others = alternatives.filter((alternative) => !isNull(alternative));
  const narrowed = distinct(others.map((alternative) => narrowPlain(narrowing, alternative, { ...place, orNull: false })));
  // An alternative that accepts any value replaces the others.
  const any = narrowed.find((one) => isPermissive(one));
  const union = any === undefined ? narrowed : rules.closed ? anyClosed(any) : [any];
  if (any !== undefined && rules.closed)
    report.add(place.path, 'any value: only strings, numbers, booleans and lists of strings can be described');
  if (union.length === 0)
    return isNullable ? onlyNull(rules, alternatives.find(isNull) ?? { type: 'null' }, { path: place.path, report }) : false;
  const result = rules.null === 'flag' ? flagged(union, isNullable) : listed(union, isNullable);
  if (alternatives.length === 1 && alternatives[0] === schema) return result;
  if (sameJson(result, schema)) return schema;
  report.add(place.path, 'its types and alternatives are listed separately');
  return result;
}

/** For dialects in which each part must have a type. */
function anyClosed(any: JsonSchema): JsonSchema[] {
  const types = ['string', 'number', 'boolean'].map((type) => ({ ...any, type }));
  return [...types, { ...any, type: 'array', items: { type: 'string' } }];
}

function isNull(schema: JsonSchema): boolean {
  return schema.type === 'null';
}

function onlyNull(rules: DialectRules, schema: JsonSchema, { path, report }: PartContext): JsonSchema {
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

// ---- One plain part ----

function narrowPlain(narrowing: NarrowContext, schema: JsonSchema, place: Place): JsonSchema {
  const { rules, report } = narrowing;
  const at = { path: place.path, report };
  const narrowed = withFields(rules, narrowParts(narrowing, rewriteKeywords(rules, schema, at), place), at);
  return rules.closed && narrowed.type === 'object' ? closed(narrowing, narrowed, schema, place) : narrowed;
}

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
    const name = keyword === 'properties' ? nameOf(path) : '';
    const orNull = rules.closed && keyword === 'properties' && !required.has(name);
    if (orNull) report.add(path, 'optional: null means "not given" and is removed from the call');
    const narrowed = narrowToDialect(narrowing, part, { path, depth: place.depth + 1, orNull });
    if (narrowed !== false) return narrowed;
    report.add(path, 'removed: no value matches it');
    return keyword === 'properties' || keyword === 'anyOf' || keyword === 'oneOf' ? undefined : {};
  });
  return Array.isArray(narrowed.anyOf) && narrowed.anyOf.length === 0 ? without(narrowed, 'anyOf') : narrowed;
}

/** Returns the last token of a pointer. */
function nameOf(path: string): string {
  return pointerTokens(path).at(-1) ?? '';
}

/** Makes every field required and allows no others. */
function closed({ report }: NarrowContext, schema: JsonSchema, before: JsonSchema, { path }: Place): JsonSchema {
  if (before.additionalProperties !== false) {
    report.add(pointer(path, 'additionalProperties'), 'closed: fields that are not described are not accepted');
  }
  const names = Object.keys(isRecord(schema.properties) ? schema.properties : {});
  const isComplete = sameJson(schema.required ?? [], names) && schema.additionalProperties === false;
  return isComplete && schema.required !== undefined ? schema : { ...schema, required: names, additionalProperties: false };
}
