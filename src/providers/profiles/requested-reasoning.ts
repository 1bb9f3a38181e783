/**
 * The reasoning that a request asks for, independent of the API: `reasoningBudget` in tokens, `reasoningEffort` as a name, or both. The
 * adapter decides what its API supports, and the profile which efforts a model supports.
 */
import type { ModelSettings } from '../../core/turn/plan.ts';

/** `off`: none. Otherwise at least one of the two is set. */
export type RequestedReasoning = 'off' | { budget?: number; effort?: string };

/** null: not set. A budget takes precedence over the effort if they contradict: 0 is `off`, any other is not. */
export function requestedReasoning({ reasoningBudget: budget, reasoningEffort: effort }: ModelSettings): RequestedReasoning | null {
  if (budget === undefined && effort === undefined) return null;
  if (budget === 0 || (budget === undefined && effort === 'none')) return 'off';
  return { ...(budget !== undefined && { budget }), ...(effort !== undefined && effort !== 'none' && { effort }) };
}

/** Returns an effort that the model supports. A budget alone becomes the effort with about as many tokens. */
export function effortLevel(wish: RequestedReasoning, efforts: readonly string[] | null): string {
  return nearest(wish === 'off' ? 'none' : (wish.effort ?? wordOf(wish.budget ?? 0)), efforts);
}

function wordOf(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high';
}

const ladder: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Returns the smallest supported effort that is not less, otherwise the largest. Unknown names of the provider are kept. */
function nearest(word: string, efforts: readonly string[] | null): string {
  if (efforts === null || efforts.includes(word) || !ladder.includes(word)) return word;
  const wanted = ladder.indexOf(word);
  return efforts.find((effort) => ladder.indexOf(effort) >= wanted) ?? efforts.at(-1) ?? word;
}
