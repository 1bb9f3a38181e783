/**
 * Receives a webhook request and stores it as a delivery: checks the signature, evaluates the filter, and decides on the turn. The body is
 * parsed only after the signature was verified, and an unsigned request learns nothing, not even which webhooks exist. The turn starts in the
 * background (`dispatch-run.ts`).
 */
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { CompiledHook, HookTemplates } from '../../core/triggers/compiled-hook.ts';
import type { Trigger } from '../../core/turn/turn-trigger.ts';
import { deliveryEventOf, slackChallenge, type EventHead } from '../../core/triggers/delivery-event.ts';
import { parsePayload, type Payload } from '../../core/triggers/payload.ts';
import { renderTrigger } from '../../core/triggers/templates/render-template.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import { createDecoyVerifier } from '../../core/triggers/signatures/create-verifier.ts';
import type { SignatureVerdict, SignedRequest } from '../../core/signatures/signature-claim.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { Clock, Ids, Logger } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import type { AcceptedDelivery, DeliveryVerdict, Triggers } from '../../ports/triggers.ts';
import { readLimits } from '../plan/turn-limits.ts';
import { filterReason, runVerdict, triggerScopeOf } from './render-event.ts';
import type { RefusalCounter } from './count-refusals.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';

export type ReceiveDeps = {
  directory: Pick<Directory, 'hook' | 'agent' | 'workspaceSettings'>;
  limiter: Pick<Limiter, 'spendSandboxSeconds'>;
  triggers(workspace: string): Pick<Triggers, 'acceptDelivery'>;
  sessions: Pick<Sessions, 'idOf'>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  refusals: RefusalCounter;
};

export type HookRequest = { workspace: string; name: string; headers: Headers; body: Uint8Array; requestId: string };

/** `challenge`: to be returned unchanged, which proves to Slack that the address is ours. */
export type ReceivedDelivery = { challenge: string } | { trigger: Trigger; hook: CompiledHook; accepted: AcceptedDelivery };

/** Throws `not_found` with the same text for an unknown name and for an invalid signature. */
export async function receiveDelivery(deps: ReceiveDeps, request: HookRequest): Promise<ReceivedDelivery> {
  const hook = await requireSigned(deps, request);
  const { headers, body } = request;
  const payload = parsePayload(body, { contentType: headers.get('content-type'), contentEncoding: headers.get('content-encoding') });
  const challenge = hook.webhook.scheme === 'slack' ? slackChallenge(payload.value) : null;
  if (challenge !== null) return { challenge };
  const head = await deliveryEventOf(hook.webhook, { header: (name) => headers.get(name), payload: payload.value, body });
  const trigger: Trigger = { kind: 'webhook', name: request.name };
  const stored = storedHeaders(hook.webhook, headers);
  const accepted = await deps.triggers(request.workspace).acceptDelivery({
    trigger,
    id: head.id,
    event: head.event,
    payload: { text: payload.text, isJson: payload.isJson, headers: stored },
    verdict: await verdictOn(deps, { workspace: request.workspace, trigger }, hook, head, payload, stored),
  });
  return { trigger, hook, accepted };
}

/** Takes the same time whatever is wrong: one lookup, and one round of signatures over the same bytes. */
async function requireSigned(deps: ReceiveDeps, { workspace, name, headers, body, requestId }: HookRequest): Promise<CompiledHook> {
  const now = deps.clock.now();
  const signed: SignedRequest = { header: (header) => headers.get(header), body, now };
  const hook = await deps.directory.hook(workspace, name);
  const verdict = hook === null ? await refuseUnknownWebhook(signed) : await hook.verify(signed);
  if (verdict.valid && hook !== null) {
    deps.refusals.reportDue();
    return hook;
  }
  // An unknown name costs a read of the store, so an invalid signature does too. The request may also be signed with a newer secret.
  const newer = hook === null ? null : await deps.directory.hook(workspace, name, now);
  if (newer !== null && newer.version !== hook?.version && (await newer.verify(signed)).valid) return newer;
  if (newer !== null) deps.refusals.count(workspace, name);
  const [shownWorkspace, shownName] = [workspace, name].map((text) => text.slice(0, maxLoggedName));
  const reason = verdict.valid ? 'there is no such webhook' : verdict.reason;
  deps.log.info('delivery refused', { requestId, workspace: shownWorkspace, webhook: shownName, reason });
  throw new Problem('not_found', 'There is no such webhook, or the request is not signed with its secret.');
}

const maxLoggedName = 64;

async function refuseUnknownWebhook(signed: SignedRequest): Promise<SignatureVerdict> {
  decoyVerifier ??= createDecoyVerifier();
  return await decoyVerifier(signed);
}

let decoyVerifier: ReturnType<typeof createDecoyVerifier> | null = null;

async function verdictOn(
  deps: ReceiveDeps,
  at: { workspace: string; trigger: Trigger },
  hook: CompiledHook,
  { id, event, isPing }: EventHead,
  { value, text }: Payload,
  headers: Readonly<Record<string, string>>,
): Promise<DeliveryVerdict> {
  if (isPing) return ignored('The delivery is a ping.');
  if (hook.webhook.paused === true) return ignored('The webhook is paused.');
  const scope = triggerScopeOf(at.trigger.name, { id, event, payload: value, text, headers, receivedAt: deps.clock.now() });
  const templates = await templatesOf(hook);
  const { agent } = hook.webhook;
  const began = deps.clock.now();
  const reason = filterReason(templates, scope);
  const made = reason === null ? renderTrigger(templates, scope) : null;
  await countComputed(deps, triggerPrincipal(at.workspace, at.trigger, agent), agent, deps.clock.now() - began);
  return made === null ? ignored(reason ?? '') : await runVerdict(deps, at, agent, made);
}

/** What filter and templates have computed counts for the agent and the workspace. The delivery is not refused, and what follows may be. */
async function countComputed({ directory, limiter, log }: ReceiveDeps, principal: Principal, name: string, ms: number): Promise<void> {
  if (ms <= 0) return;
  try {
    const agent = await nullIfNotFound(directory.agent(principal.workspace, name));
    const holders = await readLimits(directory, principal, agent === null ? undefined : { name, agent });
    limiter.spendSandboxSeconds(principal.workspace, holders, ms / 1_000);
  } catch (error) {
    log.error('limits could not be counted', { workspace: principal.workspace, agent: name, cause: String(error) });
  }
}

async function templatesOf(hook: CompiledHook): Promise<HookTemplates> {
  try {
    return await hook.templates();
  } catch (cause) {
    // The templates compiled when they were written, so the fault is ours and not the sender's.
    throw new Problem('internal', 'This delivery cannot be processed. See the log.', {}, { cause });
  }
}

function ignored(reason: string): DeliveryVerdict {
  return { become: 'ignored', reason, warnings: [] };
}

/** Headers that templates and filters see, and that are stored: their number, and the characters of names and values together. */
export const maxStoredHeaders = 64;
export const maxKeptHeaderCharacters = 16_000;

/**
 * The headers of a delivery that filters and templates see and that are stored with its payload, by lower-case name. Excludes credentials
 * of the sender (above all a bearer secret) and headers that the platform adds in transport. Headers beyond `maxStoredHeaders` or `maxKeptHeaderCharacters` are dropped, in the
 * order of names.
 */
export function storedHeaders(
  webhook: Pick<WebhookDocument, 'hmac' | 'bearer'>,
  headers: Iterable<readonly [name: string, value: string]>,
): Record<string, string> {
  const own = new Set([webhook.hmac?.header, webhook.bearer?.header]);
  const stored: [name: string, value: string][] = [];
  let characters = 0;
  for (const [name, value] of headers) {
    if (own.has(name) || proofs.test(name) || transport.test(name)) continue;
    characters += name.length + value.length;
    if (stored.length >= maxStoredHeaders || characters > maxKeptHeaderCharacters) break;
    stored.push([name, value]);
  }
  // `fromEntries` instead of assignment, since a header may be called `__proto__`.
  return Object.fromEntries(stored);
}

const proofs = /authorization|cookie|signature|token|secret|password|api-?key|credential/;
const transport =
  /^(?:cf-|x-forwarded|x-real-ip|forwarded$|via$|connection$|host$|content-length$|transfer-encoding$|expect$|true-client-ip$)/;
