/**
 * The events that every provider reply is converted to, streamed or not (contract §6). Adapters produce them, the turn consumes them,
 * dialects render them. Any chunking of the same bytes gives the same events, except for how text, reasoning and argument deltas are
 * split.
 */
import type { ArgumentState } from '../json/json-repair.ts';
import * as z from 'zod';
import type { ProblemBody } from '../problem.ts';
import type { Citation } from './citation.ts';
import type { MadeSearch } from './web-search.ts';

export const Usage = z
  .object({
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
    reasoningTokens: z.int().nonnegative().optional(),
    cachedInputTokens: z.int().nonnegative().optional(),
    cacheWriteInputTokens: z.int().nonnegative().optional().meta({ description: 'Input written to the provider’s cache.' }),
    cacheWriteHourInputTokens: z
      .int()
      .nonnegative()
      .optional()
      .meta({ description: 'The part of `cacheWriteInputTokens` that the provider keeps for an hour.' }),
    cost: z.number().nonnegative().optional().meta({ description: 'In USD, as the provider reported it. Absent: not of every call.' }),
  })
  .meta({ id: 'Usage', example: { inputTokens: 120, outputTokens: 35 } });
export type Usage = z.infer<typeof Usage>;

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
  for (const name of ['reasoningTokens', 'cachedInputTokens', 'cacheWriteInputTokens', 'cacheWriteHourInputTokens'] as const)
    if (a[name] !== undefined || b[name] !== undefined) sum[name] = (a[name] ?? 0) + (b[name] ?? 0);
  const costs = [a, b].map(({ cost, inputTokens, outputTokens }) => cost ?? (inputTokens + outputTokens === 0 ? 0 : null));
  const [one = null, other = null] = costs;
  if (one !== null && other !== null && (a.cost !== undefined || b.cost !== undefined)) sum.cost = one + other;
  return sum;
}

/** Why a model reply ended. Derived from the content if the wire is unreliable: `tool-calls` means that there are calls. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'unknown';

export type ChatEvent =
  /** `refusal`: the model refused in the wire's own refusal field. Consumers that do not distinguish it treat it as text. */
  | { type: 'text'; text: string; refusal?: true }
  /** `nativeId`: set at the start of a part that has an id on the wire and must not be sent back without it. */
  | { type: 'reasoning'; text: string; nativeId?: string }
  /**
   * A call whose name is known. `call` counts the calls of the reply from 0 and identifies this one in later events. `custom`: the
   * argument is free text, which ends as `{input: text}`.
   */
  | { type: 'call-start'; call: number; name: string; nativeId: string | null; custom?: true }
  /** Argument text. For a call that ends `ok` or `closed`, the concatenated deltas are its object, or empty for an empty object. */
  | { type: 'call-delta'; call: number; text: string }
  /**
   * The call is complete. `arguments` is null when `state` is `truncated` or `invalid`; `raw` is the original text. `recovered`: it stood in
   * the text of a reply that could have native calls.
   */
  | { type: 'call-end'; call: number; state: ArgumentState; arguments: Record<string, unknown> | null; raw: string; recovered?: true }
  /** An image that the model made, as base64. */
  | { type: 'image'; mediaType: string; data: string }
  /** Sources of the text so far. Their places count from the begin of the reply's text. */
  | { type: 'citations'; citations: Citation[] }
  /** A web search of the provider that has ended. What the provider needs back of it is `native`. */
  | ({ type: 'search' } & MadeSearch)
  | { type: 'usage'; usage: Usage }
  /** Data that must go back to this provider unchanged (signatures, reasoning items), opaque to everything else. */
  | { type: 'native'; provider: string; data: unknown }
  /**
   * Each reply ends with exactly one `finish` or `error`. `raw` is the provider's own finish reason. `inOrder`: its calls are meant one
   * after the other, unless the request asks for parallel calls.
   */
  | { type: 'finish'; reason: FinishReason; raw: string | null; inOrder?: true }
  | { type: 'error'; problem: ProblemBody; retryable: boolean };

export function isRecovered(event: ChatEvent): boolean {
  return event.type === 'call-end' && event.recovered === true;
}
