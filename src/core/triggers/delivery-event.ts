/** Reads the event type and the delivery id by scheme. Runs after the signature is verified. */
import { sha256Hex, sha256HexOfBytes } from '../hash.ts';
import { limits } from '../limits/limits.ts';
import { schemeOf } from './signatures/create-verifier.ts';
import { concatenate, type SignedContent } from '../signatures/signature-claim.ts';
import type { WebhookDocument } from './webhook.ts';
import { recordOf, stringOf } from '../json/wire-value.ts';

/** Slack's `challenge`, which is returned unchanged: it has about 50 characters. */
export const maxChallengeLength = 1_000;

/** `id` is the same in every repeat of a delivery and in no other delivery. `isPing`: the sender only tests the connection. */
export type EventHead = { id: string; event: string | null; isPing: boolean };

export type EventSource = SignedContent & { payload: unknown };

type Hook = Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>;

/** If the scheme has no id and the document names no header, the id is a hash of the signed content. */
export async function deliveryEventOf(webhook: Hook, source: EventSource): Promise<EventHead> {
  const given = givenId(webhook, source);
  const signed = () => (webhook.scheme === 'bearer' ? [source.body] : schemeOf(webhook).signed(source));
  return {
    id: given === null ? await sha256HexOfBytes(concatenate(signed())) : await boundedId(given),
    event: eventName(webhook, source),
    isPing: isPing(webhook, source),
  };
}

/** Returns the `challenge` of Slack's URL check (docs.slack.dev: Events API, `url_verification`); null: not such a check. */
export function slackChallenge(payload: unknown): string | null {
  if (textAt(payload, 'type') !== 'url_verification') return null;
  const challenge = textAt(payload, 'challenge');
  return challenge === null || challenge.length > maxChallengeLength ? null : challenge;
}

/** The sender's id. Slack repeats an event with the same `event_id`; commands and interactions have a `trigger_id`. */
function givenId({ scheme, hmac, bearer }: Hook, { header, payload }: EventSource): string | null {
  switch (scheme) {
    case 'standard':
      return header('webhook-id') || null;
    case 'github':
      return header('x-github-delivery') || null;
    case 'stripe':
      return textAt(payload, 'id');
    case 'slack':
      return textAt(payload, 'event_id') ?? textAt(payload, 'trigger_id');
    case 'hmac':
    case 'bearer': {
      const idHeader = (scheme === 'hmac' ? hmac : bearer)?.idHeader;
      return (idHeader === undefined ? null : header(idHeader)) || null;
    }
    default:
      return scheme satisfies never;
  }
}

/** The id is part of URLs and lists: visible ASCII of bounded length that cannot be read as a relative path. */
async function boundedId(id: string): Promise<string> {
  const isPlain = id.length <= limits.maxDeliveryIdLength && /^[!-~]+$/.test(id) && id !== '.' && id !== '..';
  return isPlain ? id : await sha256Hex(id);
}

function eventName({ scheme }: Hook, { header, payload }: EventSource): string | null {
  const event = scheme === 'github' ? header('x-github-event') || null : scheme === 'slack' ? slackEvent(payload) : commonEvent(payload);
  return event === null ? null : event.slice(0, limits.maxEventLength);
}

function slackEvent(payload: unknown): string | null {
  const named = textAt(recordOf(payload).event, 'type') ?? textAt(payload, 'type');
  return named ?? (textAt(payload, 'command') === null ? null : 'slash_command');
}

function commonEvent(payload: unknown): string | null {
  return textAt(payload, 'type') ?? textAt(payload, 'event');
}

/** GitHub's `ping` after a webhook was created; Slack's `ssl_check` of a command URL. */
function isPing({ scheme }: Hook, { header, payload }: EventSource): boolean {
  if (scheme === 'github') return header('x-github-event') === 'ping';
  return scheme === 'slack' && textAt(payload, 'ssl_check') === '1';
}

/** null: missing or empty. */
function textAt(value: unknown, name: string): string | null {
  const record = recordOf(value);
  return (Object.hasOwn(record, name) && stringOf(record[name])) || null;
}
