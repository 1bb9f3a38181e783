/**
 * The event algebra that every provider's reply becomes, streamed or plain (DESIGN §6). Adapters produce it, the turn
 * consumes it, dialects render it. Property: any chunking of the same bytes gives the same events, up to how text,
 * reasoning and argument deltas are cut.
 */
import { z } from 'zod';
import type { ProblemBody } from './problem.ts';

export const Usage = z
  .object({
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
    reasoningTokens: z.int().nonnegative().optional(),
    cachedInputTokens: z.int().nonnegative().optional(),
  })
  .meta({ id: 'Usage', example: { inputTokens: 120, outputTokens: 35 } });
export type Usage = z.infer<typeof Usage>;

export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
  if (a.reasoningTokens !== undefined || b.reasoningTokens !== undefined)
    sum.reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
  if (a.cachedInputTokens !== undefined || b.cachedInputTokens !== undefined) {
    sum.cachedInputTokens = (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0);
  }
  return sum;
}

/** Why a model's reply ended. Derived from content where the wire is unreliable: `tool-calls` means there are calls. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'unknown';

/**
 * How a finished call's argument text reads:
 * `ok` parsed as it came (also `""`, `null` and doubly encoded objects); `closed` only closers were missing and the stream
 * ended properly; `repaired` by jsonrepair; `truncated` the text was cut and must not run; `invalid` beyond repair.
 */
export type ArgumentState = 'ok' | 'closed' | 'repaired' | 'truncated' | 'invalid';

export type ChatEvent =
  /** `refusal`: the model said no in the wire's own field for it. It is text to everyone who does not care. */
  | { type: 'text'; text: string; refusal?: true }
  /** `nativeId`: where something begins that the wire has a name for, without which it may not go back. */
  | { type: 'reasoning'; text: string; nativeId?: string }
  /**
   * A call whose name is certain. `call` counts the reply's calls from 0 and names this one in later events. `custom`: the
   * argument is free text, which ends as `{input: text}`.
   */
  | { type: 'call-start'; call: number; name: string; nativeId: string | null; custom?: true }
  /** Argument text. Joined, the deltas of a call that ends `ok` or `closed` are its object, or nothing for an empty one. */
  | { type: 'call-delta'; call: number; text: string }
  /** The call is whole. `arguments` is null when `state` is `truncated` or `invalid`; `raw` is the text as it came. */
  | { type: 'call-end'; call: number; state: ArgumentState; arguments: Record<string, unknown> | null; raw: string }
  | { type: 'usage'; usage: Usage }
  /** What must go back to this provider as it came (signatures, reasoning items), opaque to everyone else. */
  | { type: 'native'; provider: string; data: unknown }
  /** Exactly one of `finish` and `error` ends a reply. `raw` is the provider's own word. */
  | { type: 'finish'; reason: FinishReason; raw: string | null }
  | { type: 'error'; problem: ProblemBody; retryable: boolean };
