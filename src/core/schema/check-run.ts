/**
 * One check of arguments in progress: its place, what it found, and its budget. With `Repairs` it also repairs what the schema rejects. The
 * rules themselves are in `input-schema.ts`.
 */
import { getOrBuild } from '../memoize.ts';
import type { Issue } from '../problem.ts';
import type { Json } from '../json/wire-value.ts';
import { fieldPath } from './input-fault-text.ts';
import { changesKey, meaningsOf, type Repairs } from './repairs.ts';
import { jsonKey } from './schema-parts.ts';

/** Reported errors of a call with invalid arguments: enough to fix them all at once. */
export const maxIssues = 20;
/** Nested checks of one value, including references; keeps recursive schemas from overflowing the stack. */
export const maxCheckDepth = 256;
/** Values visited in one check of arguments; bounds unions of unions. Names, compared items and long texts count as well. */
export const maxCheckedValues = 200_000;
/** Characters of a text that count as one value. */
export const charactersPerValue = 64;

/**
 * `keys`, `previews`: of objects and lists that were compared, since the alternatives of a schema compare the same ones. `repairs`: null for
 * a check that changes nothing.
 */
export type Run = {
  issues: Issue[];
  path: (string | number)[];
  depth: number;
  values: number;
  keys: Map<object, string>;
  previews: Map<object, string>;
  repairs: Repairs | null;
};
export type Check = (value: unknown, run: Run) => void;

/** Returns what the check reports. `repairs`: null for a check that changes nothing. */
export function runCheck(value: unknown, check: Check, repairs: Repairs | null): Issue[] {
  const run: Run = { issues: [], path: [], depth: 0, values: 0, keys: new Map(), previews: new Map(), repairs };
  check(value, run);
  return run.issues;
}

/** Repairs the value for the alternative that it can be repaired for. Returns false if there is none, or if several repairs differ. */
export function repairForOne(value: unknown, branches: readonly { check: Check }[], run: Run): boolean {
  const { repairs } = run;
  if (repairs === null || typeof value !== 'object') return false;
  const ways = new Map<string, ReturnType<Repairs['undo']>>();
  for (const { check } of branches) {
    const mark = repairs.mark;
    const fits = tryCheck(value, check, run, repairs).length === 0 && run.values <= maxCheckedValues;
    const changes = repairs.undo(mark);
    if (fits) ways.set(changesKey(changes), changes);
  }
  forgetTexts(run);
  const [only] = ways.values();
  if (only === undefined || ways.size > 1) return false;
  for (const change of only) repairs.make(change);
  return true;
}

/** Checks apart from the run; its budget counts. */
export function tryCheck(value: unknown, check: Check, run: Run, repairs: Repairs | null): Issue[] {
  const trial: Run = { ...run, issues: [], repairs };
  check(value, trial);
  run.values = trial.values;
  return trial.issues;
}

export function checkMember(run: Run, parent: Json | unknown[], key: string | number, check: Check, isOptional: boolean): void {
  const before = run.issues.length;
  const value = (parent as Json)[key];
  descend(run, key, value, check);
  if (run.repairs === null || run.issues.length === before) return;
  const { repairs } = run;
  const path = [...run.path, key];
  if (typeof value === 'string') run.values += value.length / charactersPerValue;
  for (const to of meaningsOf(value, isOptional, path.length)) {
    const mark = repairs.mark;
    repairs.make({ parent, path, from: value, to });
    let issues: Issue[] = [];
    if (to !== undefined) descend(run, key, to, (meant) => (issues = tryCheck(meant, check, run, repairs)));
    if (issues.length === 0 && run.values <= maxCheckedValues) run.issues.length = before;
    else repairs.undo(mark);
    forgetTexts(run);
  }
}

/** Compared objects and lists may have changed. */
function forgetTexts({ keys, previews }: Run): void {
  keys.clear();
  previews.clear();
}

export function descend(run: Run, key: string | number, value: unknown, check: Check): void {
  run.path.push(key);
  check(value, run);
  run.path.pop();
}

export function report(run: Run, message: string): void {
  if (run.issues.length < maxIssues) run.issues.push({ path: fieldPath(run.path), message });
}

export function reportAt(run: Run, key: string, message: string): void {
  descend(run, key, undefined, () => report(run, message));
}

export function keyOf(value: unknown, run: Run): string {
  if (typeof value === 'string') run.values += value.length / charactersPerValue;
  return memoizeText(value, run.keys, jsonKey);
}

export function memoizeText(value: unknown, known: Map<object, string>, make: (value: unknown) => string): string {
  return typeof value === 'object' && value !== null ? getOrBuild(known, value, maxCheckedValues, () => make(value)) : make(value);
}
