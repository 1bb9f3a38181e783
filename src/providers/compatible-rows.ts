/**
 * Profile rows of servers with OpenAI-compatible Chat Completions (each wire's folder has its own); `model-rows.ts` has those of models. Servers that only
 * differ in their replies (ids, indexes, names, ends) need no row: the reply reader and the assembler handle them, and a stream with tools
 * is only forwarded unread if a row sets `exact`.
 */
import { MessageField } from '../core/model/provider-profile.ts';
import type { ProfileRow } from './adapter.ts';
import { modelRows } from './model-rows.ts';

/** OpenAI's reasoning models, without gpt-5-chat. */
export const openAiReasoning = /^(o\d|gpt-([5-9]|\d\d)(?![\d.]*-chat))/;

/** Settings of the prompt cache of OpenAI's APIs (guide "Prompt caching"). */
export const openAiCaching = ['promptCacheKey', 'promptCacheRetention', 'promptCacheOptions'] as const;

const azure = ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'];
const moonshot = ['moonshot.ai', 'moonshot.cn', 'kimi.com'];
const zai = ['z.ai', 'bigmodel.cn'];

/** Servers, by host name. */
const serverRows: readonly ProfileRow[] = [
  {
    host: 'openrouter.ai',
    because:
      'passes through what each backend does: equal indexes, repeated finish reasons (recorded: gemini-2.5-flash-lite-15-calls-same-index); takes top_k (API reference)',
    profile: { normalize: true, topK: true, extraSettings: ['user', 'verbosity', 'promptCacheKey', 'promptCacheOptions'] },
  },
  {
    kind: 'openai-compatible',
    host: 'openrouter.ai',
    model: /gemini-[2-9]|qwen|gpt-(5\.[6-9]|[6-9])/i,
    because: 'takes cache_control for Gemini, Qwen and GPT-5.6, too (guide "Prompt Caching")',
    profile: { cacheMarks: 'given' },
  },
  {
    kind: 'openai-compatible',
    host: 'openrouter.ai',
    because: 'reads PDF for every model, also by URL (guide "PDF Inputs")',
    profile: { files: ['pdf', 'url'] },
  },
  {
    kind: 'openai-compatible',
    host: 'openrouter.ai',
    model: /gemini-[2-9]/i,
    because: 'passes sound and videos to Gemini (guides "Audio Inputs", "Video Inputs")',
    profile: { files: ['pdf', 'audio', 'video', 'url'] },
  },
  {
    host: 'mistral.ai',
    because:
      'unknown fields are a 422 "extra_forbidden" (mistralai/platform-docs-public#7), stream_options among them: usage comes anyway; the seed is random_seed and a tool message has a name, and an assistant message at the end needs prefix (API reference)',
    profile: {
      callIdLength: 9,
      assistantAfterToolResult: true,
      toolResultName: true,
      streamUsage: false,
      seedField: 'random_seed',
      prefill: 'prefix',
      reasoning: 'none',
      extraSettings: ['promptCacheKey'],
    },
  },
  {
    host: 'api.deepseek.com',
    because:
      '"unknown variant `image_url`, expected `text`" (rikkahub/rikkahub#1433); a prefix only at its beta address (guide "Chat Prefix Completion"); reasoning goes back, and is switched by `thinking` (guide "Thinking Mode")',
    profile: { images: false, echoReasoning: true, thinkingSwitch: true, prefill: 'refused' },
  },
  {
    host: 'api.deepseek.com',
    because: 'at most 384K output tokens ("Models & Pricing" of DeepSeek-V4)',
    profile: { maxOutputTokens: 393_216 },
  },
  {
    host: moonshot,
    because: 'takes prompt_cache_key (API reference, Chat Completions)',
    profile: { extraSettings: ['promptCacheKey'] },
  },
  {
    host: [...moonshot, 'aliyuncs.com'],
    because: 'an assistant message at the end is continued with partial (guides "Partial Mode" of Kimi and of DashScope)',
    profile: { prefill: 'partial' },
  },
  {
    host: moonshot,
    model: /kimi-k2\.[5-9]|kimi-k[3-9]/i,
    because:
      '"invalid temperature: only 1 is allowed for this model" (odysseus-dev/odysseus#3959); "tool_choice \'specified\' is incompatible with thinking enabled", penalties fixed too (enricoros/big-AGI#1161)',
    profile: { noSampling: true, noPenalties: true, toolChoice: 'auto', reasoning: 'none' },
  },
  {
    host: moonshot,
    model: /kimi-k2\.[56]/i,
    because: 'thinking is switched by `thinking` (HKUDS/nanobot#4967)',
    profile: { thinkingSwitch: true },
  },
  {
    host: zai,
    because:
      'index -1 (recorded: glm-4.5-flash-index-minus-1); "GLM only accepts tool_choice=auto", no penalties (GLM guide of agentscope-java); thinking goes back with the results and is switched by `thinking` (guide "Thinking Mode")',
    profile: { normalize: true, toolChoice: 'auto', noPenalties: true, echoReasoning: true, thinkingSwitch: true, reasoning: 'none' },
  },
  {
    host: zai,
    model: /glm-(5\.[2-9]|[6-9])/i,
    because: 'reasoning_effort low, high or max (guide of GLM-5.3; GLM-5.2 maps the words)',
    profile: { reasoning: 'effort', efforts: ['low', 'high', 'max'] },
  },
  {
    host: 'aliyuncs.com',
    because:
      'id "" on later pieces of a call (symfony/ai#2220, anomalyco/opencode#40969; recorded: qwen3-max-continuation-id-empty); top_k is taken, thinking has fields of its own (DashScope API reference)',
    profile: { normalize: true, topK: true, reasoning: 'none' },
  },
  {
    host: 'aliyuncs.com',
    model: /qwen/i,
    because: 'takes cache_control in content parts, at most four (guides "Context Cache", "Explicit cache (Qwen4)")',
    profile: { cacheMarks: 'given' },
  },
  {
    host: 'aliyuncs.com',
    model: /qwq|qvq|-thinking|qwen3-\d+b(?!.*instruct)|qwen3\.[5-9]/i,
    because: '"tool_choice … does not support being set to required or object in thinking mode" (QwenLM/qwen-code#7659)',
    profile: { toolChoice: 'auto' },
  },
  {
    kind: ['openai', 'openai-compatible'],
    host: ['api.openai.com', ...azure, 'mistral.ai'],
    because: 'fields of other providers in messages are a 400 or 422 ("extra_forbidden", OpenMinis/OpenMinis#87), and mean nothing there',
    profile: { refusedFields: MessageField.options },
  },
  {
    host: 'groq.com',
    because: '"property \'reasoning_content\' is unsupported" (janhq/jan#8136); its own field is `reasoning` (guide "Reasoning")',
    profile: { refusedFields: MessageField.options.filter((name) => name !== 'reasoning') },
  },
  {
    host: ['fireworks.ai', 'together.xyz', 'together.ai'],
    because: '"Extra inputs are not permitted, field: \'messages[2].thinking_blocks\'" (AndyMik90/Aperant#1988)',
    profile: { refusedFields: ['thinking_blocks', 'provider_specific_fields'] },
  },
  {
    host: 'groq.com',
    because: 'structured outputs take neither tools nor JSON mode beside them (guide "Structured Outputs")',
    profile: { formatWithTools: false },
  },
  {
    host: 'groq.com',
    model: /llama|gemma|kimi-k2-instruct|allam|compound/i,
    because: '"reasoning_effort is not supported with this model" (guide "Reasoning")',
    profile: { reasoning: 'none' },
  },
  {
    host: 'groq.com',
    model: /gpt-oss/i,
    because: 'efforts low, medium and high (guide "Reasoning")',
    profile: { efforts: ['low', 'medium', 'high'] },
  },
  { host: 'groq.com', model: /qwen/i, because: 'efforts none and default (guide "Reasoning")', profile: { efforts: ['none', 'default'] } },
  {
    host: 'x.ai',
    model: /grok-(3-mini|4|[5-9]|code)(?!.*non-reasoning)/i,
    because: 'presencePenalty, frequencyPenalty and stop are an error for models that reason (guide "Reasoning")',
    profile: { noPenalties: true, noStop: true },
  },
  {
    host: 'x.ai',
    model: /grok-(2|3(?!-mini)|4$|4-|4\.20|code)/i,
    because: '"Model does not support parameter reasoningEffort" (release notes of opencode-oci-provider 0.2.3, @ai-sdk/xai 4.0.8)',
    profile: { reasoning: 'none' },
  },
  {
    host: 'x.ai',
    model: /grok-3-mini/i,
    because: 'efforts low and high (guide "Reasoning")',
    profile: { efforts: ['low', 'high'] },
  },
  {
    host: 'x.ai',
    model: /grok-4\.5/i,
    because: 'reasoning cannot be disabled: low, medium, high (anomalyco/opencode#39448)',
    profile: { efforts: ['low', 'medium', 'high'] },
  },
  { host: ['together.xyz', 'together.ai'], because: 'takes top_k (API reference, Chat Completions)', profile: { topK: true } },
  {
    kind: ['openai', 'openai-compatible'],
    host: azure,
    because:
      'chunks with empty choices and without delta (CopilotKit/CopilotKit#2468, microsoft/autogen#6465; recorded: gpt-4o-mini-prompt-filter-first); schemas and numbers of tools as at OpenAI',
    profile: { normalize: true, schemas: 'openai', strictTools: true, maxTools: 128, extraSettings: ['user', ...openAiCaching] },
  },
  {
    kind: ['openai', 'openai-compatible'],
    host: azure,
    model: openAiReasoning,
    because: 'max_tokens, temperature and its like are refused as at OpenAI (guide "Azure OpenAI reasoning models")',
    profile: { maxTokensField: 'max_completion_tokens', noSampling: true, noPenalties: true, noStop: true },
  },
  {
    kind: ['openai', 'openai-responses'],
    cloud: 'azure-openai',
    because: 'has both APIs (reference "Azure OpenAI v1 API"); chunks with empty choices (recorded: gpt-4o-mini-prompt-filter-first)',
    profile: { api: 'own', normalize: true, exact: false, refusedFields: MessageField.options },
  },
  ...(['bedrock', 'vertex'] as const).map(
    (cloud): ProfileRow => ({
      ...{ kind: 'anthropic', cloud, because: 'takes no URLs of media (guides "Claude on Bedrock", "Claude on Vertex AI")' },
      profile: { files: ['pdf'] },
    }),
  ),
  {
    host: 'cerebras.ai',
    because: 'penalties and parallel_tool_calls are a 400 (guide "OpenAI compatibility", as agentjido/req_llm quotes it)',
    profile: { noPenalties: true, parallelToolCalls: false },
  },
  {
    host: 'githubcopilot.com',
    because:
      'chunks with an empty id and empty choices (recorded: gpt-4o-two-calls-empty-args); at most 128 tools (reference §8.6); marks of the cache are fields of its own',
    profile: { normalize: true, maxTools: 128, cacheMarks: 'none' },
  },
  {
    kind: 'openai-compatible',
    host: 'generativelanguage.googleapis.com',
    because:
      'calls without index or id, or all with index 0 (openai/openai-python#2806, vercel/ai#14277; recorded: gemini-2.5-pro-id-empty-string)',
    profile: { normalize: true },
  },
  {
    kind: 'openai-compatible',
    host: ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com'],
    model: /gemini-([3-9]|\d\d)/i,
    because:
      'the first call of a step must carry its thought_signature in extra_content (guide "Thought signatures", OpenAI compatibility)',
    profile: { callSignatures: true },
  },
  {
    kind: 'openai-compatible',
    host: 'anthropic.com',
    because:
      'the index of calls begins at 1 behind a text (recorded: claude-haiku-index-starts-at-1); no prompt caching (guide "OpenAI SDK compatibility")',
    profile: { normalize: true, cacheMarks: 'none' },
  },
  {
    host: 'cerebras.ai',
    model: /qwen-?3.*thinking/i,
    because: 'the text begins in the reasoning, and only its end is marked (Cerebras/cerebras-cloud-sdk-python#10)',
    profile: { thinkTags: 'opened' },
  },
  {
    kind: 'openai-compatible',
    host: ['cohere.ai', 'cohere.com'],
    because: 'its compatible path refuses parallel_tool_calls (guide "Compatibility API")',
    profile: { parallelToolCalls: false },
  },
  {
    host: 'databricks.com',
    because: 'indexes begin at 1 where text came first (recorded: databricks-claude-indices-start-at-1)',
    profile: { normalize: true },
  },
  {
    host: 'snowflakecomputing.com',
    because: 'function_call, custom and finish_reason stand there with empty values (recorded: claude-zero-valued-fields)',
    profile: { normalize: true },
  },
  {
    host: 'venice.ai',
    because:
      'tool_calls null in text, empty argument pieces with id and name null (recorded: mistral-small-continuation-id-null-name-null)',
    profile: { normalize: true },
  },
  {
    host: 'avian.io',
    because: 'the id of chunks changes within a stream, finish reasons are repeated (recorded: kimi-k2.5-ids-functions-add-0)',
    profile: { normalize: true },
  },
  {
    host: 'api.cloudflare.com',
    because: 'content null is refused; last chunks of null (changelog of cloudflare/ai)',
    profile: { contentNeverNull: true, normalize: true },
  },
  {
    port: '11434',
    model: /^(gemma[23]?|llama2|llama3|codellama|vicuna|phi3|deepseek-r1)(:|$)/i,
    because: 'Ollama: "does not support tools" is a 400 (ollama/ollama#5793, #15023, #15602, louisho5/picobot#6)',
    profile: { protocol: 'text' },
  },
];

export const compatibleRows: readonly ProfileRow[] = [...modelRows, ...serverRows];
