/**
 * The difference between the calls of a recording and of its replay, in their order: the longest common subsequence of equal calls, and between them
 * calls of the same tool with other arguments.
 */
import { pointer } from '../json/json-pointer.ts';
import { isRecord } from '../json/wire-value.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { equalKey, normalArguments, type ReplayCall, type SchemaOf } from './match-calls.ts';
import type { CallDifference, ComparedCalls } from './replay.ts';

/** `isApproximate`: correct, but perhaps not the fewest differences. */
export type CallComparison = { differences: CallDifference[]; calls: ComparedCalls; isApproximate: boolean };

/** Calls on each side, apart from equal ones at both ends, up to which the fewest differences are searched: the table has its square. */
const maxExact = 500;
const maxPaths = 20;

export function compareCalls(recorded: readonly ReplayCall[], replayed: readonly ReplayCall[], schemaOf: SchemaOf): CallComparison {
  const [one, other] = [recorded, replayed].map((calls) => calls.map((call) => equalKey(call, schemaOf))) as [string[], string[]];
  const { pairs, isApproximate } = commonPairs(one, other);
  const differences: CallDifference[] = [];
  let [at, to] = [0, 0];
  for (const [index, found] of [...pairs, [one.length, other.length] as const]) {
    differences.push(...gap({ recorded, replayed, schemaOf }, [at, index], [to, found]));
    if (index < one.length) differences.push({ kind: 'same', recorded: index, replayed: found, paths: [] });
    [at, to] = [index + 1, found + 1];
  }
  const calls: ComparedCalls = { same: 0, changed: 0, added: 0, missing: 0 };
  for (const { kind } of differences) calls[kind] += 1;
  return { differences, calls, isApproximate };
}

/** Whether both sides have the same calls, in any order. */
export function sameCallsInAnyOrder(recorded: readonly ReplayCall[], replayed: readonly ReplayCall[], schemaOf: SchemaOf): boolean {
  const [one, other] = [recorded, replayed].map((calls) => calls.map((call) => equalKey(call, schemaOf)).sort());
  return sameJson(one, other);
}

type Sides = { recorded: readonly ReplayCall[]; replayed: readonly ReplayCall[]; schemaOf: SchemaOf };
type Span = readonly [from: number, to: number];

/** Between two equal calls: those of the same tool, in order, are changed ones. */
function gap({ recorded, replayed, schemaOf }: Sides, [from, to]: Span, [start, end]: Span): CallDifference[] {
  const tools = [recorded.slice(from, to), replayed.slice(start, end)].map((calls) => calls.map(toolOf)) as [string[], string[]];
  const differences: CallDifference[] = [];
  let [at, other] = [from, start];
  for (const [index, found] of [...commonPairs(...tools).pairs, [to - from, end - start] as const]) {
    for (; at < from + index; at++) differences.push({ kind: 'missing', recorded: at, replayed: null, paths: [] });
    for (; other < start + found; other++) differences.push({ kind: 'added', recorded: null, replayed: other, paths: [] });
    const [before, after] = [recorded[at], replayed[other]];
    if (at >= to || other >= end || before === undefined || after === undefined) continue;
    differences.push({ kind: 'changed', recorded: at++, replayed: other++, paths: differingPaths(before, after, schemaOf) });
  }
  return differences;
}

function toolOf({ canonical, requested }: ReplayCall): string {
  return canonical === null ? `? ${requested}` : canonical;
}

/** Index pairs of a common subsequence, in order: the longest one, unless the sides are long. */
function commonPairs(one: readonly string[], other: readonly string[]): { pairs: [number, number][]; isApproximate: boolean } {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let tail = 0;
  while (tail < Math.min(one.length, other.length) - start && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const [a, b] = [one.slice(start, one.length - tail), other.slice(start, other.length - tail)];
  const isApproximate = Math.min(a.length, b.length) > 0 && Math.max(a.length, b.length) > maxExact;
  const middle = isApproximate ? greedyPairs(a, b) : longestPairs(a, b);
  const ends = Array.from({ length: tail }, (_, index): [number, number] => [one.length - tail + index, other.length - tail + index]);
  return {
    pairs: [
      ...Array.from({ length: start }, (_, index): [number, number] => [index, index]),
      ...middle.map(([index, found]): [number, number] => [start + index, start + found]),
      ...ends,
    ],
    isApproximate,
  };
}

function longestPairs(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  /** Length of the longest common subsequence of what begins at each pair of indexes. */
  const lengths = new Uint16Array((a.length + 1) * width);
  const lengthAt = (index: number, found: number): number => lengths[index * width + found] ?? 0;
  for (let index = a.length - 1; index >= 0; index--)
    for (let found = b.length - 1; found >= 0; found--)
      lengths[index * width + found] =
        a[index] === b[found] ? lengthAt(index + 1, found + 1) + 1 : Math.max(lengthAt(index + 1, found), lengthAt(index, found + 1));
  const pairs: [number, number][] = [];
  for (let [index, found] = [0, 0]; index < a.length && found < b.length; ) {
    if (a[index] === b[found]) pairs.push([index++, found++]);
    else if (lengthAt(index + 1, found) >= lengthAt(index, found + 1)) index += 1;
    else found += 1;
  }
  return pairs;
}

/** Pairs each with the next equal one, in linear time. */
function greedyPairs(a: readonly string[], b: readonly string[]): [number, number][] {
  const places = Map.groupBy(b.keys(), (index) => b[index]);
  for (const indexes of places.values()) indexes.reverse();
  const pairs: [number, number][] = [];
  let next = 0;
  for (const [index, key] of a.entries()) {
    const left = places.get(key);
    while (left !== undefined && (left.at(-1) ?? next) < next) left.pop();
    const found = left?.pop();
    // One far ahead would leave out all calls between.
    if (found === undefined || found - next > maxExact) continue;
    pairs.push([index, found]);
    next = found + 1;
  }
  return pairs;
}

/** The first paths, in the order of the recording. */
function differingPaths(before: ReplayCall, after: ReplayCall, schemaOf: SchemaOf): string[] {
  const schema = before.canonical === null ? undefined : schemaOf(before.canonical);
  const [one, other] = [before, after].map(({ arguments: args }) =>
    schema === undefined || args === null ? args : normalArguments(schema, args),
  );
  const paths: string[] = [];
  addPaths(paths, '', one, other);
  return paths;
}

function addPaths(paths: string[], path: string, one: unknown, other: unknown): void {
  if (paths.length >= maxPaths || sameJson(one, other)) return;
  const isList = Array.isArray(one) && Array.isArray(other);
  if (!isList && !(isRecord(one) && isRecord(other))) {
    paths.push(path);
    return;
  }
  const [left, right] = [one, other] as [Record<string, unknown>, Record<string, unknown>]; // Lists have indexes as keys.
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [has, had] = [Object.hasOwn(left, key), Object.hasOwn(right, key)];
    if (has && had) addPaths(paths, pointer(path, key), left[key], right[key]);
    else if (paths.length < maxPaths) paths.push(pointer(path, key));
  }
}
