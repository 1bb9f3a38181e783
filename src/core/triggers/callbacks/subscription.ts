/** Who else is told how turns end: every turn of the workspace, or those of some agents, whoever began them. */
import { z } from 'zod';
import { ResourceName } from '../../agent.ts';
import { limits } from '../../limits.ts';
import { CallbackShape, CallbackUrl, TriggerEvent } from './callback-settings.ts';

export const Subscription = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: z.string().max(limits.maxDescriptionBytes).optional(),
    url: CallbackUrl,
    secret: CallbackShape.callbackSecret.meta({
      description: 'Write-only. `whsec_` and base64: signs what is sent. Needed at first; left out later, the one before stays.',
    }),
    events: z.array(TriggerEvent).min(1).optional().meta({ description: 'Absent: all.' }),
    agents: z.array(ResourceName).min(1).max(100).optional().meta({ description: 'Only turns of these agents. Absent: all turns.' }),
    paused: z.boolean().optional().meta({ description: 'Nothing new is sent.' }),
  })
  .meta({ id: 'Subscription', example: { url: 'https://example.com/moniker', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } });
export type Subscription = z.infer<typeof Subscription>;

/** As it is stored; the secret is sealed beside it. */
export type SubscriptionDocument = Omit<Subscription, 'secret'>;

/** What a session has to know of them, to tell of a turn or not. */
export type SubscriptionHead = Pick<Subscription, 'events' | 'agents'>;
