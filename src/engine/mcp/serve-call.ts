/**
 * Runs a tool call of an MCP client through `callTool`, asking the client for approvals and input. If the call has to wait, the response has
 * the questions and a signed state, and the client repeats the request with answers. Nothing is stored meanwhile, except for calls of servers
 * that ask while the call is open (`in-flight-call.ts`).
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import { once } from '../../core/memoize.ts';
import { findTool } from '../../core/toolset/alias-map.ts';
import type { AuditRow } from '../../core/records/audit.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { toGiven, showsApps, type AskableInput, type InputRequest } from '../../core/tools/mcp-input.ts';
import type { Principal } from '../../core/people/principal.ts';
import { toClientBlock } from '../../core/tools/foreign-block.ts';
import type { ContentBlock } from '../../core/tools/tool.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import { withWaitingReports } from '../report-waiting.ts';
import { callTool } from '../call/call-tool.ts';
import { createScopeOutsideSession } from '../call/direct-call.ts';
import { answersTo, type CallRound, decisionsOf, firstRound, readRound } from './call-round.ts';
import { type CallFilesDeps, openCallFiles } from './call-files.ts';
import type { CallTarget } from './call-target.ts';
import type { MarkStore } from '../policy/direct-marks.ts';
import { type InFlightCallSlot, InFlightCall, type InFlightCallUpdate } from './in-flight-call.ts';
import {
  approvalKey,
  approvalRefusal,
  approvalRequest,
  cannotWait,
  isApproved,
  memorableOf,
  rememberApproval,
  type RememberDeps,
} from './serve-approval.ts';
import { askDuringCall } from './ask-during-call.ts';
import { screenedAsk, screenQuestions } from './serve-questions.ts';
import { invalidState, openState, sealState, type StateDeps, type StateSubject } from './serve-state.ts';
import type { ServedView, ServeTarget } from './serve-view.ts';
import { type LinkCaller, type LinkDeps, withShownUris } from './shown-links.ts';
import type { CallDeps } from '../call/call-scope.ts';
import type { FairPool } from '../fair-pool.ts';
import type { CallOutcome, ToolCallAnswer, ToolCallRequest, WaitFor } from '../call/tool-call.ts';

export type ServeCallDeps = StateDeps &
  CallFilesDeps &
  RememberDeps &
  LinkDeps & {
    callDeps(workspace: string): CallDeps;
    audit(workspace: string, rows: AuditRow[]): Promise<void>;
    /** Calls that stay open for an answer. */
    openQuestions: Pick<FairPool, 'take'>;
    /** The marks of a key's calls with one toolset; null: with none. */
    marks(principal: Principal, toolset: string | null): MarkStore;
  };

/** The caller of a served request, and what is served to it. */
export type ServedCaller = LinkCaller & {
  target: ServeTarget;
  /** The owner of state at a server: the MCP session, or the key. */
  conversation: string;
  channel: CallerChannel;
  askable: AskableInput;
  /** Keeps the call in flight between requests; absent: it ends with the request. */
  openCall?: InFlightCallSlot;
  /** The marks of its MCP session; absent: the marks of the key and the toolset. */
  marks?: MarkStore;
  /** The rules of its MCP session; absent: the connection has none. */
  remembered?: RememberedRules;
  /** The files of its MCP session; absent: those of the key with the toolset. `space`: other files, by the caller's name. */
  files?: FileSystem;
  space?: string;
  /** A call that was running when the process stopped. */
  interrupted?: { callId: string };
  /** Records the start durably, before the effect. */
  started?(callId: string): void;
};

export type ServedCall = {
  name: string;
  arguments: Record<string, unknown>;
  /** The client's answers, with the state that came with the questions. */
  responses?: Readonly<Record<string, unknown>>;
  state?: string;
};

export type ServedAnswer =
  | { kind: 'result'; answer: ToolCallAnswer; tool: EditionTool | null }
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string };

/** Throws `invalid_request` for a state that does not belong to this call. */
export async function serveCall(deps: ServeCallDeps, given: ServedCaller, called: ServedCall, signal: AbortSignal): Promise<ServedAnswer> {
  const named = await targetOf(given.view, called);
  if (named.answer !== undefined) return { kind: 'result', answer: named.answer, tool: null };
  const caller = { ...given, view: named.view };
  const served = await runServedCall(deps, caller, named.call, signal);
  if (served.kind === 'input') return served;
  const { tool } = served;
  const result = tool === null ? served.answer.result : await withShownUris(deps, caller, tool, served.answer.result);
  const answer = { ...served.answer, result };
  // `call_tool` declares no form of structured content, whatever the tool behind it declares.
  return named.through === undefined ? { kind: 'result', answer, tool } : { kind: 'result', answer: named.through(answer), tool: null };
}

/** Returns what a client calls, which its list may have under other names. */
export async function targetOf<Call extends { name: string; arguments: Record<string, unknown> }>(
  view: ServedView,
  call: Call,
): Promise<CallTarget<Call>> {
  if (view.names.inner === undefined) return { view, call };
  const { callTarget } = await loadCallTarget();
  return callTarget(view, call);
}

/** Not part of the eager start: few toolsets are listed otherwise. */
const loadCallTarget = once(() => import('./call-target.ts'));

/** Like `serveCall`, with the URIs of the server in the result. */
export async function runServedCall(deps: ServeCallDeps, from: ServedCaller, call: ServedCall, signal: AbortSignal): Promise<ServedAnswer> {
  const caller = { ...from, channel: withWaitingReports(deps.clock, from.channel) };
  const { principal, target, view } = caller;
  const tool = findTool(view.names, call.name);
  const names = tool === null ? [call.name] : [tool.canonical, tool.wireName];
  const about = { principal, target, kind: 'tools/call', names, given: call.arguments };
  const before = call.state === undefined ? null : await openState(deps, about, call.state);
  let round = before === null ? firstRound(deps, caller) : readRound(before, call.responses ?? {});
  const answered = before?.asked === 'approval' ? answersTo(before.keys, call.responses ?? {})[approvalKey] : undefined;
  if (before?.memorable !== undefined && isApproved(answered) && answered !== undefined)
    await rememberApproval(deps, caller, before.memorable, answered);
  const run = async (on: ServedCaller, until: AbortSignal): Promise<CallOutcome> => {
    const request = { callId: round.callId, requested: call.name, arguments: call.arguments, ...decisionsOf(round) };
    const { scope, settle } = await scopeOf(deps, on, tool);
    return await settle(await callTool(deps.callDeps(principal.workspace), scope, request, until));
  };
  for (let isBack = before?.asked === 'held'; ; isBack = false) {
    const news = await newsOf(deps, caller, run, isBack ? round : null, signal);
    if ('asks' in news) return await waitHeld(deps, caller, about, round, news.asks);
    const { outcome } = news;
    if ('answer' in outcome) return { kind: 'result', answer: forClient(outcome.answer), tool };
    const next = await ask(deps, caller, about, round, outcome.waitFor);
    if ('kind' in next) return next;
    round = next;
  }
}

/**
 * Sends blocks of an unknown type as their server sent them. Code may return the result of a call whose name no tool has, which is no error of
 * the client's own request.
 */
function forClient(answer: ToolCallAnswer): ToolCallAnswer {
  const { content, code } = answer.result;
  const isInner = answer.canonical !== null && (code === 'unknown_tool' || code === 'ambiguous_tool');
  // The types that we know are ours; a client reads the others.
  const sent = content.some(({ type }) => type === 'other') ? (content.map(toClientBlock) as ContentBlock[]) : content;
  return { ...answer, result: { ...answer.result, content: sent, ...(isInner && { code: 'tool_error' }) } };
}

/** `back`: the round of a client that returns with answers for an in-flight call. */
async function newsOf(
  { clock }: ServeCallDeps,
  caller: ServedCaller,
  run: (on: ServedCaller, until: AbortSignal) => Promise<CallOutcome>,
  back: CallRound | null,
  signal: AbortSignal,
): Promise<InFlightCallUpdate> {
  const { openCall, channel } = caller;
  if (openCall === undefined) return { outcome: await run(caller, signal) };
  if (back === null || openCall.call === null) {
    if (back !== null && openCall.hasEnded) throw invalidState('was already used');
    // Without a call in this process the object was restarted: the round makes the result say that the call was lost.
    const call = new InFlightCall(clock, channel, (held, until) => run({ ...caller, channel: held }, until));
    openCall.store(call);
    return await call.next(channel, signal);
  }
  openCall.call.answer(back.given?.responses ?? {});
  return await openCall.call.next(channel, signal);
}

/** Ends an in-flight call that was lost in a restart, for the audit and for a client that still returns for it. */
export async function serveUnrecoverable(
  deps: ServeCallDeps,
  { principal, ...served }: Pick<ServedCaller, 'principal' | 'target' | 'view'>,
  { callId, ...called }: { callId: string; name: string; arguments: Record<string, unknown> },
): Promise<InFlightCall> {
  const named = await targetOf(served.view, called);
  const { view, call } = named.answer === undefined ? named : { view: served.view, call: called };
  const tool = findTool(view.names, call.name);
  const caller = { principal, ...served, view, conversation: principal.keyId, channel: {}, askable: {} };
  const { scope, settle } = await scopeOf(deps, caller, tool);
  const request: ToolCallRequest = { callId, requested: call.name, arguments: call.arguments, unrecoverable: true };
  return new InFlightCall(deps.clock, {}, async (_, signal) => {
    return await settle(await callTool(deps.callDeps(principal.workspace), scope, request, signal));
  });
}

async function waitHeld(
  deps: ServeCallDeps,
  { openCall: hold }: ServedCaller,
  about: StateSubject,
  { callId, rounds }: CallRound,
  requests: Record<string, InputRequest>,
): Promise<ServedAnswer> {
  const waits = { callId, asked: 'held', keys: Object.keys(requests), rounds: rounds + 1, held: hold?.name } as const;
  return { kind: 'input', requests, state: await sealState(deps, about, waits) };
}

async function scopeOf(deps: ServeCallDeps, caller: ServedCaller, tool: EditionTool | null): ReturnType<typeof createScopeOutsideSession> {
  const { principal, view, conversation, channel, askable, openCall } = caller;
  const { workspace } = principal;
  // A tool that calls tools asks nothing itself; questions of its nested calls are screened under the name of their own server.
  const ask = tool === null ? undefined : callsTools(tool) ? channel.ask : screenedAsk(tool.server, caller);
  const audit = (rows: AuditRow[]): Promise<void> => deps.audit(workspace, rows);
  const from = { principal, names: view.names, pointer: view.pointer, tool, marks: markStoreOf(deps, caller) };
  const call = deps.callDeps(workspace);
  const { executor } = call;
  const { files, save } = await openCallFiles(deps, { ...caller, executor, toolset: view.pointer?.toolset ?? null }, tool);
  const { inner } = view.names;
  const { scope, settle } = await createScopeOutsideSession({ ...deps, call, audit }, from, {
    ...{ files, ...(inner !== undefined && { innerNames: () => inner }) },
    conversation,
    showInner: (inner, result) => withShownUris(deps, caller, inner, result),
    channel: { ...channel, ask, askable },
    servesApps: showsApps(askable),
    canWait: call.noApprovals === undefined,
    askDuringCall: (waitFor, rounds) => askDuringCall({ ...deps, ...caller, questions: deps.openQuestions }, waitFor, rounds),
    started(callId) {
      caller.started?.(callId);
      openCall?.started(callId);
    },
  });
  const rules = caller.remembered?.after(scope.rules) ?? scope.rules;
  return { scope: { ...scope, rules }, settle: async (outcome) => await settle(await save(outcome)) };
}

/** Returns where the marks of the caller's calls are stored. */
function markStoreOf(
  deps: Pick<ServeCallDeps, 'marks'>,
  { marks, principal, view }: Pick<ServedCaller, 'marks' | 'principal' | 'view'>,
): MarkStore {
  return marks ?? deps.marks(principal, view.pointer?.toolset ?? null);
}

/** Returns the questions to send; or the next round at once if there is nothing to ask the client. */
async function ask(
  deps: ServeCallDeps,
  caller: ServedCaller,
  about: StateSubject,
  round: CallRound,
  waitFor: WaitFor,
): Promise<ServedAnswer | CallRound> {
  const { callId, approved } = round;
  switch (waitFor.kind) {
    case 'approval': {
      const { tool, ask: asked, arguments: args, round: question } = waitFor;
      const refusal = approvalRefusal(caller, waitFor);
      if (refusal !== null) return { ...round, refusal };
      // For an approval only: if the answer is no, `approved` is dropped when the state is read.
      const given = { binding: asked.binding, round: question };
      const memorable = memorableOf(caller, tool, asked);
      const waits = { callId, asked: 'approval' as const, approved: given, memorable, keys: [approvalKey], rounds: round.rounds };
      const state = await sealState(deps, about, waits);
      return { kind: 'input', requests: { [approvalKey]: approvalRequest(tool, asked, args, memorable) }, state };
    }
    case 'input': {
      const { tool, input } = waitFor;
      const rounds = round.rounds + 1;
      const { questions, answered, fault } = screenQuestions(tool.server, input.requests, caller.askable);
      if (fault !== null) return { ...round, refusal: { code: 'tool_error', message: `${tool.wireName} did not finish: ${fault}.` } };
      const given = toGiven(input, answered);
      const keys = Object.keys(questions);
      // A server may only want to be called again.
      if (keys.length === 0) return { callId, rounds, given, ...(approved && { approved }) };
      const waits = { callId, asked: 'input' as const, keys, answered, rounds, approved, state: input.state };
      return { kind: 'input', requests: questions, state: await sealState(deps, about, waits) };
    }
    case 'client':
    case 'inner':
      throw cannotWait(waitFor);
    default:
      return waitFor satisfies never;
  }
}
