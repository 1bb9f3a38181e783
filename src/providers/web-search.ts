/**
 * Who runs the web search that a client declares: the provider, if its API has one with what restricts it; else the tool of the toolset that
 * stands for it, which the model is offered anyway; else the request is refused. Beside the client's own tools it is left out and
 * named: agents declare a search for every model.
 */
import type { Dropped } from '../core/model/dropped.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import { type SearchOptions, searchRestrictions, type WebSearch } from '../core/model/web-search.ts';
import { type ProviderWire, wireSearches } from '../core/model/wire-settings.ts';
import { invalidRequest } from '../core/problem.ts';
import type { Json } from '../core/json/wire-value.ts';

type SearchRules = { profile: Profile; wire: ProviderWire; hasTools: boolean; isLimited: boolean; dropped: Dropped | undefined };

/** Returns the search that the provider is sent; undefined: none. Throws `invalid_request`. */
export function providerSearch(search: WebSearch, { profile, wire, hasTools, isLimited, dropped }: SearchRules): WebSearch | undefined {
  const has = wireSearches[wire];
  const lacks = (names: readonly (keyof SearchOptions)[] | undefined, options: readonly (keyof SearchOptions)[]) =>
    options.filter((option) => search[option] !== undefined && names?.includes(option) !== true);
  const why =
    has === undefined || !profile.webSearch
      ? 'the model has no web search of its provider'
      : isLimited
        ? 'a search of the provider is billed by the call, which limits of tokens and cost cannot count'
        : wire === 'gemini' && hasTools
          ? 'the model does not search next to tools'
          : null;
  const [missing] = lacks(has, searchRestrictions);
  if (why === null && missing === undefined) {
    for (const hint of lacks(has, ['location', 'contextSize']))
      dropped?.add(`${search.name}${search.at[hint]?.slice(search.path.length)}`, 'the search of the provider has no such option');
    return search;
  }
  const [restriction] = lacks([], searchRestrictions);
  if (search.tool !== undefined && restriction === undefined) {
    dropped?.add(search.name, `${search.tool} of the toolset searches in its place`);
    return undefined;
  }
  const reason = why ?? 'the search of the provider has no such restriction';
  if (search.isOptional) {
    dropped?.add(search.name, reason);
    return undefined;
  }
  const path = (why === null ? missing : search.tool !== undefined ? restriction : undefined) ?? null;
  const remedy =
    search.tool === undefined
      ? 'Use a model whose provider has it, or a toolset in which an entry has `standsFor: web_search`'
      : `${search.tool} of the toolset takes no restrictions`;
  throw invalidRequest([
    { path: (path === null ? undefined : search.at[path]) ?? search.path, message: `cannot be kept: ${reason}. ${remedy}` },
  ]);
}

/** Returns the tool of OpenAI's Responses. */
export function responsesSearch({ allowedDomains, offline, location, contextSize }: WebSearch): Json {
  return {
    type: 'web_search',
    ...(allowedDomains !== undefined && { filters: { allowed_domains: allowedDomains } }),
    ...(offline === true && { external_web_access: false }),
    ...placeField(location),
    ...(contextSize !== undefined && { search_context_size: contextSize }),
  };
}

/** Returns the tool of Anthropic's Messages: the oldest version, which all models take. */
export function messagesSearch({ maxUses, allowedDomains, blockedDomains, location }: WebSearch): Json {
  return {
    ...{ type: 'web_search_20250305', name: 'web_search' },
    ...(maxUses !== undefined && { max_uses: maxUses }),
    ...(allowedDomains !== undefined && { allowed_domains: allowedDomains }),
    ...(blockedDomains !== undefined && { blocked_domains: blockedDomains }),
    ...placeField(location),
  };
}

/** Returns `googleSearch` of Gemini. */
export function googleSearch({ timeRange }: WebSearch): Json {
  return timeRange === undefined ? {} : { timeRangeFilter: timeRange };
}

/** Returns `web_search_options` of Chat Completions. */
export function chatSearch({ location, contextSize }: WebSearch): Json {
  return {
    ...(location !== undefined && { user_location: { type: 'approximate', approximate: location } }),
    ...(contextSize !== undefined && { search_context_size: contextSize }),
  };
}

function placeField(location: SearchOptions['location']): Json {
  return location === undefined ? {} : { user_location: { type: 'approximate', ...location } };
}
