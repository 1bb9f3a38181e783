/**
 * What changed between two definitions of a tool, for the person who is to accept the new one: the deepest places that differ, each
 * with its values from before and after, and nothing invisible left invisible. Used by the Catalog when it holds a tool. Not here:
 * whether anything changed at all, which the pin says (`tool-pin.ts`).
 */
import type { DefinitionChange } from './hold.ts';
import { isDeeperThan } from '../json-depth.ts';
import { pointer } from '../json-pointer.ts';
import { limits } from '../limits.ts';
import { shortPath } from './listing-findings.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { bareDefinition, type BareDefinition } from '../tool.ts';
import { visibleText } from '../visible-text.ts';
import { isRecord } from '../wire-value.ts';

/**
 * In the order of the definition. At most `limits.maxDefinitionChanges`; a last one with the path `''` says how many more there are.
 * An absent `from` was added, an absent `to` is gone.
 */
export function diffDefinitions(from: BareDefinition, to: BareDefinition): DefinitionChange[] {
  return diffRecords(bareDefinition(from), bareDefinition(to));
}

/** The same of any two records of JSON; a member that is `undefined` is not there. */
export function diffRecords(from: Record<string, unknown>, to: Record<string, unknown>): DefinitionChange[] {
  const found: Found = { changes: [], more: 0 };
  compareRecords(found, '', from, to);
  if (found.more > 0) found.changes.push({ path: '', to: `${found.more} more changes` });
  return found.changes;
}

type Found = { changes: DefinitionChange[]; more: number };

/** `undefined` on one side means that nothing is there. */
function compare(found: Found, path: string, from: unknown, to: unknown): void {
  if (from === undefined || to === undefined || !isSameKind(from, to)) {
    if (from !== to) add(found, path, from, to);
  } else if (Array.isArray(from)) compareLists(found, path, from, to as unknown[]);
  else if (isRecord(from)) compareRecords(found, path, from, to as Record<string, unknown>);
  else if (from !== to) add(found, path, from, to);
}

/** Of one kind, so that the casts above hold: two lists, two records, or two of neither. */
function isSameKind(from: unknown, to: unknown): boolean {
  return Array.isArray(from) === Array.isArray(to) && isRecord(from) === isRecord(to);
}

function compareRecords(found: Found, path: string, from: Record<string, unknown>, to: Record<string, unknown>): void {
  for (const key of Object.keys(from)) {
    // A tool whose parameters are all new is read by nobody one by one: what is past the limit is only counted.
    compare(found, pointer(path, key), from[key], Object.hasOwn(to, key) ? to[key] : undefined);
  }
  for (const key of Object.keys(to)) {
    if (!Object.hasOwn(from, key)) compare(found, pointer(path, key), undefined, to[key]);
  }
}

/** What is equal at both ends is left aside, so that one added item is one change. Places are told by the longer list's indexes. */
function compareLists(found: Found, path: string, from: readonly unknown[], to: readonly unknown[]): void {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && sameJson(from[start], to[start])) start += 1;
  let end = 0;
  while (end < shorter - start && sameJson(from[from.length - 1 - end], to[to.length - 1 - end])) end += 1;
  for (let index = start; index < Math.max(from.length, to.length) - end; index += 1) {
    compare(
      found,
      `${path}/${index}`,
      index < from.length - end ? from[index] : undefined,
      index < to.length - end ? to[index] : undefined,
    );
  }
}

function add(found: Found, path: string, from: unknown, to: unknown): void {
  if (found.changes.length >= limits.maxDefinitionChanges) {
    found.more += 1;
    return;
  }
  const start = typeof from === 'string' && typeof to === 'string' ? startOfWindow(from, to) : 0;
  found.changes.push({
    // One long name may stand in the paths of all that changed below it.
    path: shortPath(visibleText(path)),
    ...(from !== undefined && { from: shown(from, start) }),
    ...(to !== undefined && { to: shown(to, start) }),
  });
}

/** Of two long texts the part around their first difference is shown: the change may be at the end of 16 kB. */
function startOfWindow(from: string, to: string): number {
  if (Math.max(from.length, to.length) <= limits.maxChangeValueLength) return 0;
  let start = 0;
  while (start < from.length && from[start] === to[start]) start += 1;
  return Math.max(0, start - 100);
}

/** A value as it is, when it is small and prints; else its text, cut. */
function shown(value: unknown, start: number): unknown {
  if (typeof value === 'string') return cut(visibleText(value.slice(start, start + limits.maxChangeValueLength + 1)), start);
  if (typeof value !== 'object' || value === null) return value;
  if (isDeeperThan(value, limits.maxJsonDepth)) return '…';
  const text = JSON.stringify(value);
  const visible = visibleText(text);
  return visible === text && text.length <= limits.maxChangeValueLength ? value : cut(visible, 0);
}

function cut(text: string, start: number): string {
  const end = text.length > limits.maxChangeValueLength ? `${text.slice(0, limits.maxChangeValueLength).toWellFormed()}…` : text;
  return start > 0 ? `…${end}` : end;
}
