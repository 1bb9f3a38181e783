/** Failed requests on `/mcp` in the format of MCP clients: a JSON-RPC error without an id, with the status of the problem. */
import type { Problem, ProblemCode } from '../core/problem.ts';

export function toRpcError(problem: Problem, requestId: string): Record<string, unknown> {
  const { code, detail, extra } = problem;
  return { jsonrpc: '2.0', error: { code: rpcCodes[code] ?? refused, message: detail, data: { ...extra, code, requestId } }, id: null };
}

/** From the range that JSON-RPC reserves for servers. */
const refused = -32000;

const rpcCodes: Partial<Record<ProblemCode, number>> = {
  invalid_json: -32700,
  invalid_request: -32600,
  unsupported_media_type: -32600,
  method_not_allowed: -32600,
  body_too_large: -32600,
  internal: -32603,
};

export function isMcpPath(path: string): boolean {
  return path === '/mcp' || path.startsWith('/mcp/');
}
