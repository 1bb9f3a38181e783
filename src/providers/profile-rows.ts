/**
 * Quirks of providers and models as rows of data: what must be said otherwise, so that the adapters have no special cases. Looking
 * them up is `profiles.ts`. A row's fields lie over those of the rows before it.
 */
import type { ProviderAccess } from '../core/provider.ts';
import type { Profile } from '../core/provider-profile.ts';

/** `host` is compared with the end of the base URL's host name, `model` with the model half of the ref. All that match apply. */
export type ProfileRow = {
  kind?: ProviderAccess['kind'];
  host?: string;
  model?: RegExp;
  /** What was seen, and where it is written: an API reference, a thread, or a recorded reply of the corpus. */
  because: string;
  profile: Partial<Profile>;
};

/** What is true of most servers that speak Chat Completions. */
export const plainProfile: Profile = {
  normalize: false,
  exact: false,
  protocol: 'native',
  schemas: 'full',
  maxToolDescription: null,
  maxTools: null,
  toolChoice: 'forced',
  requiredWord: null,
  maxTokensField: 'max_tokens',
  defaultMaxTokens: null,
  streamUsage: true,
  contentNeverNull: false,
  parallelToolCalls: true,
  callIdLength: null,
  maxCallIdLength: 40,
  keepCallIds: false,
  noCallIds: false,
  toolResultName: false,
  assistantAfterToolResult: false,
  systemInUser: false,
  images: true,
  imagesInResults: false,
  callSignatures: false,
  formatWithTools: true,
  noSampling: false,
  echoReasoning: false,
  boundReasoning: false,
  reasoning: 'effort',
  efforts: null,
  minReasoningBudget: 0,
};

export const profileRows: readonly ProfileRow[] = [
  {
    kind: 'openai',
    because: 'max_tokens is deprecated and refused by reasoning models; function descriptions are limited to 1024 characters',
    profile: { exact: true, schemas: 'openai', maxTokensField: 'max_completion_tokens', maxToolDescription: 1024, maxTools: 128 },
  },
  { kind: 'rehearsal', because: 'our own words', profile: { exact: true } },
  {
    kind: 'openai-responses',
    because: 'ids of calls have 64 characters at most; the same limits of tools as Chat Completions',
    profile: { exact: true, schemas: 'openai', maxToolDescription: 1024, maxTools: 128, maxCallIdLength: 64, imagesInResults: true },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(gpt-3\.5|gpt-4|chatgpt|gpt-5-chat)/i,
    because: 'does not reason, and says so: "Encrypted content is not supported with this model" (pydantic/pydantic-ai#2865, #3326)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(o[1-9]|codex|gpt-[5-9](?!-chat))/i,
    because: 'reasons, and refuses temperature and top_p',
    profile: { noSampling: true },
  },
  {
    kind: 'anthropic',
    because:
      'max_tokens is required; ids match ^[a-zA-Z0-9_-]+$ with 64 characters at most; a tool schema has no oneOf, anyOf or allOf at its top',
    profile: {
      exact: true,
      schemas: 'anthropic',
      maxCallIdLength: 64,
      requiredWord: 'any',
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
    profile: { reasoning: 'adaptive', defaultMaxTokens: 32_000 },
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
  {
    kind: 'gemini',
    because:
      'calls have no ids before Gemini 3, and Vertex refuses them (pydantic/pydantic-ai#5081); a budget of -1 to 24,576 tokens to think',
    profile: { exact: true, schemas: 'gemini', noCallIds: true, reasoning: 'budget', formatWithTools: false },
  },
  {
    kind: 'gemini',
    model: /gemini-2\.5-pro/i,
    because: 'cannot stop thinking: at least 128 tokens (guide "Thinking")',
    profile: { minReasoningBudget: 128 },
  },
  { kind: 'gemini', model: /gemini-(1|2\.0)/i, because: 'does not think, and refuses thinkingConfig', profile: { reasoning: 'none' } },
  {
    kind: 'gemini',
    model: /gemini-([3-9]|\d\d|(flash|pro|flash-lite)-latest)/i,
    because:
      'thinkingLevel in place of a budget; the first call of a step without its thoughtSignature is a 400 (guides "Gemini 3", "Thought signatures"); functionResponse.parts takes images; JSON and tools together',
    profile: {
      reasoning: 'effort',
      efforts: ['minimal', 'low', 'medium', 'high'],
      callSignatures: true,
      imagesInResults: true,
      formatWithTools: true,
    },
  },
  {
    kind: 'gemini',
    model: /gemini-([3-9]|\d\d)[\d.]*-pro|gemini-pro-latest/i,
    because: 'no level minimal (guide "Gemini 3")',
    profile: { efforts: ['low', 'medium', 'high'] },
  },
  { kind: 'gemini', model: /gemini-3-pro/i, because: 'levels low and high only', profile: { efforts: ['low', 'high'] } },
  {
    kind: 'gemini',
    host: 'generativelanguage.googleapis.com',
    model: /gemini-([3-9]|\d\d|(flash|pro|flash-lite)-latest)/i,
    because:
      'every call has an id, which its result names (guide "Function calling"; recorded: gemini-3.5-flash-parallel-2-separate-events)',
    profile: { noCallIds: false },
  },
  {
    kind: 'gemini',
    model: /gemma-[123]/i,
    because:
      'takes neither systemInstruction nor functionDeclarations: "Developer instruction is not enabled", "Function calling is not enabled"',
    profile: { systemInUser: true, protocol: 'text', reasoning: 'none' },
  },
  {
    kind: 'cohere',
    because: 'tool_choice is REQUIRED or NONE, never one tool by name (API reference, Chat v2)',
    profile: { exact: true, schemas: 'cohere', toolChoice: 'required', maxCallIdLength: 64, reasoning: 'budget' },
  },
  {
    host: 'openrouter.ai',
    because: 'passes through what each backend does: equal indexes, repeated finish reasons',
    profile: { normalize: true },
  },
  {
    host: 'mistral.ai',
    because: 'ids must be nine letters or digits; stream_options is refused, usage comes anyway',
    profile: { callIdLength: 9, streamUsage: false },
  },
  {
    model: /(^|\/)(mistral|ministral|magistral|devstral|codestral|mixtral)/i,
    because: 'the chat template checks the ids wherever it is served',
    profile: { callIdLength: 9 },
  },
  {
    model: /deepseek-(reasoner|v3\.[2-9]|v[4-9])/i,
    because: 'refuses a tool loop whose reasoning_content is missing',
    profile: { echoReasoning: true },
  },
  { host: 'api.deepseek.com', because: 'the same, under names such as deepseek-chat', profile: { echoReasoning: true } },
  {
    model: /kimi-k2.*thinking|kimi-k2\.[5-9]/i,
    because: 'the reasoning of a tool loop must be in its history',
    profile: { echoReasoning: true },
  },
  { model: /kimi-k2/i, because: 'calls go wrong unless ids keep the form functions.<name>:<index>', profile: { keepCallIds: true } },
  { host: 'generativelanguage.googleapis.com', because: 'calls without index, or all with index 0', profile: { normalize: true } },
  { host: 'api.z.ai', because: 'index -1', profile: { normalize: true } },
  { host: 'bigmodel.cn', because: 'index -1', profile: { normalize: true } },
  { host: 'databricks.com', because: 'indexes begin at 1 where text came first', profile: { normalize: true } },
  {
    host: 'api.cloudflare.com',
    because: 'content null is refused; final chunks of null',
    profile: { contentNeverNull: true, normalize: true },
  },
  { model: /^@cf\//, because: 'Workers AI models behind any gateway', profile: { contentNeverNull: true } },
  { host: 'cohere.ai', because: 'its compatible path refuses parallel_tool_calls', profile: { parallelToolCalls: false } },
];
