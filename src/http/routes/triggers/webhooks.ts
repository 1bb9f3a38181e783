/**
 * `/v1/webhooks`: configuration of incoming events. Secrets can be written but not read. `hooks.ts` receives events; `deliveries.ts` shows
 * them.
 */
import * as z from 'zod';
import { JsonValue } from '../../../core/json/wire-value.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { limits } from '../../../core/limits/limits.ts';
import { publicBase } from '../../../core/people/settings.ts';
import { Webhook } from '../../../core/triggers/webhook.ts';
import { tryDelivery } from '../../../engine/triggers/try-delivery.ts';
import { testHook } from '../../../engine/triggers/render-event.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import { documentRoutes, shownWarnings } from '../../document-routes.ts';
import type { DocumentReader } from '../../document-routes.ts';
import { storedBody } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';

const what = 'Webhooks';
export const webhookParams = z.object({ webhook: ResourceName.meta({ example: 'triage' }) });

/** Fields that GET adds to the document. Accepted and ignored on writes, so that the output of GET can be sent back. */
const shown = {
  hasSecret: z.boolean().meta({ readOnly: true, description: 'Shown by GET; ignored on writes.' }),
  secrets: z
    .int({ error: 'is the number of secrets, as GET shows it: set them in `secret`' })
    .meta({ readOnly: true, description: 'Number of accepted secrets.' }),
  hasCallbackSecret: z.boolean().meta({ readOnly: true, description: 'false: the first of its secrets signs callbacks.' }),
  url: z.string().meta({ readOnly: true, description: 'The URL for the sender. Only a path if MONIKER_PUBLIC_URL is not set.' }),
};

const { secret: _secret, callbackSecret: _callbackSecret, ...documentShape } = Webhook.shape;
const WebhookView = z.object({ ...documentShape, name: ResourceName, ...shown }).meta({ id: 'WebhookView' });
const WebhookInput = Webhook.safeExtend({ ...z.object(shown).partial().shape, warnings: shownWarnings }).meta({
  id: 'WebhookToWrite',
  example: Webhook.meta()?.example,
});

const HookTest = z
  .strictObject({
    payload: JsonValue.meta({ description: 'As the sender would send it: a JSON value or text.' }),
    event: z.string().max(limits.maxEventLength).optional(),
    headers: z
      .record(z.string().max(limits.maxHeaderNameLength), z.string())
      .optional()
      .meta({ description: 'Headers by lower-case name.' }),
    draft: WebhookInput.optional().meta({
      description: 'A webhook that is tested instead of the stored one, which need not exist. It is validated as by PUT, and not stored.',
    }),
  })
  .meta({ id: 'WebhookTest', example: { event: 'issues', payload: { action: 'opened', issue: { number: 1, title: 'It breaks' } } } });

const HookTestAnswer = z
  .object({
    matches: z.boolean().meta({ description: 'Whether the filter matches.' }),
    reason: z.string().nullable().meta({ description: 'Why no turn would start; null: a turn would start.' }),
    sessionKey: z.string().nullable(),
    input: z.string().nullable().meta({ description: 'The input that the agent would receive.' }),
    warnings: z.array(z.string()),
    delivery: z.object({ accepted: z.boolean(), reason: z.string().nullable() }).optional().meta({
      description:
        'Whether a delivery that is signed with the secret of the webhook would be accepted and its turn be started now, whatever the event; otherwise why not. Absent for a draft.',
    }),
  })
  .meta({ id: 'WebhookTestAnswer' });

export const webhookRoutes = [
  ...documentRoutes({
    kind: 'webhook',
    noun: 'webhook',
    tag: what,
    scopes: ['admin'],
    name: ResourceName.meta({ example: 'triage' }),
    body: WebhookInput,
    view: WebhookView,
    unshown: { kept: ['secret', 'callbackSecret'] },
    warnings: shownWarnings,
    toView,
    shown: Object.keys(shown),
    storesName: true,
  }),

  defineRoute(
    {
      method: 'post',
      path: '/v1/webhooks/{webhook}/test',
      operationId: 'testWebhook',
      tag: what,
      scopes: ['admin'],
      workspace: what,
      summary: 'Test a webhook with an event',
      description:
        'Evaluates the filter and the templates, of a draft if one is given. Signs an event with the secret of the stored webhook and checks it as a delivery is checked. Nothing is stored or run.',
      params: webhookParams,
      body: HookTest,
      answers: { 200: { description: 'The test result.', schema: HookTestAnswer } },
    },
    async ({ answer, services, principal, params: { webhook: name }, body: { draft, ...tried } }) => {
      const webhook = draft ?? (await services.catalog(principal).get('webhook', name)).body;
      const tested = await testHook(webhook, { ...tried, name, receivedAt: services.clock.now() });
      if (draft !== undefined) return answer(200, tested);
      const reason = await tryDelivery(services, principal.workspace, name);
      return answer(200, { ...tested, delivery: { accepted: reason === null, reason } });
    },
  ),
];

function toView(document: StoredDocument, { services, principal }: DocumentReader): z.input<typeof WebhookView> {
  const { name } = document;
  const body = storedBody<z.input<typeof WebhookView>>(document);
  const path = `/hooks/${encodeURIComponent(principal.workspace)}/${encodeURIComponent(name)}`;
  return { ...body, name, hasSecret: body.secrets !== 0, url: `${publicBase(services.settings.publicUrl) ?? ''}${path}` };
}
