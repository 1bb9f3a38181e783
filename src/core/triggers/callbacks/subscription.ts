/** A subscription to notifications of turns: of all turns of the workspace or of some agents, however they were started. */
import { z } from 'zod';
import { ResourceName } from '../../agent.ts';
import { CallbackShape, CallbackUrl, TriggerEvent, TriggerShape } from './callback.ts';

export const Subscription = z
  .strictObject({
    ...TriggerShape,
    url: CallbackUrl,
    secret: CallbackShape.callbackSecret.meta({
      description: 'Write-only. Signs the messages; `whsec_` and base64. Required at creation; if absent later, the current one stays.',
    }),
    events: z.array(TriggerEvent).min(1).optional().meta({ description: 'Absent: all events.' }),
    agents: z.array(ResourceName).min(1).max(100).optional().meta({ description: 'Only turns of these agents. Absent: all turns.' }),
    paused: z.boolean().optional().meta({ description: 'No new messages are sent.' }),
  })
  .meta({ id: 'Subscription', example: { url: 'https://example.com/moniker', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } });
export type Subscription = z.infer<typeof Subscription>;

/** The stored document; the secret is stored separately and encrypted. */
export type SubscriptionDocument = Omit<Subscription, 'secret'>;

/** What a session needs to decide whether to send a notification. */
export type SubscriptionHead = Pick<Subscription, 'events' | 'agents'>;

/**
 * Whether a subscription matches an event of a turn. Sessions check this before they send a notification, and the Catalog when it delivers
 * it. `agent` undefined: a turn without an agent, which only matches subscriptions without an agent filter.
 */
export function matchesSubscription({ events, agents }: SubscriptionHead, type: TriggerEvent, agent: string | undefined): boolean {
  if (events !== undefined && !events.includes(type)) return false;
  return agents === undefined || (agent !== undefined && agents.includes(agent));
}
