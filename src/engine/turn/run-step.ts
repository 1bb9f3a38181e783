/**
 * One model call of a turn: builds the request from the conversation and writes the reply's events to the log. An interrupted reply is retried
 * as a restart of the step, then with the plan's fallback models; a permanent failure is one `error` event.
 */
import { splitModelRef } from '../../core/turn/agent.ts';
import { resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { CompactableConversation } from '../../core/turn/compaction.ts';
import { failpoint } from '../../core/failpoint.ts';
import { fitMessages } from '../../core/turn/fit-messages.ts';
import { createDropped } from '../../core/model/dropped.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Gathered } from '../../core/turn/gathered-tools.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Message } from '../../core/model/message.ts';
import { sentTools } from '../../core/turn/offered-tools.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { Problem, type ProblemBody } from '../../core/problem.ts';
import { realias } from '../../core/toolset/model-definitions.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import { systemPrompt } from '../../core/turn/system-prompt.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import type { Directory } from '../../ports/directory.ts';
import type { ResultStore } from '../../ports/result-store.ts';
import type { Clock, Ids, Logger } from '../../ports/runtime.ts';
import { firstReply } from '../first-reply.ts';
import type { RouteAttempt, Routing } from '../try-routes.ts';
import { retryCatalogRead } from '../plan/retry-catalog-read.ts';
import { createEventBatch, type EventBatch } from './event-batch.ts';

/** The number of retries of a reply that breaks off, for each model of the plan. */
const maxStepRestarts = 1;

export type StepDeps = { clock: Clock; ids: Ids; log: Logger; directory: Directory; model: ChatModel };

export type StepScope = {
  workspace: string;
  turn: string;
  plan: Plan;
  /** The tools the model is offered at this time; null: no tools. */
  names(): AliasMap | null;
  /** The conversation up to this step. */
  messages(): Message[];
  /** The same, by turn. Absent: the conversation is not shortened. */
  conversation?: CompactableConversation;
  /** The tools discovered in the conversation; the same list until one is added. Absent: none. */
  gathered?(): readonly Gathered[];
  /** Stores the full text of results that are shown shortened. */
  results?: Pick<ResultStore, 'has' | 'store'> | null;
  /** Number of the newest event, for `step-restart`. */
  newest(): number;
  /** Appends events, in one transaction. */
  append(...events: readonly SessionEventBody[]): void;
  /** `session`: null outside of sessions. Absent: as null. */
  call?: { session: string | null };
  /** Whether a client follows the events as they are written. Absent: yes. */
  isFollowed?(): boolean;
};

type Attempt = { ok: true } | { ok: false; problem: ProblemBody; retryable: boolean };

/** `restartFrom`: the step was started by a process that died; its events from this one on are discarded. */
export type StepAt = { step: number; closing: boolean; restartFrom: number | null };

/** Appends the step's events; the last is `step-end`, or `error` when no model returned a reply. Throws only on abort. */
export async function runStep(
  deps: StepDeps,
  scope: StepScope,
  { step, closing, restartFrom }: StepAt,
  signal: AbortSignal,
): Promise<void> {
  const models = scope.plan.routes ?? [scope.plan.model, ...scope.plan.fallbacks];
  if (restartFrom === null) scope.append({ type: 'step-start', turn: scope.turn, step });
  const from = restartFrom ?? scope.newest() + 1;
  if (restartFrom !== null) scope.append({ type: 'step-restart', turn: scope.turn, step, from });
  const failures: { model: string; problem: Problem }[] = [];
  const ask = async (model: string, route?: RouteAttempt): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const last = failures.at(-1);
      if (last !== undefined)
        scope.append({ type: 'step-restart', turn: scope.turn, step, from, model: last.model, code: last.problem.code });
      const outcome = await attemptStep(deps, scope, { step, closing, model, ...(route !== undefined && { route }) }, signal);
      signal.throwIfAborted();
      if (outcome.ok) return route?.over(false);
      const { code, detail } = outcome.problem;
      deps.log.info('a model call failed', { turn: scope.turn, step, model, code, detail });
      const problem = Problem.fromBody(outcome.problem);
      failures.push({ model, problem });
      if (!outcome.retryable || attempt === maxStepRestarts) throw problem;
    }
  };
  try {
    await firstReply(models, routingOf(deps, scope), ask, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Problem)) throw error;
    const failed = failures.find(({ problem }) => problem === error)?.model;
    scope.append({ type: 'error', turn: scope.turn, problem: error.toBody(), ...(failed !== undefined && { model: failed }) });
  }
}

/** `route`: absent without one. */
type AttemptAt = { step: number; closing: boolean; model: string; route?: RouteAttempt };

function routingOf({ clock, ids, log }: StepDeps, { workspace, plan, call }: StepScope): Routing {
  return { clock, ids, log, workspace, keyId: plan.caller?.key ?? '', session: call?.session ?? null };
}

async function attemptStep(deps: StepDeps, scope: StepScope, at: AttemptAt, signal: AbortSignal): Promise<Attempt> {
  const batch = createEventBatch(deps.clock, scope.append, scope.isFollowed);
  const writer = createStepWriter(deps, scope, at, batch);
  try {
    const request = await toRequest(deps, scope, at, signal);
    await failpoint('before-model-request');
    for await (const events of deps.model.stream(request, signal)) {
      if (!writer.begun) reportDropped(request, { ...at, turn: scope.turn }, batch);
      if (!writer.begun) at.route?.begun();
      writer.begun = true;
      if (events.some(({ type }) => type === 'finish')) await failpoint('model-done-before-persist');
      for (const event of events) {
        if (event.type === 'error') return { ok: false, problem: event.problem, retryable: event.retryable };
        writer.take(event);
      }
      batch.readEnded();
      if (!writer.finished) await failpoint(writer.inCall ? 'model-stream-tool-args-mid' : 'model-stream-mid');
    }
    if (!writer.finished)
      return { ok: false, problem: new Problem('upstream_error', "The model's reply was cut off.").toBody(), retryable: true };
    return { ok: true };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Problem)) throw error;
    if (error.cause !== undefined)
      deps.log.error('requesting a model failed', { turn: scope.turn, model: at.model, cause: String(error.cause) });
    // The provider adapter has already retried before the first byte; another model may still work.
    return { ok: false, problem: error.toBody(), retryable: false };
  } finally {
    batch.flush();
  }
}

/** Turns events of the reply into events of the log, in order. Names are resolved where they are unambiguous; call ids are our own. */
function createStepWriter(deps: StepDeps, scope: StepScope, at: AttemptAt, batch: EventBatch) {
  const { turn } = scope;
  const { step } = at;
  const callIds = new Map<number, string>();
  const idOf = (call: number): string => {
    const callId = callIds.get(call);
    if (callId === undefined) throw new Error(`call ${call} was never started`);
    return callId;
  };
  return {
    begun: false,
    finished: false,
    /** Whether a call has started and not ended. */
    inCall: false,
    take(event: Exclude<ChatEvent, { type: 'error' }>): void {
      switch (event.type) {
        case 'text':
          batch.add({ type: 'text-delta', turn, step, text: event.text });
          break;
        case 'reasoning':
          batch.add({ type: 'reasoning-delta', turn, step, text: event.text });
          break;
        case 'call-start': {
          this.inCall = true;
          const callId = deps.ids.next('call');
          callIds.set(event.call, callId);
          const names = scope.names();
          const meant = names === null ? null : resolveName(names, event.name);
          const named = meant?.ok ? { canonical: meant.canonical, via: meant.via } : { canonical: null, via: null };
          const native = event.nativeId === null ? {} : { nativeId: event.nativeId };
          batch.add({
            type: 'tool-input-start',
            turn,
            step,
            callId,
            name: event.name.slice(0, limits.maxToolNameLength),
            ...named,
            ...native,
          });
          break;
        }
        case 'call-delta':
          batch.add({ type: 'tool-input-delta', turn, step, callId: idOf(event.call), delta: event.text });
          break;
        case 'call-end':
          this.inCall = false;
          batch.add({
            type: 'tool-input-end',
            turn,
            step,
            callId: idOf(event.call),
            ...inputEnd(event),
            ...(event.recovered && { recovered: true }),
          });
          break;
        case 'native':
          batch.add({ type: 'native', turn, step, provider: event.provider, data: event.data });
          break;
        case 'image':
          batch.add({ type: 'image', turn, step, mediaType: event.mediaType, data: event.data });
          break;
        case 'citations':
          batch.add({ type: 'citations', turn, step, citations: event.citations });
          break;
        case 'search':
          batch.add({ ...event, turn, step });
          break;
        case 'usage':
          batch.add({ type: 'usage', turn, step, usage: event.usage, model: at.model });
          break;
        case 'finish':
          this.finished = true;
          batch.add({
            type: 'step-end',
            turn,
            step,
            reason: event.reason,
            model: at.model,
            ...(at.route !== undefined && { target: at.route.target }),
            ...(inOrder(scope.plan, event) && { inOrder: true }),
          });
          break;
        default:
          event satisfies never;
      }
    },
  };
}

/** Once for each model: later steps are sent the same settings. */
function reportDropped(
  { dropped }: ChatRequest,
  { turn, step, model }: { turn: string; step: number; model: string },
  batch: EventBatch,
): void {
  const items = [...(dropped?.items() ?? [])];
  if (step === 1 && items.length > 0) batch.add({ type: 'dropped', turn, step, model, items });
}

/** The setting decides; without it calls run in parallel, except for those of the text protocol. */
function inOrder({ settings }: Plan, reply: Extract<ChatEvent, { type: 'finish' }>): boolean {
  return settings.parallelToolCalls === undefined ? reply.inOrder === true : !settings.parallelToolCalls;
}

function inputEnd(event: Extract<ChatEvent, { type: 'call-end' }>) {
  switch (event.state) {
    case 'ok':
      return { arguments: event.arguments, repaired: false };
    case 'closed':
      return { arguments: event.arguments, repaired: true, closersOnly: true };
    case 'repaired':
      return { arguments: event.arguments, repaired: true };
    case 'truncated':
      return { arguments: null, repaired: false, raw: event.raw, fault: 'truncated' as const };
    case 'invalid':
      return { arguments: null, repaired: false, raw: event.raw, fault: 'invalid_json' as const };
    default:
      return event.state satisfies never;
  }
}

async function toRequest(deps: StepDeps, scope: StepScope, at: AttemptAt, signal: AbortSignal): Promise<ChatRequest> {
  const { plan } = scope;
  // Computed before the names: a result that is stored now makes `fetch_result` available.
  const conversation = fittedMessages(scope);
  const names = scope.names();
  const { provider, model } = splitModelRef(at.model);
  const access = await retryCatalogRead(deps, signal, () => deps.directory.provider(scope.workspace, provider));
  const choice = toolChoice(plan, names, at, conversation);
  const system = systemPrompt(plan, names);
  const messages = names === null ? conversation : conversation.map((message) => realias(message, names));
  return {
    access,
    model,
    messages: system === '' ? messages : [{ role: 'system', parts: [{ type: 'text', text: system }] }, ...messages],
    // The same list from step to step, or extended at its end, so that its translation for the provider is cached.
    tools: names === null ? [] : sentTools(names, scope.gathered?.(), choice.tool),
    toolChoice: choice.sent,
    settings: plan.settings,
    ...((plan.timeouts !== undefined || at.route !== undefined) && { timeouts: { ...at.route?.limits, ...plan.timeouts } }),
    ...(at.route !== undefined && { target: at.route.target }),
    dropped: createDropped(plan.dropped?.names, plan.dropped?.items),
    ...(plan.protocol !== undefined && { protocol: plan.protocol }),
  };
}

/** Returns the conversation, shortened to the plan's token budget as far as old results of the turn allow. */
function fittedMessages(scope: StepScope): Message[] {
  const { conversation, plan, turn, results = null } = scope;
  const maxTokens = plan.limits.maxContextTokens ?? limits.maxContextTokens;
  if (conversation === undefined || conversation.tokens() <= maxTokens) return scope.messages();
  const fitted = fitMessages(conversation, turn, maxTokens, results !== null);
  for (const { callId, content } of fitted.toKeep) if (results?.has(callId) === false) results.store(callId, content);
  return fitted.messages;
}

type ToolChoice = { sent: ChatRequest['toolChoice']; tool: EditionTool | null };

/**
 * A choice is forced only in the first step, but `required` by a client with tools of its own until one of those is called, since it does
 * not see calls of server tools. The chosen tool's definition is always sent, even if it is otherwise given on demand.
 */
function toolChoice(
  { settings, clientTools = [] }: Plan,
  names: AliasMap | null,
  { step, closing }: { step: number; closing: boolean },
  messages: readonly Message[],
): ToolChoice {
  const isOpen = step === 1 || (settings.toolChoice === 'required' && clientTools.length > 0 && !callsClient(messages));
  const choice = closing ? 'none' : isOpen ? (settings.toolChoice ?? 'auto') : 'auto';
  if (typeof choice === 'string') return { sent: choice, tool: null };
  const meant = names === null ? null : resolveName(names, choice.tool);
  return meant?.ok ? { sent: { tool: meant.tool.wireName }, tool: meant.tool } : { sent: 'auto', tool: null };
}

/** Whether a tool of the client was called after the last input. */
function callsClient(messages: readonly Message[]): boolean {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  return since.some(
    ({ role, parts }) =>
      role === 'assistant' && parts.some((part) => part.type === 'tool-call' && part.canonical?.startsWith('client.') === true),
  );
}
