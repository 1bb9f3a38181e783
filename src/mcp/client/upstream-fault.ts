/**
 * Converts errors in the communication with an MCP server to problems: the server's name, what happened, and what to do. Messages of the
 * server are quoted; response bodies, headers and tokens are never included. Internal errors are rethrown unchanged.
 */
import { Problem } from '../../core/problem.ts';
import { boundMessage, ServerRpcError, toProtocolFault } from '../../engine/mcp/rpc-error.ts';
import { isRecord, listOf, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { rpcCodes } from '../server/rpc-fault.ts';

/** A response over the size limit. The server did its work, so it is not reported as broken. */
export class ResponseTooLarge extends Problem {
  override name = 'AnswerTooLarge';
}

export function responseTooLarge(): ResponseTooLarge {
  const detail = 'The response exceeds the size limit. Request less data, or a part of it.';
  return new ResponseTooLarge('upstream_error', detail, { retryable: false });
}

/**
 * An HTTP response with which a request has failed. `part`: of Streamable HTTP, its endpoint; of HTTP+SSE, its stream or a message.
 * `text`: the start of its body.
 */
export class HttpFault extends Error {
  override name = 'HttpFault';
  readonly status: number;
  readonly text: string;
  readonly part: 'endpoint' | 'stream' | 'message';

  constructor(status: number, text: string, part: HttpFault['part']) {
    super(`HTTP ${status}`);
    this.status = status;
    this.text = text;
    this.part = part;
  }

  /** The JSON-RPC error in its body, if there is one. `id`: of the request that failed, or null. */
  get rpc(): { id: unknown; error: ServerRpcError } | null {
    const { id, error } = recordOf(tryParse(this.text));
    return isRecord(error) && typeof error.code === 'number' ? { id, error: toServerError(error) } : null;
  }
}

/** `error`: the member of a JSON-RPC response. */
export function toServerError({ code, message, data }: Record<string, unknown>): ServerRpcError {
  return new ServerRpcError({
    code: Number(code),
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  });
}

/** `server`: its name in the workspace. */
export function toFault(server: string, error: unknown): unknown {
  if (error instanceof ResponseTooLarge) return error;
  if (error instanceof Problem) return named(server, error);
  if (error instanceof HttpFault) return ofHttp(server, error);
  if (!(error instanceof ServerRpcError)) return error;
  const supported = supportedVersions(error);
  if (supported !== null) return unknownVersion(server, supported.join(', '), error);
  const { code, message } = error.rpc;
  // Not an answer to the request, so it is not passed on as one.
  const cause = code === rpcCodes.unsupportedRevision ? undefined : new ServerRpcError(toProtocolFault(error.rpc), { cause: error });
  return upstreamError(server, `returned error ${code}: ${serverMessage(message)}.`, cause);
}

/** Returns the versions that a server supports, if it refused the one of a request; null: it says no such thing. */
export function supportedVersions(error: unknown): string[] | null {
  const rpc = error instanceof HttpFault ? error.rpc?.error.rpc : error instanceof ServerRpcError ? error.rpc : undefined;
  const named = listOf(recordOf(rpc?.data).supported).filter((version) => typeof version === 'string');
  return rpc?.code === rpcCodes.unsupportedRevision && named.length > 0 ? named : null;
}

export function upstreamError(server: string, what: string, cause?: unknown, extra: Record<string, unknown> = {}): Problem {
  return new Problem('upstream_error', `The server ${server} ${what}`, { server, ...extra }, { cause });
}

/** A fault that a retry cannot fix. */
export function permanentError(server: string, what: string, cause?: unknown): Problem {
  return upstreamError(server, what, cause, { retryable: false });
}

export function upstreamTimeout(server: string, ms: number, what = 'did not respond'): Problem {
  const detail = `The server ${server} ${what} within ${ms / 1000} s. If it needs more time, set a longer \`timeoutMs\`.`;
  return new Problem('upstream_timeout', detail, { server, retryable: true });
}

/**
 * Returns a message of the server in quotation marks, which ends with a note if it is too long. Whoever reads it gets its text: a model without what a person
 * cannot see (`core/tools/model-result.ts`), a terminal with that made visible.
 */
export function serverMessage(text: string): string {
  return `"${boundMessage(text)}"`;
}

/** Returns the HTTP status of a rejected request to an endpoint of Streamable HTTP, or null. */
export function statusOf(error: unknown): number | null {
  return error instanceof HttpFault && error.part === 'endpoint' ? error.status : null;
}

/** The server responds to neither transport's first request at its URL; so do servers that have only the other transport. */
export function isWithoutEndpoint(error: unknown): boolean {
  if (error instanceof HttpFault && error.part === 'stream') return error.status !== 401 && error.status !== 403;
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405;
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

export function unknownVersion(server: string, version: string, cause?: unknown): Problem {
  const known = '2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26';
  return permanentError(server, `uses an unsupported version of MCP (${serverMessage(version)}); supported versions: ${known}.`, cause);
}

const noEndpoint = 'It has no MCP endpoint at its `url`: check the path, which is often /mcp (Streamable HTTP) or /sse (HTTP+SSE).';

function ofHttp(server: string, error: HttpFault): Problem {
  const { status, part, rpc } = error;
  if (status === 401 || status === 403) return unauthorized(server, status, error);
  if (part === 'message') return upstreamError(server, `responded ${status} to a message (HTTP+SSE).`, error, { retryable: status >= 500 });
  if (part === 'stream' && status === 200)
    return upstreamError(server, 'did not open an event stream (HTTP+SSE).', error, { retryable: true });
  const extra = { status, retryable: status >= 500 };
  if (part === 'stream') return upstreamError(server, `responded ${status} instead of an event stream. ${noEndpoint}`, error, extra);
  if (status >= 300 && status < 400) {
    const todo = 'Redirects to other URLs are not followed: set `url` in the server document to the new URL.';
    return upstreamError(server, `responded with a redirect (${status}). ${todo}`, error, extra);
  }
  const words = rpc === null ? '' : `: ${serverMessage(rpc.error.message)}`;
  const todo = rpc === null && (status === 404 || status === 405) ? ` ${noEndpoint}` : '';
  return upstreamError(server, `responded ${status}${words}.${todo}`, error, extra);
}
