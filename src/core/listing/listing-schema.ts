/**
 * Checks the schemas of a listed definition: size, depth and references. Fetches nothing and runs no pattern (neither does
 * `input-schema.ts`). Used by `listing.ts`. `schema-compiler.ts` decides what providers accept of a schema.
 */
import type { Finding } from './hold.ts';
import { isDeeperThan } from '../json/json-depth.ts';
import { limits } from '../limits.ts';
import { headerFault } from './listing-headers.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/**
 * Parts of a listed schema with its references expanded, each cycle once: a larger count means references that multiply on purpose.
 */
const maxSchemaExpandedParts = 1_000_000;

/** Returns what makes the input schema unusable; null: nothing. `path`: the position of `schema` in the definition. */
export function schemaFault(schema: unknown, path: string): Finding | null {
  if (!isRecord(schema)) return { finding: 'invalid-schema', path, message: 'must be a JSON Schema object' };
  if (schema.type !== undefined && schema.type !== 'object') {
    return { finding: 'invalid-schema', path: `${path}/type`, message: 'must be "object", because arguments are an object' };
  }
  return sizeFault(schema, path) ?? headerFault(schema, path);
}

/** The output schema may be absent, and may describe any type. */
export function outputSchemaFault(schema: unknown, path: string): Finding | null {
  if (schema === undefined || schema === null) return null;
  return isRecord(schema) ? sizeFault(schema, path) : { finding: 'invalid-schema', path, message: 'must be a JSON Schema object' };
}

function sizeFault(schema: JsonSchema, path: string): Finding | null {
  if (isDeeperThan(schema, limits.maxJsonDepth)) {
    return { finding: 'too-deep', path, message: `nests deeper than ${limits.maxJsonDepth} levels` };
  }
  const parts = collectParts(schema);
  if (parts === null) return { finding: 'too-large', path, message: `has more than ${limits.maxSchemaSourceParts} parts` };
  return referenceFault(schema, parts, path);
}

type Part = Record<string, unknown> | readonly unknown[];

/** Returns all objects and arrays in the schema; null: too many. */
export function collectParts(schema: JsonSchema): Part[] | null {
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
 * Finds references that never end or that expand too far. A part that contains itself through its properties or items is valid, since
 * values are finite.
 */
function referenceFault(root: JsonSchema, parts: readonly Part[], path: string): Finding | null {
  if (!parts.some((part) => isRecord(part) && typeof part.$ref === 'string')) return null;
  const sameValue = weigh(root, parts, (part) => (isRecord(part) ? [targetOf(root, part), ...listed(part.allOf)] : []));
  if (sameValue.loops) return { finding: 'ref-cycle', path, message: 'refers to itself endlessly' };
  const all = weigh(root, [root], (part) => (isRecord(part) ? [targetOf(root, part), ...membersInUse(part)] : part));
  if (all.weight <= maxSchemaExpandedParts) return null;
  return {
    finding: 'too-large',
    path,
    message: `has more than ${maxSchemaExpandedParts} parts when its references are expanded`,
  };
}

/** Definitions count where a reference uses them. */
function membersInUse(part: Record<string, unknown>): unknown[] {
  return Object.entries(part).flatMap(([key, member]) => (key === '$defs' || key === 'definitions' ? [] : [member]));
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function targetOf(root: JsonSchema, part: Record<string, unknown>): unknown {
  return typeof part.$ref === 'string' && part.$ref.startsWith('#') ? resolvePointer(root, part.$ref) : undefined;
}

/**
 * Returns the number of parts reachable from `starts` through `next`, counting a part once for each reference to it. A part that is reached
 * again while it is open is a loop and counts as one. Iterative, because a chain of references can be as long as the schema.
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
        // The count is capped far above the limit: 2^30 means the same as 2^1000.
        top.weight = Math.min(top.weight + (weights.get(child) ?? 1), Number.MAX_SAFE_INTEGER);
        top.at += 1;
      } else enter(child as Part);
    }
  }
  return { weight: weights.get(root) ?? 0, loops };
}
