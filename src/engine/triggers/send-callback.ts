/**
 * One attempt at one callback: signed as Standard Webhooks 1.0 says (https://github.com/standard-webhooks/standard-webhooks, "webhook
 * headers"), sent through the guard, its answer judged. Keeps nothing; used by the Catalog's `callback-sender.ts`, which knows when.
 */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { retryAfterMs } from '../../core/retry-after.ts';
import { signStandard } from '../../core/triggers/signatures/standard.ts';
import { signingKeys } from '../../core/triggers/callbacks/signing-keys.ts';
import { visibleText } from '../../core/visible-text.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';

/** `secret`: as it was given, see `signing-keys.ts`. */
export type CallbackMessage = { id: string; url: string; secret: string; body: string };

/** `isFinal`: a further attempt would come to the same: the receiver wants no more (410), or we may not go there. */
export type CallbackOutcome = {
  delivered: boolean;
  isFinal: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
};

export type SendCallback = (message: CallbackMessage) => Promise<CallbackOutcome>;

/** What goes wrong outside is an attempt that failed; what is thrown is a fault of ours. */
export function createSendCallback({ outbound, now }: { outbound: OutboundHttp; now(): number }): SendCallback {
  return async (message) => {
    const startedAt = now();
    const end = new AbortController();
    /** What is refused from then on is where the receiver points to, which is its own affair. */
    let isSent = false;
    try {
      const response = await outbound(await signed(message, startedAt), {
        purpose: 'webhook',
        signal: end.signal,
        timeoutMs: limits.callbackTimeoutMs,
        onHop: (to, hop) => {
          isSent = true;
          if (hop > 0) throw redirected(message.url, to);
        },
      });
      const judged = await judge(response, now);
      return { ...judged, durationMs: now() - startedAt };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...failed, error: error.detail, isFinal: !isSent && isRefusal(error), durationMs: now() - startedAt };
    } finally {
      // Closes what is still open, and its timer.
      end.abort();
    }
  };
}

async function signed({ id, url, secret, body }: CallbackMessage, now: number): Promise<Request> {
  const seconds = Math.floor(now / 1000);
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Moniker-Callback/1 (Standard Webhooks)',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': await signStandard(signingKeys(secret), { id, seconds, body }),
    },
    body,
    redirect: 'manual',
  });
}

const failed = { delivered: false, isFinal: false, status: null, error: null, retryAfterMs: null };

type Judged = Omit<CallbackOutcome, 'durationMs'>;

async function judge(response: Response, now: () => number): Promise<Judged> {
  const { status, ok, headers } = response;
  // What a receiver says beside its 2xx interests nobody, and may have no end.
  if (ok) {
    await response.body?.cancel();
    return { ...failed, delivered: true, status };
  }
  const said = await readStart(response);
  const wish = retryAfterMs(headers.get('retry-after'), now());
  return {
    ...failed,
    status,
    isFinal: status === 410,
    error: `Answered ${status}${said === '' ? '.' : `: ${said}`}`,
    retryAfterMs: wish,
  };
}

/** The first of what was answered, for whoever looks for the reason. The outbound time-out ends one that trickles. */
async function readStart(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += decoder.decode(read.value.subarray(0, limits.maxCallbackAnswerLength * maxBytesOfCharacter), { stream: true });
      if (text.length >= limits.maxCallbackAnswerLength) break;
    }
    await reader.cancel();
  } catch {
    // It broke off: what was read so far is all there is to show, and the status has said the rest.
  }
  return visibleText(text.slice(0, limits.maxCallbackAnswerLength)).slice(0, limits.maxCallbackAnswerLength).trim();
}

const maxBytesOfCharacter = 4;

function redirected(from: string, to: URL): Problem {
  const detail = `${new URL(from).host} redirects to ${to.host}, and was not followed: what is signed goes to one address. Set the url to where it leads.`;
  return new Problem('upstream_error', detail, { retryable: true });
}

/** The guard's word: nobody but an operator, or a new address, changes it. */
function isRefusal({ extra }: Problem): boolean {
  return typeof extra.rule === 'string';
}
