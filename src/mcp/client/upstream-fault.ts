/**
 * Converts errors in the communication with an MCP server to problems: the server's name, what happened, and what to do. Messages of the
 * server are quoted; response bodies, headers and tokens are never included. Internal errors are rethrown unchanged.
 */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { boundMessage, ServerRpcError, toProtocolFault } from '../../engine/mcp/rpc-error.ts';
import { isRecord, tryParse } from '../../core/json/wire-value.ts';

/** A response over the size limit. The server did its work, so it is not reported as broken. */
export class ResponseTooLarge extends Problem {
  override name = 'AnswerTooLarge';
}

/** `server`: its name in the workspace. */
export function toFault(server: string, error: unknown): unknown {
  if (error instanceof ResponseTooLarge) return error;
  if (error instanceof Problem) return named(server, error);
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return unauthorized(server, 401, error);
  if (error instanceof UnsupportedProtocolVersionError) return unknownVersion(server, error.supported.join(', '), error);
  if (error instanceof SdkHttpError) return ofStatus(server, error);
  if (error instanceof SseError) return ofStream(server, error);
  if (error instanceof SdkError) return ofSdk(server, error);
  if (error instanceof ProtocolError) {
    const cause = error.code === unsupportedVersion ? error : new ServerRpcError(toProtocolFault(error), { cause: error });
    return upstreamError(server, `returned error ${error.code}: ${serverMessage(error.message)}.`, cause);
  }
  if (!(error instanceof Error)) return error;
  const version = /^Server's protocol version is not supported: (.*)$/s.exec(error.message)?.[1];
  if (version !== undefined) return unknownVersion(server, version, error);
  const posted = /^Error POSTing to endpoint \(HTTP (\d+)\)/.exec(error.message)?.[1];
  if (posted !== undefined)
    return upstreamError(server, `responded ${posted} to a message (HTTP+SSE).`, error, { retryable: Number(posted) >= 500 });
  if (error.message.startsWith('Endpoint origin')) return permanentError(server, 'named an endpoint of another origin (HTTP+SSE).', error);
  if (error.name === 'SyntaxError') return upstreamError(server, 'returned invalid JSON.', error);
  if (error.name === 'ZodError' || error.name === '$ZodError')
    return upstreamError(server, 'returned something that is not an MCP message.', error);
  return error;
}

export function upstreamError(server: string, what: string, cause?: unknown, extra: Record<string, unknown> = {}): Problem {
  return new Problem('upstream_error', `The server ${server} ${what}`, { server, ...extra }, { cause });
}

/** A fault that a retry cannot fix. */
export function permanentError(server: string, what: string, cause?: unknown): Problem {
  return upstreamError(server, what, cause, { retryable: false });
}

export function upstreamTimeout(server: string, ms: number, what = 'did not respond'): Problem {
  const detail = `The server ${server} ${what} within ${ms / 1000} s. Call it again, or set a longer \`timeoutMs\`.`;
  return new Problem('upstream_timeout', detail, { server, retryable: true });
}

/**
 * Returns a message of the server in quotation marks, which ends with a note if it is too long. Whoever reads it gets its text: a model without what a person
 * cannot see (`core/tools/model-result.ts`), a terminal with that made visible.
 */
export function serverMessage(text: string): string {
  return `"${boundMessage(text)}"`;
}

/** JSON-RPC error code (2026-07-28, `UnsupportedProtocolVersionError`). */
export const unsupportedVersion = -32022;

/** Returns the HTTP status of a rejected request, or null. */
export function statusOf(error: unknown): number | null {
  return error instanceof SdkHttpError ? error.data.status : null;
}

/** The server responds to neither transport's first request at its URL; so do servers that have only the other transport. */
export function isWithoutEndpoint(error: unknown): boolean {
  if (error instanceof SseError) return error.code !== 401 && error.code !== 403;
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405;
}

function ofStream(server: string, error: SseError): Problem {
  const { code } = error;
  if (code === 401 || code === 403) return unauthorized(server, code, error);
  if (code === undefined || code === 200)
    return upstreamError(server, 'did not open an event stream (HTTP+SSE).', error, { retryable: true });
  return upstreamError(server, `responded ${code} instead of an event stream. ${noEndpoint}`, error, {
    status: code,
    retryable: code >= 500,
  });
}

/** Returns the JSON-RPC error in the body of a rejected request, as servers of the 2025 eras send it, or null. */
function rpcErrorOf(error: SdkHttpError): { code: number; message: string } | null {
  const text: unknown = error.data.text;
  const body = typeof text === 'string' ? tryParse(text) : null;
  const found = isRecord(body) && isRecord(body.error) ? body.error : null;
  return typeof found?.code === 'number' && typeof found.message === 'string' ? { code: found.code, message: found.message } : null;
}

function named(server: string, problem: Problem): Problem {
  if (problem.extra.server !== undefined || !problem.code.startsWith('upstream_')) return problem;
  const detail = `The server ${server} could not be called: ${problem.detail}`;
  return new Problem(problem.code, detail, { ...problem.extra, server }, { cause: problem });
}

function unauthorized(server: string, status: number, cause: unknown): Problem {
  const what = status === 403 ? 'does not allow this (403)' : 'requires credentials (401)';
  const todo =
    'Sign in on its page in the console or with POST …/authorize, or set `headers` (with the complete value `Bearer <token>` in the secret) or `oauth` in the server document.';
  return upstreamError(server, `${what}. ${todo}`, cause, { unauthorized: true, retryable: false });
}

function unknownVersion(server: string, version: string, cause: unknown): Problem {
  const known = '2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26';
  return permanentError(server, `uses an unsupported version of MCP (${serverMessage(version)}); supported versions: ${known}.`, cause);
}

const noEndpoint = 'It has no MCP endpoint at its `url`: check the path, which is often /mcp (Streamable HTTP) or /sse (HTTP+SSE).';

function ofStatus(server: string, error: SdkHttpError): Problem {
  const { status } = error.data;
  if (status === 401 || status === 403) return unauthorized(server, status, error);
  if (status >= 300 && status < 400) {
    const todo = 'Redirects to other URLs are not followed: set `url` in the server document to the new URL.';
    return upstreamError(server, `responded with a redirect (${status}). ${todo}`, error, { status, retryable: false });
  }
  const rpcError = rpcErrorOf(error);
  const words = rpcError === null ? '' : `: ${serverMessage(rpcError.message)}`;
  const todo = rpcError === null && (status === 404 || status === 405) ? ` ${noEndpoint}` : '';
  return upstreamError(server, `responded ${status}${words}.${todo}`, error, { status, retryable: status >= 500 });
}

function ofSdk(server: string, error: SdkError): unknown {
  // The cause is the error of the version probe.
  if (error.cause !== undefined && error.cause !== error) return toFault(server, error.cause);
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return upstreamTimeout(server, limits.maxServerCallMs);
    case SdkErrorCode.ClientHttpUnexpectedContent: {
      const data: unknown = error.data;
      const type = isRecord(data) && typeof data.contentType === 'string' ? serverMessage(data.contentType) : 'no content type';
      const todo = 'Check that its `url` is that of its MCP endpoint, and whether it requires a login.';
      return permanentError(server, `responded with ${type} instead of JSON or an event stream. ${todo}`, error);
    }
    case SdkErrorCode.EraNegotiationFailed:
      return upstreamError(server, 'does not support MCP revision 2026-07-28. Set `era` in the server document to "auto".', error);
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.UnsupportedResultType:
      return upstreamError(server, 'returned an invalid MCP result.', error);
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
      return upstreamError(server, 'uses a revision of MCP that does not support this.', error);
    default:
      return upstreamError(server, 'closed the connection before it responded.', error, { retryable: true });
  }
}
