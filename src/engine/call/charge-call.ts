/** What a call of a tool costs (`core/tools/tool-price.ts`): reserved from the budgets of its caller before it is sent, and counted when it has ended. */
import { configuredPrice, priceMember, reportedPrice } from '../../core/tools/tool-price.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { Limiter, Reservation } from '../../ports/limiter.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import type { ServedTool } from './server-state.ts';

/** `price`: what an administrator set; null: nothing. Of `settle` and `release` only the first call counts. */
export type CallCharge = {
  price: number | null;
  /** The call was sent. `isReported`: a usage report will have the cost. Returns the cost; undefined if there is no price. */
  settle(result: ToolResult, isReported: boolean): number | undefined;
  /** The call was not sent, or starts again later. */
  release(): void;
};

const free: CallCharge = { price: null, settle: () => undefined, release: () => undefined };

/** Returns a refusal if a budget has nothing left, or cannot be read. */
export async function reserveCost(
  { log, reserveCost: reserve }: Pick<CallDeps, 'log' | 'reserveCost'>,
  { limited = [] }: Pick<CallScope, 'limited'>,
  { tool, server }: ServedTool,
): Promise<CallCharge | { refusal: ToolResult }> {
  const price = configuredPrice(tool, server?.price);
  const mayReport = server?.trusted === true;
  if (price === null && !mayReport) return free;
  let reservation: Reservation | undefined;
  try {
    reservation = await reserve?.(limited, price ?? 0);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { refusal: errorResult('limit_reached', `Not run: ${tool.wireName} costs ${price} USD. ${error.detail}`) };
  }
  return {
    price,
    settle(result, isReported) {
      const reported = mayReport ? reportedPrice(result.meta) : null;
      if (reported?.price === null)
        log.error('a reported price was ignored', { canonical: tool.canonical, price: String(result.meta?.[priceMember]).slice(0, 100) });
      const cost = reported?.price ?? price;
      reservation?.settle({ tokens: 0, cost: cost ?? 0 }, isReported);
      return cost ?? undefined;
    },
    release: () => reservation?.settle({ tokens: 0, cost: 0 }),
  };
}

/** Reserves the cost of a call from those of these limits that are budgets. */
export async function reserveFromBudgets(
  limiter: Pick<Limiter, 'reserveCall'>,
  workspace: string,
  holders: readonly LimitedHolder[],
  cost: number,
): Promise<Reservation | undefined> {
  const budgets = holders.flatMap(({ limits: { dailyCost, monthlyCost }, ...holder }) => {
    const limits = { ...(dailyCost !== undefined && { dailyCost }), ...(monthlyCost !== undefined && { monthlyCost }) };
    return Object.keys(limits).length === 0 ? [] : [{ ...holder, limits }];
  });
  return budgets.length === 0 ? undefined : await limiter.reserveCall(workspace, budgets, { tokens: 0, cost });
}
