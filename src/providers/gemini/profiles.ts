/** The profile rows of Gemini's API. */
import type { ProfileRow } from '../adapter.ts';

export const geminiRows: readonly ProfileRow[] = [
  {
    kind: 'gemini',
    because:
      'calls have no ids before Gemini 3, and Vertex refuses them (pydantic/pydantic-ai#5081); a budget of -1 to 24,576 tokens to think',
    profile: {
      ...{ schemas: 'gemini', noCallIds: true, reasoning: 'budget', formatWithTools: false },
      maxStops: 5,
      systemPlace: 'first',
      files: ['pdf', 'audio', 'video', 'url'],
    },
  },
  {
    kind: 'gemini',
    host: 'googleapis.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true },
  },
  {
    kind: 'gemini',
    host: 'generativelanguage.googleapis.com',
    model: /gemini-(?!1)/i,
    because: 'searches with `googleSearch` since Gemini 2.0 (guide "Grounding with Google Search")',
    profile: { webSearch: true },
  },
  { kind: 'gemini', because: 'at most 65,536 output tokens (models overview)', profile: { maxOutputTokens: 65_536 } },
  {
    kind: 'gemini',
    model: /gemini-2\.5-pro/i,
    because: 'thinking cannot be disabled: at least 128 tokens (guide "Thinking")',
    profile: { minReasoningBudget: 128 },
  },
  {
    kind: 'gemini',
    model: /gemini-(1|2\.0)/i,
    because: 'does not think, and refuses thinkingConfig; at most 8,192 output tokens (models overview)',
    profile: { reasoning: 'none', maxOutputTokens: 8_192 },
  },
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
];
