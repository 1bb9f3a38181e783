/**
 * The budgets of a turn, checked against its state alone, so that they hold across restarts: which open calls may run, and when a
 * limit is reached.
 */
import type { ApprovalVerdict } from '../policy/approval.ts';
import { limits } from '../limits/limits.ts';
import { showInvisible } from '../text/visible-text.ts';
import { costOf, type ModelPrice } from '../model/price.ts';
import type { Plan } from './plan.ts';
import type { TurnEndReason } from './session-event.ts';
import type { ToolResultCode } from '../tools/tool.ts';
import { repeatKey, type StepCall, type TurnState } from './turn-state.ts';

export const maxCallsPerStep = 32;
const maxIdenticalCalls = 3;

export type TurnBudget = {
  maxSteps: number;
  maxCalls: number;
  maxTokens: number | null;
  /** `asks`: a turn that has used it asks whether it may use it once more. */
  cost?: { max: number; prices: ReadonlyMap<string, ModelPrice>; asks?: boolean };
};

/** `canAsk`: a question can be approved. */
export function toBudget({ limits: own, prices = [] }: Pick<Plan, 'limits' | 'prices'>, canAsk = true): TurnBudget {
  const asks = canAsk && own.onLimit === 'ask';
  return {
    maxSteps: own.maxSteps ?? limits.maxStepsPerTurn,
    maxCalls: own.maxCalls ?? limits.maxCallsPerTurn,
    maxTokens: own.maxTokens ?? null,
    ...(own.maxCost !== undefined && {
      cost: { max: own.maxCost, prices: new Map(prices.map(({ model, price }) => [model, price])), asks },
    }),
  };
}

/** Why a call gets a result without running: the code, and the sentence that the model reads. */
export type Refusal = { code: ToolResultCode; message: string };
export type CallToRun = { call: StepCall; refusal: Refusal | null };

/** Checks the open calls against the budgets of the turn, each as if the calls before it had results. */
export function admitCalls(state: TurnState, budget: TurnBudget, open: StepCall[], closing: boolean): CallToRun[] {
  const positions = new Map([...state.calls.keys()].map((callId, index) => [callId, index]));
  const repeatsHere = new Map<string, number>();
  return open.map((call, index) => {
    const key = repeatKey(call);
    const here = (repeatsHere.get(key) ?? 0) + 1;
    repeatsHere.set(key, here);
    const at = {
      closing,
      count: state.callsSoFar + index + 1,
      repeats: (state.repeats.get(key) ?? 0) + here,
      position: positions.get(call.callId) ?? 0,
    };
    return { call, refusal: refuse(state, budget, call, at) };
  });
}

function refuse(
  state: TurnState,
  budget: TurnBudget,
  call: StepCall,
  at: { closing: boolean; count: number; repeats: number; position: number },
): Refusal | null {
  // The call was checked before the question, and the decision on it is final.
  if (call.verdict !== null) return decisionRefusal(call.verdict);
  if (call.attempts > 0 || call.rounds > 0) return null;
  if (at.closing) return atLimit(`the turn's limit of ${budget.maxSteps} steps is reached. Answer with what you have.`);
  if (state.stepReason === 'length' || !call.isComplete) {
    return {
      code: 'truncated',
      message: 'Not run: your reply was cut off at the length limit, so this call may be incomplete. Send it again, shorter.',
    };
  }
  if (state.stepReason === 'content-filter') return { code: 'aborted', message: 'Not run: the reply was stopped by the content filter.' };
  const spent = spentLimit(state, budget);
  if (spent !== null) return atLimit(`the turn's limit of ${spent.limit} is reached.`);
  if (at.position >= maxCallsPerStep) return atLimit(`a step may have at most ${maxCallsPerStep} calls. Send the rest in the next step.`);
  if (at.count > budget.maxCalls) return atLimit(`the turn's limit of ${budget.maxCalls} calls is reached. Answer with what you have.`);
  if (at.repeats <= maxIdenticalCalls) return null;
  return atLimit(
    `the same call with the same arguments was already made ${maxIdenticalCalls} times in this turn. Use the earlier results or change the arguments.`,
  );
}

function atLimit(why: string): Refusal {
  return { code: 'limit_reached', message: `Not run: ${why}` };
}

/** Returns the refusal for a decision; null if the call may run. */
export function decisionRefusal({ decision, reason }: { decision: ApprovalVerdict; reason?: string | undefined }): Refusal | null {
  if (decision === 'approve') return null;
  const why = decision === 'deny' && reason !== undefined ? denialBecause(reason) : denials[decision];
  return { code: 'denied', message: `Not run: ${why}` };
}

/** The reason is quoted, so that it cannot be mistaken for text of the service. */
export function denialBecause(reason: string): string {
  return `the user denied the call, with the reason ${JSON.stringify(showInvisible(reason))}. Follow it, or ask the user what to do instead; do not try the same in another way.`;
}

const denials: Readonly<Record<Exclude<ApprovalVerdict, 'approve'>, string>> = {
  deny: 'the user denied the call. Do not try it again in another way; ask the user what to do instead.',
  expire: 'the call was not approved in time. Say what you would have done, and ask again if it is still needed.',
};

/** Returns the budget that is used up; null if none is. */
export function spentLimit(state: TurnState, { maxTokens, cost }: TurnBudget): { reason: TurnEndReason; limit: string } | null {
  const { usage } = state;
  if (maxTokens !== null && usage.inputTokens + usage.outputTokens >= maxTokens)
    return { reason: 'max_tokens', limit: `${maxTokens} tokens` };
  if (cost === undefined) return null;
  const max = cost.max * (1 + state.extensions);
  return usedCost(state, cost) >= max ? { reason: 'max_cost', limit: `cost (${max})` } : null;
}

/** What a turn has used of its limit of cost, and what it may use more once that is approved. */
export type BudgetSpent = { used: number; max: number; more: number };

/** Returns what the turn has to ask about before it may continue; null: nothing, or a person has decided that it may not. */
export function budgetToAsk(state: TurnState, budget: TurnBudget): BudgetSpent | null {
  const { cost } = budget;
  if (cost?.asks !== true || spentLimit(state, budget)?.reason !== 'max_cost') return null;
  if (state.budget !== null && state.budget.verdict !== 'approve') return null;
  return { used: usedCost(state, cost), max: cost.max * (1 + state.extensions), more: cost.max };
}

function usedCost({ usageOf, toolCost }: TurnState, { prices }: NonNullable<TurnBudget['cost']>): number {
  let sum = toolCost;
  for (const [model, used] of usageOf) sum += costOf(prices.get(model) ?? null, used) ?? 0;
  return sum;
}
