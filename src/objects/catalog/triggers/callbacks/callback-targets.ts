/**
 * Finds the targets of callbacks, with URL and secret: read from the documents when a callback is sent, so that a corrected URL
 * applies to pending ones. Stores nothing.
 */
import {
  type CallbackTarget,
  matchesSubscription,
  type SubscriptionDocument,
  type SubscriptionHead,
  type TriggerEvent,
  type TurnEvent,
} from '../../../../core/triggers/callbacks/callback.ts';
import type { TurnNotice } from '../../../../core/triggers/callbacks/turn-notice.ts';
import type { WebhookSecrets } from '../../../../core/triggers/webhook.ts';
import { openValue } from '../../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../../context.ts';
import { allRows, type DocumentRow, findRow } from '../../documents/documents.ts';

/** Returns the trigger of the turn, if it has a callback URL, and the matching subscriptions. */
export function targetsOf({ sql }: CatalogContext, { trigger, type, agent }: TurnNotice & { type: TurnEvent }): CallbackTarget[] {
  const own =
    trigger !== undefined && urlOf(findRow(sql, trigger.kind, trigger.name)) !== null ? [{ kind: trigger.kind, name: trigger.name }] : [];
  return [...own, ...subscribersOf(sql, type, agent)];
}

export function subscribersOf(sql: SqlStorage, type: TriggerEvent, agent?: string): CallbackTarget[] {
  return subscribedTargets(sql).flatMap(({ name, head }): CallbackTarget[] => {
    return matchesSubscription(head, type, agent) ? [{ kind: 'subscription', name }] : [];
  });
}

/** Returns the subscriptions that are not paused, with their filters. */
export function subscribedTargets(sql: SqlStorage): { name: string; head: SubscriptionHead }[] {
  return allRows(sql, 'subscription').flatMap(({ name, body }) => {
    // Written only by its writer.
    const { paused, events, agents } = body as SubscriptionDocument;
    const head = { ...(events !== undefined && { events }), ...(agents !== undefined && { agents }) };
    return paused === true ? [] : [{ name, head }];
  });
}

/** `gone`: why nothing can be sent there until its document is changed. */
type Destination = { url: string; secret: string } | { gone: string };

/** Throws the `Problem` of a secret that cannot be opened. */
export async function destinationOf(context: CatalogContext, target: CallbackTarget): Promise<Destination> {
  const row = findRow(context.sql, target.kind, target.name);
  if (row === null) return { gone: `The ${target.kind} "${target.name}" no longer exists.` };
  const url = urlOf(row);
  if (url === null) return { gone: `The ${target.kind} "${target.name}" no longer has a callbackUrl.` };
  const secret = row.sealed === null ? null : await openSecret(context, target, row.sealed);
  return secret === null ? { gone: `The ${target.kind} "${target.name}" has no secret to sign with. Set one with PUT.` } : { url, secret };
}

function urlOf(row: DocumentRow | null): string | null {
  const url = row?.kind === 'subscription' ? row.body.url : row?.body.callbackUrl;
  return typeof url === 'string' ? url : null;
}

/** Each kind's writer seals in its own format; there are no other writers. */
async function openSecret({ master, workspace }: CatalogContext, { kind, name }: CallbackTarget, sealed: string): Promise<string | null> {
  const opened: unknown = JSON.parse(await openValue(master, { workspace, kind, name }, sealed));
  switch (kind) {
    case 'webhook': {
      const { callback, secrets } = opened as WebhookSecrets;
      return callback ?? secrets[0] ?? null;
    }
    case 'schedule':
      return (opened as { callback: string | null }).callback;
    case 'subscription':
      return (opened as { secret: string }).secret;
    default:
      return kind satisfies never;
  }
}
