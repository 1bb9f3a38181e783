/**
 * Checks the schemas of a listed definition: size, depth and references. Fetches nothing and runs no pattern (neither does
 * `input-schema.ts`). Used by `listing.ts`. `schema-compiler.ts` decides what providers accept of a schema.
 */
import { type Finding, shortPath } from '../tools/hold.ts';
import { collectParts, isDeeperThan, isRecord, listOf, type JsonPart } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { pointer } from '../json/json-pointer.ts';
import { quote } from '../names/names.ts';

/** Parts of a listed schema with its references expanded, each cycle once: a larger count means references that multiply on purpose. */
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
  const parts = collectParts(schema, limits.maxSchemaSourceParts);
  if (parts === null) return { finding: 'too-large', path, message: `has more than ${limits.maxSchemaSourceParts} parts` };
  return referenceFault(schema, parts, path);
}

/**
 * Finds references that never end or that expand too far. A part that contains itself through its properties or items is valid, since
 * values are finite.
 */
function referenceFault(root: JsonSchema, parts: readonly JsonPart[], path: string): Finding | null {
  if (!parts.some((part) => isRecord(part) && typeof part.$ref === 'string')) return null;
  const { loops } = weigh(parts, (part) => (isRecord(part) ? partsIn([targetOf(root, part), ...listOf(part.allOf)]) : []));
  if (loops.size > 0) return { finding: 'ref-cycle', path, message: 'refers to itself endlessly' };
  const { weights } = weigh<JsonPart>([root], (part) => partsIn(isRecord(part) ? [targetOf(root, part), ...membersInUse(part)] : part));
  if ((weights.get(root) ?? 0) <= maxSchemaExpandedParts) return null;
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

function partsIn(values: readonly unknown[]): JsonPart[] {
  return values.filter((value): value is JsonPart => typeof value === 'object' && value !== null);
}

function targetOf(root: JsonSchema, part: Record<string, unknown>): unknown {
  return typeof part.$ref === 'string' && part.$ref.startsWith('#') ? resolvePointer(root, part.$ref) : undefined;
}

/**
 * Returns the number of parts reachable from each part through `next`, counting a part once for each reference to it. A part that is reached
 * again while it is open counts as one, and the part that refers to it is in `loops`. Iterative, because a chain of references can be long.
 */
export function weigh<Part extends object>(
  starts: readonly Part[],
  next: (part: Part) => readonly Part[],
): { weights: ReadonlyMap<Part, number>; loops: ReadonlySet<Part> } {
  const weights = new Map<Part, number>();
  const open = new Set<Part>();
  const loops = new Set<Part>();
  for (const start of starts) {
    const stack: { part: Part; children: readonly Part[]; at: number; weight: number }[] = [];
    const enter = (part: Part): void => {
      open.add(part);
      stack.push({ part, children: next(part), at: 0, weight: 1 });
    };
    if (!weights.has(start)) enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = top.children[top.at];
      if (child === undefined) {
        weights.set(top.part, top.weight);
        open.delete(top.part);
        stack.pop();
      } else if (weights.has(child) || open.has(child)) {
        if (open.has(child)) loops.add(top.part);
        // The count is capped far above the limit: 2^30 means the same as 2^1000.
        top.weight = Math.min(top.weight + (weights.get(child) ?? 1), Number.MAX_SAFE_INTEGER);
        top.at += 1;
      } else enter(child);
    }
  }
  return { weights, loops };
}

// `x-mcp-header` (MCP 2026-07-28, Streamable HTTP, custom headers from tool parameters): such a parameter is also sent as the header
// `Mcp-Param-<name>`. Definitions that break its rules must be skipped.

/**
 * Requires a token (RFC 9110 §5.6.2) that is unique ignoring case, on a parameter of a primitive type that is directly under `properties`.
 * null: valid.
 */
function headerFault(schema: JsonSchema, path: string): Finding | null {
  const taken = new Set<string>();
  const waiting: { part: unknown; path: string; isParameter: boolean }[] = [{ part: schema, path, isParameter: true }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { part } = next;
    if (typeof part !== 'object' || part === null) continue;
    const isHere = isRecord(part) && Object.hasOwn(part, 'x-mcp-header');
    if (isHere) {
      const fault = headerFaultOf(part, next.isParameter, taken);
      if (fault !== null) return { ...fault, path: shortPath(`${next.path}/x-mcp-header`) };
    }
    for (const [keyword, member] of Object.entries(part)) {
      if (next.isParameter && keyword === 'properties' && isRecord(member)) {
        for (const [name, parameter] of Object.entries(member)) {
          waiting.push({ part: parameter, path: pointer(`${next.path}/properties`, name), isParameter: true });
        }
      } else if (typeof member === 'object') waiting.push({ part: member, path: pointer(next.path, keyword), isParameter: false });
    }
  }
  return null;
}

function headerFaultOf(part: Record<string, unknown>, isParameter: boolean, taken: Set<string>): Omit<Finding, 'path'> | null {
  const header = part['x-mcp-header'];
  if (typeof header !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/.test(header)) {
    return { finding: 'invalid-header-name', message: `${quote(typeof header === 'string' ? header : '')} is not a valid header name` };
  }
  if (!isParameter || !headerTypes.has(part.type)) {
    return { finding: 'invalid-header-name', message: 'only string, integer and boolean parameters can be sent as headers' };
  }
  if (taken.has(header.toLowerCase())) return { finding: 'duplicate-header-name', message: `${quote(header)} is used twice` };
  taken.add(header.toLowerCase());
  return null;
}

/** Not `number`, which has several spellings (2026-07-28, Streamable HTTP, "Schema Extension"). */
const headerTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
