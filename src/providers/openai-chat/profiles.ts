/** The profile rows of OpenAI's Chat Completions. `../compatible-rows.ts` has those of servers that are compatible with it. */
import { openAiReasoning } from '../compatible-rows.ts';
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

function outputRow(model: RegExp, maxOutputTokens: number): ProfileRow[] {
  const because = `at most ${maxOutputTokens} output tokens (models overview)`;
  return [{ kind: ['openai', 'openai-responses'], model, because, profile: { maxOutputTokens } }];
}

export const openAiRows: readonly ProfileRow[] = [
  {
    kind: 'openai',
    because: 'max_tokens is deprecated and refused by reasoning models; function descriptions are limited to 1024 characters',
    profile: {
      schemas: 'openai',
      maxTokensField: 'max_completion_tokens',
      maxToolDescription: 1024,
      maxTools: 128,
      imagesInResults: true,
    },
  },
  {
    kind: 'openai',
    model: /^(gpt-3\.5|gpt-4($|-\d{4}(?!.*vision)|-32k)|o1-mini|o1-preview|o3-mini)/,
    because: 'text only (models overview)',
    profile: { images: false },
  },
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
    profile: { noSampling: true, noPenalties: true, noStop: true },
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
