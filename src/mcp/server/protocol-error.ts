/**
 * Problems as MCP clients are told them: JSON-RPC errors with the problem's code and members as `data`. What is not a `Problem` is a fault
 * of ours: logged, and nothing of it leaves.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { Problem } from '../../core/problem.ts';
import type { Logger } from '../../ports/runtime.ts';

export function toProtocolError(error: unknown, log: Logger): ProtocolError {
  if (ProtocolError.isInstance(error)) return error;
  if (!(error instanceof Problem)) {
    log.error('an MCP request failed', { cause: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Something failed on our side. Try again later.', { code: 'internal' });
  }
  if (error.status >= 500) log.error('an MCP request failed', { code: error.code, detail: error.detail });
  return new ProtocolError(rpcCodeOf(error), error.detail, { ...error.extra, code: error.code });
}

/** Faults of what was asked are the client's parameters; all else is told as ours or the server's. */
function rpcCodeOf({ status }: Problem): number {
  return status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
}
