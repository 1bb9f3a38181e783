/**
 * Applies the guard of the workspace to a call: before it runs and to its result. The guard can refuse a call or change it; it never permits
 * anything, since its arguments are validated like those of the call, and the policy judges the call afterwards. Used by `call-tool.ts`, so
 * that every way to a tool has it.
 */
import {
  coversToolset,
  type BeforeAnswer,
  type GuardEndpoint,
  type GuardDecision,
  type GuardedCallInfo,
  type GuardVerdict,
} from '../../core/policy/guard.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import { showInvisible } from '../../core/text/visible-text.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { cleanContent } from '../../core/tools/model-result.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { CallerChannel } from '../../ports/upstream.ts';
import type { CallDeps, CallScope } from '../call/call-scope.ts';
import { checkOwnArguments, type RunnableCall } from '../call/prepare-call.ts';

type Guarded = { call: RunnableCall; refusal: ToolResult | null };

/** The guard that a call has, with the call's services. */
export type CallGuard = ReturnType<typeof createCallGuard>;

type GuardDeps = Pick<CallDeps, 'log'> & { guard: NonNullable<CallDeps['guard']> };

/** Returns null if the call has no guard. */
export async function openGuard(deps: CallDeps, scope: CallScope): Promise<CallGuard | null> {
  if (deps.guard === undefined) return null;
  const settings = await deps.guard.settings();
  if (settings === null || !coversToolset(settings, scope.edition?.toolset)) return null;
  return createCallGuard({ log: deps.log, guard: deps.guard }, scope, settings);
}

function createCallGuard(deps: GuardDeps, scope: CallScope, guard: GuardEndpoint) {
  const { ask, workspace } = deps.guard;
  const info = (call: RunnableCall): GuardedCallInfo => toInfo(workspace, scope, call);
  return {
    /** Returns the call as it may run, or why it may not. */
    async before(call: RunnableCall, signal: AbortSignal): Promise<Guarded> {
      if (!guard.before) return { call, refusal: null };
      const { callId } = call.request;
      const of = await sha256Hex(canonicalJson({ canonical: call.canonical, arguments: call.own }));
      const known = scope.guardLog?.find(callId) ?? null;
      if (known !== null && known.of === of) return decided(call, known);
      const reply = await ask(guard, { event: 'before', ...info(call) }, signal);
      if (signal.aborted) return { call, refusal: errorResult('aborted', 'Not run: the turn was cancelled.') };
      if (!reply.ok && reply.isOurs === true) {
        notAsked(deps, call, reply);
        return { call, refusal: errorResult('limit_reached', `Not run: the guard of the workspace was not asked. ${sentence(reply.why)}`) };
      }
      const decision = reply.ok ? toDecision(of, reply.answer) : failed(deps, guard, { ...reply, of, call });
      scope.guardLog?.store(callId, 'before', decision);
      return decided(call, decision);
    },

    /** Returns the result as the caller gets it. */
    async after(
      call: RunnableCall,
      result: ToolResult,
      signal: AbortSignal,
    ): Promise<{ result: ToolResult; verdict: GuardVerdict | null }> {
      if (!guard.after) return { result, verdict: null };
      const { isError, code, content, structuredContent } = result;
      // The guard judges what a model reads, and what a client gets if that differs.
      const read = cleanContent(content);
      const shown = {
        ...{ isError, content: read },
        ...(code && { code }),
        ...(read !== content && { unaltered: content }),
        ...(structuredContent !== undefined && { structuredContent }),
      };
      const reply = await ask(guard, { event: 'after', ...info(call), result: shown }, signal);
      const note = (verdict: GuardVerdict, reason: string | undefined): void =>
        scope.guardLog?.store(call.request.callId, 'after', { verdict, of: '', ...(reason !== undefined && { reason }) });
      if (!reply.ok && reply.isOurs === true) {
        notAsked(deps, call, reply);
        return { result: unchecked(reply.why), verdict: null };
      }
      if (!reply.ok) {
        const { refused, reason } = failed(deps, guard, { ...reply, of: '', call });
        note('failed', reason);
        return { result: refused === true ? withheld(`it did not answer: ${reason ?? ''}`) : result, verdict: 'failed' };
      }
      const { answer } = reply;
      if (answer.decision === 'allow') return { result, verdict: 'allow' };
      const reason = clean(answer.reason);
      note(answer.decision, reason);
      if (answer.decision === 'deny') return { result: withheld(reason), verdict: 'deny' };
      const { content: replaced, structuredContent: data } = answer;
      const kept = { isError, ...(code && { code }), content: replaced, ...(data !== undefined && { structuredContent: data }) };
      return { result: kept, verdict: 'replace' };
    },

    /** The channel of a call whose result is guarded: what the tool reports meanwhile is not sent. */
    channel(channel: CallerChannel | undefined): CallerChannel | undefined {
      if (channel === undefined || !guard.after) return channel;
      const { progress, notice: _unguarded, ...rest } = channel;
      return { ...rest, ...(progress && { progress: ({ message: _text, ...update }) => progress(update) }) };
    },
  };
}

function toInfo(workspace: string, { keyId, agent, session, turn, edition }: CallScope, call: RunnableCall): GuardedCallInfo {
  const { callId, parent } = call.request;
  return {
    workspace,
    key: keyId,
    ...(agent !== undefined && { agent }),
    ...(session !== null && { session }),
    ...(turn !== null && { turn }),
    ...(edition !== null && { toolset: edition.toolset }),
    callId,
    ...(parent !== undefined && { parent }),
    canonical: call.tool.canonical,
    requested: call.requested,
    arguments: call.own,
  };
}

function toDecision(of: string, answer: BeforeAnswer): GuardDecision {
  const reason = clean(answer.reason);
  const decision = { verdict: answer.decision, of, ...(reason !== undefined && { reason }) };
  switch (answer.decision) {
    case 'allow':
      return decision;
    case 'deny':
      return { ...decision, refused: true };
    case 'replace':
      return { ...decision, arguments: answer.arguments };
    default:
      return answer satisfies never;
  }
}

/** The service is too busy. That decides nothing about the call, which can be made again. */
function notAsked({ log }: GuardDeps, { request, canonical }: RunnableCall, { why, detail }: Pick<Failure, 'why' | 'detail'>): void {
  log.error('the guard of the workspace was not asked', { callId: request.callId, canonical, why: detail ?? why });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

type Failure = { of: string; call: RunnableCall; why: string; detail?: string };

function failed({ log }: GuardDeps, { onFailure }: GuardEndpoint, { of, call, why, detail }: Failure): GuardDecision {
  log.error('the guard of the workspace did not answer', {
    callId: call.request.callId,
    canonical: call.canonical,
    onFailure,
    why: detail ?? why,
  });
  return { verdict: 'failed', of, reason: clean(why) ?? '', ...(onFailure === 'deny' && { refused: true }) };
}

/** Arguments of the guard are validated as if the call had them, and the policy judges them afterwards. */
function decided(call: RunnableCall, { verdict, reason, refused, arguments: given }: GuardDecision): Guarded {
  const marked = { ...call, guard: verdict };
  if (refused === true) return { call: marked, refusal: notRun(verdict === 'failed' ? 'did not answer' : 'denied this call', reason) };
  if (given === undefined) return { call: marked, refusal: null };
  const fault = argumentFault(call, given);
  if (fault !== null) return { call: marked, refusal: notRun('replaced the arguments with invalid ones', fault) };
  const note = `[The guard of the workspace changed the arguments of this call${because(reason)}.]`;
  return { call: { ...marked, own: given, isReplaced: true, notes: [...call.notes, note] }, refusal: null };
}

/** The toolset's presets limit what a call may do, so the guard cannot change them. */
function argumentFault({ tool, own }: RunnableCall, given: Record<string, unknown>): string | null {
  if (utf8Length(JSON.stringify(given)) > limits.maxArgumentBytes) return `they have more than ${limits.maxArgumentBytes} bytes`;
  const preset = Object.keys(tool.arguments?.preset ?? {}).find((name) => canonicalJson(given[name]) !== canonicalJson(own[name]));
  if (preset !== undefined) return `${preset} is set by the toolset`;
  const [issue] = checkOwnArguments(tool, given);
  return issue === undefined ? null : `${issue.path === '' ? '(arguments)' : issue.path} ${issue.message}`;
}

/** The reason is text of an external service, which models read. */
function clean(reason: string | undefined): string | undefined {
  const text = showInvisible(reason ?? '').trim();
  return text === '' ? undefined : text;
}

function notRun(what: string, reason: string | undefined): ToolResult {
  return errorResult('guard_denied', `Not run: the guard of the workspace ${what}${because(reason)}. Continue without this call.`);
}

function withheld(reason: string | undefined): ToolResult {
  return errorResult(
    'guard_denied',
    `The call ran and may have had its effect, but the guard of the workspace withheld its result${because(reason)}.`,
  );
}

function unchecked(why: string): ToolResult {
  const text = `The call ran and may have had its effect, but its result is withheld: the guard of the workspace was not asked. ${sentence(why)}`;
  return errorResult('limit_reached', text);
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`;
}
