/** Who wants to hear of a turn: what a subscription says of events and agents. Asked by sessions before they tell, and by the Catalog when it sends. */
import type { SubscriptionHead } from './subscription.ts';
import type { TriggerEvent } from './callback-settings.ts';

/** `agent` undefined: a turn of none, which only those hear of who named none. */
export function concerns({ events, agents }: SubscriptionHead, type: TriggerEvent, agent: string | undefined): boolean {
  if (events !== undefined && !events.includes(type)) return false;
  return agents === undefined || (agent !== undefined && agents.includes(agent));
}

export function couldConcern(heads: readonly SubscriptionHead[], type: TriggerEvent, agent: string | undefined): boolean {
  return heads.some((head) => concerns(head, type, agent));
}
