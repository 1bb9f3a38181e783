/** A model whose calls are reserved from limits before they are made, and settled with what they used. A wrapper around the port. */
import { repairSeconds } from '../../core/json/json-repair.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import { costOf, missingPrice, mostCost, priceOf } from '../../core/model/price.ts';
import type { TokenBound } from '../../core/model/token-bound.ts';
import { Problem } from '../../core/problem.ts';
import { isReserved, type LimitedHolder, nameHolder } from '../../core/usage-limits.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import type { CallEstimate, Limiter, Reservation } from '../../ports/limiter.ts';
import type { Clock } from '../../ports/runtime.ts';
import { isUnbilled } from '../proxy/call-meter.ts';
import { retry } from '../retry.ts';

/** A call waits so long for tokens of the next minutes, and for what other calls return. */
const maxWaitMs = 3 * 61_000;
const longestWaitMs = 61_000;

type LimitedDeps = { limiter: Limiter; clock: Clock };

export function limitModel(model: ChatModel, deps: LimitedDeps, workspace: string, holders: readonly LimitedHolder[]): ChatModel {
  return {
    async *stream(request, signal) {
      const reserved: Reservation[] = [];
      const reserve = async (bound: TokenBound): Promise<void> => {
        reserved.push(await reserveOrWait(deps, workspace, holders, estimateCall(request, bound, holders), signal));
      };
      let usage: Usage | null = null;
      let hasOutput = false;
      let isRefused = false;
      try {
        for await (const events of model.stream({ ...request, reserve }, signal)) {
          for (const event of events) {
            if (event.type === 'usage') usage = event.usage;
            else if (event.type === 'error') isRefused = !hasOutput;
            else hasOutput = true;
            if (event.type === 'call-end') deps.limiter.spendSandboxSeconds(workspace, holders, secondsOf(event));
          }
          yield events;
        }
      } catch (error) {
        isRefused = !hasOutput && isUnbilled(error);
        throw error;
      } finally {
        const used = usage !== null ? usedOf(request, usage) : isRefused ? { tokens: 0, cost: 0 } : 'unknown';
        for (const { settle } of reserved) settle(used);
      }
    },
  };
}

/** Throws `invalid_request` if a budget has to count a cost that is not known. */
export function estimateCall(
  { access, model }: Pick<ChatRequest, 'access' | 'model'>,
  bound: TokenBound,
  holders: readonly LimitedHolder[],
): CallEstimate {
  const price = priceOf(access, model);
  if (price === null) requireNoBudget({ provider: access.name, model }, holders);
  return { tokens: bound.inputTokens + bound.outputTokens, cost: price === null ? 0 : mostCost(price, bound) };
}

/** Throws `invalid_request` that names the budget, for a model without a price. */
export function requireNoBudget({ provider, model }: { provider: string; model: string }, holders: readonly LimitedHolder[]): void {
  for (const { limits, ...holder } of holders) {
    const limit = (['dailyCost', 'monthlyCost'] as const).find((name) => limits[name] !== undefined);
    if (limit === undefined) continue;
    const message = `${limit} of ${nameHolder(holder)} cannot be enforced: ${missingPrice(provider, model)}; 0 if it costs nothing`;
    throw new Problem('invalid_request', `model: ${message}`, {
      issues: [{ path: 'model', message }],
      limit,
      ...holder,
      model: `${provider}/${model}`,
    });
  }
}

/** What repairing the arguments of a call has taken at most: it is done while the reply is read, where no time can be measured. */
function secondsOf(call: Extract<ChatEvent, { type: 'call-end' }>): number {
  return call.state === 'repaired' || call.state === 'invalid' ? repairSeconds(call.raw.length) : 0;
}

function usedOf({ access, model }: Pick<ChatRequest, 'access' | 'model'>, usage: Usage): CallEstimate {
  return { tokens: usage.inputTokens + usage.outputTokens, cost: costOf(priceOf(access, model), usage) ?? 0 };
}

/** Tokens come back with the next minute, what is reserved when other calls end, and a counter with the next attempt; a used budget does not. */
async function reserveOrWait(
  { limiter, clock }: LimitedDeps,
  workspace: string,
  holders: readonly LimitedHolder[],
  estimate: CallEstimate,
  signal: AbortSignal,
): Promise<Reservation> {
  const until = clock.now() + maxWaitMs;
  const delayMs = (error: unknown): number | null => {
    const waitMs = error instanceof Problem ? waitOf(error) : null;
    return waitMs === null || clock.now() + waitMs > until ? null : waitMs;
  };
  const policy = { maxRetries: Number.POSITIVE_INFINITY, delayMs };
  return await retry({ clock, signal }, policy, () => limiter.reserveCall(workspace, holders, estimate));
}

/** null: waiting is useless. */
function waitOf(refusal: Problem): number | null {
  const { limit, retryAfterMs } = refusal.extra;
  const isTemporary = refusal.code === 'unavailable' || limit === 'tokensPerMinute' || isReserved(refusal);
  return typeof retryAfterMs === 'number' && isTemporary ? Math.min(retryAfterMs, longestWaitMs) : null;
}
