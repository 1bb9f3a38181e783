/**
 * Amazon Bedrock's `Converse`, which has the blocks of Anthropic's Messages API under other names: requests are built for that API, and
 * replies read as its replies; `converse.ts`, loaded with the first request, renames both. Source: API reference "Converse",
 * "ConverseStream".
 */
import type { Adapter, ProfileRow } from '../adapter.ts';
import { anthropic } from '../anthropic/reply.ts';

const rows: readonly ProfileRow[] = [
  {
    kind: 'bedrock',
    because: 'least of all models (guide "Supported models and features")',
    profile: {
      schemas: 'anthropic',
      maxCallIdLength: 64,
      jsonMode: false,
      outputSchema: false,
      parallelToolCalls: false,
      toolChoice: 'auto',
      reasoning: 'none',
      systemPlace: 'first',
      files: ['pdf'],
    },
  },
  {
    kind: 'bedrock',
    model: /mistral-large|pixtral-large/i,
    because: 'API reference, ToolChoice',
    profile: { toolChoice: 'required' },
  },
  {
    kind: 'bedrock',
    model: /amazon\.nova/i,
    because: 'API reference, ToolChoice; guide "Prompt caching"',
    profile: { toolChoice: 'forced', imagesInResults: true, cacheMarks: 'given' },
  },
  {
    kind: 'bedrock',
    model: /gpt-oss/i,
    because: 'always reasons, with an effort (guide "OpenAI models")',
    profile: { reasoning: 'effort', efforts: ['low', 'medium', 'high'], minReasoningBudget: 1 },
  },
  {
    kind: 'bedrock',
    model: /amazon\.nova-2/i,
    because: 'reasons with an effort, if it is asked to (guide "Nova 2: extended thinking")',
    profile: { reasoning: 'adaptive', efforts: ['low', 'medium', 'high'] },
  },
  {
    kind: 'bedrock',
    model: /llama|mistral\.(mistral|mixtral)|gpt-oss|deepseek|titan-text|command|jamba|nova-micro|qwen3(?!-vl)/i,
    because: 'text only (guide "Supported models and features")',
    profile: { images: false, files: [] },
  },
  {
    kind: 'bedrock',
    model: /llama3-2-(11b|90b)|llama4|pixtral|mistral-large-3/i,
    because: 'see images (guide "Supported models and features")',
    profile: { images: true },
  },
];

const { dialect: _dialect, watched: _watched, countTokensPath: _count, readUsage: _usage, headers: _headers, ...messages } = anthropic;

export const bedrock: Adapter = {
  ...messages,
  // After the model, which `send-to-cloud.ts` adds.
  path: ({ whole }) => (whole ? '/converse' : '/converse-stream'),
  profileRows: rows,
  toBody(request, profile) {
    const { max_tokens: least, ...body } = messages.toBody(request, profile);
    // Optional here: each model has its own limit.
    return request.settings.maxOutputTokens === undefined ? body : { ...body, max_tokens: least };
  },
  modelsUrl: (baseUrl) => baseUrl,
};
