/**
 * The schemas of a listed definition: what makes them schemas that nobody can work with. Nothing is fetched, and no pattern is run (nobody
 * here ever does: `input-schema.ts`). Used by `listing.ts`. What providers take of a schema is another question (`schema-compiler.ts`).
 */
import type { Finding } from './hold.ts';
import { isDeeperThan } from '../json-depth.ts';
import { limits } from '../limits.ts';
import { headerFault } from './listing-headers.ts';
import { partAt } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

/** What no definition can be made of; null: nothing. `path` is where in the definition `schema` stands. */
export function schemaFault(schema: unknown, path: string): Finding | null {
  if (!isRecord(schema)) return { finding: 'invalid-schema', path, message: 'must be a JSON Schema object' };
  if (schema.type !== undefined && schema.type !== 'object') {
    return { finding: 'invalid-schema', path: `${path}/type`, message: 'must be "object": arguments are one object' };
  }
  return sizeFault(schema, path) ?? headerFault(schema, path);
}

/** It may be absent, and of any type. */
export function outputSchemaFault(schema: unknown, path: string): Finding | null {
  if (schema === undefined || schema === null) return null;
  return isRecord(schema) ? sizeFault(schema, path) : { finding: 'invalid-schema', path, message: 'must be a JSON Schema object' };
}

function sizeFault(schema: JsonSchema, path: string): Finding | null {
  if (isDeeperThan(schema, limits.maxJsonDepth)) {
    return { finding: 'too-deep', path, message: `nests deeper than ${limits.maxJsonDepth} levels` };
  }
  const parts = partsOf(schema);
  if (parts === null) return { finding: 'too-large', path, message: `has more than ${limits.maxSchemaSourceParts} parts` };
  return referenceFault(schema, parts, path);
}

type Part = Record<string, unknown> | readonly unknown[];

/** Every object and array in it; null: too many. */
export function partsOf(schema: JsonSchema): Part[] | null {
  const parts: Part[] = [];
  const waiting: unknown[] = [schema];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    parts.push(next as Part);
    if (parts.length > limits.maxSchemaSourceParts) return null;
    for (const member of Object.values(next)) if (typeof member === 'object' && member !== null) waiting.push(member);
  }
  return parts;
}

/**
 * References that never come to an end, or that come to too much when they are written out. A part that contains itself through its
 * properties or items is fine: values end.
 */
function referenceFault(root: JsonSchema, parts: readonly Part[], path: string): Finding | null {
  if (!parts.some((part) => isRecord(part) && typeof part.$ref === 'string')) return null;
  const sameValue = weigh(root, parts, (part) => (isRecord(part) ? [targetOf(root, part), ...listed(part.allOf)] : []));
  if (sameValue.loops) return { finding: 'ref-cycle', path, message: 'refers to itself without end' };
  const all = weigh(root, [root], (part) => (isRecord(part) ? [targetOf(root, part), ...membersInUse(part)] : part));
  if (all.weight <= limits.maxSchemaExpandedParts) return null;
  return {
    finding: 'too-large',
    path,
    message: `has more than ${limits.maxSchemaExpandedParts} parts when its references are written out`,
  };
}

/** Definitions count where they are referred to. */
function membersInUse(part: Record<string, unknown>): unknown[] {
  return Object.entries(part).flatMap(([key, member]) => (key === '$defs' || key === 'definitions' ? [] : [member]));
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function targetOf(root: JsonSchema, part: Record<string, unknown>): unknown {
  return typeof part.$ref === 'string' && part.$ref.startsWith('#') ? partAt(root, part.$ref) : undefined;
}

/**
 * How many parts stand under `starts` when every step of `next` is taken, each part weighed once: what is met again while it is open
 * loops, and counts as one. Without recursion: a chain of references may be as long as the schema.
 */
function weigh(root: JsonSchema, starts: readonly Part[], next: (part: Part) => readonly unknown[]): { weight: number; loops: boolean } {
  const weights = new Map<object, number>();
  const open = new Set<object>();
  let loops = false;
  for (const start of starts) {
    const stack: { part: Part; children: readonly object[]; at: number; weight: number }[] = [];
    const enter = (part: Part): void => {
      open.add(part);
      const children = next(part).filter((child): child is object => typeof child === 'object' && child !== null);
      stack.push({ part, children, at: 0, weight: 1 });
    };
    if (!weights.has(start)) enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = top.children[top.at];
      if (child === undefined) {
        weights.set(top.part, top.weight);
        open.delete(top.part);
        stack.pop();
      } else if (weights.has(child) || open.has(child)) {
        if (open.has(child)) loops = true;
        // Far above the limit nothing is counted any more: 2^30 is as good as 2^1000.
        top.weight = Math.min(top.weight + (weights.get(child) ?? 1), Number.MAX_SAFE_INTEGER);
        top.at += 1;
      } else enter(child as Part);
    }
  }
  return { weight: weights.get(root) ?? 0, loops };
}
