/**
 * The web search that a client declares in its API, in neutral form: dialects read it, and `providers/web-search.ts` decides who searches: the
 * provider, else a tool of the toolset. Sources: types of openai 7.57 (`WebSearchTool`, `web_search_options`) and @anthropic-ai/sdk 1.12
 * (`WebSearchTool20250305` and later), @google/genai 3.1 (`GoogleSearch`), guide "Grounding with Google Search".
 */

/** Members of `user_location`; `country` is an ISO 3166 code, `timezone` an IANA name. */
type SearchPlace = { city?: unknown; region?: unknown; country?: unknown; timezone?: unknown };

export type SearchOptions = {
  maxUses?: number;
  allowedDomains?: readonly string[];
  blockedDomains?: readonly string[];
  /** Google's `Interval`. */
  timeRange?: Readonly<Record<string, unknown>>;
  /** Only what the provider has stored. */
  offline?: true;
  location?: SearchPlace;
  contextSize?: string;
};

/** `name`: of the tool in `x-moniker-dropped`. `at`: the paths of the options in the request. */
export type WebSearch = SearchOptions & {
  name: string;
  path: string;
  at: Partial<Record<keyof SearchOptions, string>>;
  /** The request also has tools of the client, which do the work: agents send a search to every model. */
  isOptional: boolean;
  /** The wire name of the toolset's tool that stands for it. */
  tool?: string;
};

/** Without one of these, the search would be wider than the client allows. The other options are hints. */
export const searchRestrictions = ['maxUses', 'allowedDomains', 'blockedDomains', 'timeRange', 'offline'] as const;
