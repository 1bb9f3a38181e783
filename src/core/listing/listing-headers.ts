/**
 * Checks `x-mcp-header` in a listed schema (MCP 2026-07-28, Streamable HTTP, custom headers from tool parameters): such a parameter is also
 * sent as the header `Mcp-Param-<name>`. Definitions that break its rules must be skipped. Used by `listing-schema.ts`; the MCP client
 * sends the headers.
 */
import { type Finding, shortPath } from './hold.ts';
import { pointer } from '../json/json-pointer.ts';
import { limits } from '../limits.ts';
import { quote } from '../names/names.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/**
 * Requires a token (RFC 9110 §5.6.2) that is unique ignoring case, on a parameter of a primitive type that is directly under `properties`.
 * null: valid.
 */
export function headerFault(schema: JsonSchema, path: string): Finding | null {
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
    return { finding: 'invalid-header-name', message: 'only string, number, integer and boolean parameters can be sent as headers' };
  }
  if (taken.has(header.toLowerCase())) return { finding: 'duplicate-header-name', message: `${quote(header)} is used twice` };
  taken.add(header.toLowerCase());
  return null;
}

/** The specification omits `number`, but its conformance tests send it. */
const headerTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean', 'number']);

/**
 * Returns the schema without the keyword, for our own clients, which do not send such headers. The keyword is removed only from parameters,
 * directly under `properties`, since a parameter may have the keyword's name. Parts without it remain the same object.
 */
export function withoutHeaders(schema: JsonSchema, depth = 0): JsonSchema {
  const { properties } = schema;
  const parts = isRecord(properties) && depth < limits.maxJsonDepth ? Object.entries(properties) : [];
  const bare = parts.map(([name, part]) => [name, isRecord(part) ? withoutHeaders(part, depth + 1) : part] as const);
  const isSame = bare.every(([, part], index) => part === parts[index]?.[1]);
  const { 'x-mcp-header': header, ...rest } = schema;
  if (header === undefined && isSame) return schema;
  return isSame ? rest : { ...rest, properties: Object.fromEntries(bare) };
}
