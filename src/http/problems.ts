/**
 * The one place where a failure becomes an answer: `application/problem+json` on native paths, a dialect's own shape on its
 * paths, JSON-RPC on `/mcp`. Handlers throw `Problem`s and build no error bodies. What is not a `Problem` is a fault of ours: it
 * becomes `internal`, is logged here with its cause, and nothing of it leaves.
 */
import { dialectOf } from '../dialects/dialects.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { DialectName } from '../core/reference.ts';
import type { Logger } from '../ports/runtime.ts';
import { loggedPath } from './logged-path.ts';
import { isMcpPath, toRpcError } from './mcp-error.ts';

export type FailedRequest = { method: string; path: string; requestId: string };

/** The problem to tell for whatever was thrown; logs it once. */
export function toProblem(error: unknown, request: FailedRequest, log: Logger): Problem {
  if (error instanceof Problem) {
    logProblem(error, request, log);
    return error;
  }
  log.error('request failed', { ...logFields(request), code: 'internal', ...causeFields(error) });
  return new Problem('internal', `Something failed on our side. The log has it under request id ${request.requestId}.`);
}

export function renderProblem(problem: Problem, request: FailedRequest): Response {
  const headers = new Headers(problemHeaders(problem));
  const dialect = dialectAt(request.path);
  if (dialect !== null) {
    headers.set('content-type', 'application/json');
    const body = dialectOf(dialect).errorBody(problem.toBody(), request.requestId);
    return new Response(JSON.stringify(body), { status: problem.status, headers });
  }
  if (isMcpPath(request.path)) {
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(toRpcError(problem, request.requestId)), { status: problem.status, headers });
  }
  headers.set('content-type', 'application/problem+json');
  return new Response(JSON.stringify({ ...problem.toBody(), requestId: request.requestId }), { status: problem.status, headers });
}

/** The dialect whose clients call this path, or a route of this path; they read its own shape of error there. null: a native one. */
export function dialectAt(path: string): DialectName | null {
  for (const [root, name] of dialectPaths) if (path === root || path.startsWith(`${root}/`)) return name;
  return null;
}

const dialectPaths = [
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/v1/messages', 'anthropic-messages'],
] as const;

/** Headers that HTTP asks for with a status, taken from the problem's own members. */
function problemHeaders(problem: Problem): Record<string, string> {
  switch (problem.code) {
    case 'unauthenticated':
      // RFC 6750 §3: no error code when no credentials were given at all.
      return {
        'www-authenticate': problem.extra.reason === 'missing' ? 'Bearer realm="moniker"' : 'Bearer realm="moniker", error="invalid_token"',
      };
    case 'forbidden':
      return typeof problem.extra.scope === 'string'
        ? { 'www-authenticate': `Bearer realm="moniker", error="insufficient_scope", scope="${problem.extra.scope}"` }
        : {};
    case 'method_not_allowed':
      return Array.isArray(problem.extra.allow) ? { allow: problem.extra.allow.join(', ') } : {};
    case 'rate_limited':
      // Every 429 says when to come back, also where the provider did not.
      return retryAfter(problem, limits.defaultRetryAfterMs);
    default:
      return retryAfter(problem, null);
  }
}

function retryAfter({ extra: { retryAfterMs } }: Problem, otherwiseMs: number | null): Record<string, string> {
  const waitMs = typeof retryAfterMs === 'number' ? retryAfterMs : otherwiseMs;
  return waitMs === null ? {} : { 'retry-after': String(Math.ceil(waitMs / 1000)) };
}

/** Refused keys are worth a line; other faults of the caller only for who debugs; ours and the upstream's always. */
function logProblem(problem: Problem, request: FailedRequest, log: Logger): void {
  const fields = { ...logFields(request), code: problem.code, detail: problem.detail };
  if (problem.status >= 500) log.error('request failed', { ...fields, ...(problem.cause === undefined ? {} : causeFields(problem.cause)) });
  else if (problem.status === 401 || problem.status === 403) log.info('request refused', fields);
  else log.debug('request refused', fields);
}

function logFields({ method, path: asked, requestId }: FailedRequest): Record<string, unknown> {
  const path = loggedPath(asked);
  return { requestId, method, path: path.length > limits.maxQuotedLength ? `${path.slice(0, limits.maxQuotedLength)}…` : path };
}

function causeFields(error: unknown): Record<string, unknown> {
  return error instanceof Error ? { cause: `${error.name}: ${error.message}`, stack: error.stack } : { cause: String(error) };
}
