/**
 * `x-mcp-header` in a listed schema (MCP 2026-07-28, Streamable HTTP, custom headers from tool parameters): such a parameter is also sent
 * as the header `Mcp-Param-<name>`, and a definition that breaks the rules for it must be left out. Used by `listing-schema.ts`; sending
 * them is for those who call over MCP.
 */
import type { Finding } from './hold.ts';
import { pointer } from '../json-pointer.ts';
import { limits } from '../limits.ts';
import { shortPath } from './listing-findings.ts';
import { quote } from '../names.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

/** A token (RFC 9110 §5.6.2), once whatever its case, on a parameter of a simple type that stands under `properties` alone. null: fine. */
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
 * The schema without the keyword, for who calls us: nobody has to send us such headers. Parameters stand under `properties` alone, and
 * a parameter may have the keyword's name. What does not speak of headers stays the same object.
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
