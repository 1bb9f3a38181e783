/** The profile rows of OpenAI's Chat Completions. `../compatible-rows.ts` has those of servers that are compatible with it. */
import { openAiCaching, openAiReasoning } from '../compatible-rows.ts';
import type { OpenAiApi } from '../../core/model/provider-profile.ts';
import type { ProfileRow } from '../adapter.ts';

/** Rows for models of both OpenAI APIs. */
export const openAiModelRows: readonly ProfileRow[] = [
  {
    kind: ['openai', 'openai-responses'],
    model: /^o\d/,
    because: '"Unsupported parameter: parallel_tool_calls" (evalstate/fast-agent#279); efforts low, medium and high (API reference)',
    profile: { parallelToolCalls: false, efforts: ['low', 'medium', 'high'] },
  },
  {
    kind: ['openai', 'openai-responses'],
    model: /^gpt-5($|-(?!chat))/,
    because: 'reasoning cannot be disabled: minimal is the least (API reference, `reasoning_effort`)',
    profile: { efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  {
    kind: ['openai', 'openai-responses'],
    model: /^(ft:)?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/,
    because: 'takes prompt_cache_breakpoint in content parts, except those of answers (guide "Prompt caching")',
    profile: { cacheMarks: 'breakpoint' },
  },
  ...outputRow(/^gpt-(3\.5|4-turbo)/, 4_096),
  ...outputRow(/^gpt-4($|-\d{4}|-32k)/, 8_192),
  ...outputRow(/^(gpt-4o|chatgpt-4o|gpt-5[\d.]*-chat)/, 16_384),
  {
    kind: ['openai', 'openai-responses'],
    model: /^gpt-4o-mini/,
    because: 'an image has 2,833 tokens and 5,667 for each of at most 8 tiles (guide "Images and vision")',
    profile: { imageTokens: 48_169 },
  },
  ...outputRow(/^gpt-4\.1/, 32_768),
  ...outputRow(/^o\d/, 100_000),
];

function apiRow(model: RegExp, api: OpenAiApi, why: string): ProfileRow[] {
  return [{ kind: 'openai', model, because: `Chat Completions: ${why}`, profile: { api } }];
}

function outputRow(model: RegExp, maxOutputTokens: number): ProfileRow[] {
  const because = `at most ${maxOutputTokens} output tokens (models overview)`;
  return [{ kind: ['openai', 'openai-responses'], model, because, profile: { maxOutputTokens } }];
}

export const openAiRows: readonly ProfileRow[] = [
  {
    kind: 'openai',
    because:
      'max_tokens is deprecated and refused by reasoning models; 128 tools and four stop sequences at most (API reference); descriptions have had no limit of 1,024 characters since 2025 (run-llama/llama_index#18784)',
    profile: {
      schemas: 'openai',
      maxTokensField: 'max_completion_tokens',
      strictTools: true,
      maxTools: 128,
      maxStops: 4,
      extraSettings: ['user', 'serviceTier', ...openAiCaching],
      imagesInResults: true,
      files: ['pdf'],
    },
  },
  {
    kind: 'openai',
    host: 'api.openai.com',
    because: 'has both APIs; other servers of this kind may only have Chat Completions',
    profile: { api: 'own' },
  },
  ...apiRow(/^(ft:)?(gpt-5\.[45])(?![\d.]*-chat)/, 'effort', 'refused with tools and an effort (openai/openai-openapi#541)'),
  ...apiRow(
    /^(ft:)?gpt-5\.([6-9]|\d\d)(?![\d.]*-chat)/,
    'reasoning',
    'reasons by default: tools only with effort none (BerriAI/litellm#34569)',
  ),
  ...apiRow(/^(ft:)?(gpt-([6-9]|\d\d)|o[5-9])(?![\d.]*-chat)/, 'tools', 'always reasons, and refuses none (genkit#6303)'),
  ...apiRow(
    /^(o[13]-pro|o\d(-mini)?-deep-research|gpt-[\d.]+-(pro|codex)|codex-mini|computer-use)/,
    'responses',
    'has no other API (models overview)',
  ),
  {
    kind: 'openai',
    model: /^(gpt-3\.5|gpt-4($|-\d{4}(?!.*vision)|-32k)|o1-mini|o1-preview|o3-mini)/,
    because: 'text only (models overview)',
    profile: { images: false, files: [] },
  },
  { kind: 'openai', model: /audio/, because: 'hears (guide "Audio and speech")', profile: { images: false, files: ['audio'] } },
  {
    kind: 'openai',
    model: /^(gpt-3|gpt-4|chatgpt|gpt-5[\d.]*-chat)/,
    because: 'does not reason, and refuses reasoning_effort: "Unsupported parameter" (API reference, Chat Completions)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'openai',
    model: openAiReasoning,
    because: `temperature, top_p, penalties and stop are not supported (guide "Reasoning models"; API reference, \`stop\`)`,
    profile: {
      ...{ noSampling: true, noPenalties: true, noStop: true },
      extraSettings: ['user', 'serviceTier', 'verbosity', ...openAiCaching],
    },
  },
  ...openAiModelRows,
  { kind: 'rehearsal', because: 'the built-in model', profile: { exact: true, maxOutputTokens: 4_096 } },
  {
    kind: 'openai',
    host: 'api.openai.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true },
  },
];
