/** Writing webhooks: what is secret is sealed; the rest, with the seal, is published for `/hooks`. */
import { ResourceName } from '../../core/agent.ts';
import { parseDocument } from '../../core/issues.ts';
import { invalidRequest } from '../../core/problem.ts';
import { Webhook } from '../../core/triggers/webhook.ts';
import type { WebhookSecrets } from '../../core/triggers/webhook.ts';
import { openValue } from '../../storage/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import type { DocumentRow } from '../documents.ts';
import { enqueuePublish } from '../outbox.ts';
import { reseal } from '../secrets.ts';
import { checkNameInBody } from '../write-document.ts';
import type { DocumentWriter } from '../write-document.ts';

export const webhookWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { secret, callbackSecret, ...document } = parseDocument(Webhook, body);
    checkNameInBody(name, document);
    const before = await openSecrets(context, name, previous);
    const given = secret === undefined ? before?.secrets : [secret].flat();
    if (given === undefined) throw invalidRequest([{ path: 'secret', message: 'is missing: nothing is taken that is not signed' }]);
    const secrets: WebhookSecrets = { secrets: given, callback: callbackSecret ?? before?.callback ?? null };
    const place = { workspace: context.workspace, kind: 'webhook', name } as const;
    return {
      body: { ...document, name },
      ...(await reseal(context, place, JSON.stringify(secrets), previous)),
      commit: (_row, changed) => {
        if (changed) enqueuePublish(context, 'webhook', name);
      },
    };
  },

  prepareRemoval: async (context, name) => () => enqueuePublish(context, 'webhook', name),
};

async function openSecrets(context: CatalogContext, name: string, row: DocumentRow | null): Promise<WebhookSecrets | null> {
  if (row === null || row.sealed === null) return null;
  // Sealed above only.
  return JSON.parse(await openValue(context.master, { workspace: context.workspace, kind: 'webhook', name }, row.sealed)) as WebhookSecrets;
}
