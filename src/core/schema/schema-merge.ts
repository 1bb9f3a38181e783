/**
 * Merges two schemas into one that accepts what both accept, as far as one schema can express it. Used by the passes of the schema compiler
 * for `allOf` and for keywords next to `anyOf`. Works on clean trees without references.
 */
import { keywordOf } from './schema-keywords.ts';
import { annotations, isAnnotation, isPermissive, sameJson, without } from './schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

export type MergedSchema = {
  /** `false`: no value matches both. */
  schema: JsonSchema | false;
  /** Keywords of the second schema that could not be merged and are missing, so the result accepts more. */
  lost: string[];
};

export function mergeSchemas(first: JsonSchema, second: JsonSchema): MergedSchema {
  const merged = new Map(Object.entries(withChoice(first)));
  const lost: string[] = [];
  const other = withChoice(second);
  for (const group of groups) lost.push(...group.merge(merged, other));
  for (const [keyword, value] of Object.entries(other)) {
    if (grouped.has(keyword)) continue;
    const mine = merged.get(keyword);
    if (mine === undefined) {
      if (schemaScopedKeywords.has(keyword)) lost.push(keyword);
      else merged.set(keyword, value);
      continue;
    }
    if (isAnnotation(keyword) || sameJson(mine, value)) continue;
    const both = combine(keyword, mine, value);
    if (both === undefined) lost.push(keyword);
    else if (both === nothing) return { schema: false, lost: [] };
    else merged.set(keyword, both);
  }
  return { schema: Object.fromEntries(merged), lost };
}

/** Returns both parts combined by `allOf`, if they are not merged yet. */
export function intersect(first: unknown, second: unknown): unknown {
  if (first === false || second === false) return false;
  if (isAny(second)) return first === undefined || first === true ? {} : first;
  if (isAny(first) || sameJson(first, second)) return second;
  return { allOf: [first, second] };
}

function isAny(schema: unknown): boolean {
  return schema === undefined || schema === true || (isRecord(schema) && isPermissive(schema) && Object.keys(schema).length === 0);
}

/** Replaces `const` by an `enum` with one choice. */
export function withChoice(schema: JsonSchema): JsonSchema {
  if (!Object.hasOwn(schema, 'const')) return schema;
  const entries = Object.entries(without(schema, 'enum'));
  return Object.fromEntries(entries.map(([keyword, value]) => (keyword === 'const' ? ['enum', [value]] : [keyword, value])));
}

const nothing = Symbol('no value matches both');

/** undefined: one schema cannot express it. */
function combine(keyword: string, mine: unknown, theirs: unknown): unknown {
  const { bound } = keywordOf(keyword);
  if (bound !== undefined) return (bound === 'least' ? Math.max : Math.min)(mine as number, theirs as number);
  switch (keyword) {
    case 'type':
      return sharedTypes([mine].flat(), [theirs].flat());
    case 'enum': {
      const known = new Set((theirs as unknown[]).map((value) => JSON.stringify(value)));
      const shared = (mine as unknown[]).filter((value) => known.has(JSON.stringify(value)));
      return shared.length === 0 ? nothing : shared;
    }
    case 'multipleOf':
      return multiple(mine as number, theirs as number);
    case 'uniqueItems':
      return mine === true || theirs === true;
    case 'required':
      return [...new Set([...(mine as string[]), ...(theirs as string[])])];
    case 'allOf':
      return [...(mine as unknown[]), ...(theirs as unknown[])];
    case 'anyOf':
      return product(mine as unknown[], theirs as unknown[]);
    case 'propertyNames':
    case 'not':
      return keyword === 'not' ? { anyOf: [mine, theirs] } : intersect(mine, theirs);
    default:
      return undefined;
  }
}

function sharedTypes(mine: readonly unknown[], theirs: readonly unknown[]): unknown {
  const shared = mine.flatMap((type) => {
    if (theirs.includes(type)) return [type];
    // Every integer is a number.
    if (type === 'number' && theirs.includes('integer')) return ['integer'];
    return type === 'integer' && theirs.includes('number') ? ['integer'] : [];
  });
  const types = [...new Set(shared)];
  return types.length === 0 ? nothing : types.length === 1 ? types[0] : types;
}

function multiple(mine: number, theirs: number): number | undefined {
  if (Number.isInteger(mine / theirs)) return mine;
  return Number.isInteger(theirs / mine) ? theirs : undefined;
}

/** Combines each alternative of the one with each of the other. */
function product(mine: readonly unknown[], theirs: readonly unknown[]): unknown {
  if (mine.length * theirs.length > maxProduct) return undefined;
  const pairs = mine.flatMap((one) => theirs.map((other) => intersect(one, other))).filter((pair) => pair !== false);
  return pairs.length === 0 ? nothing : pairs;
}

const maxProduct = 16;

/** Keywords that depend on the rest of their schema and would change their meaning next to another one's keywords. */
const schemaScopedKeywords: ReadonlySet<string> = new Set(['unevaluatedProperties', 'unevaluatedItems']);

/** Keywords that depend on each other. `merge` returns those that it could not merge. */
const groups: readonly { keywords: readonly string[]; merge(mine: Map<string, unknown>, theirs: JsonSchema): string[] }[] = [
  { keywords: ['properties', 'patternProperties', 'additionalProperties'], merge: mergeFields },
  { keywords: ['prefixItems', 'items'], merge: mergeItems },
  ...[
    ['if', 'then', 'else'],
    ['contains', 'minContains', 'maxContains'],
    ['dependentRequired', 'dependentSchemas'],
  ].map((keywords) => ({
    keywords,
    merge: (mine: Map<string, unknown>, theirs: JsonSchema) => (adopt(mine, theirs, keywords) ? [] : givenIn(theirs, keywords)),
  })),
];
const grouped: ReadonlySet<string> = new Set(groups.flatMap(({ keywords }) => keywords));

function givenIn(schema: JsonSchema, keywords: readonly string[]): string[] {
  return keywords.filter((keyword) => Object.hasOwn(schema, keyword));
}

/** Copies the whole group if only one of the two schemas has any of its keywords. */
function adopt(mine: Map<string, unknown>, theirs: JsonSchema, keywords: readonly string[]): boolean {
  const given = givenIn(theirs, keywords);
  if (given.length === 0) return true;
  if (keywords.some((keyword) => mine.has(keyword))) return keywords.every((keyword) => sameJson(mine.get(keyword), theirs[keyword]));
  for (const keyword of given) mine.set(keyword, theirs[keyword]);
  return true;
}

/** A field that only one schema names is one of the other's additional fields. */
function mergeFields(mine: Map<string, unknown>, theirs: JsonSchema): string[] {
  const keywords = ['properties', 'patternProperties', 'additionalProperties'];
  if (adopt(mine, theirs, keywords)) return [];
  const rests = [mine.get('additionalProperties'), theirs.additionalProperties];
  const patterns = mine.get('patternProperties') ?? theirs.patternProperties;
  const isOpen = rests.every(isAny);
  // The fields that a pattern matches cannot be determined without running it, so both schemas lose their rules for additional fields.
  const isUnclear = patterns !== undefined && (!isOpen || (mine.has('patternProperties') && theirs.patternProperties !== undefined));
  const [rest, otherRest] = isUnclear ? [] : rests;
  const [ours, others] = [fieldsOf(mine.get('properties')), fieldsOf(theirs.properties)];
  const fields = new Map<string, unknown>();
  for (const name of [...ours.keys(), ...others.keys()]) {
    const field = intersect(ours.has(name) ? ours.get(name) : rest, others.has(name) ? others.get(name) : otherRest);
    // A field that is rejected as an additional one needs no entry.
    if (field !== false || ours.get(name) === false || others.get(name) === false) fields.set(name, field);
  }
  mine.set('properties', Object.fromEntries(fields));
  if (isUnclear) {
    const lost = ['patternProperties', 'additionalProperties'].filter((keyword) => mine.has(keyword) || theirs[keyword] !== undefined);
    for (const keyword of lost) mine.delete(keyword);
    return lost;
  }
  if (patterns !== undefined) mine.set('patternProperties', patterns);
  if (!isOpen) mine.set('additionalProperties', intersect(rest, otherRest));
  return [];
}

function fieldsOf(properties: unknown): Map<string, unknown> {
  return new Map(isRecord(properties) ? Object.entries(properties) : []);
}

function mergeItems(mine: Map<string, unknown>, theirs: JsonSchema): string[] {
  if (adopt(mine, theirs, ['prefixItems', 'items'])) return [];
  if (mine.has('prefixItems') || theirs.prefixItems !== undefined) return givenIn(theirs, ['prefixItems', 'items']);
  mine.set('items', intersect(mine.get('items'), theirs.items));
  return [];
}

/** Joins the descriptions of both, for a branch that becomes a separate schema. */
export function joinDescriptions(outer: JsonSchema, branch: JsonSchema): JsonSchema {
  const words = [outer.description, branch.description].filter((text) => typeof text === 'string' && text !== '');
  const texts = Object.fromEntries(Object.entries(outer).filter(([keyword]) => annotations.has(keyword)));
  const description = [...new Set(words)].join('\n');
  return { ...texts, ...branch, ...(description !== '' && { description }) };
}
