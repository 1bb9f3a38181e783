/** The usage of a reply, from the counts of any wire; and usage objects that one reply has several of. */
import { isCount, isRecord, type Json, recordOf } from '../core/json/wire-value.ts';
import type { Usage } from '../core/model/chat-event.ts';

/**
 * Counts of a wire; each may be missing. `output` may exclude `reasoning`, which `total` shows; `written` is the part of the input that was
 * written to a cache, `writtenForHour` the part of that which is kept for an hour.
 */
export type WireCounts = {
  input: unknown;
  output?: unknown;
  total?: unknown;
  reasoning?: unknown;
  cached?: unknown;
  written?: unknown;
  writtenForHour?: unknown;
  cost?: number | null;
};

/** Returns null without a count of input tokens. More cached tokens than input tokens mean that the wire counts them apart: they are input, too. */
export function toUsage({ input: given, output, total, reasoning, cached, written, writtenForHour, cost }: WireCounts): Usage | null {
  if (!isCount(given)) return null;
  const input = isCount(cached) && cached > given ? given + cached : given;
  const said = isCount(output) ? output : 0;
  const apart = reasoningApart(said, reasoning, isCount(total) ? total - input - said : 0);
  const thought = isCount(reasoning) ? Math.max(reasoning, apart) : apart > 0 ? apart : null;
  return {
    inputTokens: input,
    outputTokens: said + apart,
    ...(thought !== null && { reasoningTokens: thought }),
    ...(isCount(cached) && { cachedInputTokens: cached }),
    ...(isCount(written) && written > 0 && { cacheWriteInputTokens: written }),
    ...(isCount(written) &&
      isCount(writtenForHour) &&
      writtenForHour > 0 && { cacheWriteHourInputTokens: Math.min(written, writtenForHour) }),
    ...(cost != null && { cost }),
  };
}

/**
 * xAI counts reasoning beside the output, and Google's compatible API in the total only (vercel/ai#12425, googleapis/js-genai#1056); a wire
 * without a total shows it by more reasoning than output. `rest`: of the total, behind input and output.
 */
function reasoningApart(output: number, reasoning: unknown, rest: number): number {
  if (!isCount(reasoning)) return Math.max(0, rest);
  return reasoning > output || (reasoning > 0 && rest >= reasoning) ? reasoning : 0;
}

/**
 * Joins usage objects of one reply: counts only grow, whether a wire repeats them, splits them over events (`message_start`, `message_delta`)
 * or sends zeros in between.
 */
export function mergeUsage(before: Json, value: unknown): Json {
  if (!isRecord(value)) return before;
  const merged: Json = { ...before };
  for (const [name, now] of Object.entries(value)) {
    const was = merged[name];
    if (isRecord(now)) merged[name] = mergeUsage(recordOf(was), now);
    else if (typeof now === 'number') merged[name] = typeof was === 'number' ? Math.max(was, now) : now;
    else if (now != null) merged[name] = now;
  }
  return merged;
}

/** xAI: "1 USD = 10,000,000,000 ticks" (guide "Cost tracking"). */
const usdTicks = 1e10;

/**
 * Returns what the provider billed, in USD: `cost` of OpenRouter, with what a key of one's own is billed by its provider (guide "Usage
 * accounting"); `cost.total_cost` of Perplexity; `cost_in_usd_ticks` of xAI. null: not reported.
 */
export function readCost({ cost, cost_details: details, is_byok: ownKey, cost_in_usd_ticks: ticks }: Json): number | null {
  const billed = isRecord(cost) ? cost.total_cost : cost;
  if (isAmount(billed)) {
    const upstream = ownKey === true ? recordOf(details).upstream_inference_cost : 0;
    return billed + (isAmount(upstream) ? upstream : 0);
  }
  return isAmount(ticks) ? ticks / usdTicks : null;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
