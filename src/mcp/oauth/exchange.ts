/**
 * One exchange with an authorization server, run by functions of the SDK: provides their `fetch` and converts their errors. All requests go
 * through the outbound client; https only, except for loopback if an operator allowed it (OAuth 2.1 §1.5). Responses are bounded, and the
 * whole exchange has one timeout.
 */
import { IssuerMismatchError, OAuthError, RegistrationRejectedError, type FetchLike } from '@modelcontextprotocol/client';
import { Problem } from '../../core/problem.ts';
import { createRedactor } from '../../engine/call/redact.ts';
import { isLoopback } from '../../net/address.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { KB } from '../../core/limits/units.ts';
import type { ServerOAuth } from '../../core/servers/server-oauth.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { abortAfter } from '../../engine/timeout.ts';
import { cutToLength } from '../../core/text/utf8.ts';

/** OAuth: one response of an authorization server. Metadata of large servers has some 10 kB, their tokens less. */
const maxOAuthResponseBytes = 64 * KB;
/**
 * One step of OAuth, such as reading the metadata; also how long other isolates wait for the one that is fetching new tokens, which
 * takes two steps.
 */
const oauthTimeoutMs = 25_000;
/** The shown part of an authorization server's error text. */
const maxOAuthErrorLength = 300;

export type OAuthExchange = {
  fetch: FetchLike;
  /** Registers a value to redact from all errors, and returns it. */
  hide(value: string): string;
};

/** Runs `work`, and throws errors as a `Problem`. `what` names the operation: `reading the metadata of …`. */
export async function createOAuthExchange<T>(
  context: Pick<OAuthContext, 'send' | 'clock' | 'server'>,
  what: string,
  work: (exchange: OAuthExchange) => Promise<T>,
): Promise<T> {
  const redactor = createRedactor(context);
  const late = (): DOMException => new DOMException('the exchange timed out', 'TimeoutError');
  const { signal, abort } = abortAfter(context.clock, oauthTimeoutMs, late);
  // The SDK treats some errors as "not available" and tries another URL; a rejected request must stay an error.
  let refused: Problem | null = null;
  const get: FetchLike = async (url, init) => {
    if (refused !== null) throw refused;
    signal.throwIfAborted();
    try {
      requireSafe(new URL(url));
      return await bounded(await context.send(new Request(url, init), signal));
    } catch (error) {
      if (error instanceof Problem) refused = error;
      throw error;
    }
  };
  try {
    const result = await work({ fetch: get, hide: redactor.addSecret });
    if (refused !== null) throw refused;
    return result;
  } catch (error) {
    if (refused !== null) throw refused;
    if (signal.aborted) throw tooLate(what, error);
    throw error instanceof Problem ? error : toFault(what, error, (text) => shortText(redactor.text(text)));
  } finally {
    // All responses are read completely: this clears the timers of their requests.
    abort(new Error('the exchange has ended'));
  }
}

/** Returns the OAuth error code of the authorization server, such as `invalid_grant`, or null. */
export function oauthErrorOf(error: unknown): string | null {
  return error instanceof Problem && typeof error.extra.oauthError === 'string' ? error.extra.oauthError : null;
}

/** Returns a foreign message short and on one line. */
export function shortText(text: string): string {
  return cutToLength(text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim(), maxOAuthErrorLength);
}

export function isSafeUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

function requireSafe(url: URL): void {
  if (isSafeUrl(url)) return;
  const detail = `${url.protocol}//${url.host} was not contacted: OAuth requires https, except on loopback.`;
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** Reads the complete body here, so that later code cannot read without a limit. */
async function bounded(response: Response): Promise<Response> {
  const { bytes, truncated } = await readBounded(response, maxOAuthResponseBytes);
  if (truncated) throw new Problem('upstream_error', `The answer is longer than ${maxOAuthResponseBytes} bytes.`, { retryable: false });
  const { status, headers } = response;
  return new Response(bytes.byteLength === 0 ? null : bytes.slice(), { status, headers });
}

function tooLate(what: string, cause: unknown): Problem {
  const detail = `${capital(what)} took longer than ${oauthTimeoutMs / 1000} s.`;
  return new Problem('upstream_timeout', detail, { retryable: true }, { cause });
}

/** Without a cause if the error may contain a body: causes are logged. */
function toFault(what: string, error: unknown, clean: (text: string) => string): Problem {
  const failed = (why: string, extra: Record<string, unknown> = {}): Problem =>
    new Problem('upstream_error', `${capital(what)} failed: ${why}`, { retryable: false, ...extra });
  if (error instanceof OAuthError) {
    if (!/^[a-z_]{1,64}$/.test(error.code) || error.code === 'server_error')
      return failed('the authorization server returned a server error.');
    return failed(`the authorization server returned ${error.code}${inParentheses(clean(error.message))}.`, { oauthError: error.code });
  }
  if (error instanceof RegistrationRejectedError) {
    return failed(`the authorization server does not support dynamic client registration (status ${error.status}): set \`clientId\`.`);
  }
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response') {
    return failed('the response came from another authorization server than expected.');
  }
  // The SDK's own messages may contain foreign text; a schema error is a long list of it.
  const isPlain = error instanceof Error && !(error instanceof SyntaxError) && error.name !== 'ZodError';
  return failed(isPlain ? clean(error.message) : 'the response does not follow the protocol.');
}

function inParentheses(words: string): string {
  return words === '' ? '' : ` (${words})`;
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

/** The dependencies of obtaining tokens for one server. Built in `wiring/`. */
export type OAuthContext = {
  server: { name: string; url: string; oauth: ServerOAuth };
  /** The user or key whose sign-in it is; absent: the workspace's. */
  owner?: string;
  grants: Pick<CatalogPort, 'serverGrant' | 'saveServerGrant'>;
  /** The outbound client for servers. It does not follow redirects to another origin, and has a timeout. */
  send(request: Request, signal: AbortSignal): Promise<Response>;
  /** Returns the value of a secret that may be sent to `host`; throws a `Problem` that names what is missing. */
  secret(name: string, host: string): Promise<string>;
  clock: Clock;
  log: Logger;
};
