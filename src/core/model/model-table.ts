/**
 * Limits and abilities of well-known models at the service of their host; loaded by lists of models only. Prices are in `price-table.ts`.
 * Facts of the providers' pages of models, as collected by models.dev (anomalyco/models.dev, `providers/<provider>/models/` and `models/`):
 * as of 2 July 2026 (commit f3fc692), models of GPT-5.6 and later, Claude Opus 5, Claude Haiku 5.5, Gemini 3.8 and Grok 4.5 and later as of
 * their releases until 7 October 2026.
 */
import type { Modality, ModelFacts } from './model-facts.ts';
import { tableRow } from './price-table.ts';

/** Context window, maximum output, what it takes (by first letter), abilities (Tools, Reasoning), maximum input if it is less. */
type Row = readonly [context: number, output: number, inputs: string, abilities: '' | 'T' | 'R' | 'TR', maxInput?: number];

/** By host, then by the beginning of the model's name, as in the table of prices. */
const table: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'api.openai.com': {
    'gpt-3.5-turbo': [16_385, 4_096, 't', ''],
    'gpt-4-turbo': [128_000, 4_096, 'ti', 'T'],
    'gpt-4': [8_192, 8_192, 't', 'T'],
    'gpt-4.1': [1_047_576, 32_768, 'tip', 'T'],
    'gpt-4.1-mini': [1_047_576, 32_768, 'tip', 'T'],
    'gpt-4.1-nano': [1_047_576, 32_768, 'ti', 'T'],
    'gpt-4o': [128_000, 16_384, 'tip', 'T'],
    'gpt-4o-2024-05-13': [128_000, 4_096, 'ti', 'T'],
    'gpt-4o-mini': [128_000, 16_384, 'tip', 'T'],
    'gpt-5': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5-chat-latest': [400_000, 128_000, 'ti', 'R', 272_000],
    'gpt-5-codex': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5-mini': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5-nano': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5-pro': [400_000, 272_000, 'ti', 'TR', 272_000],
    'gpt-5.1': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.1-chat-latest': [128_000, 16_384, 'ti', 'TR'],
    'gpt-5.1-codex': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.1-codex-max': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.1-codex-mini': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.2': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.2-chat-latest': [128_000, 16_384, 'ti', 'TR'],
    'gpt-5.2-codex': [400_000, 128_000, 'tip', 'TR', 272_000],
    'gpt-5.2-pro': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.3-chat-latest': [128_000, 16_384, 'ti', 'T'],
    'gpt-5.3-codex': [400_000, 128_000, 'tip', 'TR', 272_000],
    'gpt-5.4': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-5.4-mini': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.4-nano': [400_000, 128_000, 'ti', 'TR', 272_000],
    'gpt-5.4-pro': [1_050_000, 128_000, 'ti', 'TR', 922_000],
    'gpt-5.5': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-5.5-pro': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    o1: [200_000, 100_000, 'tip', 'TR'],
    'o1-pro': [200_000, 100_000, 'ti', 'TR'],
    o3: [200_000, 100_000, 'tip', 'TR'],
    'o3-mini': [200_000, 100_000, 't', 'TR'],
    'o3-pro': [200_000, 100_000, 'ti', 'TR'],
    'o4-mini': [200_000, 100_000, 'ti', 'TR'],
    'gpt-5.6': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-5.6-luna': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-5.6-sol': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-5.6-terra': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-6-astra': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-6-luna': [1_050_000, 128_000, 'tip', 'TR', 922_000],
    'gpt-6-sol': [1_050_000, 128_000, 'tip', 'TR', 922_000],
  },
  'api.anthropic.com': {
    'claude-3-haiku': [200_000, 4_096, 'tip', 'T'],
    'claude-fable-5': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-haiku-4-5': [200_000, 64_000, 'tip', 'TR'],
    'claude-opus-4-0': [200_000, 32_000, 'tip', 'TR'],
    'claude-opus-4-2025': [200_000, 32_000, 'tip', 'TR'],
    'claude-opus-4-1': [200_000, 32_000, 'tip', 'TR'],
    'claude-opus-4-5': [200_000, 64_000, 'tip', 'TR'],
    'claude-opus-4-6': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-opus-4-7': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-opus-4-8': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-sonnet-4-0': [200_000, 64_000, 'tip', 'TR'],
    'claude-sonnet-4-2025': [200_000, 64_000, 'tip', 'TR'],
    'claude-sonnet-4-5': [200_000, 64_000, 'tip', 'TR'],
    'claude-sonnet-4-6': [1_000_000, 64_000, 'tip', 'TR'],
    'claude-sonnet-5': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-opus-5': [1_000_000, 128_000, 'tip', 'TR'],
    'claude-haiku-5-5': [1_000_000, 128_000, 'tip', 'TR'],
  },
  'generativelanguage.googleapis.com': {
    'gemini-2.0-flash': [1_048_576, 8_192, 'tipav', 'T'],
    'gemini-2.0-flash-lite': [1_048_576, 8_192, 'tipav', 'T'],
    'gemini-2.5-flash': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-2.5-flash-lite': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-2.5-pro': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3-flash-preview': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3-pro-preview': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3.1-flash-lite': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3.1-pro-preview': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3.5-flash': [1_048_576, 65_536, 'tipav', 'TR'],
    'gemini-3.8-flash': [1_048_576, 65_536, 'tipav', 'TR'],
  },
  'api.mistral.ai': {
    'devstral-latest': [262_144, 262_144, 't', 'T'],
    'magistral-medium-latest': [128_000, 16_384, 't', 'TR'],
    'ministral-3b-latest': [128_000, 128_000, 't', 'T'],
    'ministral-8b-latest': [128_000, 128_000, 't', 'T'],
    'mistral-large-2411': [131_072, 16_384, 't', 'T'],
    'mistral-large-2512': [262_144, 262_144, 'ti', 'T'],
    'mistral-large-latest': [262_144, 262_144, 'ti', 'T'],
    'mistral-medium-2508': [262_144, 262_144, 'ti', 'T'],
    'mistral-medium-2604': [262_144, 262_144, 'ti', 'TR'],
    'mistral-medium-latest': [262_144, 262_144, 'ti', 'T'],
    'mistral-small-2506': [128_000, 16_384, 'ti', 'T'],
    'mistral-small-2603': [256_000, 256_000, 'ti', 'TR'],
    'mistral-small-latest': [256_000, 256_000, 'ti', 'TR'],
    'open-mistral-nemo': [128_000, 128_000, 't', 'T'],
    'pixtral-large-latest': [128_000, 128_000, 'ti', 'T'],
  },
  'api.groq.com': {
    'llama-3.1-8b-instant': [131_072, 131_072, 't', 'T'],
    'llama-3.3-70b-versatile': [131_072, 32_768, 't', 'T'],
    'openai/gpt-oss-120b': [131_072, 65_536, 't', 'TR'],
    'openai/gpt-oss-20b': [131_072, 65_536, 't', 'TR'],
    'qwen/qwen3-32b': [131_072, 40_960, 't', 'TR'],
  },
  'api.deepseek.com': {
    'deepseek-chat': [1_000_000, 384_000, 't', 'T'],
    'deepseek-reasoner': [1_000_000, 384_000, 't', 'TR'],
    'deepseek-v4-flash': [1_000_000, 384_000, 't', 'TR'],
    'deepseek-v4-pro': [1_000_000, 384_000, 't', 'TR'],
  },
  'api.x.ai': {
    'grok-4.20-0309-non-reasoning': [1_000_000, 30_000, 'tip', 'T'],
    'grok-4.20-0309-reasoning': [1_000_000, 30_000, 'tip', 'TR'],
    'grok-4.3': [1_000_000, 30_000, 'tip', 'TR'],
    'grok-build-0.1': [256_000, 256_000, 'tip', 'TR'],
    'grok-4.5': [500_000, 500_000, 'tip', 'TR'],
    'grok-4.6': [500_000, 500_000, 'ti', 'TR'],
    'grok-4.7': [500_000, 500_000, 'ti', 'TR'],
  },
  'api.cohere.com': {
    'command-a-03-2025': [256_000, 8_000, 't', 'T'],
    'command-a-plus-05-2026': [128_000, 64_000, 'ti', 'TR'],
    'command-a-reasoning-08-2025': [256_000, 32_000, 't', 'TR'],
    'command-a-vision-07-2025': [128_000, 8_000, 'ti', ''],
    'command-r-08-2024': [128_000, 4_000, 't', 'T'],
    'command-r-plus-08-2024': [128_000, 4_000, 't', 'T'],
    'command-r7b-12-2024': [128_000, 4_000, 't', 'T'],
  },
  'dashscope-intl.aliyuncs.com': {
    'qwen-flash': [1_000_000, 32_768, 't', 'TR'],
    'qwen-max': [32_768, 8_192, 't', 'T'],
    'qwen-plus': [1_000_000, 32_768, 't', 'TR'],
    'qwen-turbo': [1_000_000, 16_384, 't', 'TR'],
    'qwen3-coder-flash': [1_000_000, 65_536, 't', 'T'],
    'qwen3-coder-plus': [1_048_576, 65_536, 't', 'T'],
    'qwen3-max': [262_144, 65_536, 't', 'T'],
    'qwen3-vl-plus': [262_144, 32_768, 'ti', 'TR'],
    'qwen3.5-plus': [1_000_000, 65_536, 'tiv', 'TR'],
    'qwen3.6-flash': [1_000_000, 65_536, 'tiv', 'TR'],
    'qwen3.6-plus': [1_000_000, 65_536, 'tiv', 'TR'],
    'qwen3.7-max': [1_000_000, 65_536, 't', 'TR'],
    'qwen3.7-plus': [1_000_000, 65_536, 'tiv', 'TR'],
  },
};

const modalityOf: Readonly<Record<string, Modality>> = { t: 'text', i: 'image', p: 'pdf', a: 'audio', v: 'video' };

/** Returns no members for a model that the table does not have. `baseUrl`: of the provider; `model`: in any case. */
export function tabledFacts(baseUrl: string, model: string): ModelFacts {
  const row = tableRow(table, baseUrl, model);
  if (row === null) return {};
  const [contextTokens, maxOutputTokens, inputs, abilities, maxInputTokens] = row;
  return {
    contextTokens,
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    maxOutputTokens,
    inputs: Array.from(inputs).flatMap((letter) => modalityOf[letter] ?? []),
    tools: abilities.includes('T'),
    reasoning: abilities.includes('R'),
  };
}
