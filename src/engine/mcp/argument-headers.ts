/**
 * Checks the `Mcp-Param-*` headers of a client's `tools/call` (MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). A
 * parameter with `x-mcp-header` in the served schema is also sent as a header, for proxies that read no bodies; a server must refuse a
 * request whose header differs from its body, since the proxy may have decided by the header.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { valueAt } from '../../core/json/json-pointer.ts';
import { fromBase64 } from '../../core/text/bytes.ts';
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
    const text = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value) ? String(value) : null;
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
