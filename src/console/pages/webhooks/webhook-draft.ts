/** A webhook in the editor: its draft, and the event with which each change of the draft is tried. */
import { signal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';

export type WebhookDraft = components['schemas']['WebhookToWrite'];
type Shown = Pick<components['schemas']['WebhookView'], 'url' | 'hasSecret' | 'hasCallbackSecret'>;
export type TrialEvent = { payload: string; event: string; headers: string };

const firstTrial: TrialEvent = {
  payload: JSON.stringify({ action: 'opened', issue: { number: 7, title: 'It breaks' }, repository: { full_name: 'acme/shop' } }, null, 2),
  event: 'issues',
  headers: '{}',
};

export type OpenWebhook = ReturnType<typeof openWebhook>;

export function openWebhook(name: string) {
  const path = { webhook: name };
  /** What GET adds to the document; null: not stored. */
  const shown = signal<Shown | null>(null);
  const warnings = signal<readonly components['schemas']['Warning'][]>([]);
  const trial = signal(firstTrial);
  const outcome = signal<components['schemas']['WebhookTestAnswer'] | null>(null);

  const tryDraft = async (draft: WebhookDraft, aborted?: AbortSignal): Promise<void> => {
    const { payload, event, headers } = trial.value;
    const body = {
      payload: fromJson(payload) ?? payload,
      ...(event !== '' && { event }),
      // The service says what is wrong with them.
      headers: (fromJson(headers) ?? {}) as Record<string, string>,
      draft,
    };
    outcome.value = null;
    outcome.value = await moniker.value.post('/v1/webhooks/{webhook}/test', { params: { path }, body, signal: aborted ?? null });
  };
  const document = openDocument<WebhookDraft>(`webhooks ${name}`, {
    blank: { agent: 'demo', scheme: 'standard', session: '{{@delivery}}', input: 'An event arrived: {{json this}}' },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/webhooks/{webhook}', { params: { path } });
      if (data === undefined) return rest;
      const { warnings: found = [], url, hasSecret, hasCallbackSecret, secrets: _secrets, ...webhook } = data;
      warnings.value = found;
      shown.value = { url, hasSecret, hasCallbackSecret };
      return { ...rest, data: webhook };
    },
    check: tryDraft,
    write: (draft, header) => moniker.value.PUT('/v1/webhooks/{webhook}', { params: { path, header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/webhooks/{webhook}', { params: { path, header } }),
  });
  return { document, shown, warnings, trial, outcome, tryDraft };
}

/** undefined: not JSON. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
