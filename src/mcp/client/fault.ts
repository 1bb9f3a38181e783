/**
 * What goes wrong between us and an MCP server, as problems: whose name it is, what came, and what to do. A server's own words are
 * quoted and short; bodies of answers, headers and tokens never get in here. Faults of ours are thrown on as they are.
 */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { cleanText } from '../../core/listing/listing-text.ts';
import { Problem } from '../../core/problem.ts';
import { isRecord, tryParse } from '../../core/wire-value.ts';

/** An answer that is over its bound: the server did its work, so this is no reason to call it broken. */
export class AnswerTooLarge extends Problem {
  override name = 'AnswerTooLarge';
}

/** `server`: its name in the workspace. */
export function toFault(server: string, error: unknown): unknown {
  if (error instanceof AnswerTooLarge) return error;
  if (error instanceof Problem) return named(server, error);
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return unauthorized(server, 401, error);
  if (error instanceof UnsupportedProtocolVersionError) return unknownVersion(server, error.supported.join(', '), error);
  if (error instanceof SdkHttpError) return ofStatus(server, error);
  if (error instanceof SdkError) return ofSdk(server, error);
  if (error instanceof ProtocolError) {
    return upstreamError(server, `answered with the error ${error.code}: ${ownWords(error.message)}.`, error);
  }
  if (!(error instanceof Error)) return error;
  const version = /^Server's protocol version is not supported: (.*)$/s.exec(error.message)?.[1];
  if (version !== undefined) return unknownVersion(server, version, error);
  if (error.name === 'SyntaxError') return upstreamError(server, 'answered JSON that cannot be read.', error);
  if (error.name === 'ZodError' || error.name === '$ZodError')
    return upstreamError(server, 'answered something that is no MCP message.', error);
  return error;
}

export function upstreamError(server: string, what: string, cause?: unknown, extra: Record<string, unknown> = {}): Problem {
  return new Problem('upstream_error', `The server ${server} ${what}`, { server, ...extra }, { cause });
}

export function upstreamTimeout(server: string, ms: number, what = 'did not answer'): Problem {
  const detail = `The server ${server} ${what} within ${ms / 1000} s. Call it again, or give it more time with \`timeoutMs\`.`;
  return new Problem('upstream_timeout', detail, { server, retryable: true });
}

/** As a server wrote it: cleaned, short, and marked as its own. */
export function ownWords(text: string): string {
  const { text: cleaned } = cleanText(text);
  const { maxErrorMessageLength } = limits;
  return JSON.stringify(cleaned.length > maxErrorMessageLength ? `${cleaned.slice(0, maxErrorMessageLength).toWellFormed()}…` : cleaned);
}

/** JSON-RPC (2026-07-28, `UnsupportedProtocolVersionError`). */
export const unsupportedVersion = -32022;

/** The HTTP status that a server refused with, wherever the SDK put it; null: it did not refuse with one. */
export function statusOf(error: unknown): number | null {
  if (error instanceof SdkHttpError) return error.data.status;
  return null;
}

/** A JSON-RPC error that stands in the body of a refusal, as servers of the 2025 eras send it. */
export function rpcErrorOf(error: SdkHttpError): { code: number; message: string } | null {
  const text: unknown = error.data.text;
  const body = typeof text === 'string' ? tryParse(text) : null;
  const found = isRecord(body) && isRecord(body.error) ? body.error : null;
  return typeof found?.code === 'number' && typeof found.message === 'string' ? { code: found.code, message: found.message } : null;
}

function named(server: string, problem: Problem): Problem {
  if (problem.extra.server !== undefined || !problem.code.startsWith('upstream_')) return problem;
  const detail = `The server ${server} could not be asked: ${problem.detail}`;
  return new Problem(problem.code, detail, { ...problem.extra, server }, { cause: problem });
}

function unauthorized(server: string, status: number, cause: unknown): Problem {
  const what = status === 403 ? 'does not allow this (403)' : 'wants credentials (401)';
  const todo =
    'Set `headers` (a token as `Bearer <token>`, all of it in the secret) or `oauth` of its document, or sign in to it again with POST …/authorize.';
  return upstreamError(server, `${what}. ${todo}`, cause, { unauthorized: true, retryable: false });
}

function unknownVersion(server: string, version: string, cause: unknown): Problem {
  const known = '2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26';
  return upstreamError(server, `speaks a version of MCP that is not known here (${ownWords(version)}); those known are ${known}.`, cause, {
    retryable: false,
  });
}

/** Also what servers of the transport before it (HTTP+SSE, 2024-11-05) answer to a POST. */
const noEndpoint =
  'It has no MCP endpoint (Streamable HTTP) at its `url`: look at the path, which often is /mcp. The older HTTP+SSE transport is not spoken.';

function ofStatus(server: string, error: SdkHttpError): Problem {
  const { status } = error.data;
  if (status === 401 || status === 403) return unauthorized(server, status, error);
  if (status >= 300 && status < 400) {
    const todo = 'Redirects to other addresses are not followed: set `url` of its document to where it is now.';
    return upstreamError(server, `answered ${status}, a redirect. ${todo}`, error, { status, retryable: false });
  }
  const said = rpcErrorOf(error);
  const words = said === null ? '' : `, and says ${ownWords(said.message)}`;
  const todo = said === null && (status === 404 || status === 405) ? ` ${noEndpoint}` : '';
  return upstreamError(server, `answered ${status}${words}.${todo}`, error, { status, retryable: status >= 500 });
}

function ofSdk(server: string, error: SdkError): unknown {
  // What the probe of the era met is within.
  if (error.cause !== undefined && error.cause !== error) return toFault(server, error.cause);
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return upstreamTimeout(server, limits.maxServerCallMs);
    case SdkErrorCode.ClientHttpUnexpectedContent: {
      const data: unknown = error.data;
      const type = isRecord(data) && typeof data.contentType === 'string' ? ownWords(data.contentType) : 'nothing that says what it is';
      const todo = 'Look whether its `url` is that of its MCP endpoint, and whether it wants a login.';
      return upstreamError(server, `answered ${type} where MCP has JSON or an event stream. ${todo}`, error, { retryable: false });
    }
    case SdkErrorCode.EraNegotiationFailed:
      return upstreamError(server, 'does not speak the revision 2026-07-28 of MCP. Set `era` of its document to "auto".', error);
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.UnsupportedResultType:
      return upstreamError(server, 'answered something that is no result of MCP.', error);
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
      return upstreamError(server, 'speaks a revision of MCP that does not have this.', error);
    default:
      return upstreamError(server, 'ended the connection before it had answered.', error, { retryable: true });
  }
}
