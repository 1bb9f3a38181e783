/** A model whose calls are reserved from limits before they are made, and settled with what they used. A wrapper around the port. */
import { costOf, priceOf } from '../../core/model/price.ts';
import { repairSeconds } from '../../core/json/json-repair.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import { Problem } from '../../core/problem.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import type { CallEstimate, Limiter, Reservation } from '../../ports/limiter.ts';
import type { Clock } from '../../ports/runtime.ts';

/** Output is not known before a call; a reply without usage counts as this long. */
const assumedOutputTokens = 1_000;
/** About what English text has; only for reservations. */
const charactersPerToken = 4;
/** A call waits for tokens of the next minutes, at most so often. */
const maxWaits = 3;
const longestWaitMs = 61_000;

type LimitedDeps = { limiter: Limiter; clock: Clock };

export function limitModel(model: ChatModel, deps: LimitedDeps, workspace: string, holders: readonly LimitedHolder[]): ChatModel {
  return {
    async *stream(request, signal) {
      const characters = JSON.stringify(request.messages).length + JSON.stringify(request.tools).length;
      const reserved = await reserveOrWait(deps, workspace, holders, estimateCall(request, characters), signal);
      let usage: Usage | null = null;
      let hasBegun = false;
      let isRefused = false;
      try {
        for await (const events of model.stream(request, signal)) {
          hasBegun = true;
          for (const event of events) {
            if (event.type === 'usage') usage = event.usage;
            else if (event.type === 'error') isRefused = true;
            else if (event.type === 'call-end') deps.limiter.spendSandboxSeconds(workspace, holders, secondsOf(event));
          }
          yield events;
        }
      } finally {
        if (usage !== null) reserved.settle(usedOf(request, usage));
        else reserved.settle(hasBegun && !isRefused ? 'unknown' : { tokens: 0, cost: 0 });
      }
    },
  };
}

export function estimateCall({ access, model }: Pick<ChatRequest, 'access' | 'model'>, inputCharacters: number): CallEstimate {
  const inputTokens = Math.ceil(inputCharacters / charactersPerToken);
  const price = priceOf(access, model);
  // A model without a price costs nothing, but is not called when a budget is exhausted.
  const cost = price === null ? 0.000_001 : costOf(price, { inputTokens, outputTokens: assumedOutputTokens });
  return { tokens: inputTokens + assumedOutputTokens, cost };
}

/** What repairing the arguments of a call has taken at most: it is done while the reply is read, where no time can be measured. */
function secondsOf(call: Extract<ChatEvent, { type: 'call-end' }>): number {
  return call.state === 'repaired' || call.state === 'invalid' ? repairSeconds(call.raw.length) : 0;
}

function usedOf({ access, model }: Pick<ChatRequest, 'access' | 'model'>, usage: Usage): CallEstimate {
  const price = priceOf(access, model);
  return { tokens: usage.inputTokens + usage.outputTokens, cost: price === null ? 0 : costOf(price, usage) };
}

/** Tokens come back with the next minute, and a counter with the next attempt; a budget does not. */
async function reserveOrWait(
  { limiter, clock }: LimitedDeps,
  workspace: string,
  holders: readonly LimitedHolder[],
  estimate: CallEstimate,
  signal: AbortSignal,
): Promise<Reservation> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await limiter.reserveCall(workspace, holders, estimate);
    } catch (error) {
      if (!(error instanceof Problem) || waits >= maxWaits) throw error;
      const { limit, retryAfterMs } = error.extra;
      if (typeof retryAfterMs !== 'number' || (error.code === 'rate_limited' && limit !== 'tokensPerMinute')) throw error;
      await clock.sleep(Math.min(retryAfterMs, longestWaitMs), signal);
    }
  }
}
