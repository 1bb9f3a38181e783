/**
 * The schemas of a listed definition: whether they are schemas that can be worked with, and what models may be given of them. Nothing is
 * fetched, and no pattern is run (nobody here ever does: `input-schema.ts`). Used by `listing.ts`. What providers take of a schema is
 * another question (`schema-compiler.ts`).
 */
import { pointerToken } from './definition-diff.ts';
import type { Finding } from './hold.ts';
import { isDeeperThan } from './json-depth.ts';
import { limits } from './limits.ts';
import { cleanText, cleanValue, isSeen } from './listing-text.ts';
import type { CleanedText } from './listing-text.ts';
import { quote } from './names.ts';
import { isObjectMember } from './reserved-names.ts';
import { partAt } from './schema-references.ts';
import type { JsonSchema } from './tool.ts';
import { isRecord } from './wire-value.ts';

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
function partsOf(schema: JsonSchema): Part[] | null {
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

/**
 * `x-mcp-header` (MCP 2026-07-28, Streamable HTTP, custom headers from tool parameters): a definition that breaks its rules must be left
 * out. A token (RFC 9110 §5.6.2), once whatever its case, on a parameter of a simple type that stands under `properties` alone.
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
          waiting.push({ part: parameter, path: `${next.path}/properties/${pointerToken(name)}`, isParameter: true });
        }
      } else if (typeof member === 'object')
        waiting.push({ part: member, path: `${next.path}/${pointerToken(keyword)}`, isParameter: false });
    }
  }
  return null;
}

function headerFaultOf(part: Record<string, unknown>, isParameter: boolean, taken: Set<string>): Omit<Finding, 'path'> | null {
  const header = part['x-mcp-header'];
  if (typeof header !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/.test(header)) {
    return { finding: 'invalid-header-name', message: `${quote(typeof header === 'string' ? header : '')} is no header name` };
  }
  if (!isParameter || !headerTypes.has(part.type)) {
    return { finding: 'invalid-header-name', message: 'only a parameter that is a string, number, integer or boolean may be a header' };
  }
  if (taken.has(header.toLowerCase())) return { finding: 'duplicate-header-name', message: `${quote(header)} stands twice` };
  taken.add(header.toLowerCase());
  return null;
}

/** The specification leaves out `number`; its own conformance tests send it. */
const headerTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean', 'number']);

/**
 * The schema as models may be given it, what there is to say of it in `findings`. The same object where nothing was to be changed. Throws
 * nothing on any schema that has no fault.
 */
export function cleanSchema(schema: JsonSchema, path: string, findings: Finding[]): JsonSchema {
  const places = new Set(idsOf(schema));
  return cleanPart(schema, { path, findings, places, role: 'schema' }) as JsonSchema; // An object stays one.
}

/** `map`: of schemas by name. `value`: data. */
type Cleaning = { path: string; findings: Finding[]; places: ReadonlySet<string>; role: 'schema' | 'map' | 'value' };

function cleanPart(part: unknown, cleaning: Cleaning): unknown {
  if (Array.isArray(part))
    return keptOrNew(
      part,
      part.map((item, index) => cleanPart(item, at(cleaning, String(index), cleaning.role))),
    );
  if (!isRecord(part)) return typeof part === 'string' ? tell(cleaning, cleanValue(part)) : part;
  let isChanged = false;
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(part)) {
    const cleaned = cleanMember(key, member, cleaning);
    if (cleaned !== member) isChanged = true;
    if (cleaned !== undefined) members.push([key, cleaned]);
  }
  // `fromEntries` makes `__proto__` a member like any other.
  return isChanged ? Object.fromEntries(members) : part;
}

/** undefined: left out. */
function cleanMember(key: string, member: unknown, cleaning: Cleaning): unknown {
  const inside = at(cleaning, key, roleIn(cleaning.role, key));
  if (!isSeen(key)) {
    found(inside, 'hidden-key', 'is a name with characters that cannot be seen; left out');
    return undefined;
  }
  if (cleaning.role !== 'schema') {
    if (cleaning.role === 'map' && isObjectMember(key)) found(inside, 'object-member-key', 'is named like a member of every object');
    return cleanPart(member, inside);
  }
  if (typeof member !== 'string') return cleanPart(member, inside);
  if (key === 'description' || key === 'title' || key === '$comment') return tell(inside, cleanText(member));
  if (key === '$ref' && !member.startsWith('#') && !isOwnPlace(member, cleaning.places)) {
    found(inside, 'remote-ref', 'lies elsewhere and is never fetched: any value is taken');
    return undefined;
  }
  // Without its hidden characters it would be another pattern.
  if (key === 'pattern' && !isSeen(member)) {
    found(inside, 'hidden-pattern', 'holds characters that cannot be seen; left out');
    return undefined;
  }
  return tell(inside, cleanValue(member));
}

function roleIn(role: Cleaning['role'], key: string): Cleaning['role'] {
  if (role === 'map') return 'schema';
  if (role === 'value' || valueKeywords.has(key)) return 'value';
  return mapKeywords.has(key) ? 'map' : 'schema';
}

const valueKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);
const mapKeywords: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

function isOwnPlace(reference: string, places: ReadonlySet<string>): boolean {
  return places.has(reference.split('#', 1)[0] ?? '');
}

/** `$id`s within the schema: references to them lead nowhere else. */
function idsOf(schema: JsonSchema): string[] {
  return (partsOf(schema) ?? []).flatMap((part) => (isRecord(part) && typeof part.$id === 'string' ? [part.$id.replace(/#$/, '')] : []));
}

function at(cleaning: Cleaning, key: string, role: Cleaning['role']): Cleaning {
  return { ...cleaning, path: `${cleaning.path}/${pointerToken(key)}`, role };
}

function tell(cleaning: Cleaning, cleaned: CleanedText): string {
  for (const { finding, message } of cleaned.findings) found(cleaning, finding, message);
  return cleaned.text;
}

function found(cleaning: Cleaning, finding: string, message: string): void {
  addFinding(cleaning.findings, { finding, path: cleaning.path, message });
}

/** As many as there are texts; how many are told is the reader's (`listing.ts`). */
export function addFinding(findings: Finding[], { finding, path, message }: Finding): void {
  findings.push({ finding, path: shortPath(path), message });
}

function shortPath(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300).toWellFormed()}…` : path;
}

function keptOrNew(part: readonly unknown[], cleaned: readonly unknown[]): readonly unknown[] {
  return cleaned.some((item, index) => item !== part[index]) ? cleaned : part;
}
