import type { CacheLifetime } from './message.ts';
import type { WebSearch } from './web-search.ts';

/** The settings of a request to a model, independent of the APIs: dialects read them, agents and plans store them, adapters send them. */
export type ModelSettings = {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  topK?: number;
  /** `none`, `minimal`, `low`, `medium`, `high`, or a provider-specific value. */
  reasoningEffort?: string;
  /** Maximum reasoning tokens; takes precedence over `reasoningEffort` for providers that support a token budget. 0: none. */
  reasoningBudget?: number;
  /** JSON mode or a schema in the format of the OpenAI body; passed through. */
  responseFormat?: unknown;
  /** Applies to the first step only; a wire name or any other name of a tool that the plan offers. */
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string };
  /** False: the calls of a step run one after the other. Absent: in parallel, except for the text protocol. */
  parallelToolCalls?: boolean;
  /** The end user, as an opaque id of the client. */
  user?: string;
  /** Stored with the answer by providers that store it. */
  metadata?: Readonly<Record<string, unknown>>;
  /** In OpenAI's terms. Only tiers that never cost more than the standard price (`request-extras.ts`). */
  serviceTier?: 'auto' | 'default' | 'flex';
  verbosity?: string;
  promptCacheKey?: string;
  /** In OpenAI's terms, like the next. */
  promptCacheRetention?: string;
  promptCacheOptions?: Readonly<Record<string, unknown>>;
  /** The client marked what is to be cached; the longest lifetime. The marks themselves are in the messages and tools, except in turns. */
  cache?: CacheLifetime;
  /** Of the request, with the toolset's tool that stands for it. */
  webSearch?: WebSearch;
};

export type GivenSettings = { readonly [Name in keyof ModelSettings]?: ModelSettings[Name] | null | undefined };

/** Removes settings that are not set (null or absent): an undefined value would hide an inherited one. */
export function definedSettings(given: GivenSettings): ModelSettings {
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) if (value != null) settings[name] = value;
  // The same names; only values that are set.
  return settings as ModelSettings;
}

/** The same names; `Object.keys` forgets them. */
export function settingsIn(settings: ModelSettings): (keyof ModelSettings)[] {
  return Object.keys(settings) as (keyof ModelSettings)[];
}
