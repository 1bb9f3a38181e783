/**
 * Reserves a request to a provider outside of turns from the limits of its key, agent and workspace, and settles it with what its meter
 * reports. Without limits it does nothing.
 */
import { type LimitedHolder, withBudgets } from '../../core/usage-limits.ts';
import type { ModelUse } from '../../core/usage.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/principal.ts';
import type { Directory } from '../../ports/catalog.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { readLimits } from '../plan/turn-limits.ts';
import { estimateCall } from '../turn/limited-model.ts';

type ReserveDeps = { directory: Directory; limiter?: Limiter | undefined; usage?: Pick<UsageRecorder, 'gather'> | undefined };

/** `usage`: for the meter of the request. `isLimited`: its reply must report what it used. */
export type ReservedRequest = { usage: Pick<UsageRecorder, 'gather'> | undefined; isLimited: boolean };

/** `limited`: of the plan of an agent; absent: those of the key. `readCharacters`: the length of the input, read only if it is needed. */
export async function reserveRequest(
  { directory, limiter, usage }: ReserveDeps,
  principal: Principal,
  request: { access: ProviderAccess; model: string; limited?: readonly LimitedHolder[] | undefined; readCharacters(): number },
): Promise<ReservedRequest> {
  if (limiter === undefined || usage === undefined) return { usage, isLimited: false };
  const { access, model, limited } = request;
  const holders = (limited ?? (await readLimits(directory, principal))).filter(({ limits }) => countsUse(limits));
  if (holders.length === 0) return { usage, isLimited: false };
  const reserved = await limiter.reserveCall(principal.workspace, holders, estimateCall({ access, model }, request.readCharacters()));
  return {
    isLimited: true,
    usage: {
      gather(workspace, report) {
        const [use] = report.models;
        reserved.settle(use === undefined ? { tokens: 0, cost: 0 } : usedOf(use));
        usage.gather(workspace, { ...report, ...withBudgets(holders) });
      },
    },
  };
}

function countsUse({ tokensPerMinute, dailyCost, monthlyCost }: LimitedHolder['limits']): boolean {
  return tokensPerMinute !== undefined || dailyCost !== undefined || monthlyCost !== undefined;
}

function usedOf({ usage: { inputTokens, outputTokens }, cost, unreported }: ModelUse) {
  return unreported > 0 ? ('unknown' as const) : { tokens: inputTokens + outputTokens, cost };
}
