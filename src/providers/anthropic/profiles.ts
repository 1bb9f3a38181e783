/** The profile rows of Anthropic's Messages API. */
import type { ProfileRow } from '../adapter.ts';

export const anthropicRows: readonly ProfileRow[] = [
  {
    kind: 'anthropic',
    host: 'api.anthropic.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true },
  },
  {
    kind: 'anthropic',
    because:
      'max_tokens is required; ids match ^[a-zA-Z0-9_-]+$ with 64 characters at most; a tool schema has no oneOf, anyOf or allOf at its top',
    profile: {
      schemas: 'anthropic',
      maxCallIdLength: 64,
      defaultMaxTokens: 8192,
      reasoning: 'budget',
      imagesInResults: true,
    },
  },
  {
    kind: 'anthropic',
    model: /claude-(2|instant|3-(opus|sonnet|haiku))/i,
    because: 'says 4,096 tokens at most, and does not think (models overview)',
    profile: { defaultMaxTokens: 4096, reasoning: 'none' },
  },
  { kind: 'anthropic', model: /claude-3[-.]5-/i, because: 'does not think', profile: { reasoning: 'none' } },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(4[-.][6-9]|[5-9])(?!\d)|claude-mythos/i,
    because: 'budget_tokens is deprecated in 4.6 and refused since 4.7: adaptive with an effort (guides "Thinking", "Effort")',
    profile: { reasoning: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'], defaultMaxTokens: 32_000 },
  },
  {
    kind: 'anthropic',
    model: /claude-(opus|sonnet)-4[-.]6(?!\d)/i,
    because: 'no effort xhigh (guide "Effort")',
    profile: { efforts: ['low', 'medium', 'high', 'max'] },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(4[-.][7-9]|[5-9])(?!\d)|claude-mythos/i,
    because:
      '"`temperature` is deprecated for this model", and so are top_p and top_k (Comfy-Org/ComfyUI#13923, NousResearch/hermes-agent#11137)',
    profile: { noSampling: true },
  },
  {
    kind: 'anthropic',
    model: /claude-(fable|mythos)-|claude-(opus|sonnet)-(5[-.][5-9]|[6-9])(?!\d)/i,
    because: '"thinking.type.disabled" and a forced tool_choice are refused (What\'s new in Claude Opus 5.5, in Claude Sonnet 5.5)',
    profile: { minReasoningBudget: 1024, toolChoice: 'auto' },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(5[-.][1-9]|[6-9])(?!\d)/i,
    because:
      '"The block is bound to a different conversation": a thinking block behind another system text, tool list or earlier message is a 400 (anomalyco/opencode#48637)',
    profile: { boundReasoning: true },
  },
];
