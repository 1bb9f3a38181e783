/** Errors of MCP requests: thrown by the code that reads or answers a request, and sent as JSON-RPC errors. */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { ServerRpcError, toRpcError } from '../../engine/mcp/rpc-error.ts';
import type { Logger } from '../../ports/runtime.ts';

/** JSON-RPC 2.0, "Error object", and MCP: schema 2025-11-25 and 2026-07-28. */
export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  parse: -32700,
  /** Used for refusals of the transport and for errors without a code of their own. */
  server: -32000,
  sessionNotFound: -32001,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedRevision: -32022,
  openPage: -32042,
} as const;

/** `status`: of the HTTP response, if nothing was sent before. 2026-07-28 requires 400 for a capability that the client lacks, also a server's. */
export class RpcFault extends Error {
  override name = 'RpcFault';
  readonly code: number;
  readonly data: unknown;
  readonly status: number;

  constructor(code: number, message: string, data?: unknown, status = code === rpcCodes.missingCapability ? 400 : 200) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export function invalidParams(message: string, data?: unknown): RpcFault {
  return new RpcFault(rpcCodes.invalidParams, message, data);
}

/**
 * Converts problems to JSON-RPC errors with the problem's code and members as `data`. Any other error is an internal error: it is logged,
 * and its details are not sent.
 */
export function toRpcFault(error: unknown, log: Logger): RpcFault {
  if (error instanceof RpcFault) return error;
  if (!(error instanceof Problem)) {
    log.error('an MCP request failed', { cause: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return new RpcFault(rpcCodes.internal, 'Internal error. Try again later.', { code: 'internal' });
  }
  if (error.cause instanceof ServerRpcError) return new RpcFault(error.cause.rpc.code, error.cause.rpc.message, error.cause.rpc.data);
  if (error.status >= 500) log.error('an MCP request failed', { code: error.code, detail: error.detail });
  const { code, message, data } = toRpcError(error);
  return new RpcFault(code, message, data);
}

/** The HTTP response to a message that is not answered by a message of its own. */
export function refuse({ code, message, data, status }: RpcFault, id: string | number | null = null, headers: Record<string, string> = {}) {
  return Response.json(
    { jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id },
    { status: status === 200 ? 400 : status, headers },
  );
}

/** For an expired session: the client starts a new one (MCP, session management: 404). */
export function unknownMcpSession(): Response {
  return refuse(new RpcFault(rpcCodes.sessionNotFound, 'Session not found', undefined, 404));
}

export function tooManyRequests(): Response {
  const message = `This session has ${limits.maxMcpRequestsInFlight} requests in flight or ${limits.maxMcpSessionStreams} open streams, which is the limit. Wait for one to end.`;
  return refuse(new RpcFault(rpcCodes.server, message, undefined, 429), null, { 'retry-after': '1' });
}
