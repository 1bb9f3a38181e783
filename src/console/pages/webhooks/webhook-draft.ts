/** A webhook in the editor: its draft, and the event with which each change of the draft is tried. */
import { signal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { jsonIn } from '../../text/json.ts';

export type WebhookDraft = components['schemas']['WebhookToWrite'];
export type TrialEvent = { payload: string; event: string; headers: string };

const firstTrial: TrialEvent = {
  payload: JSON.stringify({ action: 'opened', issue: { number: 7, title: 'It breaks' }, repository: { full_name: 'acme/shop' } }, null, 2),
  event: 'issues',
  headers: '{}',
};

export type OpenWebhook = ReturnType<typeof openWebhook>;

export function openWebhook(name: string) {
  const path = { webhook: name };
  const trial = signal(firstTrial);
  const outcome = signal<components['schemas']['WebhookTestAnswer'] | null>(null);

  const tryDraft = async (draft: WebhookDraft, aborted?: AbortSignal): Promise<void> => {
    const { payload, event, headers } = trial.value;
    const body = {
      payload: jsonIn(payload) ?? payload,
      ...(event !== '' && { event }),
      // The service says what is wrong with them.
      headers: (jsonIn(headers) ?? {}) as Record<string, string>,
      draft,
    };
    outcome.value = null;
    outcome.value = await moniker.value.post('/v1/webhooks/{webhook}/test', { params: { path }, body, signal: aborted ?? null });
  };
  const document = openDocument(`webhooks ${name}`, {
    ...documentAt('/v1/webhooks/{webhook}', path),
    blank: { agent: 'demo', scheme: 'standard', session: '{{@delivery}}', input: 'An event arrived: {{json this}}' } as WebhookDraft,
    toDraft: ({ warnings: _warnings, url: _url, hasSecret: _has, hasCallbackSecret: _hasOther, secrets: _secrets, ...webhook }) => webhook,
    check: tryDraft,
  });
  return { document, trial, outcome, tryDraft };
}
