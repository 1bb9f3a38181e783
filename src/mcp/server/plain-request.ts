/**
 * Recognizes the requests of revision 2026-07-28 that need nothing of the SDK's server: one `tools/list` or `tools/call` that ends with its
 * response. `plain-answer.ts` serves them. The SDK serves and refuses all others: a request is plain only if the SDK would have passed it to
 * its handler unchanged.
 */
import { classifyInboundRequest, LOG_LEVEL_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isRecord } from '../../core/json/wire-value.ts';

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
  if (meta[PROTOCOL_VERSION_META_KEY] !== modernRevision || meta.progressToken !== undefined || meta[LOG_LEVEL_META_KEY] !== undefined)
    return false;
  const params = { _meta: meta };
  return classifyInboundRequest({ httpMethod: 'POST', body: { jsonrpc: '2.0', id: 1, method: 'ping', params } }).kind === 'modern';
}
