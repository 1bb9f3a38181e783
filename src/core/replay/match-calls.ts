/**
 * The recorded answers of a turn, for the calls of its replay. A call is matched by the canonical name of its tool and by the tool's own arguments, so
 * that new names of tools and of arguments change nothing: first exactly, then by equality under the tool's schema.
 */
import { canonicalJson } from '../hash.ts';
import { isRecord } from '../json/wire-value.ts';
import { memoizeByObject } from '../memoize.ts';
import { checkInput } from '../schema/input-schema.ts';
import { isNullable, typesOf } from '../schema/schema-parts.ts';
import { expandReferences } from '../schema/schema-references.ts';
import { SchemaReport } from '../schema/schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';

/** `arguments`: the tool's own; null: they were no JSON object. */
export type ReplayCall = { requested: string; canonical: string | null; arguments: Record<string, unknown> | null };

/** Returns the tool's own schema; undefined: not known, so that only exactly equal arguments are equal. */
export type SchemaOf = (canonical: string) => JsonSchema | undefined;

export type AnswerBook<Answer extends ReplayCall> = {
  /**
   * Returns the first unused answer to such a call, and its index in the recording; null: there is no answer. `repeat`: an answer that was
   * used may be used again, the last one, as calling a safe tool again would give it again.
   */
  take(call: ReplayCall, repeat: boolean): { index: number; answer: Answer } | null;
  /** Indexes of the answers that were used, in order, for a book that continues this one. */
  used(): readonly number[];
};

export function createAnswerBook<Answer extends ReplayCall>(
  recorded: readonly Answer[],
  schemaOf: SchemaOf,
  usedBefore: readonly number[] = [],
): AnswerBook<Answer> {
  const used = new Set(usedBefore);
  const [exact, equal] = [exactKey, (call: ReplayCall) => equalKey(call, schemaOf)].map((keyOf) => ({
    keyOf,
    indexes: Map.groupBy(recorded.keys(), (index) => keyOf(recorded[index] as Answer)), // The keys are its own indexes.
  }));
  return {
    take(call, repeat) {
      const found = [exact, equal].map((level) => level?.indexes.get(level.keyOf(call)) ?? []);
      const again = repeat ? found.map((indexes) => indexes.at(-1)) : [];
      const index = [...found.map((indexes) => indexes.find((one) => !used.has(one))), ...again].find((one) => one !== undefined);
      const answer = index === undefined ? undefined : recorded[index];
      if (index === undefined || answer === undefined) return null;
      used.add(index);
      return { index, answer };
    },
    used: () => [...used],
  };
}

function exactKey({ requested, canonical, arguments: args }: ReplayCall): string {
  return canonicalJson([canonical, canonical === null ? requested : null, args]);
}

/** Calls have equal keys if they mean the same under the schema of their tool. */
export function equalKey(call: ReplayCall, schemaOf: SchemaOf): string {
  const { canonical, arguments: args } = call;
  const schema = canonical === null ? undefined : schemaOf(canonical);
  return exactKey(schema === undefined || args === null ? call : { ...call, arguments: normalArguments(schema, args) });
}

/**
 * Values that are read for one call, those that are checked against alternatives of the schema each time. Arguments that need more are equal to
 * exactly the same only: a turn has 64 calls, each with hundreds of thousands of values at most, and schemas are foreign.
 */
const maxValues = 20_000;

type Budget = { values: number };

/**
 * Returns the arguments in the form that all equal ones have: with defaults of absent properties, without null for optional ones, and sets in
 * one order. `1` and `1.0` are one number in JavaScript.
 */
export function normalArguments(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const budget = { values: maxValues };
  const normal = normalize(expandOnce(schema), args, budget);
  return budget.values < 0 || !isRecord(normal) ? args : normal;
}

/** Parts that contain themselves are read twice; what is deeper counts only as it is. */
const expandOnce = memoizeByObject((schema: JsonSchema) => expandReferences(schema, 2, new SchemaReport()).schema);

function normalize(schema: unknown, value: unknown, budget: Budget): unknown {
  budget.values -= 1;
  if (budget.values < 0 || !isRecord(schema) || typeof value !== 'object' || value === null) return value;
  const parts = [...(Array.isArray(schema.allOf) ? schema.allOf : []), ...chosen(schema, value, budget)];
  const whole = parts.reduce<unknown>((normal, part) => normalize(part, normal, budget), value);
  if (Array.isArray(whole)) return normalizeList(schema, whole, budget);
  return isRecord(whole) ? normalizeObject(schema, whole, budget) : whole;
}

/** The alternative of `anyOf` or `oneOf` that the value has; none if it fits several. */
function chosen(schema: JsonSchema, value: unknown, budget: Budget): unknown[] {
  return [schema.anyOf, schema.oneOf].flatMap((alternatives) => {
    const fitting = (Array.isArray(alternatives) ? alternatives : []).filter((part) => {
      spend(budget, value);
      return budget.values >= 0 && (part === true || (isRecord(part) && checkInput(part, value).length === 0));
    });
    return fitting.length === 1 ? fitting : [];
  });
}

/** Spends one for each value, until the budget is used up. */
function spend(budget: Budget, value: unknown): void {
  budget.values -= 1;
  if (budget.values < 0 || typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) {
    if (budget.values < 0) return;
    spend(budget, member);
  }
}

function normalizeList({ items, prefixItems, uniqueItems }: JsonSchema, list: readonly unknown[], budget: Budget): unknown[] {
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  if (list.length > budget.values) budget.values = -1;
  const normal = budget.values < 0 ? [...list] : list.map((item, index) => normalize(first[index] ?? items, item, budget));
  if (budget.values < 0 || uniqueItems !== true || first.length > 0) return normal;
  const keyed = normal.map((item) => [canonicalJson(item), item] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
}

function normalizeObject(schema: JsonSchema, value: Record<string, unknown>, budget: Budget): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const rest = schema.additionalProperties;
  const defaults = Object.entries(properties).flatMap(([name, part]) =>
    !Object.hasOwn(value, name) && isRecord(part) && part.default !== undefined ? [[name, part.default] as const] : [],
  );
  const members = [...Object.entries(value), ...defaults].flatMap(([name, member]) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : rest;
    const isAbsent = member === null && !required.has(name) && isRecord(part) && meansAbsent(part);
    return isAbsent ? [] : [[name, normalize(part, member, budget)] as const];
  });
  return Object.fromEntries(members);
}

/** Whether null is a value of an optional property, and not different from its default. */
function meansAbsent(part: JsonSchema): boolean {
  if (part.default !== undefined && part.default !== null) return false;
  const ways = [part.anyOf, part.oneOf].find(Array.isArray);
  return isNullable(part) || (typesOf(part)?.includes('null') ?? ways?.some((way) => isRecord(way) && way.type === 'null') ?? false);
}
