/** Shows what a webhook would do with an event, without a delivery. */
import { compileTemplates } from '../../core/triggers/compiled-hook.ts';
import { renderTrigger } from '../../core/triggers/templates/render-template.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';
import { filterReason, triggerScopeOf } from './render-event.ts';

export type TriedEvent = {
  name: string;
  payload: unknown;
  event?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  receivedAt: number;
};

export type TriedHook = { matches: boolean; reason: string | null; sessionKey: string | null; input: string | null; warnings: string[] };

/** `document`: the stored document. */
export async function testHook(document: { webhook: Record<string, unknown>; version: number }, tried: TriedEvent): Promise<TriedHook> {
  // Parsed by the schema when it was written.
  const templates = await compileTemplates(document.webhook as WebhookDocument);
  const { payload, event = null, headers = {}, receivedAt } = tried;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const scope = triggerScopeOf(tried.name, { id: 'test', event, payload, text, headers: named, receivedAt });
  const reason = filterReason(templates, scope);
  const made = renderTrigger(templates, scope);
  if ('fault' in made)
    return { matches: reason === null, reason: reason ?? made.fault, sessionKey: null, input: null, warnings: made.warnings };
  const { sessionKey, input, warnings } = made.rendered;
  return { matches: reason === null, reason, sessionKey, input, warnings };
}
