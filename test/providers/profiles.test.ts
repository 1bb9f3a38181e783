/**
 * The profiles of providers and models: every row has its source and a case that shows its effect, an adapter reads every flag, and an
 * administrator can set all of them. The adapters' tests cover how the flags change a request.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Provider, type ProviderAccess } from '../../src/core/model/provider.ts';
import { MessageField, type Profile, ProviderProfile } from '../../src/core/model/provider-profile.ts';
import { plainProfile, profileRows } from '../../src/providers/profiles.ts';
import { matchesRow, profileFor } from '../../src/providers/profiles.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { bodyOf, createHarness } from '../http/harness.ts';

const at = (kind: ProviderAccess['kind'], baseUrl: string): ProviderAccess => ({
  name: 'acme',
  kind,
  baseUrl,
  headers: {},
  models: [],
  profile: {},
});
const openai = at('openai', 'https://api.openai.com/v1');
const responses = at('openai-responses', 'https://api.openai.com/v1');
const anthropic = at('anthropic', 'https://api.anthropic.com/v1');
const gemini = at('gemini', 'https://generativelanguage.googleapis.com/v1beta');
const vertex = at('gemini', 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google');
const cohere = at('cohere', 'https://api.cohere.com/v2');
const azure: ProviderAccess = { ...at('openai', 'https://models.example/openai/v1'), cloud: { kind: 'azure-openai' } };
const bedrock: ProviderAccess = {
  ...at('bedrock', 'https://bedrock-runtime.us-east-1.amazonaws.com'),
  cloud: { kind: 'bedrock', region: 'us-east-1' },
};
const nativeOllama = at('ollama', 'https://ollama.example');
const served = (baseUrl: string): ProviderAccess => at('openai-compatible', baseUrl);
const anywhere = served('https://models.example/v1');
const ollama = served('http://127.0.0.1:11434/v1');

/** [model, provider, expected profile fields]. */
const cases: [model: string, access: ProviderAccess, profile: Partial<Profile>][] = [
  [
    'gpt-4o',
    openai,
    {
      exact: true,
      schemas: 'openai',
      maxTokensField: 'max_completion_tokens',
      maxTools: 128,
      reasoning: 'none',
      images: true,
      noStop: false,
      maxOutputTokens: 16_384,
    },
  ],
  ['claude-sonnet-4-5', anthropic, { outputSchema: true, strictTools: true, defaultMaxTokens: 64_000 }],
  ['claude-opus-4-20250514', anthropic, { outputSchema: false, defaultMaxTokens: 32_000 }],
  ['openai/gpt-5.2', served('https://openrouter.ai/api/v1'), { schemas: 'openai', strictTools: true }],
  ['openai/gpt-oss-120b', served('https://openrouter.ai/api/v1'), { schemas: 'full' }],
  ['anthropic/claude-sonnet-4.5', served('https://ai-gateway.vercel.sh/v1'), { schemas: 'anthropic' }],
  ['gpt-5.2', openai, { api: 'own' }],
  ['gpt-5.5', openai, { api: 'effort' }],
  ['gpt-5.6-terra', openai, { api: 'reasoning' }],
  ['gpt-6-astra', openai, { api: 'tools' }],
  ['gpt-5-pro', openai, { api: 'responses' }],
  ['gpt-4-0613', openai, { images: false, reasoning: 'none', maxOutputTokens: 8_192 }],
  ['gpt-4-turbo', openai, { images: true, maxOutputTokens: 4_096 }],
  ['gpt-4.1-mini', openai, { maxOutputTokens: 32_768 }],
  ['gpt-4o-mini', openai, { imageTokens: 48_169 }],
  [
    'o4-mini',
    openai,
    {
      noSampling: true,
      noPenalties: true,
      noStop: true,
      parallelToolCalls: false,
      efforts: ['low', 'medium', 'high'],
      maxOutputTokens: 100_000,
    },
  ],
  [
    'gpt-5-nano-2025-08-07',
    openai,
    { noSampling: true, parallelToolCalls: true, efforts: ['minimal', 'low', 'medium', 'high'], maxOutputTokens: 131_072 },
  ],
  ['gpt-5.1', openai, { noSampling: true, efforts: null, reasoning: 'effort' }],
  ['gpt-5-chat-latest', openai, { noSampling: false, reasoning: 'none' }],
  ['default', at('rehearsal', 'https://rehearsal.invalid/v1'), { exact: true, maxOutputTokens: 4_096 }],
  ['gpt-5.5', responses, { schemas: 'openai', maxCallIdLength: 64, noSampling: true }],
  ['gpt-4o', responses, { reasoning: 'none', maxOutputTokens: 16_384 }],
  ['gpt-4-turbo', responses, { maxOutputTokens: 4_096 }],
  ['gpt-4', responses, { maxOutputTokens: 8_192 }],
  ['gpt-4.1', responses, { maxOutputTokens: 32_768 }],
  ['gpt-4o-mini', responses, { imageTokens: 48_169 }],
  ['o3', responses, { efforts: ['low', 'medium', 'high'], maxOutputTokens: 100_000 }],
  ['gpt-5.5', at('openai-responses', 'https://api.openai.com/v1'), { exact: true }],
  ['gpt-5.5', at('openai-responses', 'http://127.0.0.1:1234/v1'), { exact: false }],
  ['gpt-4o', at('openai', 'https://gateway.example/v1'), { exact: false, schemas: 'openai' }],
  ['claude-sonnet-4-5', at('anthropic', 'https://models.example/anthropic/v1'), { exact: false, schemas: 'anthropic' }],
  ['claude-3-opus-20240229', anthropic, { defaultMaxTokens: 4096, reasoning: 'none' }],
  ['claude-3-5-sonnet-20241022', anthropic, { defaultMaxTokens: 8192, reasoning: 'none' }],
  ['claude-sonnet-4-5-20250929', anthropic, { exact: true, reasoning: 'budget', noSampling: false }],
  ['claude-sonnet-4-6', anthropic, { reasoning: 'adaptive', efforts: ['low', 'medium', 'high', 'max'], noSampling: false }],
  ['claude-opus-4-7', anthropic, { noSampling: true, toolChoice: 'forced' }],
  ['claude-opus-5-5', anthropic, { minReasoningBudget: 1024, toolChoice: 'auto', boundReasoning: true }],
  ['gemini-2.5-flash', gemini, { exact: true }],
  ['gemini-2.5-flash', vertex, { exact: true }],
  ['gemini-2.5-flash', at('gemini', 'https://gateway.example/v1beta'), { exact: false }],
  ['gemini-2.0-flash', gemini, { noCallIds: true, reasoning: 'none', maxOutputTokens: 8_192 }],
  ['gemini-2.5-pro', gemini, { webSearch: true, minReasoningBudget: 128, reasoning: 'budget', maxOutputTokens: 65_536 }],
  ['gemini-3-pro-preview', gemini, { efforts: ['low', 'high'], callSignatures: true, noCallIds: false }],
  ['gemini-3.1-pro-preview', gemini, { efforts: ['low', 'medium', 'high'] }],
  ['gemini-3-flash-preview', vertex, { noCallIds: true, imagesInResults: true, formatWithTools: true }],
  ['gemma-3-27b-it', gemini, { protocol: 'text', systemInUser: true }],
  ['command-a-reasoning-08-2025', cohere, { toolChoice: 'required', reasoning: 'budget', images: false, formatWithTools: false }],
  ['command-a-03-2025', cohere, { reasoning: 'none', images: false }],
  ['command-a-vision-07-2025', cohere, { reasoning: 'none', images: true }],
  ['command-a-plus-05-2026', cohere, { reasoning: 'budget', images: true }],
  ['command-r-plus-08-2024', cohere, { toolChoice: 'absent' }],
  ['command-r7b-12-2024', cohere, { toolChoice: 'required' }],

  ['mistralai/mistral-small-4-119b', anywhere, { callIdLength: 9, assistantAfterToolResult: true }],
  ['deepseek-ai/deepseek-v3.2', anywhere, { echoReasoning: true, toolChoice: 'forced' }],
  ['deepseek/deepseek-v4-pro', anywhere, { echoReasoning: true, toolChoice: 'auto', thinkingSwitch: false }],
  ['moonshotai/kimi-k2-thinking', anywhere, { echoReasoning: true, keepCallIds: true }],
  ['moonshotai/kimi-k2.5', anywhere, { echoReasoning: true, keepCallIds: true, imagesInResults: true, noSampling: false }],
  ['kimi-k3', anywhere, { keepCallIds: false, echoReasoning: true }],
  ['anthropic/claude-sonnet-4', anywhere, { imagesInResults: true }],
  ['qwen3-8b', anywhere, { imagesInResults: false, protocol: 'native' }],
  ['google/gemma-2-9b-it', anywhere, { protocol: 'text', systemInUser: true }],
  ['meta-llama/Llama-3-8B-Instruct', anywhere, { protocol: 'text' }],
  ['meta-llama/Llama-3.1-8B-Instruct', anywhere, { protocol: 'native' }],
  ['@cf/meta/llama-3.3-70b-instruct-fp8-fast', anywhere, { contentNeverNull: true }],

  ['z-ai/glm-4.6', served('https://openrouter.ai/api/v1'), { normalize: true, topK: true }],
  [
    'zai-glm-5-2',
    served('https://api.mistral.ai/v1'),
    { callIdLength: 9, streamUsage: false, seedField: 'random_seed', toolResultName: true },
  ],
  [
    'deepseek-chat',
    served('https://api.deepseek.com'),
    { echoReasoning: true, images: false, thinkingSwitch: true, toolChoice: 'forced', maxOutputTokens: 393_216 },
  ],
  ['kimi-k2.6', served('https://api.moonshot.ai/v1'), { noSampling: true, noPenalties: true, toolChoice: 'auto', thinkingSwitch: true }],
  ['kimi-k3', served('https://api.moonshot.cn/v1'), { noSampling: true, thinkingSwitch: false }],
  [
    'glm-4.5-flash',
    served('https://api.z.ai/api/paas/v4'),
    { normalize: true, toolChoice: 'auto', reasoning: 'none', echoReasoning: true },
  ],
  ['glm-5.3', served('https://open.bigmodel.cn/api/paas/v4'), { reasoning: 'effort', efforts: ['low', 'high', 'max'] }],
  ['qwen3-max', served('https://dashscope-intl.aliyuncs.com/compatible-mode/v1'), { normalize: true, topK: true, toolChoice: 'forced' }],
  ['qwq-plus', served('https://dashscope.aliyuncs.com/compatible-mode/v1'), { toolChoice: 'auto' }],
  ['llama-3.3-70b-versatile', served('https://api.groq.com/openai/v1'), { formatWithTools: false, reasoning: 'none', exact: false }],
  ['openai/gpt-oss-120b', served('https://api.groq.com/openai/v1'), { efforts: ['low', 'medium', 'high'] }],
  ['qwen/qwen3-32b', served('https://api.groq.com/openai/v1'), { efforts: ['none', 'default'] }],
  ['grok-4-fast-reasoning', served('https://api.x.ai/v1'), { noPenalties: true, noStop: true, reasoning: 'none' }],
  ['grok-4-1-fast-non-reasoning', served('https://api.x.ai/v1'), { noPenalties: false, reasoning: 'none' }],
  ['grok-4.3', served('https://api.x.ai/v1'), { reasoning: 'effort', efforts: null }],
  ['grok-4.5', served('https://api.x.ai/v1'), { efforts: ['low', 'medium', 'high'] }],
  ['grok-3-mini', served('https://api.x.ai/v1'), { efforts: ['low', 'high'] }],
  ['zai-org/GLM-5.3', served('https://api.together.xyz/v1'), { topK: true }],
  ['gpt-4o-mini', served('https://acme.openai.azure.com/openai/v1'), { normalize: true, maxTools: 128, maxTokensField: 'max_tokens' }],
  [
    'gpt-5-mini',
    at('openai', 'https://acme.openai.azure.com/openai/v1'),
    { normalize: true, exact: false, noSampling: true, maxTokensField: 'max_completion_tokens' },
  ],
  ['o4-mini', served('https://acme.services.ai.azure.com/openai/v1'), { maxTokensField: 'max_completion_tokens', noStop: true }],
  ['zai-glm-4.7', served('https://api.cerebras.ai/v1'), { noPenalties: true, parallelToolCalls: false }],
  ['gpt-4o-2024-11-20', served('https://api.githubcopilot.com'), { normalize: true, maxTools: 128 }],
  [
    'gemini-2.5-pro',
    served('https://generativelanguage.googleapis.com/v1beta/openai'),
    { normalize: true, callSignatures: false, noCallIds: false },
  ],
  ['gemini-3-pro', served('https://generativelanguage.googleapis.com/v1beta/openai'), { callSignatures: true }],
  ['claude-haiku-4-5', served('https://api.anthropic.com/v1'), { normalize: true }],
  ['command-a-03-2025', served('https://api.cohere.ai/compatibility/v1'), { parallelToolCalls: false }],
  ['databricks-claude-sonnet-4', served('https://dbc.cloud.databricks.com/serving-endpoints'), { normalize: true }],
  ['claude-sonnet-4-6', served('https://acme.snowflakecomputing.com/api/v2/cortex/v1'), { normalize: true }],
  ['mistral-small-3-2-24b-instruct', served('https://api.venice.ai/api/v1'), { normalize: true, callIdLength: 9 }],
  ['moonshotai/kimi-k2.5', served('https://api.avian.io/v1'), { normalize: true, keepCallIds: true }],
  ['@cf/openai/gpt-oss-120b', served('https://api.cloudflare.com/client/v4/accounts/a/ai/v1'), { contentNeverNull: true, normalize: true }],
  ['gemma3:4b', ollama, { protocol: 'text' }],
  ['llama3', ollama, { protocol: 'text' }],
  ['llama3.2:3b', ollama, { protocol: 'native' }],
  ['gpt-4o-audio-preview', openai, { images: false, files: ['audio'] }],
  ['gpt-4o', anywhere, { imagesInResults: true, files: ['pdf'] }],
  ['google/gemini-2.5-pro', anywhere, { imagesInResults: true, files: ['pdf', 'audio'] }],
  ['google/gemini-2.5-pro', served('https://openrouter.ai/api/v1'), { files: ['pdf', 'audio', 'video', 'url'] }],
  ['meta-llama/llama-3.3-70b-instruct', served('https://openrouter.ai/api/v1'), { files: ['pdf', 'url'] }],
  ['qwen2.5-vl-72b-instruct', anywhere, { imagesInResults: true }],
  ['pixtral-12b', anywhere, { imagesInResults: true }],
  ['meta-llama/llama-4-maverick', anywhere, { imagesInResults: true }],
  ['grok-4', anywhere, { imagesInResults: true }],
  ['glm-4.5v', anywhere, { imagesInResults: true, images: true }],
  ['glm-4.6', anywhere, { imagesInResults: false, images: false }],
  ['openai/gpt-oss-120b', anywhere, { images: false }],
  ['OpenGVLab/InternVL3-78B', anywhere, { imagesInResults: true }],
  ['amazon/nova-pro-v1', anywhere, { imagesInResults: true }],
  ['house-vision-2', anywhere, { imagesInResults: true }],
  ['some-model', anywhere, { imagesInResults: false, images: true, files: [] }],
  ['qwen3:8b', nativeOllama, { toolChoice: 'absent', formatWithTools: false, reasoning: 'effort', protocol: 'native' }],
  ['gpt-oss:120b-cloud', nativeOllama, { efforts: ['low', 'medium', 'high'] }],
  ['llama3.2:3b', nativeOllama, { reasoning: 'none', protocol: 'native' }],
  ['gemma3:4b', nativeOllama, { protocol: 'text' }],
  ['gemma4:12b', nativeOllama, { protocol: 'native', reasoning: 'effort' }],
  ['Qwen/Qwen3.6-27B', anywhere, { systemPlace: 'first' }],
  ['gpt-4.1', openai, { refusedFields: MessageField.options }],
  ['qwen/qwen3-32b', served('https://api.groq.com/openai/v1'), { refusedFields: expect.not.arrayContaining(['reasoning']) as [] }],
  ['kimi-k2', served('https://api.fireworks.ai/inference/v1'), { refusedFields: ['thinking_blocks', 'provider_specific_fields'] }],
  ['MiniMaxAI/MiniMax-M2', anywhere, { thinkTags: 'begin' }],
  ['phi-4-reasoning-plus', anywhere, { thinkTags: 'begin' }],
  ['qwen3-coder-30b', anywhere, { thinkTags: 'none' }],
  ['qwen-3-235b-a22b-thinking-2507', served('https://api.cerebras.ai/v1'), { thinkTags: 'opened' }],
  ['qwen3-32b', anywhere, { systemPlace: 'anywhere', prefill: 'plain' }],
  ['claude-opus-4-6', anthropic, { systemPlace: 'first' }],
  ['claude-opus-4-8', anthropic, { systemPlace: 'afterUser' }],
  ['kimi-k2-0905-preview', served('https://api.moonshot.ai/v1'), { prefill: 'partial' }],
  ['gemma3:4b', served('http://127.0.0.1:1234/v1'), { protocol: 'native' }],
  ['claude-opus-5', anthropic, { cacheMarks: 'automatic' }],
  ['claude-sonnet-4-5', anywhere, { cacheMarks: 'automatic' }],
  ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', anywhere, { cacheMarks: 'automatic' }],
  ['anthropic/claude-sonnet-4.5', served('https://openrouter.ai/api/v1'), { cacheMarks: 'automatic' }],
  ['databricks-claude-sonnet-4', served('https://dbc.cloud.databricks.com/serving-endpoints'), { cacheMarks: 'automatic' }],
  ['claude-haiku-4-5', served('https://api.anthropic.com/v1'), { cacheMarks: 'none' }],
  ['claude-sonnet-4.5', served('https://api.githubcopilot.com'), { cacheMarks: 'none' }],
  ['google/gemini-2.5-pro', served('https://openrouter.ai/api/v1'), { cacheMarks: 'given' }],
  ['meta-llama/llama-4-maverick', served('https://openrouter.ai/api/v1'), { cacheMarks: 'none' }],
  ['qwen4-max', served('https://dashscope.aliyuncs.com/compatible-mode/v1'), { cacheMarks: 'given' }],
  ['gpt-5.6-terra', openai, { cacheMarks: 'breakpoint' }],
  ['gpt-5.5', openai, { cacheMarks: 'none' }],
  ['kimi-k3', served('https://api.moonshot.ai/v1'), { extraSettings: ['promptCacheKey'] }],
  ['my-deployment', azure, { api: 'own', normalize: true, exact: false, maxTokensField: 'max_completion_tokens' }],
  ['meta.llama3-1-8b-instruct-v1:0', bedrock, { toolChoice: 'auto', reasoning: 'none', cacheMarks: 'none', images: false }],
  ['us.meta.llama4-maverick-17b-instruct-v1:0', bedrock, { images: true }],
  ['mistral.mistral-large-2402-v1:0', bedrock, { toolChoice: 'required', images: false }],
  ['us.amazon.nova-pro-v1:0', bedrock, { toolChoice: 'forced', imagesInResults: true, cacheMarks: 'given', images: true }],
  ['us.amazon.nova-2-lite-v1:0', bedrock, { reasoning: 'adaptive', efforts: ['low', 'medium', 'high'] }],
  ['openai.gpt-oss-120b-1:0', bedrock, { reasoning: 'effort', minReasoningBudget: 1 }],
  [
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    { ...bedrock, kind: 'anthropic' },
    { files: ['pdf'], reasoning: 'budget', exact: false },
  ],
  ['claude-opus-4-6', { ...bedrock, kind: 'anthropic', cloud: { kind: 'vertex' } }, { files: ['pdf'], reasoning: 'adaptive' }],
];

describe('a profile', () => {
  it.each(cases)('of %s has the expected fields', (model, access, profile) => {
    expect(profileFor(access, model)).toMatchObject(profile);
  });

  it('has a case above for each of its rows, and each row has a source', () => {
    const unseen = profileRows.filter((row) => !cases.some(([model, access]) => matchesRow(row, access, model)));
    expect(unseen.map((row) => row.because)).toEqual([]);
    const sourceless = profileRows.filter((row) => row.because.trim().length < 10 && row.kind !== 'rehearsal');
    expect(sourceless).toEqual([]);
  });

  it('has a case above in which each row counts', () => {
    const idle = profileRows.filter(
      (row) =>
        !cases.some(
          ([model, access, profile]) => matchesRow(row, access, model) && Object.keys(row.profile).some((flag) => flag in profile),
        ),
    );
    expect(idle.map((row) => row.because)).toEqual([]);
  });

  it('matches whole host names, by the URL alone', () => {
    expect(profileFor(served('https://evilopenrouter.ai/v1'), 'm').normalize).toBe(false);
    expect(profileFor(served('https://eu.openrouter.ai/v1'), 'm').normalize).toBe(true);
    expect(profileFor(served('https://models.example/openrouter.ai'), 'm')).toEqual(plainProfile);
    expect(profileFor(served('not an address'), 'm')).toEqual(plainProfile);
  });

  it('is plain for servers without known differences: vLLM, LM Studio, llama.cpp, SGLang and similar', () => {
    for (const port of [8000, 1234, 8080, 30_000])
      expect(profileFor(served(`http://127.0.0.1:${port}/v1`), 'Qwen/Qwen3-8B')).toEqual({ ...plainProfile, thinkTags: 'begin' });
  });

  it('is overridden by the administrator’s settings', () => {
    const access = { ...served('https://api.mistral.ai/v1'), profile: { callIdLength: null, normalize: true } };
    expect(profileFor(access, 'mistral-large')).toMatchObject({ callIdLength: null, normalize: true, streamUsage: false });
  });

  it('is cached for the same access, for any number of models', () => {
    const access = served('https://models.example/v1');
    expect(profileFor(access, 'm')).toBe(profileFor(access, 'm'));
    for (let count = 0; count < 500; count++) profileFor(access, `model-${count}`);
    expect(profileFor(access, '@cf/x').contentNeverNull).toBe(true);
  });
});

/** Every provider of the corpus: a URL of its kind, and the flags that its recordings need. */
const corpus: Record<string, { access: ProviderAccess; model: string; profile: Partial<Profile> }> = {
  alibaba: { access: served('https://dashscope.aliyuncs.com/compatible-mode/v1'), model: 'qwen3-max', profile: { normalize: true } },
  anthropic: { access: anthropic, model: 'claude-sonnet-4-6', profile: { exact: true } },
  'anthropic-compat': { access: served('https://api.anthropic.com/v1'), model: 'claude-haiku-4-5', profile: { normalize: true } },
  avian: { access: served('https://api.avian.io/v1'), model: 'moonshotai/kimi-k2.5', profile: { normalize: true, keepCallIds: true } },
  azure: { access: served('https://acme.openai.azure.com/openai/v1'), model: 'gpt-4o-mini', profile: { normalize: true } },
  'bedrock-mantle': {
    access: at('openai-responses', 'https://bedrock-mantle.us-east-1.api.aws/v1'),
    model: 'openai.gpt-5.6-luna',
    profile: { maxCallIdLength: 64 },
  },
  cerebras: { access: served('https://api.cerebras.ai/v1'), model: 'zai-glm-4.7', profile: { parallelToolCalls: false } },
  'chatgpt-codex': { access: at('openai-responses', 'https://chatgpt.com/backend-api/codex'), model: 'gpt-5.4', profile: { exact: false } },
  cohere: { access: cohere, model: 'command-a-03-2025', profile: { toolChoice: 'required' } },
  databricks: { access: served('https://dbc.cloud.databricks.com/serving-endpoints'), model: 'claude', profile: { normalize: true } },
  deepseek: {
    access: served('https://api.deepseek.com'),
    model: 'deepseek-v4-flash',
    profile: { echoReasoning: true, toolChoice: 'auto' },
  },
  'github-copilot': { access: served('https://api.githubcopilot.com'), model: 'gpt-4o-2024-11-20', profile: { normalize: true } },
  google: { access: gemini, model: 'gemini-2.5-flash', profile: { noCallIds: true } },
  'google-openai-compat': {
    access: served('https://generativelanguage.googleapis.com/v1beta/openai'),
    model: 'gemini-2.5-pro',
    profile: { normalize: true },
  },
  'google-vertex': { access: vertex, model: 'gemini-3-flash-preview', profile: { noCallIds: true, callSignatures: true } },
  gpustack: { access: served('http://gpustack.internal/v1'), model: 'qwen3', profile: { exact: false } },
  groq: {
    access: served('https://api.groq.com/openai/v1'),
    model: 'llama-3.3-70b-versatile',
    profile: { exact: false, formatWithTools: false },
  },
  llamacpp: { access: served('http://127.0.0.1:8080/v1'), model: 'Qwen3-8B-Q4_K_M.gguf', profile: { exact: false } },
  lmstudio: {
    access: at('openai-responses', 'http://127.0.0.1:1234/v1'),
    model: 'zai-org/glm-4.7-flash',
    profile: { maxCallIdLength: 64 },
  },
  mistral: { access: served('https://api.mistral.ai/v1'), model: 'mistral-large-latest', profile: { callIdLength: 9, streamUsage: false } },
  mistralrs: { access: served('http://127.0.0.1:1234/v1'), model: 'Qwen/Qwen3-4B', profile: { exact: false } },
  ollama: { access: ollama, model: 'qwen3', profile: { exact: false, protocol: 'native' } },
  openai: { access: openai, model: 'gpt-4o', profile: { exact: true } },
  openrouter: {
    access: served('https://openrouter.ai/api/v1'),
    model: 'moonshotai/kimi-k2',
    profile: { normalize: true, keepCallIds: true },
  },
  snowflake: { access: served('https://acme.snowflakecomputing.com/api/v2/cortex/v1'), model: 'claude', profile: { normalize: true } },
  'vercel-gateway': { access: served('https://ai-gateway.vercel.sh/v1'), model: 'anthropic/claude-sonnet-4', profile: { exact: false } },
  venice: { access: served('https://api.venice.ai/api/v1'), model: 'mistral-small', profile: { normalize: true } },
  xai: { access: served('https://api.x.ai/v1'), model: 'grok-4-fast-reasoning', profile: { noStop: true } },
  zai: { access: served('https://api.z.ai/api/paas/v4'), model: 'glm-4.5', profile: { normalize: true, toolChoice: 'auto' } },
};

describeCorpus('providers', (path) => {
  const recordings = readJson<{ file: string; provider: string }[]>(join(path, 'index.json'));

  it('contains no provider without a profile here', () => {
    expect([...new Set(recordings.map(({ provider }) => provider))].sort()).toEqual(Object.keys(corpus).sort());
  });

  it.each(Object.entries(corpus))('have the expected profile: %s', (_name, { access, model, profile }) => {
    expect(profileFor(access, model)).toMatchObject(profile);
  });

  it('has every recording that a row names', () => {
    const files = recordings.map(({ file }) => file);
    const named = profileRows.flatMap(({ because }) =>
      [...because.matchAll(/recorded: ([\w.-]+)/g)].map(([, name = '']) => name.replace(/\.$/, '')),
    );
    expect(named.length).toBeGreaterThan(8);
    for (const name of named)
      expect(
        files.some((file) => file.includes(name)),
        name,
      ).toBe(true);
  });
});

const flags = Object.keys(ProviderProfile.shape) as (keyof ProviderProfile)[];

/** Differs from the plain profile in every field, to show that each arrives. */
const everything: Required<ProviderProfile> = {
  api: 'tools',
  webSearch: true,
  systemPlace: 'first',
  prefill: 'refused',
  files: ['pdf'],
  normalize: true,
  exact: true,
  protocol: 'text',
  schemas: 'gemini',
  strictTools: true,
  jsonMode: false,
  outputSchema: false,
  maxStops: 3,
  extraSettings: ['user'],
  cacheMarks: 'given',
  maxToolDescription: 200,
  maxTools: 3,
  toolChoice: 'auto',
  requiredToolChoice: 'any',
  parallelToolCalls: false,
  callIdLength: 9,
  maxCallIdLength: 12,
  keepCallIds: true,
  noCallIds: true,
  toolResultName: true,
  assistantAfterToolResult: true,
  callSignatures: true,
  contentNeverNull: true,
  systemInUser: true,
  images: false,
  imagesInResults: true,
  maxTokensField: 'max_completion_tokens',
  defaultMaxTokens: 7,
  maxOutputTokens: 9,
  imageTokens: 9,
  contextTokens: 9,
  keepAlive: '9m',
  streamUsage: false,
  seedField: 'random_seed',
  topK: true,
  noSampling: true,
  noPenalties: true,
  noStop: true,
  formatWithTools: false,
  reasoning: 'none',
  efforts: ['low'],
  minReasoningBudget: 1,
  thinkingSwitch: true,
  echoReasoning: true,
  boundReasoning: true,
  thinkTags: 'opened',
  refusedFields: ['reasoning'],
};

describe('the flags of a profile', () => {
  it('can all be set by PUT /v1/providers, are shown by GET, and reach the adapters', async () => {
    const h = createHarness();
    const body = { kind: 'openai-compatible', baseUrl: 'https://models.example/v1', profile: everything };
    expect((await h.send('PUT', '/v1/providers/acme', body)).status).toBe(201);
    const { profile } = await bodyOf(await h.send('GET', '/v1/providers/acme'));
    expect(profile).toEqual(everything);
    expect(Object.keys(everything).sort()).toEqual([...flags].sort());
    const found = profileFor({ ...anywhere, profile: Provider.parse(body).profile ?? {} }, 'm');
    for (const flag of flags) expect(found[flag], flag).not.toEqual(plainProfile[flag]);
  });

  it('reject unknown fields', async () => {
    const h = createHarness();
    for (const profile of [{ surprise: true }, { normalize: 'yes' }, { efforts: [] }, { toolChoice: 'maybe' }]) {
      const body = { kind: 'openai-compatible', baseUrl: 'https://models.example/v1', profile };
      expect((await h.send('PUT', '/v1/providers/acme', body)).status, JSON.stringify(profile)).toBe(422);
    }
  });

  it('are each described in the OpenAPI document', async () => {
    const document = await bodyOf(await createHarness().send('GET', '/openapi.json'));
    const { properties } = document.components.schemas.ProviderProfile;
    expect(Object.keys(properties).sort()).toEqual([...flags].sort());
    for (const flag of flags) expect(String(properties[flag].description).length, flag).toBeGreaterThan(20);
  });

  /** `tool-definitions.ts` reads these, and its tests show what each does. */
  const ofTools = new Set(['schemas', 'strictTools', 'maxToolDescription', 'maxTools', 'toolChoice']);

  it('are each read by an adapter, except those about tools', () => {
    const folder = join(import.meta.dirname, '../../src/providers');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // The rows name each flag, they do not read it.
      .filter((file) => file.endsWith('.ts') && !file.endsWith('profiles.ts') && file !== 'compatible-rows.ts');
    const text = sources.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    const reads = (flag: string): boolean =>
      new RegExp(`\\b(profile|rules|\\))\\.${flag}\\b|\\{[^{}]*\\b${flag}\\b[^{}]*\\}(: (Profile|IdRules)| = profile)`).test(text);
    const unread = flags.filter((flag) => !ofTools.has(flag) && !reads(flag));
    expect(unread).toEqual([]);
  });
});
