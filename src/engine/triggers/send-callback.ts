/** One attempt at one callback: signed (Standard Webhooks), sent through the guard, its answer judged. Keeps nothing. */
import type { OutboundHttp } from '../../ports/outbound.ts';

export type CallbackMessage = { id: string; url: string; secret: CallbackKey; body: string };

/** `text` as it was given: `whsec_` and base64, or any other text, whose bytes are the key. */
export type CallbackKey = { text: string };

/** `gone`: the receiver wants no more (410): no further attempt. */
export type CallbackOutcome = {
  delivered: boolean;
  gone: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
};

export type SendCallback = (message: CallbackMessage) => Promise<CallbackOutcome>;

export function createSendCallback(_deps: { outbound: OutboundHttp; now(): number }): SendCallback {
  return () => {
    throw new Error('not built yet');
  };
}
