/**
 * Drives a turn: asks the step function for the next action, does it, appends what happened. It owns no state of the
 * conversation: the log has it, so any later run can go on from there.
 */
import { resolveName } from '../core/alias-map.ts';
import { canonicalJson } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from '../core/session-event.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { nextAction, type CallToRun, type StepCall, type TurnBudget, type TurnState } from '../core/turn.ts';
import { auditCall, callTool, isSafe, type CallDeps, type CallScope, type ToolCallAnswer } from './call-tool.ts';
import { runStep, type StepDeps, type StepScope } from './run-step.ts';

export type TurnDeps = StepDeps & CallDeps;

export type TurnScope = StepScope & {
  /** Folded from the log; `append` keeps it up to date. */
  state: TurnState;
  call: CallScope;
  /** Awaited once, before the turn's end is told. */
  beforeEnd(): Promise<void>;
};

/** Returns when the turn has ended, or its signal has: whoever aborts it appends the end. */
export async function runTurn(deps: TurnDeps, scope: TurnScope, signal: AbortSignal): Promise<void> {
  const budget = toBudget(scope);
  while (!signal.aborted) {
    const action = nextAction(scope.state, budget);
    switch (action.do) {
      case 'nothing':
        return;
      case 'call-model':
        await runStep(deps, scope, action.step, action.closing, signal);
        break;
      case 'run-calls':
        await runCalls(deps, scope, action.step, action.calls, signal);
        break;
      case 'restart-step':
        return await endTurn(scope, 'interrupted', 'restarted');
      case 'end':
        return await endTurn(scope, action.status, action.reason);
      default:
        action satisfies never;
    }
  }
}

function toBudget(scope: TurnScope): TurnBudget {
  const own = scope.plan.limits;
  return {
    maxSteps: own.maxSteps ?? limits.maxStepsPerTurn,
    maxCalls: own.maxCalls ?? limits.maxCallsPerTurn,
    maxTokens: own.maxTokens ?? null,
  };
}

async function endTurn(scope: TurnScope, status: TurnStatus, reason: TurnEndReason): Promise<void> {
  await scope.beforeEnd();
  for (const event of closingEvents(scope.state, status, reason)) scope.append(event);
}

/** The end of a turn as events: every open call gets its result first, so the history stays whole. */
export function closingEvents(state: TurnState, status: TurnStatus, reason: TurnEndReason): SessionEventBody[] {
  const { turn, step } = state;
  const unanswered = [...state.calls.values()].filter((call) => !call.answered);
  const results = unanswered.map((call): SessionEventBody => toResultEvent(turn, step, call, openCallResult(state, status)));
  return [...results, { type: 'turn-end', turn, status, reason, usage: state.usage }];
}

/** Calls run only after their step has ended: before that, nothing can have happened. */
function openCallResult(state: TurnState, status: TurnStatus): ToolResult {
  if (state.phase === 'stepped' && status === 'interrupted') {
    return errorResult(
      'outcome_unknown',
      'The service restarted while this call may have been running: it may or may not have had its effect. Check before repeating it.',
    );
  }
  return errorResult(
    'aborted',
    status === 'cancelled' ? 'The turn was cancelled before this call had a result.' : 'The turn ended before this call had a result.',
  );
}

function toResultEvent(turn: string, step: number, call: StepCall, result: ToolResult): SessionEventBody {
  return { type: 'tool-result', turn, step, callId: call.callId, name: call.name, canonical: call.canonical, via: call.via, ...result };
}

/** Runs a step's calls side by side, a few at once; results are appended in call order as soon as those before them are. */
async function runCalls(deps: TurnDeps, scope: TurnScope, step: number, calls: CallToRun[], signal: AbortSignal): Promise<void> {
  const results = new Array<ToolResult | undefined>(calls.length);
  const shared = new Map<string, Promise<ToolCallAnswer>>();
  let appended = 0;
  let next = 0;
  const appendReady = (): void => {
    while (appended < calls.length) {
      const result = results[appended];
      const entry = calls[appended];
      if (result === undefined || entry === undefined || signal.aborted) return;
      scope.append(toResultEvent(scope.turn, step, entry.call, result));
      appended += 1;
    }
  };
  const worker = async (): Promise<void> => {
    while (next < calls.length && !signal.aborted) {
      const index = next;
      next += 1;
      const entry = calls[index];
      if (entry === undefined) return;
      results[index] = await runOne(deps, scope, entry, shared, signal);
      appendReady();
    }
  };
  await Promise.all(Array.from({ length: Math.min(limits.maxParallelCalls, calls.length) }, worker));
}

async function runOne(
  deps: TurnDeps,
  scope: TurnScope,
  { call, refusal }: CallToRun,
  shared: Map<string, Promise<ToolCallAnswer>>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const request = {
    callId: call.callId,
    requested: call.name,
    arguments: call.arguments,
    fault: call.fault,
    guessed: call.repaired && !call.closersOnly,
    refusal,
  };
  const key = refusal === null ? shareKey(scope, call) : null;
  const earlier = key === null ? undefined : shared.get(key);
  if (earlier !== undefined) {
    const answer = { ...(await earlier), durationMs: 0 };
    await auditCall(deps, scope.call, request, answer);
    return answer.result;
  }
  const answer = callTool(deps, scope.call, request, signal);
  if (key !== null) shared.set(key, answer);
  return (await answer).result;
}

/** Identical calls of one step run once when that cannot matter. By the name as called: what a result says of a name is the call's own. */
function shareKey(scope: TurnScope, call: StepCall): string | null {
  if (scope.names === null || call.arguments === null) return null;
  const meant = resolveName(scope.names, call.name);
  return meant.ok && isSafe(meant.tool) ? `${call.name} ${canonicalJson(call.arguments)}` : null;
}
