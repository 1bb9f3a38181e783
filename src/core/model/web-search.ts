/**
 * The web search that a client declares in its API, in neutral form: dialects read it, and `providers/web-search.ts` decides who searches: the
 * provider, else a tool of the toolset. Sources: types of openai 7.57 (`WebSearchTool`, `web_search_options`) and @anthropic-ai/sdk 1.12
 * (`WebSearchTool20250305` and later), @google/genai 3.1 (`GoogleSearch`), guide "Grounding with Google Search".
 */
import * as z from 'zod';
import { Citation } from './citation.ts';

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

/** The searches of one reply that clients are shown, and how much of each. */
export const maxShownSearches = 50;
const maxSources = 20;
const maxQueries = 10;
const maxQueryCharacters = 1_000;

/** A web search that ran: at the provider, or as the tool of the toolset. For clients; models are not sent it again. */
export const MadeSearch = z.object({
  queries: z.array(z.string()),
  sources: z.array(Citation).meta({ description: 'What it found, as far as this is known. Places and quotes are in `citations`.' }),
  failed: z.literal(true).optional(),
});
export type MadeSearch = z.infer<typeof MadeSearch>;

/** Returns null without a query. `sources`: null for one without a web address. */
export function toMadeSearch(queries: readonly unknown[], sources: readonly (Citation | null)[], failed = false): MadeSearch | null {
  const asked = queries.filter((query): query is string => typeof query === 'string' && query !== '').slice(0, maxQueries);
  const found = new Map(sources.flatMap((source) => (source === null ? [] : [[source.url, { url: source.url, ...titleOf(source) }]])));
  if (asked.length === 0) return null;
  return {
    queries: asked.map((query) => query.slice(0, maxQueryCharacters).toWellFormed()),
    sources: [...found.values()].slice(0, maxSources),
    ...(failed && { failed: true }),
  };
}

function titleOf({ title }: Citation): Pick<Citation, 'title'> {
  return title === undefined ? {} : { title: title.slice(0, maxQueryCharacters).toWellFormed() };
}
