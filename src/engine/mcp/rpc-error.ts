/** Problems as JSON-RPC errors of `/mcp`, with the problem's code and members as `data`: the same inside an MCP message and before it. */
import type { Problem, ProblemCode } from '../../core/problem.ts';

export type RpcError = { code: number; message: string; data: Record<string, unknown> };

export function toRpcError({ code, detail, extra }: Problem, requestId?: string): RpcError {
  return { code: rpcCodes[code] ?? serverError, message: detail, data: { ...extra, code, ...(requestId !== undefined && { requestId }) } };
}

/** From the range that JSON-RPC reserves for servers. */
const serverError = -32000;

const rpcCodes: Partial<Record<ProblemCode, number>> = {
  invalid_json: -32700,
  unsupported_media_type: -32600,
  method_not_allowed: -32600,
  body_too_large: -32600,
  // "Invalid params": an argument, a cursor, or the name of something that does not exist.
  invalid_request: -32602,
  not_found: -32602,
  unknown_tool: -32602,
  ambiguous_tool: -32602,
  internal: -32603,
};
