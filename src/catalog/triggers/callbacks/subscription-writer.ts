/** Writes subscriptions to turn events. The secret is sealed, and required from the start. */
import { ResourceName } from '../../../core/agent.ts';
import { parseDocument } from '../../../core/issues.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import { Subscription, type SubscriptionDocument } from '../../../core/triggers/callbacks/subscription.ts';
import type { Warning } from '../../../core/warning.ts';
import { openValue } from '../../../storage/secret-box.ts';
import type { SealedFor } from '../../../storage/secret-box.ts';
import { eraseTarget } from '../../records/erasure.ts';
import type { CatalogContext } from '../../context.ts';
import type { DocumentRow } from '../../documents/documents.ts';
import { reseal } from '../../documents/secrets.ts';
import { checkNameInBody } from '../../documents/write-document.ts';
import type { DocumentWriter, Prepared } from '../../documents/write-document.ts';
import { agentWarnings, callbackUrlWarnings } from '../trigger-warnings.ts';

export const maxSubscriptions = 50;

export const subscriptionWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { secret, ...document } = parseDocument(Subscription, body);
    checkNameInBody(name, document);
    if (previous === null) requireRoom(context);
    return { body: { ...document, name }, warnings: warningsOf(context, document), ...(await seal(context, name, secret, previous)) };
  },

  prepareRemoval: async (context, name) => () => eraseTarget(context, { kind: 'subscription', name }),

  // Written only above.
  review: (context, body) => warningsOf(context, body as SubscriptionDocument),
};

function warningsOf(context: CatalogContext, { url, agents = [] }: SubscriptionDocument): Warning[] {
  const unknown = agents.flatMap((agent, index) => agentWarnings(context, agent, 'no events are sent for it', `agents[${index}]`));
  return [...callbackUrlWarnings(context, url, 'url'), ...unknown];
}

async function seal(
  context: CatalogContext,
  name: string,
  given: string | undefined,
  previous: DocumentRow | null,
): Promise<Pick<Prepared, 'sealed' | 'sealedChanged'>> {
  const place: SealedFor = { workspace: context.workspace, kind: 'subscription', name };
  if (given !== undefined) return reseal(context, place, JSON.stringify({ secret: given }), previous);
  const before = previous?.sealed ?? null;
  if (before === null) throw invalidRequest([{ path: 'secret', message: 'is required: callbacks are signed with it' }]);
  // Opened to verify that it can be, in case the master key has changed: otherwise signing would fail later.
  await openValue(context.master, place, before);
  return { sealed: before, sealedChanged: false };
}

function requireRoom({ sql }: CatalogContext): void {
  const { count } = sql
    .exec<{ count: number }>("SELECT count(*) AS count FROM documents WHERE kind = 'subscription' AND deleted = 0")
    .one();
  if (count < maxSubscriptions) return;
  throw new Problem('conflict', `The workspace already has ${count} subscriptions (maximum: ${maxSubscriptions}). Delete one first.`);
}
