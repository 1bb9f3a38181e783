/**
 * How much a Claude model is told to think, which differs by generation and is data in `profile-rows.ts`: a budget of tokens up to
 * Claude 4.5, `adaptive` with a word of effort since 4.6. Used by `anthropic-request.ts`. Sources: guides "Thinking", "Extended
 * thinking" and "Effort"; "What's new" of Claude Opus 5, Opus 5.5 and Sonnet 5.5.
 */
import type { ModelSettings } from '../core/plan.ts';
import type { Profile } from '../core/provider-profile.ts';
import { type Turn, thinkingTypes } from './anthropic-turns.ts';
import { effortWord, type ReasoningWish, reasoningWish } from './reasoning-wish.ts';
import type { Json } from '../core/wire-value.ts';

/** `on`: thinking was asked for, and excludes what the API does not take beside it. `maxTokens` counts thinking, too. */
export type Thinking = { on: boolean; maxTokens: number; fields: Json };

export function chooseThinking(settings: ModelSettings, profile: Profile, turns: readonly Turn[]): Thinking {
  const maxTokens = settings.maxOutputTokens ?? profile.defaultMaxTokens ?? leastMaxTokens;
  const unsaid: Thinking = { on: false, maxTokens, fields: {} };
  const wish = reasoningWish(settings);
  if (wish === null || profile.reasoning === 'none') return unsaid;
  switch (profile.reasoning) {
    case 'effort':
      return wish === 'off' ? unsaid : { ...unsaid, fields: toEffort(wish, profile) };
    case 'adaptive': {
      // Readable: the newest models give nothing but a signature unless they are asked.
      if (wish !== 'off') {
        return { on: true, maxTokens, fields: { thinking: { type: 'adaptive', display: 'summarized' }, ...toEffort(wish, profile) } };
      }
      const canBeOff = profile.minReasoningBudget === 0;
      return { ...unsaid, fields: canBeOff ? { thinking: { type: 'disabled' } } : toEffort(wish, profile) };
    }
    case 'budget': {
      if (wish === 'off' || !canThink(turns)) return unsaid;
      const budget = Math.max(leastBudget, wish.budget ?? effortBudgets[wish.effort ?? ''] ?? mediumBudget);
      // What was asked for as output stays beside the thinking where both do not fit.
      const room = maxTokens > budget ? maxTokens : maxTokens + budget;
      return { on: true, maxTokens: room, fields: { thinking: { type: 'enabled', budget_tokens: budget } } };
    }
    default:
      return profile.reasoning satisfies never;
  }
}

/** The field is required; every model can say this much. */
const leastMaxTokens = 4096;
const leastBudget = 1024;
const mediumBudget = 8192;
/** Tokens for the words; one that we do not know is `medium`. */
const effortBudgets: Readonly<Record<string, number>> = {
  minimal: leastBudget,
  low: 2048,
  medium: mediumBudget,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** These models count no tokens. */
function toEffort(wish: ReasoningWish, { efforts }: Profile): Json {
  return { output_config: { effort: effortWord(wish, efforts) } };
}

/**
 * With a budget, the turn that began the tool loop at hand must begin with thinking of this model. After a change of model within
 * the loop there is none: then this step goes on without, or the API refuses it ("a final assistant message must start with a
 * thinking block", BerriAI/litellm#9020). Adaptive thinking has no such rule.
 */
function canThink(turns: readonly Turn[]): boolean {
  let first: Turn | undefined;
  let inLoop = false;
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at] as Turn;
    if (turn.role === 'assistant') first = turn;
    else if (turn.content[0]?.type === 'tool_result') inLoop = true;
    else break;
  }
  return !inLoop || thinkingTypes.has(first?.content[0]?.type ?? '');
}
