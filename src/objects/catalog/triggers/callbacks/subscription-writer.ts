/** Writes subscriptions to turn events. The secret is sealed, and required from the start. */
import { ResourceName } from '../../../../core/turn/agent.ts';
import { Subscription, type SubscriptionDocument } from '../../../../core/triggers/callbacks/callback.ts';
import { type Warning, parseInput } from '../../../../core/problem.ts';
import { eraseTarget } from '../../records/erasure.ts';
import type { CatalogContext } from '../../context.ts';
import { requireCapacity } from '../../documents/documents.ts';
import { resealCallbackSecret } from '../../documents/secrets.ts';
import { checkNameInBody, type DocumentWriter } from '../../documents/write-document.ts';
import { agentWarnings, callbackUrlWarnings } from '../trigger-warnings.ts';

export const maxSubscriptions = 50;

export const subscriptionWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { secret, ...document } = parseInput(Subscription, body);
    checkNameInBody(name, document);
    if (previous === null) requireCapacity(context.sql, 'subscription', maxSubscriptions, 'subscriptions');
    const place = { workspace: context.workspace, kind: 'subscription', name } as const;
    const value = secret === undefined ? undefined : JSON.stringify({ secret });
    const seal = await resealCallbackSecret(context, place, value, previous, 'secret');
    return { body: { ...document, name }, warnings: warningsOf(context, document), ...seal };
  },

  prepareRemoval: async (context, name) => () => eraseTarget(context, { kind: 'subscription', name }),

  // Written only above.
  review: (context, body) => warningsOf(context, body as SubscriptionDocument),
};

function warningsOf(context: CatalogContext, { url, agents = [] }: SubscriptionDocument): Warning[] {
  const unknown = agents.flatMap((agent, index) => agentWarnings(context, agent, 'no events are sent for it', `agents[${index}]`));
  return [...callbackUrlWarnings(context, url, 'url'), ...unknown];
}
