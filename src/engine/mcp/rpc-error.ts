/** Problems as JSON-RPC errors of `/mcp`, with the problem's code and members as `data`: the same inside an MCP message and before it. */
import { isDeeperThan } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { KB } from '../../core/limits/units.ts';
import type { Problem, ProblemCode } from '../../core/problem.ts';
import type { ProtocolFault } from '../../core/tools/tool.ts';

export type RpcError = { code: number; message: string; data: Record<string, unknown> };

export function toRpcError({ code, detail, extra }: Problem, requestId?: string): RpcError {
  return { code: rpcCodes[code] ?? serverError, message: detail, data: { ...extra, code, ...(requestId !== undefined && { requestId }) } };
}

/** The JSON-RPC error of a server as the cause of a problem: an MCP client gets the same error. */
export class ServerRpcError extends Error {
  override name = 'ServerRpcError';
  readonly rpc: ProtocolFault;

  constructor(rpc: ProtocolFault, options?: ErrorOptions) {
    super(rpc.message, options);
    this.rpc = rpc;
  }
}

const maxErrorDataCharacters = 256 * KB;

/** Returns the error as the server sent it. A message or data that is too large is cut, with a note in its place. */
export function toProtocolFault({ code, message, data }: ProtocolFault): ProtocolFault {
  return { code, message: boundMessage(message), ...(data !== undefined && { data: boundData(data) }) };
}

/** The note names what is missing, and is no part of the server's message. */
export function boundMessage(text: string): string {
  const max = limits.maxServerMessageLength;
  return text.length <= max ? text : `${text.slice(0, max)}… [cut: the first ${max} of ${text.length} characters are shown]`;
}

function boundData(data: unknown): unknown {
  if (isDeeperThan(data, limits.maxJsonDepth)) return `[left out: it nests deeper than ${limits.maxJsonDepth} levels]`;
  const { length } = JSON.stringify(data);
  return length <= maxErrorDataCharacters ? data : `[left out: it has ${length} characters, over the limit of ${maxErrorDataCharacters}]`;
}

/** From the range that JSON-RPC reserves for servers. */
const serverError = -32000;

const rpcCodes: Partial<Record<ProblemCode, number>> = {
  invalid_json: -32700,
  malformed_request: -32600,
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
