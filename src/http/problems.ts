/**
 * Converts every failure to a response: `application/problem+json` on native paths, a dialect's own format on its paths, JSON-RPC on
 * `/mcp`. Handlers throw `Problem`s and build no error bodies. Any other error becomes `internal`: it is logged here with its cause, and
 * its details are not sent.
 */
import { loadDialect } from '../dialects/dialects.ts';
import { isRecord } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import { operatorStatuses } from '../core/model/provider-failure.ts';
import { Problem } from '../core/problem.ts';
import type { ApiDialectName } from '../core/text/reference.ts';
import type { Logger } from '../ports/runtime.ts';
import { ObjectFault } from '../objects/shared/object-client.ts';
import { toRpcError } from '../engine/mcp/rpc-error.ts';
import { cutToLength } from '../core/text/utf8.ts';

/**
 * `dialect`: whose error format the caller expects; default: that of the path. `challenge`: parameters of `www-authenticate` that lead to the
 * sign-in.
 */
export type FailedRequest = { method: string; path: string; requestId: string; dialect?: ApiDialectName | null; challenge?: string };

/** Returns the problem to report for any thrown value, and logs it once. */
export function toProblem(error: unknown, request: FailedRequest, log: Logger): Problem {
  if (error instanceof Problem) {
    logProblem(error, request, log);
    return error;
  }
  log.error('request failed', { ...logFields(request), code: 'internal', ...causeFields(error) });
  if (error instanceof ObjectFault) return new Problem('internal', error.message);
  return new Problem('internal', `Internal error. See the server log for request id ${request.requestId}.`);
}

export async function renderProblem(problem: Problem, request: FailedRequest): Promise<Response> {
  const headers = new Headers(problemHeaders(problem, request.challenge ?? ''));
  const dialect = request.dialect ?? dialectAt(request.path);
  if (dialect !== null) {
    headers.set('content-type', 'application/json');
    const body = (await loadDialect(dialect)).errorBody(problem.toBody(), request.requestId);
    return new Response(JSON.stringify(body), { status: problem.status, headers });
  }
  if (isMcpPath(request.path)) {
    headers.set('content-type', 'application/json');
    const body = { jsonrpc: '2.0', error: toRpcError(problem, request.requestId), id: null };
    return new Response(JSON.stringify(body), { status: problem.status, headers });
  }
  headers.set('content-type', 'application/problem+json');
  return new Response(JSON.stringify({ ...problem.toBody(), requestId: request.requestId }), { status: problem.status, headers });
}

/** Returns the dialect whose clients call this path (of a request or route) and expect its error format; null: a native path. */
export function dialectAt(path: string): ApiDialectName | null {
  if (/^\/v1(?:beta)?\/models\/.*:(?:(?:stream)?[gG]enerateContent|countTokens|(?:batchE|e)mbedContents?)$/s.test(path)) return 'gemini';
  for (const [root, name] of dialectPaths) if (path === root || path.startsWith(`${root}/`)) return name;
  return null;
}

export function isMcpPath(path: string): boolean {
  return /^\/(?:mcp|sse)(?:\/|$)/.test(path);
}

const dialectPaths = [
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/embeddings', 'openai-chat'],
  ['/v1/rerank', 'openai-chat'],
  ['/v1/moderations', 'openai-chat'],
  ['/v1/audio', 'openai-chat'],
  ['/v1/images', 'openai-chat'],
  ['/v1/files', 'openai-chat'],
  ['/v1/batches', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/v1/conversations', 'openai-responses'],
  ['/v1/messages', 'anthropic-messages'],
  ['/v1beta', 'gemini'],
] as const;

/** Endpoints of OpenAI's and Anthropic's APIs that Moniker does not have (their API references, November 2026). */
const foreignPaths = {
  'openai-chat':
    /^\/v1\/(assistants|audio|batches|chat|chatkit|completions|containers|conversations|embeddings|evals|files|fine_tuning|images|moderations|realtime|responses|threads|uploads|vector_stores|videos)(\/|$)/,
  'anthropic-messages': /^\/v1\/(complete|messages|organizations)(\/|$)/,
} as const;

/** Returns the dialect whose clients call a path that does not exist here. Anthropic's clients send their version. */
export function dialectOfUnknown(path: string, headers: Headers): ApiDialectName | null {
  if (path.startsWith('/v1beta/')) return 'gemini';
  if (path.startsWith('/openai/')) return 'openai-chat';
  if (!path.startsWith('/v1/')) return null;
  if (headers.has('anthropic-version') || foreignPaths['anthropic-messages'].test(path)) return 'anthropic-messages';
  return foreignPaths['openai-chat'].test(path) ? 'openai-chat' : null;
}

/** Some clients of OpenAI's and Anthropic's APIs, such as Claude Code, repeat even a request with a wrong key unless this header forbids it. */
const noRetry = { 'x-should-retry': 'false' };

/** Returns the headers that HTTP requires with a status, from the problem's members. */
function problemHeaders(problem: Problem, challenge: string): Record<string, string> {
  switch (problem.code) {
    case 'unauthenticated': {
      // RFC 6750 §3: no error code if no credentials were sent.
      const fault = problem.extra.reason === 'missing' ? '' : ', error="invalid_token"';
      return { 'www-authenticate': `Bearer realm="moniker"${fault}${challenge}`, ...noRetry };
    }
    case 'forbidden': {
      const { scope } = problem.extra;
      if (typeof scope !== 'string') return noRetry;
      // RFC 6750 §3.1: the scopes that the request needs.
      const metadata = /, resource_metadata="[^"]*"/.exec(challenge)?.[0] ?? '';
      return { 'www-authenticate': `Bearer realm="moniker", error="insufficient_scope", scope="${scope}"${metadata}`, ...noRetry };
    }
    case 'method_not_allowed':
      return Array.isArray(problem.extra.allow) ? { allow: problem.extra.allow.join(', ') } : {};
    case 'not_configured':
      return isUnsupported(problem) ? noRetry : {};
    default:
      return failureHeaders(problem);
  }
}

/** When, and whether, the request may be repeated; and the rate limits of the provider that failed. */
function failureHeaders({ code, extra }: Problem): Record<string, string> {
  const { retryable, rateLimits, provider } = extra;
  // Every 429 has a Retry-After, even if the provider sent none; unless repeating is useless.
  const otherwiseMs = code === 'rate_limited' && retryable !== false ? limits.defaultRetryAfterMs : null;
  const waitMs = typeof extra.retryAfterMs === 'number' ? extra.retryAfterMs : otherwiseMs;
  return {
    ...(isRecord(rateLimits) && (rateLimits as Record<string, string>)),
    ...(provider !== undefined && typeof retryable === 'boolean' && { 'x-should-retry': String(retryable) }),
    ...(waitMs !== null && { 'retry-after': String(Math.ceil(waitMs / 1000)), 'retry-after-ms': String(Math.ceil(waitMs)) }),
  };
}

/** The deployment lacks what the request requires (`edge/unsupported.ts`): no error of the service, and repeating the request is useless. */
function isUnsupported({ extra }: Problem): boolean {
  return typeof extra.requires === 'string';
}

/** Logs rejected keys as info, other errors of the caller only for debugging, and internal and upstream errors always. */
function logProblem(problem: Problem, request: FailedRequest, log: Logger): void {
  const fields = { ...logFields(request), code: problem.code, detail: problem.detail };
  if (isUnsupported(problem)) log.info('request refused', fields);
  else if (problem.status >= 500 || operatorStatuses.has(problem.extra.upstreamStatus))
    log.error('request failed', { ...fields, ...(problem.cause === undefined ? {} : causeFields(problem.cause)) });
  else if (problem.status === 401 || problem.status === 403) log.info('request refused', fields);
  else log.debug('request refused', fields);
}

function logFields({ method, path: asked, requestId }: FailedRequest): Record<string, unknown> {
  const path = loggedPath(asked);
  return { requestId, method, path: cutToLength(path, limits.maxQuotedLength) };
}

function causeFields(error: unknown): Record<string, unknown> {
  return error instanceof Error ? { cause: `${error.name}: ${error.message}`, stack: error.stack } : { cause: String(error) };
}

/** Also matches a slash that a mail program has URL-encoded. */
const approvePrefix = /\/approve(\/|%(25)*2f)/i;

/** Returns `/approve/…` for any approval link, also if it is malformed after its token; other paths unchanged. */
export function loggedPath(path: string): string {
  const start = path.search(approvePrefix);
  return start === -1 ? path : `${path.slice(0, start)}/approve/…`;
}
