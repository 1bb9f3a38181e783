/** What a sender calls its event and its delivery, by scheme. */
import type { WebhookDocument } from './webhook.ts';

/** `id` is the same in every repeat of one delivery, and of no other. `isPing`: a sender that only tries whether somebody is there. */
export type EventHead = { id: string; event: string | null; isPing: boolean };

export type EventSource = { header(name: string): string | null; payload: unknown; body: Uint8Array };

/** Where a scheme has no id of its own, and the document names no header, it is a hash of what was signed. */
export async function eventOf(_webhook: Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>, _source: EventSource): Promise<EventHead> {
  throw new Error('not built yet');
}

/** The `challenge` of Slack's URL check; null: it is none. */
export function slackChallenge(_payload: unknown): string | null {
  throw new Error('not built yet');
}
