/**
 * Reserves a request to a provider outside of turns from the limits of its key, agent and workspace, and settles it with what its meter
 * reports. Without limits it does nothing.
 */
import type { TokenBound } from '../../core/model/token-bound.ts';
import { type LimitedHolder, withBudgets } from '../../core/usage-limits.ts';
import type { ModelUse } from '../../core/records/usage.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Limiter, Reservation } from '../../ports/limiter.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { readLimits } from '../plan/turn-limits.ts';

type ReserveDeps = { directory: Directory; limiter?: Limiter | undefined; usage?: Pick<UsageRecorder, 'gather'> | undefined };

/** `usage`: for the meter of the request. */
export type LimitedRequest = {
  usage: Pick<UsageRecorder, 'gather'> | undefined;
  /** Must be awaited before the request is sent. Throws if it is not allowed. Absent: nothing is limited, and the reply need not report its usage. */
  reserve?: ((bound: TokenBound) => Promise<void>) | undefined;
  /** Whether its cost is limited. */
  hasBudget: boolean;
};

/** `limited`: of the plan of an agent; absent: those of the key. */
export async function limitRequest(
  { directory, limiter, usage }: ReserveDeps,
  principal: Principal,
  { access, model, limited }: { access: ProviderAccess; model: string; limited?: readonly LimitedHolder[] | undefined },
): Promise<LimitedRequest> {
  if (limiter === undefined || usage === undefined) return { usage, hasBudget: false };
  const holders = (limited ?? (await readLimits(directory, principal))).filter(({ limits }) => countsUse(limits));
  if (holders.length === 0) return { usage, hasBudget: false };
  let isRefused = false;
  let reserved: Reservation | null = null;
  return {
    hasBudget: withBudgets(holders).budgets !== undefined,
    async reserve(bound) {
      isRefused = true;
      const { estimateCall } = await import('../turn/limited-model.ts');
      reserved = await limiter.reserveCall(principal.workspace, holders, estimateCall({ access, model }, bound, holders));
      isRefused = false;
    },
    usage: {
      gather(workspace, report) {
        // As for requests that other limits refuse, there is no row in the log.
        if (isRefused) return;
        const [use] = report.models;
        reserved?.settle(use === undefined ? { tokens: 0, cost: 0 } : usedOf(use));
        usage.gather(workspace, { ...report, ...withBudgets(holders) });
      },
    },
  };
}

export function countsUse({ tokensPerMinute, dailyCost, monthlyCost }: LimitedHolder['limits']): boolean {
  return tokensPerMinute !== undefined || dailyCost !== undefined || monthlyCost !== undefined;
}

function usedOf({ usage: { inputTokens, outputTokens }, cost, unreported }: ModelUse) {
  return unreported > 0 ? ('unknown' as const) : { tokens: inputTokens + outputTokens, cost };
}
