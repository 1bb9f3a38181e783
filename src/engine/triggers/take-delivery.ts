/**
 * What comes to a webhook, from its bytes to a stored delivery: who signed it, whether it counts, and what is to come of it. Nothing
 * of the body is read before the signature is right, and whoever cannot sign learns nothing: not even which webhooks there are. The
 * turn begins behind the answer (`dispatch-run.ts`).
 */
import { Problem } from '../../core/problem.ts';
import type { CompiledHook, HookTemplates } from '../../core/triggers/compiled-hook.ts';
import type { Trigger } from '../../core/triggers/delivery.ts';
import { eventOf, slackChallenge } from '../../core/triggers/event-of.ts';
import type { EventHead } from '../../core/triggers/event-of.ts';
import { readPayload } from '../../core/triggers/payload.ts';
import type { Payload } from '../../core/triggers/payload.ts';
import { createStrangerVerifier } from '../../core/triggers/signatures/create-verifier.ts';
import type { SignatureVerdict, SignedRequest } from '../../core/triggers/signatures/verifier.ts';
import type { Directory } from '../../ports/catalog.ts';
import type { Clock, Ids, Logger } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import type { AcceptedDelivery, DeliveryVerdict, Triggers } from '../../ports/triggers.ts';
import { keptHeaders } from './kept-headers.ts';
import { filterReason, runVerdict, scopeOf } from './render-event.ts';

export type TakeDeps = {
  directory: Pick<Directory, 'hook'>;
  triggers(workspace: string): Pick<Triggers, 'acceptDelivery'>;
  sessions: Pick<Sessions, 'idOf'>;
  clock: Clock;
  ids: Ids;
  log: Logger;
};

export type HookRequest = { workspace: string; name: string; headers: Headers; body: Uint8Array; requestId: string };

/** `challenge`: to be answered as it stands, which proves to Slack that the address is ours. */
export type TakenDelivery = { challenge: string } | { trigger: Trigger; hook: CompiledHook; accepted: AcceptedDelivery };

/** `not_found` for a name that there is not and for a signature that is not right, in the same words. */
export async function takeDelivery(deps: TakeDeps, request: HookRequest): Promise<TakenDelivery> {
  const hook = await requireSigned(deps, request);
  const { headers, body } = request;
  const payload = readPayload(body, { contentType: headers.get('content-type'), contentEncoding: headers.get('content-encoding') });
  const challenge = hook.webhook.scheme === 'slack' ? slackChallenge(payload.value) : null;
  if (challenge !== null) return { challenge };
  const head = await eventOf(hook.webhook, { header: (name) => headers.get(name), payload: payload.value, body });
  const trigger: Trigger = { kind: 'webhook', name: request.name };
  const kept = keptHeaders(hook.webhook, headers);
  const accepted = await deps.triggers(request.workspace).acceptDelivery({
    trigger,
    id: head.id,
    event: head.event,
    payload: { text: payload.text, isJson: payload.isJson, headers: kept },
    verdict: await verdictOn(deps, { workspace: request.workspace, trigger }, hook, head, payload, kept),
  });
  return { trigger, hook, accepted };
}

/** Does the same whatever is wrong: one look at what there is, and one round of signatures over the same bytes. */
async function requireSigned(deps: TakeDeps, { workspace, name, headers, body, requestId }: HookRequest): Promise<CompiledHook> {
  const now = deps.clock.now();
  const signed: SignedRequest = { header: (header) => headers.get(header), body, now };
  const hook = await deps.directory.hook(workspace, name);
  const verdict = hook === null ? await refuseStranger(signed) : await hook.verify(signed);
  if (verdict.valid && hook !== null) return hook;
  // A name that there is not costs a look into the store, so a wrong signature does as well. It may also be signed with a secret that is newer.
  const newer = hook === null ? null : await deps.directory.hook(workspace, name, now);
  if (newer !== null && newer.version !== hook?.version && (await newer.verify(signed)).valid) return newer;
  const [shownWorkspace, shownName] = [workspace, name].map((text) => text.slice(0, maxLoggedName));
  const reason = verdict.valid ? 'there is no such webhook' : verdict.reason;
  deps.log.info('delivery refused', { requestId, workspace: shownWorkspace, webhook: shownName, reason });
  throw new Problem('not_found', 'There is no such webhook, or this is not signed with a secret of it.');
}

const maxLoggedName = 64;

async function refuseStranger(signed: SignedRequest): Promise<SignatureVerdict> {
  stranger ??= createStrangerVerifier();
  return await stranger(signed);
}

let stranger: ReturnType<typeof createStrangerVerifier> | null = null;

async function verdictOn(
  deps: TakeDeps,
  at: { workspace: string; trigger: Trigger },
  hook: CompiledHook,
  { id, event, isPing }: EventHead,
  { value, text }: Payload,
  headers: Readonly<Record<string, string>>,
): Promise<DeliveryVerdict> {
  if (isPing) return ignored('It only asks whether somebody is there.');
  if (hook.webhook.paused === true) return ignored('The webhook is paused.');
  const scope = scopeOf(at.trigger.name, { id, event, payload: value, text, headers, receivedAt: deps.clock.now() });
  const templates = await templatesOf(hook);
  const reason = filterReason(templates, scope);
  return reason === null ? await runVerdict(deps, at, { agent: hook.webhook.agent, templates }, scope) : ignored(reason);
}

async function templatesOf(hook: CompiledHook): Promise<HookTemplates> {
  try {
    return await hook.templates();
  } catch (cause) {
    // They were read when they were written: what is wrong now is not for whoever sends to them.
    throw new Problem('internal', 'This delivery cannot be judged: the log says why.', {}, { cause });
  }
}

function ignored(reason: string): DeliveryVerdict {
  return { become: 'ignored', reason, warnings: [] };
}
