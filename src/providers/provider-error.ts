/**
 * Maps failures of a provider to problems: statuses, error bodies, error events of a stream, and failed connections. They keep the provider's
 * status, code, type and parameter, and its text as one bounded line without secrets.
 */
import type { ChatEvent, Usage } from '../core/model/chat-event.ts';
import { limits } from '../core/limits/limits.ts';
import { Problem, type ProblemCode } from '../core/problem.ts';
import { operatorStatuses, overflowCode, type Reported } from '../core/model/provider-failure.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { delayInHeaders } from '../core/model/retry-after.ts';
import { readBounded } from '../net/read-bounded.ts';
import { withoutKey } from './provider-secrets.ts';
import { readError, type ReportedError } from './reported-error.ts';
import { tryParse } from '../core/json/wire-value.ts';
import { cutToLength } from '../core/text/utf8.ts';

/**
 * Returns the problem for an unsuccessful response; reads at most `maxErrorBodyBytes` of it. `extra` has `provider`, `upstreamStatus`, `retryable`,
 * `reported` (below) and, if the provider sent them, `retryAfterMs` and `rateLimits` (its headers).
 */
export async function responseProblem(access: ProviderAccess, response: Response, now: number): Promise<Problem> {
  const text = await readStart(response);
  // An HTML page is useless to the client.
  const error = readError(tryParse(text) ?? (/^\s*</.test(text) ? '' : text));
  const advice = response.headers.get('x-should-retry');
  const rateLimits = rateLimitHeaders(access, response.headers);
  return statusProblem(access, response.status, error, {
    retryAfterMs: delayInHeaders(response.headers, now) ?? error.retryAfterMs,
    ...(advice === 'false' && { retryable: false }),
    ...(Object.keys(rateLimits).length > 0 && { rateLimits }),
  });
}

/** Returns the problem for an error with status 200, as a body or in a stream. Unless it is the request's fault, it may not happen again. */
export function errorBodyProblem(access: ProviderAccess, value: unknown): Problem {
  const error = readError(value);
  const status = statusOf(error);
  const { retryAfterMs } = error;
  if (status !== null) return statusProblem(access, status, error, { retryAfterMs });
  return problem(access, 'upstream_error', `reported an error${quote(access, error)}`, { ...reportedBy(access, error), retryable: true });
}

/** Returns the problem for a reply that broke off after its head. A provider's own problem is returned unchanged. */
export function brokenReply(access: ProviderAccess, cause: unknown): Problem {
  return connectionProblem(access, cause, 'broke off its reply: the connection ended before all of it had arrived');
}

/** Returns the problem for a request without a response. A provider's own problem is returned unchanged. */
export function connectionProblem(access: ProviderAccess, cause: unknown, what = 'could not be reached, or the connection broke'): Problem {
  if (cause instanceof Problem) {
    if (cause.extra.retryable !== undefined) return cause;
    const retryable = cause.code === 'upstream_error' || cause.code === 'upstream_timeout';
    return new Problem(cause.code, cause.detail, { ...cause.extra, provider: access.name, retryable }, { cause });
  }
  return problem(access, 'upstream_error', what, { retryable: true }, cause);
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

type StatusOptions = { retryAfterMs: number | null; retryable?: boolean; rateLimits?: Readonly<Record<string, string>> };

/**
 * The provider's status is kept (contract §6), so that the client can act on it. Except for a key that the provider rejects: 401 would mean
 * that the client's own key is wrong.
 */
function statusProblem(access: ProviderAccess, given: number, error: ReportedError, { retryAfterMs, ...more }: StatusOptions): Problem {
  const isTooLong = isOverflow(given, error);
  // Some servers report it as a failure of their own, which would be repeated.
  const status = isTooLong && given >= 500 ? 400 : given;
  const isFinal = isTooLong || isHopeless(error);
  const [code, what] = describe(status, error);
  const detail = `${what}${quote(access, error)}`;
  const shown = isTooLong ? { ...error, code: overflowCode } : error;
  return problem(access, code, detail, {
    upstreamStatus: status,
    ...(status >= 400 && { status: isKeyRejected(status) ? 403 : status }),
    retryable: isRetryable(status) && !isFinal,
    ...(retryAfterMs !== null && !isFinal && { retryAfterMs }),
    ...(!isKeyRejected(status) && reportedBy(access, shown, operatorStatuses.has(status) ? detail : null)),
    ...more,
  });
}

function isKeyRejected(status: number): boolean {
  return status === 401 || status === 407;
}

/** Returns our code, and what completes "The provider …". */
function describe(status: number, error: ReportedError): [ProblemCode, string] {
  switch (status) {
    case 401:
    case 407:
      return ['upstream_error', `rejected its API key (${status})`];
    case 402:
      return ['upstream_error', 'requires payment (402)'];
    case 403:
      return ['upstream_error', 'denied access (403)'];
    case 404:
      if (namesModel(error)) return ['model_not_found', 'does not have this model'];
      return ['upstream_error', 'has no such endpoint (404): check its baseUrl'];
    case 429:
      return ['rate_limited', 'is rate limited (429)'];
    case 503:
    case 529:
      return ['unavailable', `is overloaded or unavailable (${status})`];
    default:
      return ['upstream_error', status < 500 ? `rejected the request (${status})` : `responded with status ${status}`];
  }
}

function problem(access: ProviderAccess, code: ProblemCode, what: string, extra: Record<string, unknown>, cause?: unknown): Problem {
  return new Problem(code, `The provider ${access.name} ${what}.`, { provider: access.name, ...extra }, { cause });
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/** Returns the status that providers send with an error like this outside of a reply; null: unknown. */
function statusOf(error: ReportedError): number | null {
  if (error.status !== null) return error.status;
  for (const name of [error.code, error.type]) for (const [pattern, status] of statusesByKind) if (pattern.test(name)) return status;
  if (isOverflow(400, error)) return 400;
  return statusesByText.find(([pattern]) => pattern.test(error.message))?.[1] ?? null;
}

/** Error codes and types of OpenAI, Anthropic, Google, AWS and compatible servers (their API references, "Errors"). */
const statusesByKind: readonly (readonly [RegExp, number])[] = [
  [/^(rate_?limit(_?(error|exceeded|reached))?|too_?many_?requests(_?(error|exception))?|resource_?exhausted|insufficient_quota)$/i, 429],
  [/^(billing_(error|hard_limit_reached)|throttling(_?exception)?|.*\bthrottlingexception)$/i, 429],
  [/^overloaded(_?error)?$/i, 529],
  [/^((server|engine|model)_?(is_)?overloaded(_?error)?|(service_?)?unavailable(_?(error|exception))?|slow_down)$/i, 503],
  [/^(authentication_?error|invalid_?api_?key|unauthenticated|unauthorized|unrecognizedclientexception)$/i, 401],
  [/^(permission_?(error|denied)|forbidden|access_?denied(exception)?)$/i, 403],
  [/^(insufficient_?(balance|credits?)|payment_?required|arrearage)$/i, 402],
  [/^(model_?not_?found|not_?found(_?error)?|resourcenotfoundexception)$/i, 404],
  [/^(request_too_large|payload_too_large)$/i, 413],
  [
    /^(context_length_exceeded|string_above_max_length|invalid_prompt|invalid_?request(_?error)?|invalid_?argument|invalid_?parameter)$/i,
    400,
  ],
  [/^(bad_?request(error)?|validation_?(error|exception))$/i, 400],
  [/^((internal_?)?server_?error|internal(_error)?|api_error|internal_?failure)$/i, 500],
  [/^(timeout(_?error)?|deadline_exceeded|.*timeoutexception)$/i, 504],
];

/** For servers that have numbers of their own, such as MiniMax's 1008. */
const statusesByText: readonly (readonly [RegExp, number])[] = [
  [/insufficient (balance|credits?|funds)/i, 402],
  [/rate limit|too many requests/i, 429],
  [/(invalid|incorrect) api key|unauthorized/i, 401],
  [/invalid params?\b/i, 400],
];

function namesModel(error: ReportedError): boolean {
  return /model/i.test(error.code) || /model/i.test(error.type) || /\bmodel\b/i.test(error.message);
}

/** An account without credit, or a request larger than its limit: waiting does not help. */
function isHopeless({ code, type, message }: ReportedError): boolean {
  const isSpent = [code, type].some((name) =>
    /insufficient_?(quota|balance|credits?)|billing|exceeded_current_quota|arrear|overdue|usage_limit/i.test(name),
  );
  return isSpent || /^request too large for/i.test(message);
}

/** The conversation does not fit the model. */
function isOverflow(status: number, { code, message }: ReportedError): boolean {
  if (status === 429 || operatorStatuses.has(status)) return false;
  return code === overflowCode || overflowTexts.some((pattern) => pattern.test(message));
}

/**
 * How services say so. Coding agents look for the same texts to shorten the conversation (`overflow.ts` of pi, `provider/error.ts` of opencode),
 * or for the code or the text of their own vendor (Codex, Claude Code), which the dialects add.
 */
const overflowTexts: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic
  /input is too long for requested model/i, // Bedrock
  /exceeds? the context window/i, // OpenAI
  /input token count.{0,80}exceeds the maximum/i, // Gemini
  /maximum prompt length is \d+/i, // xAI
  /reduce the length of the messages/i, // Groq
  /maximum context length/i, // OpenRouter, vLLM, Mistral
  /token count of \d+ exceeds the limit of/i, // GitHub Copilot
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /range of input length should be/i, // DashScope
  /context[_ ]length[_ ]exceeded/i,
];

/** Returns the provider's headers about its rate limits, with names in lower case. */
export function rateLimitHeaders(access: ProviderAccess, headers: Headers): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (/^(x|anthropic)-ratelimit-/.test(name) && value.length <= maxRateLimitCharacters) found[name] = withoutKey(access, value);
  }
  return found;
}

const maxRateLimitCharacters = 200;

/** Returns the first bytes of an error body; '' if the connection breaks. */
async function readStart(response: Response): Promise<string> {
  try {
    return new TextDecoder().decode((await readBounded(response, limits.maxErrorBodyBytes)).bytes);
  } catch {
    // The status is what counts; an incomplete body adds nothing.
    return '';
  }
}

/** `sentence`: replaces the message if the client must read whose failure it is. */
function reportedBy(
  access: ProviderAccess,
  { message, code, type, param }: ReportedError,
  sentence: string | null = null,
): { reported?: Reported } {
  const clean = (text: string | null): string | null => oneLine(access, text ?? '') || null;
  const said = clean(message);
  if (said === null) return {};
  const shown = sentence === null ? said : `The provider ${access.name} ${sentence}.`;
  return { reported: { message: shown, code: clean(code), type: clean(type), param: clean(param) } };
}

/** Returns `: <its code and message>`. */
function quote(access: ProviderAccess, error: ReportedError): string {
  const text = oneLine(access, [error.code || error.type, error.message].filter((part) => part !== '').join(': ')).replace(/[.\s]+$/, '');
  return text === '' ? '' : `: ${text}`;
}

/** Returns one bounded line without possible credentials. */
function oneLine(access: ProviderAccess, reported: string): string {
  const text = withoutKey(access, reported)
    // The patterns below are not linear for every text, and only the first lines are shown.
    .slice(0, 2 * limits.maxReportedErrorLength)
    .replace(credentials, '[redacted]')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return cutToLength(text, limits.maxReportedErrorLength);
}

/** The forms of known providers' keys and tokens. Words such as "key provided" and "Bearer authentication" have no digits. */
const credentials =
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|csk|nvapi)[-_][\w*.\-…]{6,}|\b(?:key-|Bearer )(?=[\w.\-~+/*…]*[\d*])[\w.\-~+/*…]{6,}|\bAIza[\w-]{10,}|\beyJ[\w-]{10,}(?:\.[\w-]+)*/g;
