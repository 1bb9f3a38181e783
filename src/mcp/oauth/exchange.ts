/**
 * One exchange with an authorization server, as the SDK's functions make it: the `fetch` that they are given, and what their faults
 * become. Everything goes through the guarded way out; https only, but for loopback, which the guard lets through where an operator
 * allowed it (OAuth 2.1 §1.5). Answers are bounded, and the whole has one time.
 */
import { IssuerMismatchError, OAuthError, RegistrationRejectedError, type FetchLike } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { createRedactor } from '../../engine/redact.ts';
import { isLoopback } from '../../net/address.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { OAuthContext } from './context.ts';

export type Exchange = {
  fetch: FetchLike;
  /** Values that must not be repeated in any fault. Gives what it was given. */
  hide(value: string): string;
};

/** Runs `work`, and throws what went wrong as a `Problem`. `what` names it: `reading the metadata of …`. */
export async function exchangeWith<T>(
  context: Pick<OAuthContext, 'send' | 'clock' | 'server'>,
  what: string,
  work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const redactor = createRedactor();
  const abort = new AbortController();
  const disarm = context.clock.after(limits.oauthTimeoutMs, () => abort.abort(new DOMException('it took too long', 'TimeoutError')));
  // The SDK takes some faults for "there is none" and goes on elsewhere: what was refused is refused.
  let refused: Problem | null = null;
  const get: FetchLike = async (url, init) => {
    if (refused !== null) throw refused;
    abort.signal.throwIfAborted();
    try {
      requireSafe(new URL(url));
      return await bounded(await context.send(new Request(url, init), abort.signal));
    } catch (error) {
      if (error instanceof Problem) refused = error;
      throw error;
    }
  };
  try {
    const result = await work({
      fetch: get,
      hide: (value) => redactor.keep(value),
    });
    if (refused !== null) throw refused;
    return result;
  } catch (error) {
    if (refused !== null) throw refused;
    if (abort.signal.aborted) throw tooLate(what, error);
    throw error instanceof Problem ? error : toFault(what, error, (text) => cleaned(redactor, text));
  } finally {
    disarm();
    // All answers were read whole: this takes back the times of their requests.
    abort.abort(new Error('the exchange is over'));
  }
}

/** A word of OAuth that told why, where the authorization server gave one: `invalid_grant`. */
export function refusalOf(error: unknown): string | null {
  return error instanceof Problem && typeof error.extra.oauthError === 'string' ? error.extra.oauthError : null;
}

/** Another's own words, as they may be shown: short, on one line. */
export function shortWords(text: string): string {
  const plain = text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > limits.maxOAuthWords ? `${plain.slice(0, limits.maxOAuthWords)}…` : plain;
}

export function isSafeUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

function requireSafe(url: URL): void {
  if (isSafeUrl(url)) return;
  const detail = `${url.protocol}//${url.host} was not asked: signing in goes over https, and over http on this machine only.`;
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** Read whole here, so that nothing after it reads without a bound. */
async function bounded(response: Response): Promise<Response> {
  const { bytes, truncated } = await readBounded(response, limits.maxOAuthResponseBytes);
  if (truncated)
    throw new Problem('upstream_error', `The answer is longer than ${limits.maxOAuthResponseBytes} bytes.`, { retryable: false });
  const { status, headers } = response;
  return new Response(bytes.byteLength === 0 ? null : bytes.slice(), { status, headers });
}

function tooLate(what: string, cause: unknown): Problem {
  const detail = `${capital(what)} took longer than ${limits.oauthTimeoutMs / 1000} s.`;
  return new Problem('upstream_timeout', detail, { retryable: true }, { cause });
}

/** Without a cause where the fault may hold a body: causes are logged. */
function toFault(what: string, error: unknown, clean: (text: string) => string): Problem {
  const failed = (why: string, extra: Record<string, unknown> = {}): Problem =>
    new Problem('upstream_error', `${capital(what)} failed: ${why}`, { retryable: false, ...extra });
  if (error instanceof OAuthError) {
    if (!/^[a-z_]{1,64}$/.test(error.code) || error.code === 'server_error')
      return failed('the authorization server answered with a fault of its own.');
    return failed(`the authorization server says ${error.code}${said(clean(error.message))}.`, { oauthError: error.code });
  }
  if (error instanceof RegistrationRejectedError) {
    return failed(`the authorization server does not register clients by themselves (status ${error.status}): give \`clientId\`.`);
  }
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response') {
    return failed('the answer came from another authorization server than the one that was asked.');
  }
  // The SDK's own words, which may hold what the other side wrote; a schema's fault is a long list of it.
  const isPlain = error instanceof Error && !(error instanceof SyntaxError) && error.name !== 'ZodError';
  return failed(isPlain ? clean(error.message) : 'the answer is not what the protocol says.');
}

function said(words: string): string {
  return words === '' ? '' : ` (${words})`;
}

function cleaned(redactor: ReturnType<typeof createRedactor>, text: string): string {
  const { content } = redactor.clean({ content: [{ type: 'text', text }], isError: false });
  const [block] = content;
  return block?.type === 'text' ? shortWords(block.text) : '';
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
