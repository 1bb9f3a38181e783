/** Writing subscriptions to what turns come to. */
import { ResourceName } from '../../core/agent.ts';
import { parseDocument } from '../../core/issues.ts';
import { Subscription } from '../../core/triggers/subscription.ts';
import { checkNameInBody } from '../write-document.ts';
import type { DocumentWriter } from '../write-document.ts';

export const subscriptionWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (_context, name, body) => {
    const { secret: _secret, ...document } = parseDocument(Subscription, body);
    checkNameInBody(name, document);
    return { body: { ...document, name } };
  },
};
