/**
 * How much thinking a request asks for, read the same way for every API: `reasoningBudget` counts tokens, `reasoningEffort` is a word,
 * and either may be all that is said. What an API can be told of it is for its adapter, and which words a model takes for its profile.
 */
import type { ModelSettings } from '../core/plan.ts';

/** `off`: none at all. Otherwise one of the two at least. */
export type ReasoningWish = 'off' | { budget?: number; effort?: string };

/** null: nothing was said. A budget goes before the word where they contradict each other: one of 0 is `off`, any other is not. */
export function reasoningWish({ reasoningBudget: budget, reasoningEffort: effort }: ModelSettings): ReasoningWish | null {
  if (budget === undefined && effort === undefined) return null;
  if (budget === 0 || (budget === undefined && effort === 'none')) return 'off';
  return { ...(budget !== undefined && { budget }), ...(effort !== undefined && effort !== 'none' && { effort }) };
}

/** The wish as a word that the model takes. A budget alone becomes the word that means about as many tokens. */
export function effortWord(wish: ReasoningWish, efforts: readonly string[] | null): string {
  return nearest(wish === 'off' ? 'none' : (wish.effort ?? wordOf(wish.budget ?? 0)), efforts);
}

function wordOf(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high';
}

const ladder: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Of the words that are taken, the one that asks for least more, else the most. A word of the provider's own passes. */
function nearest(word: string, efforts: readonly string[] | null): string {
  if (efforts === null || efforts.includes(word) || !ladder.includes(word)) return word;
  const wanted = ladder.indexOf(word);
  return efforts.find((effort) => ladder.indexOf(effort) >= wanted) ?? efforts.at(-1) ?? word;
}
