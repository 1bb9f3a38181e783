/**
 * Recognizes the requests of revision 2026-07-28 that need nothing of the SDK's server: one `tools/list` or `tools/call` that ends with its
 * response. `plain-answer.ts` serves them. The SDK serves and refuses all others: a request is plain only if the SDK would have passed it to
 * its handler unchanged.
 */
import {
  classifyInboundRequest,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { isRecord } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits.ts';

export const modernRevision = '2026-07-28';

/** `meta`: the `_meta` of the request. */
export type PlainRequest = { id: string | number; meta: Readonly<Record<string, unknown>> } & (
  | { method: 'tools/list'; cursor: string | undefined }
  | { method: 'tools/call'; name: string; arguments: Record<string, unknown> }
);

/** `body`: of a POST with JSON. Returns null if the SDK has to serve the request. */
export function readPlainRequest(headers: Headers, body: unknown): PlainRequest | null {
  if (!isRecord(body) || !hasOnly(body, messageMembers) || body.jsonrpc !== '2.0') return null;
  const { id, method, params } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  if (headers.get('mcp-protocol-version') !== modernRevision || headers.get('mcp-method') !== method) return null;
  if (!isRecord(params) || !isRecord(params._meta) || !isPlainMeta(params._meta)) return null;
  const common = { id: id as string | number, meta: params._meta };
  if (method === 'tools/list') {
    const { cursor } = params;
    if (!hasOnly(params, listMembers) || (cursor !== undefined && typeof cursor !== 'string')) return null;
    return { ...common, method, cursor };
  }
  const { name, arguments: args = {} } = params;
  if (method !== 'tools/call' || !hasOnly(params, callMembers) || typeof name !== 'string' || !isRecord(args)) return null;
  // A name that a header cannot carry is encoded there, which the SDK decodes.
  return headers.get('mcp-name') === name && !name.startsWith('=?') ? { ...common, method, name, arguments: args } : null;
}

const messageMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const listMembers: ReadonlySet<string> = new Set(['_meta', 'cursor']);
const callMembers: ReadonlySet<string> = new Set(['_meta', 'name', 'arguments']);

function hasOnly(value: object, members: ReadonlySet<string>): boolean {
  for (const name in value) if (!members.has(name)) return false;
  return true;
}

/** Progress and log messages are sent before the result, so a client that requests them needs a stream. */
function isPlainMeta(meta: Record<string, unknown>): boolean {
  const { [PROTOCOL_VERSION_META_KEY]: version, [CLIENT_INFO_META_KEY]: client, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = meta;
  if (version !== modernRevision || meta.progressToken !== undefined || meta[LOG_LEVEL_META_KEY] !== undefined) return false;
  // Each client sends the same declaration with all its requests.
  const declaration = JSON.stringify([client, capabilities]);
  if (validDeclarations.has(declaration)) return true;
  const params = { _meta: meta };
  const isValid = classifyInboundRequest({ httpMethod: 'POST', body: { jsonrpc: '2.0', id: 1, method: 'ping', params } }).kind === 'modern';
  if (isValid && declaration.length <= maxCachedDeclarationCharacters) {
    if (validDeclarations.size >= limits.maxCachedNames) validDeclarations.clear();
    validDeclarations.add(declaration);
  }
  return isValid;
}

/** JSON of declarations that the SDK has accepted, shared by the isolate. */
const validDeclarations = new Set<string>();
/** With `limits.maxCachedNames` of them, 20 MB at most. */
const maxCachedDeclarationCharacters = 2_000;
