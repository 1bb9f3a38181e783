/** Matches a turn's events with subscriptions. Used by sessions before they send a notification, and by the Catalog when it delivers it. */
import type { SubscriptionHead } from './subscription.ts';
import type { TriggerEvent } from './callback-settings.ts';

/** `agent` undefined: a turn without an agent, which only matches subscriptions without an agent filter. */
export function matchesSubscription({ events, agents }: SubscriptionHead, type: TriggerEvent, agent: string | undefined): boolean {
  if (events !== undefined && !events.includes(type)) return false;
  return agents === undefined || (agent !== undefined && agents.includes(agent));
}

export function couldMatchSubscription(heads: readonly SubscriptionHead[], type: TriggerEvent, agent: string | undefined): boolean {
  return heads.some((head) => matchesSubscription(head, type, agent));
}
