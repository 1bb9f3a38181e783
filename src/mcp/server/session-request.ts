/** Recognizes requests of a session of the 2025 revisions that the SDK's transport would accept, so that they need no transport. */
import { isJsonContentType, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { isRecord } from '../../core/json/wire-value.ts';
import { sessionRevision } from './session-responses.ts';

export type SessionRequest = { message: JSONRPCRequest; revision: string };

/** `body`: of a POST. Returns null if the transport has to decide about it: a notification, a batch, `initialize`, or a refused message. */
export function readSessionRequest(headers: Headers, body: unknown): SessionRequest | null {
  if (!isRecord(body) || body.jsonrpc !== '2.0') return null;
  for (const member in body) if (!requestMembers.has(member)) return null;
  const { id, method, params } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  if (typeof method !== 'string' || method === 'initialize') return null;
  if (params !== undefined && (!isRecord(params) || !isPlainMeta(params._meta))) return null;
  const accept = headers.get('accept') ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return null;
  if (!isJsonContentType(headers.get('content-type'))) return null;
  const revision = sessionRevision(headers.get('mcp-protocol-version'));
  // Checked above, member by member.
  return revision === null ? null : { message: body as JSONRPCRequest, revision };
}

const requestMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** The SDK checks members whose names are reserved for MCP. */
function isPlainMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isRecord(meta)) return false;
  for (const member in meta) if (member.startsWith('io.modelcontextprotocol/')) return false;
  return meta.progressToken === undefined || typeof meta.progressToken === 'string' || Number.isSafeInteger(meta.progressToken);
}
