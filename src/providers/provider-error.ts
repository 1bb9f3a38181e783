/**
 * Maps failures of a provider to problems: statuses, error bodies, error events of a stream, and failed connections. A provider's failure
 * is never reported as the client's, and its text only as one short line without secrets.
 */
import type { ChatEvent, Usage } from '../core/model/chat-event.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { retryAfterMs, secondsToMs } from '../core/model/retry-after.ts';
import { withoutKey } from './provider-secrets.ts';
import { isRecord, listOf, recordOf, stringOf, tryParse } from '../core/json/wire-value.ts';

export type FailureOptions = {
  /** The request body is the client's own (a plain proxy), so the client must fix what the provider rejects about it. */
  callersBody?: boolean;
};

/**
 * Returns the problem for an unsuccessful response; reads at most `maxErrorBodyBytes` of it. `extra` has `provider`, `upstreamStatus`,
 * `retryable` and, if the provider sent a delay, `retryAfterMs`.
 */
export async function responseProblem(
  access: ProviderAccess,
  response: Response,
  now: number,
  options: FailureOptions = {},
): Promise<Problem> {
  const text = await readStart(response);
  const error = errorOf(text);
  return statusProblem(access, response.status, error, {
    ...options,
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), now) ?? error.retryAfterMs,
  });
}

/** Returns the problem for an `error` with status 200, as a body or in a stream. */
export function errorBodyProblem(access: ProviderAccess, value: unknown): Problem {
  const error = readError(isRecord(value) && isRecord(value.error) ? value.error : value);
  const status = error.status ?? statusOfKind(error);
  if (status !== null) return statusProblem(access, status, error, error);
  return problem(access, 'upstream_error', `reported an error${quote(access, error)}`, { retryable: isFailure(error) });
}

/** Returns the problem for a request without a response, or a reply that broke. A provider's own problem is returned unchanged. */
export function connectionProblem(access: ProviderAccess, cause: unknown): Problem {
  if (cause instanceof Problem) {
    if (cause.extra.retryable !== undefined) return cause;
    const retryable = cause.code === 'upstream_error' || cause.code === 'upstream_timeout';
    return new Problem(cause.code, cause.detail, { ...cause.extra, provider: access.name, retryable }, { cause });
  }
  return problem(access, 'upstream_error', 'could not be reached, or the connection broke', { retryable: true }, cause);
}

export function timeoutProblem(access: ProviderAccess, what: string): Problem {
  return problem(access, 'upstream_timeout', what, { retryable: true });
}

/**
 * Ends a failed reply. The provider bills it too, so its usage is reported first. `spent` is null if the reply has no output: then the
 * error is the first event, and the request is retried.
 */
export function failureEvents(failure: Problem, spent: Usage | null): ChatEvent[] {
  const body = failure.toBody();
  const error: ChatEvent = { type: 'error', problem: body, retryable: body.retryable === true };
  return spent === null ? [error] : [{ type: 'usage', usage: spent }, error];
}

/** More calls than the assembler allows were dropped, so the reply is incomplete. */
export function overflowProblem(access: ProviderAccess): Problem {
  return malformedProblem(access, 'started more tool calls than a reply may have');
}

/** Returns the problem for a response that is not a valid reply. */
export function malformedProblem(access: ProviderAccess, what: string, cause?: unknown): Problem {
  return problem(access, 'upstream_error', what, { retryable: true }, cause);
}

/** `kind`: the type of an error that also has a code. `retryAfterMs`: if the body contains a delay. */
type ProviderFault = { message: string; code: string; kind: string; status: number | null; retryAfterMs: number | null };

function statusProblem(
  access: ProviderAccess,
  status: number,
  error: ProviderFault,
  { retryAfterMs, callersBody }: FailureOptions & Pick<ProviderFault, 'retryAfterMs'>,
): Problem {
  const extra = { upstreamStatus: status, retryable: isRetryable(status), ...(retryAfterMs !== null && { retryAfterMs }) };
  const quoted = quote(access, error);
  if (status === 401 || status === 403)
    return problem(access, 'upstream_error', `rejected its API key or denied access (${status})${quoted}`, extra);
  if (status === 404 && namesModel(error)) return problem(access, 'model_not_found', `does not have this model${quoted}`, extra);
  if (status === 404) return problem(access, 'upstream_error', `has no such endpoint (404): check its baseUrl${quoted}`, extra);
  if (status === 429) {
    const spent = /insufficient_quota|billing/.test(error.code);
    return problem(access, 'rate_limited', `is rate limited (429)${quoted}`, { ...extra, retryable: !spent });
  }
  if (status < 500 && callersBody && [400, 413, 422].includes(status)) {
    return problem(access, 'invalid_request', `rejected the request (${status})${quoted}`, extra);
  }
  if (status === 503 || status === 529) return problem(access, 'unavailable', `is overloaded or unavailable (${status})${quoted}`, extra);
  return problem(access, 'upstream_error', `responded with status ${status}${quoted}`, extra);
}

function problem(
  access: ProviderAccess,
  code: ConstructorParameters<typeof Problem>[0],
  what: string,
  extra: Record<string, unknown>,
  cause?: unknown,
): Problem {
  return new Problem(code, `The provider ${access.name} ${what}.`, { provider: access.name, ...extra }, { cause });
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

function isFailure(error: ProviderFault): boolean {
  return /timeout|server_error|internal|^api_error$/i.test(error.code);
}

/** Returns the status that the provider sends with an error of this code or type outside of a reply; null: unknown. */
function statusOfKind({ code, kind }: ProviderFault): number | null {
  for (const name of [code, kind]) for (const [pattern, status] of statusesByKind) if (pattern.test(name)) return status;
  return null;
}

/** Error codes and types of OpenAI, Anthropic, Google and compatible servers (their API references, "Errors"). */
const statusesByKind: readonly (readonly [RegExp, number])[] = [
  [
    /^(rate_limit(_error|_exceeded)?|too_many_requests(_error)?|resource_exhausted|insufficient_quota|billing_(error|hard_limit_reached))$/i,
    429,
  ],
  [/^overloaded(_error)?$/i, 529],
  [/^((server|engine|model)_overloaded(_error)?|(service_)?unavailable(_error)?)$/i, 503],
  [/^(authentication_error|invalid_api_key|unauthenticated)$/i, 401],
  [/^permission_(error|denied)$/i, 403],
  [/^(model_not_found|not_found_error)$/i, 404],
  [/^request_too_large$/i, 413],
  [/^(context_length_exceeded|string_above_max_length|invalid_prompt|invalid_request_error|invalid_argument|bad_request)$/i, 400],
];

function namesModel(error: ProviderFault): boolean {
  return /model/i.test(error.code) || /\bmodel\b/i.test(error.message);
}

/** Google's `RetryInfo`, whose delay is a Duration such as `34.4s` (googleapis, `google/rpc/error_details.proto`). */
function retryDelayMs(details: unknown): number | null {
  for (const detail of listOf(details)) {
    const delay = stringOf(recordOf(detail).retryDelay);
    const ms = delay.endsWith('s') ? secondsToMs(delay.slice(0, -1)) : null;
    if (ms !== null) return ms;
  }
  return null;
}

/** Returns the first bytes of an error body; '' if the connection breaks before any arrive. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < limits.maxErrorBodyBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The status is what counts; an incomplete body adds nothing.
  } finally {
    await reader.cancel().catch(() => {
      // The connection is already closed.
    });
  }
  return text;
}

/** A body that is not JSON, such as an HTML page, is useless to the client. */
function errorOf(text: string): ProviderFault {
  const parsed = tryParse(text);
  // Gemini wraps the error in a list if the reply would have been one.
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  return readError(isRecord(body) && 'error' in body ? body.error : body);
}

/** Providers put the error in an object or a string, and its code as a number or text. */
function readError(value: unknown): ProviderFault {
  if (!isRecord(value)) return { message: stringOf(value), code: '', kind: '', status: null, retryAfterMs: null };
  const text = (...names: string[]): string => {
    for (const name of names) if (typeof value[name] === 'string' && value[name] !== '') return value[name];
    return '';
  };
  const numbers = [value.status_code, value.code, value.status].map(Number).filter((number) => number >= 400 && number < 600);
  const [status = null] = numbers;
  return {
    message: text('message', 'detail', 'error'),
    code: text('code', 'type'),
    kind: text('type'),
    status,
    retryAfterMs: retryDelayMs(value.details),
  };
}

/** Returns `: <its code and message>` as one bounded line without possible credentials. */
function quote(access: ProviderAccess, error: ProviderFault): string {
  const reported = [error.code, error.message].filter((part) => part !== '').join(': ');
  let text = withoutKey(access, reported)
    // The patterns below are not linear for every text, and only the first lines are shown.
    .slice(0, 4 * limits.maxErrorMessageLength)
    .replace(credentials, '[redacted]')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[.\s]+$/, '')
    .trim();
  if (text.length > limits.maxErrorMessageLength) text = `${text.slice(0, limits.maxErrorMessageLength)}…`.toWellFormed();
  return text === '' ? '' : `: ${text}`;
}

/** The forms of known providers' keys and tokens. */
const credentials = /\b(?:sk|pk|rk|gsk|xai|hf|r8|key|csk|nvapi|Bearer)[-_ ][\w*.\-…]{6,}|\bAIza[\w-]{10,}|\beyJ[\w-]{10,}(?:\.[\w-]+)*/g;
