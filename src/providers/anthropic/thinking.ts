/**
 * The thinking settings of a Claude model, which differ by generation (data in `profile-rows.ts`): a token budget up to Claude 4.5,
 * `adaptive` with an effort since 4.6. Used by `request.ts`. Sources: guides "Thinking", "Extended thinking" and "Effort";
 * "What's new" of Claude Opus 5, Opus 5.5 and Sonnet 5.5.
 */
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { type Turn, thinkingTypes } from './messages.ts';
import { effortLevel, type RequestedReasoning, requestedReasoning } from '../supported-settings.ts';
import type { Json } from '../../core/json/wire-value.ts';

/** `on`: thinking was requested, which excludes some other settings. `maxTokens` includes thinking. */
export type Thinking = { on: boolean; maxTokens: number; fields: Json };

export function chooseThinking(settings: ModelSettings, profile: Profile, turns: readonly Turn[]): Thinking {
  const maxTokens = settings.maxOutputTokens ?? profile.defaultMaxTokens ?? leastMaxTokens;
  const unsaid: Thinking = { on: false, maxTokens, fields: {} };
  const wish = requestedReasoning(settings);
  if (wish === null || profile.reasoning === 'none') return unsaid;
  switch (profile.reasoning) {
    case 'effort':
      return wish === 'off' ? unsaid : { ...unsaid, fields: toEffort(wish, profile) };
    case 'adaptive': {
      // Requests readable thinking; by default the newest models return only a signature.
      if (wish !== 'off') {
        return { on: true, maxTokens, fields: { thinking: { type: 'adaptive', display: 'summarized' }, ...toEffort(wish, profile) } };
      }
      const canBeOff = profile.minReasoningBudget === 0;
      return { ...unsaid, fields: canBeOff ? { thinking: { type: 'disabled' } } : toEffort(wish, profile) };
    }
    case 'budget': {
      if (wish === 'off' || !canThink(turns)) return unsaid;
      const budget = Math.max(leastBudget, wish.budget ?? effortBudgets[wish.effort ?? ''] ?? mediumBudget);
      // If both do not fit, the requested output limit is added to the budget.
      const room = maxTokens > budget ? maxTokens : maxTokens + budget;
      return { on: true, maxTokens: room, fields: { thinking: { type: 'enabled', budget_tokens: budget } } };
    }
    default:
      return profile.reasoning satisfies never;
  }
}

/** The field is required, and every model supports this value. */
const leastMaxTokens = 4096;
const leastBudget = 1024;
const mediumBudget = 8192;
/** Tokens by effort; an unknown effort counts as `medium`. */
const effortBudgets: Readonly<Record<string, number>> = {
  minimal: leastBudget,
  low: 2048,
  medium: mediumBudget,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** These models have no token budget. */
function toEffort(wish: RequestedReasoning, { efforts }: Profile): Json {
  return { output_config: { effort: effortLevel(wish, efforts) } };
}

/**
 * With a budget, the turn that began the current tool loop must begin with thinking of this model. After a model change within the loop it
 * does not; then this step runs without thinking, since the API would reject it ("a final assistant message must start with a thinking
 * block", BerriAI/litellm#9020). Adaptive thinking has no such rule.
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
