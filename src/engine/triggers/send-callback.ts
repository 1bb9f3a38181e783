/**
 * Makes one attempt to send one callback: signs it according to Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks,
 * "webhook headers"), sends it through the guarded client, and judges the response. Stores nothing; the Catalog's `callback-sender.ts` decides when to send.
 */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { retryAfterMs } from '../../core/model/retry-after.ts';
import { signStandard } from '../../core/triggers/signatures/schemes.ts';
import { signingKeys } from '../../core/triggers/callbacks/callback.ts';
import { showInvisible } from '../../core/text/visible-text.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';

/** The part of a receiver's response that an attempt shows. */
export const maxCallbackResponseLength = 400;

/** `secret`: as configured, see `signingKeys`. */
export type CallbackMessage = { id: string; url: string; secret: string; body: string };

/** `isFinal`: a retry cannot succeed: the receiver wants no more callbacks (410), or the address is blocked. */
export type CallbackOutcome = {
  delivered: boolean;
  isFinal: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
};

export type SendCallback = (message: CallbackMessage) => Promise<CallbackOutcome>;

/** External failures are returned as failed attempts; thrown errors are internal. */
export function createSendCallback({ outbound, now }: { outbound: OutboundHttp; now(): number }): SendCallback {
  return async (message) => {
    const startedAt = now();
    const end = new AbortController();
    /** After the first request, a blocked address is one that the receiver redirects to. */
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
      // Closes the response and its timer.
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
  // The body of a 2xx response is not needed and may be endless.
  if (ok) {
    await response.body?.cancel();
    return { ...failed, delivered: true, status };
  }
  const body = await readStart(response);
  const wantedDelayMs = retryAfterMs(headers.get('retry-after'), now());
  return {
    ...failed,
    status,
    isFinal: status === 410,
    error: `Responded with ${status}${body === '' ? '.' : `: ${body}`}`,
    retryAfterMs: wantedDelayMs,
  };
}

/** Returns the beginning of the response body, to show the reason. The outbound timeout ends a slow one. */
async function readStart(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += decoder.decode(read.value.subarray(0, maxCallbackResponseLength * maxBytesOfCharacter), { stream: true });
      if (text.length >= maxCallbackResponseLength) break;
    }
    await reader.cancel();
  } catch {
    // The connection broke: what was read so far is shown, and the status is known.
  }
  return showInvisible(text.slice(0, maxCallbackResponseLength)).slice(0, maxCallbackResponseLength).trim();
}

const maxBytesOfCharacter = 4;

function redirected(from: string, to: URL): Problem {
  const detail = `${new URL(from).host} redirects to ${to.host}; the redirect was not followed, since a signed callback goes to one address only. Set the url to the redirect's target.`;
  return new Problem('upstream_error', detail, { retryable: true });
}

/** Whether the outbound guard blocked the address: only an operator or a new address can change that. */
function isRefusal({ extra }: Problem): boolean {
  return typeof extra.rule === 'string';
}
