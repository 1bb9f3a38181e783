/**
 * Checks a call's arguments against a tool's JSON Schema (2020-12 and common older spellings) before the tool runs, with messages that a
 * model can act on. Schemas are untrusted: nothing is fetched, no foreign `pattern` is compiled to a regular expression, and unknown
 * keywords are ignored. The tool's source still validates what passes. Each schema object is compiled to closures once, on its first call.
 * Used by tool calls and dry runs, which also repair what the schema rejects and can only mean one thing.
 * Ignored on purpose: `pattern`, `patternProperties`, `format`, `contains`, `dependent*`, `unevaluated*`. `not`, `if`/`then`/`else` and the
 * "exactly one" of `oneOf` are ignored too: with an ignored keyword inside, they would reject valid values.
 */
import { memoizeByObject } from '../memoize.ts';
import { limits } from '../limits/limits.ts';
import type { Issue } from '../problem.ts';
import { resolvePointer } from './schema-references.ts';
import { fixedChoices, hasType, isNullable, jsonKey, typesOf } from './schema-parts.ts';
import { describeExpected, nameOf, preview } from './input-fault-text.ts';
import {
  type Check,
  type Run,
  charactersPerValue,
  checkMember,
  keyOf,
  maxCheckDepth,
  maxCheckedValues,
  maxIssues,
  memoizeText,
  repairForOne,
  report,
  reportAt,
  runCheck,
  tryCheck,
} from './check-run.ts';
import { Repairs } from './repairs.ts';
import type { Repair } from '../tools/argument-repair.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** Returns every fault found (at most `maxIssues`), each with a path such as `a.b[0]`; empty if the arguments are valid. */
export function checkInput(schema: JsonSchema, args: unknown): Issue[] {
  return runCheck(args, compileOnce(schema), null);
}

/**
 * Checks arguments like `checkInput`, and repairs what the schema rejects: numbers, booleans, lists and objects that were sent as JSON text
 * (Claude Code and Cursor do), and null for optional members. A value that the schema accepts stays. `args`: the given object if nothing was
 * repaired. `issues`: what is left.
 */
export function repairInput<Args extends object>(schema: JsonSchema, args: Args): { args: Args; issues: Issue[]; repaired: Repair[] } {
  const issues = runCheck(args, compileOnce(schema), null);
  if (issues.length === 0) return { args, issues, repaired: [] };
  const copy = structuredClone(args);
  const repairs = new Repairs();
  const left = runCheck(copy, compileOnce(schema), repairs);
  return repairs.mark === 0 ? { args, issues, repaired: [] } : { args: copy, issues: left, repaired: repairs.list() };
}

const compileOnce = memoizeByObject((schema: JsonSchema): Check => compile(schema, { root: schema, references: new Map() }, 0));

type Scope = { root: JsonSchema; references: Map<string, Check> };

const acceptAll: Check = () => {};

function compile(schema: unknown, scope: Scope, depth: number): Check {
  if (schema === false) return (value, run) => report(run, `no value is allowed here, received ${nameOf(value)}`);
  if (!isRecord(schema) || depth > limits.maxSchemaDepth) return acceptAll;
  const type = typeRule(schema);
  const checks: Check[] = [];
  const add = (check: Check | null): void => {
    if (check !== null) checks.push(check);
  };
  add(reference(schema, scope));
  add(choice(schema));
  add(objectRules(schema, scope, depth));
  add(arrayRules(schema, scope, depth));
  add(stringRules(schema));
  add(numberRules(schema));
  add(alternatives(schema, scope, depth));
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) add(compile(part, scope, depth + 1));
  return guarded(type, checks);
}

/** Checks the type first: if it is wrong, the other rules would only repeat the fault. The budget ends recursive schemas. */
function guarded(type: Check | null, checks: readonly Check[]): Check {
  return (value, run) => {
    const before = run.issues.length;
    run.values += 1;
    if (run.values > maxCheckedValues || run.depth > maxCheckDepth || before >= maxIssues) return;
    type?.(value, run);
    if (run.issues.length > before) return;
    run.depth += 1;
    for (const check of checks) check(value, run);
    run.depth -= 1;
  };
}

function typeRule(schema: JsonSchema): Check | null {
  const types = typesOf(schema);
  if (types === null) return null;
  return (value, run) => {
    for (const type of types) if (hasType(value, type)) return;
    report(run, `expected ${describeExpected(schema)}, received ${nameOf(value)}`);
  };
}

function choice(schema: JsonSchema): Check | null {
  const allowed = fixedChoices(schema);
  if (allowed === null) return null;
  const keys = new Set(allowed.map(jsonKey));
  const nullable = isNullable(schema);
  return (value, run) => {
    if (keys.has(keyOf(value, run)) || (nullable && value === null)) return;
    report(run, `expected ${describeExpected(schema)}, received ${memoizeText(value, run.previews, preview)}`);
  };
}

function objectRules(schema: JsonSchema, scope: Scope, depth: number): Check | null {
  const fields = isRecord(schema.properties) ? schema.properties : {};
  const properties = new Map<string, Check>();
  for (const key of Object.keys(fields)) properties.set(key, compile(fields[key], scope, depth + 1));
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === 'string') : [];
  // The names that a pattern allows cannot be determined without running it.
  const closed = schema.additionalProperties === false && schema.patternProperties === undefined;
  const rest =
    isRecord(schema.additionalProperties) && schema.patternProperties === undefined
      ? compile(schema.additionalProperties, scope, depth + 1)
      : null;
  const [least, most] = [bound(schema.minProperties), bound(schema.maxProperties)];
  if (properties.size === 0 && required.length === 0 && !closed && rest === null && least === null && most === null) return null;
  // The list of names is only built for a fault, since most schemas are compiled for one valid call.
  const known = (): string => (properties.size === 0 ? 'no fields are known' : `known: ${[...properties.keys()].slice(0, 30).join(', ')}`);

  return (value, run) => {
    if (!isRecord(value)) return;
    for (const key of required) {
      if (!Object.hasOwn(value, key))
        reportAt(run, key, `missing: expected ${properties.has(key) ? describeExpected(fields[key]) : 'a value'}`);
    }
    const keys = Object.keys(value);
    run.values += keys.length;
    for (const key of keys) {
      const check = properties.get(key) ?? rest;
      if (check !== null) checkMember(run, value, key, check, !required.includes(key));
      else if (closed) reportAt(run, key, `unknown field; ${known()}`);
    }
    if (least !== null || most !== null) count(run, Object.keys(value).length, 'fields', least, most);
  };
}

function arrayRules(schema: JsonSchema, scope: Scope, depth: number): Check | null {
  // Draft 7 writes a tuple as an array under `items`, 2020-12 as `prefixItems`.
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : [];
  const first = tuple.map((item) => compile(item, scope, depth + 1));
  const others = isRecord(schema.items) || schema.items === false ? compile(schema.items, scope, depth + 1) : null;
  const [least, most, unique] = [bound(schema.minItems), bound(schema.maxItems), schema.uniqueItems === true];
  if (first.length === 0 && others === null && least === null && most === null && !unique) return null;

  return (value, run) => {
    if (!Array.isArray(value)) return;
    count(run, value.length, 'items', least, most);
    for (let index = 0; index < value.length && run.issues.length < maxIssues; index += 1) {
      const check = first[index] ?? others;
      if (check !== null) checkMember(run, value, index, check, false);
    }
    if (!unique) return;
    run.values += value.length;
    if (new Set(value.map((item) => keyOf(item, run))).size < value.length) report(run, 'expected no item twice');
  };
}

function stringRules(schema: JsonSchema): Check | null {
  const [least, most] = [bound(schema.minLength), bound(schema.maxLength)];
  if (least === null && most === null) return null;
  return (value, run) => {
    if (typeof value !== 'string') return;
    // A code point has one or two UTF-16 units, so most strings need no counting.
    if (value.length <= (most ?? value.length) && value.length >= 2 * (least ?? 0)) return;
    run.values += value.length / charactersPerValue;
    count(run, codePoints(value), 'characters', least, most);
  };
}

function count(run: Run, length: number, what: string, least: number | null, most: number | null): void {
  if (least !== null && length < least) report(run, `expected at least ${least} ${what}, received ${length}`);
  if (most !== null && length > most) report(run, `expected at most ${most} ${what}, received ${length}`);
}

function numberRules(schema: JsonSchema): Check | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // In draft 4, the exclusive bounds are booleans that modify `minimum` and `maximum`.
  const given: [unknown, NumberRule][] = [
    [minimum, exclusiveMinimum === true ? moreThan : atLeast],
    [maximum, exclusiveMaximum === true ? lessThan : atMost],
    [exclusiveMinimum, moreThan],
    [exclusiveMaximum, lessThan],
    [multipleOf, aMultipleOf],
  ];
  const rules = given.flatMap(([limit, rule]) =>
    typeof limit === 'number' && (limit > 0 || rule !== aMultipleOf) ? [{ limit, ...rule }] : [],
  );
  if (rules.length === 0) return null;
  return (value, run) => {
    if (typeof value !== 'number') return;
    for (const { limit, holds, words } of rules) if (!holds(value, limit)) report(run, `expected ${words} ${limit}, received ${value}`);
  };
}

type NumberRule = { words: string; holds(value: number, limit: number): boolean };
const moreThan: NumberRule = { words: 'more than', holds: (value, limit) => value > limit };
const atLeast: NumberRule = { words: 'at least', holds: (value, limit) => value >= limit };
const lessThan: NumberRule = { words: 'less than', holds: (value, limit) => value < limit };
const atMost: NumberRule = { words: 'at most', holds: (value, limit) => value <= limit };
const aMultipleOf: NumberRule = { words: 'a multiple of', holds: isMultiple };

/** `anyOf` and `oneOf`: one matching branch is enough. If all fail, the fault comes from a branch whose type matches. */
function alternatives(schema: JsonSchema, scope: Scope, depth: number): Check | null {
  const lists = [schema.anyOf, schema.oneOf].filter((list) => Array.isArray(list) && list.length > 0);
  if (lists.length === 0) return null;
  const groups = lists.map((list) => {
    const branches = list as unknown[]; // The caller filtered for arrays.
    return branches.map((branch) => ({ schema: branch, check: compile(branch, scope, depth + 1) }));
  });
  return (value, run) => {
    for (const branches of groups) {
      const candidates: Issue[][] = [];
      const fits = branches.some((branch) => {
        const issues = tryCheck(value, branch.check, run, null);
        if (issues.length === 0) return true;
        if (isRecord(branch.schema) && typesOf(branch.schema)?.some((type) => hasType(value, type)) === true) candidates.push(issues);
        return false;
      });
      if (fits || repairForOne(value, branches, run)) continue;
      const only = candidates.length === 1 ? candidates[0] : undefined;
      if (only !== undefined) run.issues.push(...only);
      else
        report(
          run,
          `expected ${[...new Set(branches.map((branch) => describeExpected(branch.schema)))].join(' or ')}, received ${nameOf(value)}`,
        );
    }
  };
}

/** A local `$ref`, compiled on first use and shared, so that a recursive schema becomes a cycle of closures. */
function reference(schema: JsonSchema, scope: Scope): Check | null {
  const pointer = schema.$ref;
  if (typeof pointer !== 'string') return null;
  const shared = scope.references.get(pointer);
  if (shared !== undefined) return shared;
  let target: Check | null = null;
  const forward: Check = (value, run) => {
    target ??= compile(resolvePointer(scope.root, pointer) ?? true, scope, 0);
    target(value, run);
  };
  scope.references.set(pointer, forward);
  return forward;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

function bound(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
