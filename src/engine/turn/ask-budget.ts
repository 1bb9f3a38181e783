/** The question of a turn that has used its limit of cost, if its agent asks (`onLimit: "ask"`): an approval of no call. Approved, the turn may use the limit once more. */
import { limits } from '../../core/limits/limits.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import type { BudgetSpent } from '../../core/turn/turn-budget.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { ShareShortage } from '../../core/limits/fair-share.ts';
import type { TurnState } from '../../core/turn/turn-state.ts';
import type { StepScope } from './run-step.ts';

const canonical = 'builtin.budget';
const name = 'budget';

type AskingTurn = Pick<StepScope, 'turn' | 'plan' | 'append'> & {
  state: TurnState;
  admitQuestions?(more: number): Promise<ShareShortage | null>;
};

/** Returns false if no more questions may wait: then the turn ends. */
export async function askForBudget({ clock }: { clock: Clock }, scope: AskingTurn, { used, max, more }: BudgetSpent): Promise<boolean> {
  const { turn, state, plan } = scope;
  if (((await scope.admitQuestions?.(1)) ?? null) !== null) return false;
  const whose = plan.agent === undefined ? 'the turn' : `a turn of the agent "${plan.agent}"`;
  const question: SessionEventBody = {
    type: 'approval-required',
    ...{ turn, step: state.step, callId: `budget_${turn}_${state.extensions + 1}`, name, canonical, entry: name },
    arguments: { used: rounded(used), max, more },
    reason: `Used ${rounded(used)} of ${max}, the maximum cost of ${whose}; an approval lets it continue with ${more} more`,
    ...{ ask: 'budget', target: null, effects: [{ action: 'call', kind: 'budget', target: null }], effectCount: 1, binding: [], round: 1 },
    expiresAt: new Date(clock.now() + limits.approvalTtlMs).toISOString(),
  };
  scope.append(question);
  return true;
}

function rounded(cost: number): number {
  return Number(cost.toPrecision(6));
}
