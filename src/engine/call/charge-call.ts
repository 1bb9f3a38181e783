/** What a call of a tool costs (`core/tools/tool-price.ts`): reserved from the budgets of its caller before it is sent, and counted when it has ended. */
import { configuredPrice, ToolPrice } from '../../core/tools/tool-price.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { Reservation } from '../../ports/limiter.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import type { ServedTool } from './server-state.ts';

/** The member of a result's `_meta` in which a server reports what the call cost: a number, in USD. */
export const priceMember = 'moniker/price';

/** Of both only the first call counts. */
export type CallCharge = {
  /** The call was sent. `isReported`: a usage report will have the cost. Returns the cost; undefined if there is no price. */
  settle(result: ToolResult, isReported: boolean): number | undefined;
  /** The call was not sent, or starts again later. */
  release(): void;
};

/** Returns a refusal if a budget has nothing left, or cannot be read. */
export async function reserveCost(
  { log, reserveCost: reserve }: Pick<CallDeps, 'log' | 'reserveCost'>,
  { limited = [] }: Pick<CallScope, 'limited'>,
  { tool, server }: ServedTool,
): Promise<CallCharge | { refusal: ToolResult }> {
  const price = configuredPrice(tool, server?.price);
  const mayReport = server?.trusted === true;
  let reservation: Reservation | undefined;
  try {
    reservation = await reserve?.(limited, price ?? 0);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { refusal: errorResult('limit_reached', `Not run: ${tool.wireName} costs ${price} USD. ${error.detail}`) };
  }
  return {
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

/** Returns the price that a result reports. `price` null: it is not a price. null: it reports none. */
function reportedPrice(meta: Readonly<Record<string, unknown>> | undefined): { price: number | null } | null {
  if (meta === undefined || !Object.hasOwn(meta, priceMember)) return null;
  const { data, success } = ToolPrice.safeParse(meta[priceMember]);
  return { price: success ? data : null };
}
