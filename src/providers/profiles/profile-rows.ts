/**
 * Differences of providers and models as rows of data, so that the adapters need no special cases. `profiles.ts` looks them up. A row
 * overrides the rows before it.
 */
import type { Profile } from '../../core/model/provider-profile.ts';
import { compatibleRows, openAiReasoning } from './compatible-rows.ts';
import type { ProfileRow } from './profile-row.ts';

/** The behavior of most Chat Completions servers. */
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
  seedField: 'seed',
  topK: false,
  noSampling: false,
  noPenalties: false,
  noStop: false,
  thinkingSwitch: false,
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
  { kind: 'rehearsal', because: 'the built-in model', profile: { exact: true } },
  {
    kind: ['openai', 'openai-responses', 'anthropic'],
    host: ['api.openai.com', 'api.anthropic.com'],
    because: 'clients were written for what these say; other servers of the same APIs only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true },
  },
  {
    kind: 'openai-responses',
    because: 'ids of calls have 64 characters at most; the same limits of tools as Chat Completions',
    profile: { schemas: 'openai', maxToolDescription: 1024, maxTools: 128, maxCallIdLength: 64, imagesInResults: true },
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
  {
    kind: 'gemini',
    because:
      'calls have no ids before Gemini 3, and Vertex refuses them (pydantic/pydantic-ai#5081); a budget of -1 to 24,576 tokens to think',
    profile: { schemas: 'gemini', noCallIds: true, reasoning: 'budget', formatWithTools: false },
  },
  {
    kind: 'gemini',
    model: /gemini-2\.5-pro/i,
    because: 'thinking cannot be disabled: at least 128 tokens (guide "Thinking")',
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
    because: 'tool_choice is REQUIRED or NONE, never one tool by name; response_format not together with tools (API reference, Chat v2)',
    profile: {
      schemas: 'cohere',
      toolChoice: 'required',
      maxCallIdLength: 64,
      reasoning: 'budget',
      formatWithTools: false,
    },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-vision|a-translate|light|nightly)|aya/i,
    because: 'does not think (guide "Reasoning": command-a-reasoning and later)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-reasoning|a-translate|light|nightly)|aya-expanse/i,
    because: 'text only (models overview: images are for command-a-vision, command-a-plus and aya-vision)',
    profile: { images: false },
  },
  {
    kind: 'cohere',
    model: /command-(r|r-plus)(-0[34]-2024|-08-2024)?$/i,
    because: 'tool_choice is for command-r7b and newer (API reference, Chat v2)',
    profile: { toolChoice: 'absent' },
  },
  ...compatibleRows,
];
