/**
 * Converts problems to JSON-RPC errors with the problem's code and members as `data`. Any other error is an internal error: it is logged,
 * and its details are not sent.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { Problem } from '../../core/problem.ts';
import { toRpcError } from '../../engine/mcp/rpc-error.ts';
import type { Logger } from '../../ports/runtime.ts';

export function toProtocolError(error: unknown, log: Logger): ProtocolError {
  if (ProtocolError.isInstance(error)) return error;
  if (!(error instanceof Problem)) {
    log.error('an MCP request failed', { cause: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error. Try again later.', { code: 'internal' });
  }
  if (error.status >= 500) log.error('an MCP request failed', { code: error.code, detail: error.detail });
  const { code, message, data } = toRpcError(error);
  return new ProtocolError(code, message, data);
}
