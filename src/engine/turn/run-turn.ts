/**
 * Runs a turn: gets the next action from the step function, performs it, and appends the events. Keeps no state of the conversation, which
 * is all in the log, so that any later run can resume the turn.
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import { failpoint } from '../../core/failpoint.ts';
import { once } from '../../core/memoize.ts';
import { canonicalJson } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import type { ShareShortage } from '../../core/limits/fair-share.ts';
import type { GivenInput, InputRequired } from '../../core/tools/mcp-input.ts';
import type { Limiter } from '../../ports/limiter.ts';
import { createProgressGate } from '../../core/tools/call-report.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from '../../core/turn/session-event.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { nextAction } from '../../core/turn/turn.ts';
import { type CallToRun, toBudget } from '../../core/turn/turn-budget.ts';
import type { StepCall, TurnState } from '../../core/turn/turn-state.ts';
import type { Proposal } from '../../core/tools/ui-tool.ts';
import { auditCall, auditedRequest } from '../call/audit-call.ts';
import { callPrepared } from '../call/call-tool.ts';
import { countPreparation } from '../call/compute-meter.ts';
import { prepareCall, type PreparedCall } from '../call/prepare-call.ts';
import type { CallDeps, CallScope } from '../call/call-scope.ts';
import type { CallOutcome, WaitFor, WaitingInner } from '../call/tool-call.ts';
import { observeTurn } from '../telemetry/observe-work.ts';
import { compactIfLong, type CompactScope } from './compact.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { shortageText } from '../fair-pool.ts';
import type { ServiceHost } from '../host.ts';
import { runStep, type StepDeps, type StepScope } from './run-step.ts';
import { limitModel } from './limited-model.ts';
import { closingEvents, searchEvents, toResultEvent } from './turn-end.ts';

/** `limiter`: absent in tests without limits. */
export type TurnDeps = StepDeps & CallDeps & { limiter?: Limiter };

export type TurnScope = StepScope &
  CompactScope & {
    /** Folded from the log; `append` keeps it up to date. */
    state: TurnState;
    call: CallScope;
    /** Returns the current policy, which replaces that of `call`, since a turn may run for hours. Absent: the policy of `call`. */
    rules?(): Promise<CallScope['rules']>;
    inputs: TurnInputs;
    /** Returns why the turn may not ask so many questions; null: it may. Absent: it may ask any number. */
    admitQuestions?(more: number): Promise<ShareShortage | null>;
    /** Awaited once, before the turn's end is appended. */
    flushBeforeEnd(): Promise<void>;
  };

/** The inputs that tools requested in this turn. Stored beside the log, since they contain data of servers and of the user. */
export type TurnInputs = {
  /** Must be called in the same synchronous block that appends `input-required`. */
  store(callId: string, input: InputRequired): void;
  /** The last question of a call with its answer; null if it has asked none. */
  given(callId: string): GivenInput | null;
};

/**
 * Resumes the turn from its current state. Resolves to `ended`; to `waiting` when it waits for an external answer, which will be appended by
 * its recipient; or to `aborted` when the signal aborted, and then the aborting code appends the end.
 */
export async function runTurn(given: TurnDeps, scope: TurnScope, signal: AbortSignal): Promise<RunOutcome> {
  const { telemetry, limiter, clock } = given;
  const { limited } = scope.plan;
  const model =
    limiter === undefined || limited === undefined ? null : limitModel(given.model, { limiter, clock }, scope.workspace, limited);
  const deps = model === null ? given : { ...given, model };
  return telemetry == null
    ? await runActions(deps, scope, signal)
    : await observeTurn(telemetry, scope, (observed) => runActions(deps, observed, signal));
}

type RunOutcome = 'ended' | 'waiting' | 'aborted';

async function runActions(deps: TurnDeps, scope: TurnScope, signal: AbortSignal): Promise<RunOutcome> {
  const budget = toBudget(scope.plan, deps.noApprovals === undefined);
  while (!signal.aborted) {
    const action = nextAction(scope.state, budget);
    if (deps.host !== undefined && beginsWork.has(action.do)) await mayContinue(deps.host, signal);
    if (signal.aborted) break;
    const release = deps.host?.hold();
    try {
      switch (action.do) {
        case 'nothing':
          return 'ended';
        case 'call-model':
          await compactIfLong(deps, scope, action.step, signal);
          await runStep(deps, scope, { step: action.step, closing: action.closing, restartFrom: null }, signal);
          break;
        case 'restart-step': {
          const { step, stepEvent } = scope.state;
          await runStep(deps, scope, { step, closing: step > budget.maxSteps, restartFrom: stepEvent + 1 }, signal);
          break;
        }
        case 'run-calls':
          await failpoint('persisted-before-tools');
          await runCalls(deps, scope, action.step, action.calls, signal);
          await failpoint('results-before-next-model');
          break;
        case 'ask-budget': {
          const { askForBudget } = await loadAskBudget();
          if (await askForBudget(deps, scope, action.spent)) await failpoint('paused-for-confirmation');
          else await endTurn(scope, 'completed', 'max_cost');
          break;
        }
        case 'wait':
          return 'waiting';
        case 'end':
          await endTurn(scope, action.status, action.reason);
          return 'ended';
        default:
          action satisfies never;
      }
    } finally {
      release?.();
    }
  }
  return 'aborted';
}

const beginsWork: ReadonlySet<string> = new Set(['call-model', 'restart-step', 'run-calls', 'ask-budget']);

/**
 * While the service stops, the turn rests until its process ends, and continues from its log at the next start. Throws
 * `insufficient_storage`: nothing is begun whose outcome could not be stored.
 */
async function mayContinue(host: ServiceHost, signal: AbortSignal): Promise<void> {
  if (!host.isStopping()) {
    host.requireStorage();
    return;
  }
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function endTurn(scope: TurnScope, status: TurnStatus, reason: TurnEndReason): Promise<void> {
  await scope.flushBeforeEnd();
  await failpoint('final-before-event');
  // Appended in one transaction with the end, so that a crash cannot separate them and no recovery proposes twice.
  const proposals = status === 'completed' ? await proposalsOf(scope) : [];
  scope.append(...closingEvents(scope.state, status, reason, proposals));
}

/** Most turns have no tools to propose. */
async function proposalsOf({ names, messages, plan: { allow } }: TurnScope): Promise<Proposal[]> {
  const tools = names()?.tools ?? [];
  if (allow === null && !tools.some(({ kind }) => kind === 'ui')) return [];
  const { rankProposals } = await loadProposals();
  return rankProposals(tools, messages, allow !== null);
}

const loadAskBudget = once(() => import('./ask-budget.ts'));
const loadProposals = once(() => import('../../core/toolset/proposals.ts'));

/**
 * Runs a step's calls concurrently, up to a limit, and appends each result at once: a result that waited for those of earlier calls would be lost if
 * the process died, and its call would count as interrupted. Readers restore the order of the calls. Questions are appended after all calls have
 * finished, so that a stream which ends at a question ends with it.
 */
async function runCalls(deps: TurnDeps, scope: TurnScope, step: number, calls: CallToRun[], signal: AbortSignal): Promise<void> {
  const waits = new Map<StepCall, WaitFor>();
  const batch: Batch = { shared: new Map(), rules: (await scope.rules?.()) ?? scope.call.rules };
  let unfinished = calls.length;
  const run = async (entry: CallToRun): Promise<void> => {
    // Those that have begun end; the others are made at the next start.
    if (signal.aborted || deps.host?.isStopping() === true) return;
    const { call } = entry;
    const outcome = await runOne(deps, scope, entry, batch, signal);
    if (signal.aborted) return;
    unfinished -= 1;
    if ('waitFor' in outcome) waits.set(call, outcome.waitFor);
    else {
      const { result, cost } = outcome.answer;
      scope.append(toResultEvent(scope.turn, step, call, result, cost), ...searchEvents(scope, step, call, result));
    }
    if (unfinished > 0) await failpoint('result-partial-of-parallel');
  };
  const fewAtOnce = createConcurrencyLimit(limits.maxParallelCalls);
  await Promise.all(calls.map((entry) => fewAtOnce(() => run(entry))));
  if (signal.aborted || unfinished > 0) return;
  const questions = calls.flatMap(({ call }) => {
    const waitFor = waits.get(call);
    return waitFor === undefined ? [] : [{ call, waitFor }];
  });
  const more = questions.reduce((sum, { call, waitFor }) => sum + countQuestions(call, waitFor), 0);
  const shortage = more === 0 ? null : ((await scope.admitQuestions?.(more)) ?? null);
  if (signal.aborted) return;
  for (const { call, waitFor } of questions)
    if (shortage === null || countQuestions(call, waitFor) === 0) ask(deps, scope, step, call, waitFor);
    else scope.append(toResultEvent(scope.turn, step, call, tooManyQuestions(call, waitFor, shortage)));
  if (questions.some(({ waitFor }) => waitFor.kind === 'inner')) await failpoint('paused-for-inner');
  if (questions.length > 0) await failpoint('paused-for-confirmation');
}

function ask(deps: TurnDeps, scope: TurnScope, step: number, call: StepCall, waitFor: WaitFor): void {
  if (waitFor.kind === 'inner') {
    askForInner(deps, scope, step, call, waitFor.waiting);
    return;
  }
  scope.append(toQuestion(deps, scope.turn, step, call, waitFor));
  if (waitFor.kind === 'input') scope.inputs.store(call.callId, waitFor.input);
}

/** Questions for a person that `ask` would add. */
function countQuestions(call: StepCall, waitFor: WaitFor): number {
  if (waitFor.kind !== 'inner') return waitFor.kind === 'client' ? 0 : 1;
  return newInner(call, waitFor.waiting).filter((inner) => inner.waitFor.kind !== 'client').length;
}

function tooManyQuestions(call: StepCall, waitFor: WaitFor, shortage: ShareShortage): ToolResult {
  const what = waitFor.kind === 'input' ? 'an answer' : 'approval';
  const done = waitFor.kind === 'inner' || call.rounds > 0 ? 'Not finished, and it may have had part of its effect' : 'Not run';
  return errorResult('limit_reached', `${done}: it would wait for ${what}. ${shortageText(shortage)}`);
}

/** A question still open from before a crash is not repeated. */
function newInner(call: StepCall, waiting: readonly WaitingInner[]): WaitingInner[] {
  return waiting.filter(({ callId }) => call.inner.get(callId)?.isOpen !== true);
}

/** Appends one question per nested call, each with its own arguments and decision. */
function askForInner(deps: TurnDeps, scope: TurnScope, step: number, call: StepCall, waiting: readonly WaitingInner[]): void {
  const added = newInner(call, waiting);
  for (const [index, { waitFor, ...asker }] of added.entries()) {
    const more = added.length - 1 - index;
    scope.append({ ...toQuestion(deps, scope.turn, step, asker, waitFor), parent: call.callId, ...(more > 0 && { more }) });
    if (waitFor.kind === 'input') scope.inputs.store(asker.callId, waitFor.input);
  }
}

type Asker = Pick<StepCall, 'callId' | 'name' | 'arguments' | 'rounds'>;
type QuestionBody = Extract<SessionEventBody, { type: 'approval-required' | 'client-tool-required' | 'input-required' }>;

function toQuestion(deps: TurnDeps, turn: string, step: number, call: Asker, waitFor: Exclude<WaitFor, { kind: 'inner' }>): QuestionBody {
  const { callId, name } = call;
  const { canonical, wireName: entry } = waitFor.tool;
  const at = { turn, step, callId, name, canonical, arguments: call.arguments ?? {} };
  // The client knows its tool by its own name, however the model spelled it.
  if (waitFor.kind === 'client') return { type: 'client-tool-required', ...at, name: waitFor.tool.ownName };
  const expiresAt = new Date(deps.clock.now() + limits.approvalTtlMs).toISOString();
  if (waitFor.kind === 'input') {
    const asked = { arguments: waitFor.arguments, entry, server: waitFor.tool.server, requests: waitFor.input.requests };
    return { type: 'input-required', ...at, ...asked, round: call.rounds + 1, expiresAt };
  }
  const { kind: ask, ...question } = waitFor.ask;
  return { type: 'approval-required', ...at, arguments: waitFor.arguments, entry, ...question, ask, round: waitFor.round, expiresAt };
}

/** `shared`: calls of the step whose result is shared by identical calls. */
type Batch = { shared: Map<string, Promise<CallOutcome>>; rules: CallScope['rules'] };

async function runOne(
  deps: TurnDeps,
  scope: TurnScope,
  { call, refusal }: CallToRun,
  { shared, rules }: Batch,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const request = {
    callId: call.callId,
    requested: call.name,
    arguments: call.arguments,
    fault: call.fault,
    guessed: call.repaired && !call.closersOnly,
    recovered: call.recovered,
    refusal,
    approved: call.verdict?.decision === 'approve' ? (call.question ?? null) : null,
    attempts: call.attempts,
    interrupted: call.interrupted,
    given: call.rounds > 0 ? scope.inputs.given(call.callId) : null,
    rounds: call.rounds,
  };
  if (call.verdict !== null) await failpoint(request.approved !== null ? 'confirmed-before-effect' : 'denied-before-continue');
  const callScope = { ...scope.call, rules, channel: channelOf(deps, scope, call) };
  const prepared = countPreparation(deps, callScope, () => prepareCall(callScope, request));
  const key = shareKey(deps, prepared);
  const begun = key === null ? undefined : shared.get(key);
  // Awaits only if there is an earlier call: no other call may run between `get` and `set`.
  const earlier = begun === undefined ? undefined : await begun;
  if (earlier !== undefined && 'answer' in earlier) {
    const { requested, via } = prepared;
    // The call was sent once, and is charged once.
    const { cost: _charged, ...answer } = earlier.answer;
    await auditCall(deps, callScope, auditedRequest(prepared), { ...answer, requested, via, durationMs: 0 });
    return { answer };
  }
  const outcome = callPrepared(deps, callScope, prepared, signal);
  if (key !== null) shared.set(key, outcome);
  return await outcome;
}

/**
 * The user can be asked for input, but not while the call is open: the turn waits, and the call is made again. Where calls cannot be approved,
 * no one is asked.
 */
function channelOf({ clock, noApprovals }: TurnDeps, scope: TurnScope, { callId }: StepCall): CallerChannel {
  const { turn, state } = scope;
  const { step } = state;
  const mayPass = createProgressGate(clock.now);
  return {
    ...(noApprovals === undefined && { askable: { elicitation: { form: {}, url: {} } } }),
    progress(update) {
      if (mayPass()) scope.append({ type: 'tool-progress', turn, step, callId, ...update });
    },
  };
}

/**
 * Returns the key under which identical calls of one step share one run, or null if they may not: by any name of the tool, as long as the
 * notes in the result are the same. A call that was started before keeps its own idempotency key.
 */
function shareKey(deps: TurnDeps, { request, refusal, tool, own, notes }: PreparedCall): string | null {
  if (refusal !== null || request.attempts !== 0 || request.rounds !== 0) return null;
  // A tool that calls tools may be safe to rerun only because of its journal, which cannot be shared.
  return !callsTools(tool) && deps.executor.isSafe(tool, own) ? canonicalJson([tool.wireName, request.arguments, notes]) : null;
}
