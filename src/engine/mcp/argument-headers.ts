/**
 * The `Mcp-Param-*` headers of a `tools/call` (MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"): checked in a client's
 * request, and written in ours. A parameter with `x-mcp-header` in the schema is also sent as a header, for proxies that read no bodies; a
 * server must refuse a request whose header differs from its body, since the proxy may have decided by the header.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { valueAt } from '../../core/json/json-pointer.ts';
import { fromBase64, toBase64 } from '../../core/text/bytes.ts';
import { limits } from '../../core/limits/limits.ts';
import { resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import { modelDefinition } from '../../core/toolset/model-definitions.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';

/** Returns what is wrong with the headers; null: nothing, or the tool is unknown. `header`: reads a header of the request. */
export function argumentHeaderFault(
  names: AliasMap,
  { name, arguments: args }: { name: string; arguments: unknown },
  header: (name: string) => string | null,
): string | null {
  const found = resolveName(names, name);
  if (!found.ok) return null;
  for (const parameter of headerParameters(modelDefinition(names, found.tool).inputSchema)) {
    const value = valueAt(args, parameter.path)?.json;
    const text = headerText(value);
    // Without a value, the header is not expected, and ignored.
    if (text === null) continue;
    const given = header(parameter.header);
    if (given === null) return `the header ${parameter.header} is missing, which must repeat the argument ${parameter.path.join('.')}`;
    const decoded = decodeHeader(given);
    if (decoded === null) return `the header ${parameter.header} is not valid Base64 of UTF-8`;
    const isEqual = decoded === text || (typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(decoded) && Number(decoded) === value);
    if (!isEqual) return `the header ${parameter.header} differs from the argument ${parameter.path.join('.')}`;
  }
  return null;
}

/** Returns the headers that repeat arguments. `schema`: as the server lists the tool. */
export function argumentHeaders(schema: JsonSchema, args: unknown): Record<string, string> {
  const found = headerParameters(schema).flatMap(({ header, path }) => {
    const text = headerText(valueAt(args, path)?.json);
    return text === null ? [] : [[header, encodeHeader(text)]];
  });
  return Object.fromEntries(found);
}

/** null: the value is not sent as a header. */
function headerText(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? String(value) : null;
}

type HeaderParameter = { header: string; path: string[] };

/** A listed schema has the keyword only on parameters under `properties` (`core/listing/listing-schema.ts`). */
const headerParameters = memoizeByObject((schema: JsonSchema): readonly HeaderParameter[] => findParameters(schema, []));

function findParameters({ properties }: JsonSchema, path: readonly string[]): HeaderParameter[] {
  if (!isRecord(properties) || path.length >= limits.maxJsonDepth) return [];
  return Object.entries(properties).flatMap(([name, part]) => {
    if (!isRecord(part)) return [];
    const at = [...path, name];
    const header = part['x-mcp-header'];
    return [...(typeof header === 'string' ? [{ header: `Mcp-Param-${header}`, path: at }] : []), ...findParameters(part, at)];
  });
}

/** Encodes a text that a header cannot carry unchanged, or that looks encoded. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`;
}

/** Decodes what a header cannot carry unchanged: `=?base64?…?=` (2026-07-28, header encoding). null: it is not valid. */
export function decodeHeader(value: string): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = encoded.length % 4 === 0 ? fromBase64(encoded) : null;
  try {
    return bytes === null ? null : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8, which the caller reports.
    return null;
  }
}
