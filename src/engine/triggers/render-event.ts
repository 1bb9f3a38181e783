/** Applies a webhook to an event: whether its filter matches, and the resulting turn. Used for deliveries, replays and tests. */
import { compileTemplates, type HookTemplates } from '../../core/triggers/compiled-hook.ts';
import type { Rendered } from '../../core/triggers/delivery.ts';
import type { Trigger } from '../../core/turn/turn-trigger.ts';
import { renderTrigger, type TriggerScope } from '../../core/triggers/templates/render-template.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import type { DeliveryVerdict, StoredPayload } from '../../ports/triggers.ts';
import { parsePayload } from '../../core/triggers/payload.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';
import type { StoredDocument } from '../../ports/catalog.ts';

/** `headers`: those that are stored. `receivedAt`: milliseconds since the epoch. `text`: the unchanged body. */
export type HookEvent = {
  id: string;
  event: string | null;
  payload: unknown;
  text: string;
  headers: Readonly<Record<string, string>>;
  receivedAt: number;
};

export function triggerScopeOf(webhook: string, { id, event, payload, text, headers, receivedAt }: HookEvent): TriggerScope {
  const time = new Date(receivedAt).toISOString();
  return { payload, own: { delivery: id, event, webhook, time, headers, body: text } };
}

/** Returns why the event is ignored; null if the filter matches. */
export function filterReason(hook: Pick<HookTemplates, 'filter'>, scope: TriggerScope): string | null {
  if (hook.filter === null) return null;
  const { matches, fault } = hook.filter(scope);
  if (matches) return null;
  return fault === null ? 'The filter does not match.' : `The filter could not be evaluated: ${fault}`;
}

type VerdictDeps = { sessions: Pick<Sessions, 'idOf'>; ids: Ids };

/** Returns the turn to start, with its id, or why none can be. */
export async function runVerdict(
  deps: VerdictDeps,
  at: { workspace: string; trigger: Trigger },
  agent: string,
  made: ReturnType<typeof renderTrigger>,
): Promise<DeliveryVerdict> {
  if ('fault' in made) return { become: 'failed', reason: made.fault, warnings: made.warnings };
  const rendered: Rendered = made.rendered;
  const session = await deps.sessions.idOf(triggerPrincipal(at.workspace, at.trigger, agent), rendered.sessionKey);
  return { become: 'run', agent, session, turn: deps.ids.next('turn'), rendered };
}

/** Renders a replayed delivery with the current version of its webhook. The filter is skipped, since the replay was requested explicitly. */
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
  return await runVerdict(deps, at, webhook.agent, renderTrigger(await compileTemplates(webhook), scope));
}

/** Shows what a webhook would do with an event, without a delivery. */
type TriedEvent = {
  name: string;
  payload: unknown;
  event?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  receivedAt: number;
};

type TriedHook = { matches: boolean; reason: string | null; sessionKey: string | null; input: string | null; warnings: string[] };

/** `webhook`: a stored one, or a draft. Throws `invalid_request` for templates or a filter that are invalid. */
export async function testHook(webhook: Record<string, unknown>, tried: TriedEvent): Promise<TriedHook> {
  // Parsed by the schema when it was written, or by the route.
  const templates = await compileTemplates(webhook as WebhookDocument);
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
