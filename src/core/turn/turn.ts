/**
 * The turn as a pure step function (contract §5): `fold-turn.ts` folds the log into a state, and `nextAction` returns the next thing to
 * do. `engine/turn/run-turn.ts` does it and appends the events. Nothing here reads a clock, so any later run can continue a turn from its
 * log.
 */
import type { TurnEndReason, TurnStatus } from './session-event.ts';
import { admitCalls, type BudgetSpent, budgetToAsk, spentLimit, type CallToRun, type TurnBudget } from './turn-budget.ts';
import { asksForBudget, isUndecided, nextCalls, type StepCall, type TurnState } from './turn-state.ts';

/**
 * A turn whose process dies this often without a finished step or call in between is ended; so is one that dies this often in
 * total.
 */
export const maxRecoveriesWithoutProgress = 3;
export const maxRecoveries = 20;

/** A turn ends when the calls of this many steps in a row were cut at the length limit: each step is billed, and none can run. */
const maxCutSteps = 2;

export type TurnAction =
  /** `closing`: the last step. The tools stay in the request (prefix caches), but the model must not call them. */
  | { do: 'call-model'; step: number; closing: boolean }
  | { do: 'run-calls'; step: number; calls: CallToRun[] }
  /** The turn waits until these, and the question about its limit of cost, have an answer from outside. */
  | { do: 'wait'; calls: StepCall[] }
  /** A person must decide whether the turn may continue. */
  | { do: 'ask-budget'; spent: BudgetSpent }
  /** The log ends inside a step: its process died. */
  | { do: 'restart-step'; step: number }
  | { do: 'end'; status: TurnStatus; reason: TurnEndReason }
  | { do: 'nothing' };

/** Returns the next thing to do. Deterministic: the same state gives the same action. */
export function nextAction(state: TurnState, budget: TurnBudget): TurnAction {
  if (state.phase !== 'ended' && isBeyondRecovery(state)) return { do: 'end', status: 'failed', reason: 'recovery_limit' };
  switch (state.phase) {
    case 'ended':
      return { do: 'nothing' };
    case 'idle':
      return { do: 'call-model', step: 1, closing: false };
    case 'streaming':
      if (state.failed) return { do: 'end', status: 'failed', reason: 'upstream_error' };
      return { do: 'restart-step', step: state.step };
    case 'stepped':
      return afterStep(state, budget);
    default:
      return state.phase satisfies never;
  }
}

function afterStep(state: TurnState, budget: TurnBudget): TurnAction {
  if (state.failed) return { do: 'end', status: 'failed', reason: 'upstream_error' };
  const closing = state.step > budget.maxSteps;
  const open = nextCalls(state);
  const runnable = open.filter((call) => !isUndecided(call));
  if (asksForBudget(state)) return { do: 'wait', calls: open };
  const ask = closing ? null : budgetToAsk(state, budget);
  if (ask !== null && runnable.length > 0) return { do: 'ask-budget', spent: ask };
  if (runnable.length > 0) return { do: 'run-calls', step: state.step, calls: admitCalls(state, budget, runnable, closing) };
  if (open.length > 0) return { do: 'wait', calls: open };
  if (state.calls.size === 0) return { do: 'end', status: 'completed', reason: closing ? 'max_steps' : endReason(state.stepReason) };
  if (closing) return { do: 'end', status: 'completed', reason: 'max_steps' };
  // The model was told to send a shorter call, and wrote another one that is too long.
  if (state.cutSteps >= maxCutSteps) return { do: 'end', status: 'completed', reason: 'length' };
  if (ask !== null) return { do: 'ask-budget', spent: ask };
  const spent = spentLimit(state, budget);
  if (spent !== null) return { do: 'end', status: 'completed', reason: spent.reason };
  return { do: 'call-model', step: state.step + 1, closing: state.step + 1 > budget.maxSteps };
}

/** Whether the process died repeatedly without progress, or too often in total; a person has to investigate. */
function isBeyondRecovery(state: TurnState): boolean {
  return state.recoveriesWithoutProgress > maxRecoveriesWithoutProgress || state.recoveries > maxRecoveries;
}

function endReason(stepReason: string | null): TurnEndReason {
  if (stepReason === 'length') return 'length';
  if (stepReason === 'content-filter') return 'content_filter';
  return 'stop';
}
