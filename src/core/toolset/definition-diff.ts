/**
 * Compares two definitions of a tool: the deepest places that differ, each with its old and new value, hidden characters made visible.
 * Read by the administrator who accepts the new definition. Whether anything changed at all is decided by the pin (`definitionPin`).
 * Names come from servers, so only own properties count: a parameter named `constructor` is a parameter. (`microdiff` looks names up
 * with `in` and would not report it.)
 */
import { type DefinitionChange, shortPath } from '../tools/hold.ts';
import { isDeeperThan, isRecord, type Json, ownMember } from '../json/wire-value.ts';
import { pointer } from '../json/json-pointer.ts';
import { limits } from '../limits/limits.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { bareDefinition, type BareDefinition } from '../tools/tool.ts';
import { showInvisible } from '../text/visible-text.ts';
import { cutToLength } from '../text/utf8.ts';

/** Reported differences of two definitions, and characters of each value. */
export const maxDefinitionChanges = 50;
export const maxChangeValueLength = 2_000;

/**
 * Returns the changes in the order of the definition: at most `maxDefinitionChanges`, and a last one with the path `''` that
 * counts the rest. A change without `from` is an addition, without `to` a removal.
 */
export function diffDefinitions(from: BareDefinition, to: BareDefinition): DefinitionChange[] {
  return diffRecords(bareDefinition(from), bareDefinition(to));
}

/** The same for any two JSON objects. A member that is `undefined` counts as absent. */
export function diffRecords(from: Json, to: Json): DefinitionChange[] {
  const found: Found = { changes: [], more: 0 };
  compareRecords(found, '', from, to);
  if (found.more > 0) found.changes.push({ path: '', to: `${found.more} more changes` });
  return found.changes;
}

type Found = { changes: DefinitionChange[]; more: number };

/** `undefined` on one side means absent. */
function compare(found: Found, path: string, from: unknown, to: unknown): void {
  if (Array.isArray(from) && Array.isArray(to)) compareLists(found, path, from, to);
  else if (isRecord(from) && isRecord(to)) compareRecords(found, path, from, to);
  else if (from !== to) add(found, path, from, to);
}

function compareRecords(found: Found, path: string, from: Json, to: Json): void {
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    compare(found, pointer(path, key), ownMember(from, key), ownMember(to, key));
  }
}

/** Skips the equal items at both ends, so that one added item is one change. Paths have the indexes of the longer list. */
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
  if (found.changes.length >= maxDefinitionChanges) {
    found.more += 1;
    return;
  }
  const start = typeof from === 'string' && typeof to === 'string' ? startOfWindow(from, to) : 0;
  found.changes.push({
    // A long name would be repeated in the path of each change below it.
    path: shortPath(showInvisible(path)),
    ...(from !== undefined && { from: shown(from, start) }),
    ...(to !== undefined && { to: shown(to, start) }),
  });
}

/** Where the shown part of two long texts starts: shortly before their first difference, which may be at the end of 16 kB. */
function startOfWindow(from: string, to: string): number {
  if (Math.max(from.length, to.length) <= maxChangeValueLength) return 0;
  let start = 0;
  while (start < from.length && from[start] === to[start]) start += 1;
  return Math.max(0, start - 100);
}

/** The value itself if it is small and printable, else its text, cut to the limit. */
function shown(value: unknown, start: number): unknown {
  if (typeof value === 'string') return cut(showInvisible(value.slice(start, start + maxChangeValueLength + 1)), start);
  if (typeof value !== 'object' || value === null) return value;
  if (isDeeperThan(value, limits.maxJsonDepth)) return '…';
  const text = JSON.stringify(value);
  const visible = showInvisible(text);
  return visible === text && text.length <= maxChangeValueLength ? value : cut(visible, 0);
}

function cut(text: string, start: number): string {
  const end = cutToLength(text, maxChangeValueLength);
  return start > 0 ? `…${end}` : end;
}
