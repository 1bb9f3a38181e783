/** Renders a replayed delivery with the current version of its webhook. The filter is skipped, since the replay was requested explicitly. */
import { compileTemplates } from '../../core/triggers/compiled-hook.ts';
import type { Trigger } from '../../core/triggers/delivery.ts';
import { parsePayload } from '../../core/triggers/payload.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { DeliveryVerdict, StoredPayload } from '../../ports/triggers.ts';
import { runVerdict, triggerScopeOf } from './render-event.ts';
import type { VerdictDeps } from './render-event.ts';

export async function renderReplay(
  deps: VerdictDeps,
  at: { workspace: string; trigger: Trigger },
  document: StoredDocument,
  { delivery, event, payload }: StoredPayload,
): Promise<DeliveryVerdict> {
  // Parsed by the schema when it was written.
  const webhook = document.body as WebhookDocument;
  const { text = '', headers = {} } = payload ?? {};
  const { value } = parsePayload(new TextEncoder().encode(text), { contentType: headers['content-type'] ?? null, contentEncoding: null });
  const receivedAt = Date.parse(delivery.receivedAt);
  const scope = triggerScopeOf(at.trigger.name, { id: delivery.id, event, payload: value, text, headers, receivedAt });
  return await runVerdict(deps, at, { agent: webhook.agent, templates: await compileTemplates(webhook) }, scope);
}
