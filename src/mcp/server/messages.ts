/** The JSON-RPC messages of MCP, of servers and of clients: read from parsed JSON, and written as JSON. */
import { isRecord } from '../../core/json/wire-value.ts';
import { RpcFault, rpcCodes } from './rpc-fault.ts';

export type RpcId = string | number;
export type RpcParams = Readonly<Record<string, unknown>>;
export type RpcRequest = { kind: 'request'; id: RpcId; method: string; params: RpcParams };
export type RpcNotification = { kind: 'notification'; method: string; params: RpcParams };
/** `error`: as it was sent. */
export type RpcResponse = { kind: 'response'; id: RpcId } & ({ result: Record<string, unknown> } | { error: Record<string, unknown> });
export type McpMessage = RpcRequest | RpcNotification | RpcResponse;

const maxBatchMessages = 100;

/** `body`: one message, or a batch (JSON-RPC 2.0; in MCP up to revision 2025-03-26). Throws a fault for anything else. */
export function readMcpMessages(body: unknown): McpMessage[] {
  const parts: unknown[] = Array.isArray(body) ? body : [body];
  if (parts.length === 0) throw invalidRequest('Bad Request: empty JSON-RPC batch');
  if (parts.length > maxBatchMessages) throw invalidRequest(`Invalid Request: Batch must not exceed ${maxBatchMessages} messages`);
  return parts.map(readMessage);
}

function readMessage(value: unknown): McpMessage {
  if (!isRecord(value) || value.jsonrpc !== '2.0') throw invalidRequest('Bad Request: the request body is not a valid JSON-RPC message');
  const { id, method, params = {}, result, error } = value;
  if (method === undefined) {
    requireMembers(value, result === undefined ? errorMembers : resultMembers);
    if (isId(id) && isRecord(result)) return { kind: 'response', id, result };
    if (isId(id) && isRecord(error)) return { kind: 'response', id, error };
    throw invalidRequest('Bad Request: a message has neither `method` nor a valid `result` or `error`');
  }
  requireMembers(value, requestMembers);
  if (typeof method !== 'string' || !isRecord(params) || !isMeta(params._meta)) {
    throw invalidRequest('Bad Request: `method` must be a string, `params` an object, and `params._meta` an object with a valid token');
  }
  if (id === undefined) return { kind: 'notification', method, params };
  if (!isId(id)) throw invalidRequest('Bad Request: the `id` of a request must be a string or an integer');
  return { kind: 'request', id, method, params };
}

const requestMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const resultMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result']);
const errorMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'error']);

function requireMembers(value: object, known: ReadonlySet<string>): void {
  for (const name in value)
    if (!known.has(name)) throw invalidRequest(`Bad Request: a message has the unknown member ${JSON.stringify(name)}`);
}

export function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function isMeta(meta: unknown): boolean {
  return meta === undefined || (isRecord(meta) && (meta.progressToken === undefined || isId(meta.progressToken)));
}

function invalidRequest(message: string): RpcFault {
  return new RpcFault(rpcCodes.invalidRequest, message, undefined, 400);
}

export function requestText(id: RpcId, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function mcpText({ kind: _kind, ...members }: McpMessage): string {
  return JSON.stringify({ jsonrpc: '2.0', ...members });
}

/** `result`: JSON. */
export function resultText(id: RpcId, result: string): string {
  return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

export function errorText(id: RpcId, { code, message, data }: RpcFault): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}

export function notificationText(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
}
