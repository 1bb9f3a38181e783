/**
 * Which settings of a request, what of its history, and which forms of content each provider API can be sent. The adapters send exactly these
 * (`providers/supported-settings.ts`, `providers/content/input-media.ts`), less what the profile of a server or model excludes;
 * docs/chat-apis.md is printed from the table. Sources: the API references, and the types of openai 7.57 and @anthropic-ai/sdk 1.12.
 */
import type { ProviderAccess } from './provider.ts';
import type { ModelSettings } from './model-settings.ts';
import type { SearchOptions } from './web-search.ts';
import { ExtraSetting } from './provider-profile.ts';

/** The wire formats of providers, one for each adapter. */
export const wires = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'cohere', 'ollama', 'bedrock'] as const;
export type ProviderWire = (typeof wires)[number];

/** Images and files that a model is sent as they are, by value or by URL. Text files are sent as text. */
type MediaKind = 'image' | 'pdf' | 'audio' | 'video';
type MediaForm = MediaKind | `${MediaKind}Url`;

/**
 * Of the history: `reasoning`; `signedReasoning`: Claude's, with its `signature`; `anthropicBlocks`: others of Claude's; `token`: what another
 * provider encrypted; `callSignature`: Gemini's of a call; `chatFields`: other data of a provider of Chat Completions.
 */
type HistoryName = 'reasoning' | 'signedReasoning' | 'signature' | 'anthropicBlocks' | 'token' | 'callSignature' | 'chatFields';

/** `strict`, `toolCache`: of a tool. `citations`: of a file. `jsonMode` and `anyFormat`: formats of answers besides schemas. */
export type CarriedName =
  | keyof ModelSettings
  | keyof SearchOptions
  | 'strict'
  | 'toolCache'
  | 'citations'
  | 'jsonMode'
  | 'anyFormat'
  | HistoryName
  | MediaForm;

const common = [...(['temperature', 'topP', 'maxOutputTokens', 'reasoningEffort', 'reasoningBudget'] as const), 'responseFormat'] as const;
const penalties = ['frequencyPenalty', 'presencePenalty'] as const;

/** Accepted by the servers and models whose profile names them in `extraSettings`; marks of the cache, by `cacheMarks`. */
const openAiExtras = [...ExtraSetting.options, 'cache'] as const;

const media = ['image', 'imageUrl', 'pdf', 'pdfUrl'] as const;
const videos = ['video', 'videoUrl'] as const;
const reasoning = ['reasoning', 'signedReasoning'] as const;

/** The options that the search of each API has. */
export const wireSearches: Readonly<Partial<Record<ProviderWire, readonly (keyof SearchOptions)[]>>> = {
  'openai-chat': ['location', 'contextSize'],
  'openai-responses': ['allowedDomains', 'offline', 'location', 'contextSize'],
  anthropic: ['maxUses', 'allowedDomains', 'blockedDomains', 'location'],
  gemini: ['timeRange'],
};

/** Of the models whose profile has it. Gemini searches only in requests without other tools, and is left out of the table. */
function searchOf(wire: ProviderWire): readonly CarriedName[] {
  return ['webSearch', ...(wireSearches[wire] ?? [])];
}

export const wireSettings: Readonly<Record<ProviderWire, ReadonlySet<CarriedName>>> = {
  'openai-chat': new Set([
    ...([...common, 'toolChoice', ...penalties, 'stop', 'seed', 'topK', 'parallelToolCalls', 'strict', ...openAiExtras] as const),
    ...([...media, 'audio', ...videos, 'jsonMode', 'anyFormat', ...reasoning, 'signature', 'callSignature', 'chatFields'] as const),
    ...searchOf('openai-chat'),
    'toolCache',
  ]),
  'openai-responses': new Set([
    ...([...common, 'toolChoice', 'parallelToolCalls', 'strict', 'metadata', ...openAiExtras] as const),
    ...([...media, 'jsonMode', 'anyFormat'] as const),
    ...searchOf('openai-responses'),
  ]),
  anthropic: new Set([
    ...([...common, 'toolChoice', 'topK', 'stop', 'parallelToolCalls', 'strict', 'user', 'serviceTier'] as const),
    ...([...media, 'citations', 'signedReasoning', 'signature', 'anthropicBlocks', 'cache', 'toolCache'] as const),
    ...searchOf('anthropic'),
  ]),
  gemini: new Set([
    ...([...common, 'toolChoice', ...penalties, 'topK', 'stop', 'seed'] as const),
    ...([...media, 'audio', 'audioUrl', ...videos, 'jsonMode', 'callSignature'] as const),
  ]),
  cohere: new Set([...common, 'toolChoice', ...penalties, 'topK', 'stop', 'seed', 'image', 'imageUrl', 'jsonMode']),
  bedrock: new Set([...([...common, 'toolChoice', 'stop', 'image', 'pdf', 'signedReasoning', 'signature', 'cache', 'toolCache'] as const)]),
  ollama: new Set([...common, ...penalties, 'topK', 'stop', 'seed', 'image', 'jsonMode', ...reasoning]),
};

const chatKinds: readonly ProviderAccess['kind'][] = ['openai', 'openai-compatible', 'rehearsal'];

/** The wire of a provider. */
export function wireOf(kind: ProviderAccess['kind']): ProviderWire {
  if (chatKinds.includes(kind)) return 'openai-chat';
  return wires.find((wire) => wire === kind) ?? 'openai-chat';
}
