/** Adds up the token counts of a Messages reply from its events. Used by `reply.ts`. */
import type { Usage } from '../../core/model/chat-event.ts';
import { isCount, isRecord, recordOf } from '../../core/json/wire-value.ts';

export type TokenCounts = { input?: number; cacheRead?: number; cacheCreation?: number; output?: number; thinking?: number };

/** Each event has running totals; unknown counts are absent or null. */
export function addCounts(counts: TokenCounts, usage: unknown): void {
  if (!isRecord(usage)) return;
  if (isCount(usage.input_tokens)) counts.input = usage.input_tokens;
  if (isCount(usage.cache_read_input_tokens)) counts.cacheRead = usage.cache_read_input_tokens;
  if (isCount(usage.cache_creation_input_tokens)) counts.cacheCreation = usage.cache_creation_input_tokens;
  if (isCount(usage.output_tokens)) counts.output = usage.output_tokens;
  const thinking = recordOf(usage.output_tokens_details).thinking_tokens;
  if (isCount(thinking)) counts.thinking = thinking;
}

/** `input_tokens` excludes tokens read from or written to the cache (guide "Prompt caching", "Tracking cache performance"). */
export function usageOf({ input, cacheRead, cacheCreation, output, thinking }: TokenCounts): Usage | null {
  if (input === undefined && output === undefined) return null;
  const usage: Usage = { inputTokens: (input ?? 0) + (cacheRead ?? 0) + (cacheCreation ?? 0), outputTokens: output ?? 0 };
  if (thinking !== undefined) usage.reasoningTokens = thinking;
  if (cacheRead !== undefined) usage.cachedInputTokens = cacheRead;
  return usage;
}
