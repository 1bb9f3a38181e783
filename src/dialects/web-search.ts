/** Reads the web search that a request declares. The members of the options are those of the dialect, checked here. */
import { isRecord, recordOf } from '../core/json/wire-value.ts';
import type { SearchOptions, WebSearch } from '../core/model/web-search.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';
import type { Field } from './fields.ts';

type Declared = Pick<WebSearch, 'name' | 'path' | 'isOptional'> & { value: unknown };

export type SearchMembers = Partial<Record<keyof SearchOptions, string>>;

const maxDomains = 100;

/** `members`: where the options are in `value`. Throws `invalid_request`. */
export function readWebSearch({ name, path, isOptional, value }: Declared, members: SearchMembers): WebSearch {
  const search: WebSearch = { name, path, isOptional, at: {} };
  const issues: Issue[] = [];
  for (const [option, member] of Object.entries(members) as [keyof SearchOptions, string][]) {
    const given = member.split('.').reduce<unknown>((inner, step) => recordOf(inner)[step], value);
    if (given == null || (option === 'offline' && given === true) || (Array.isArray(given) && given.length === 0)) continue;
    const read = readOption[option](given);
    if (read === undefined) issues.push({ path: `${path}.${member}`, message: 'has another type than in the API' });
    else Object.assign(search, { [option]: read });
    search.at[option] = `${path}.${member}`;
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return search;
}

/** Returns undefined for a wrong type. */
const readOption: Readonly<Record<keyof SearchOptions, (given: unknown) => unknown>> = {
  maxUses: (given) => (Number.isSafeInteger(given) && Number(given) > 0 ? given : undefined),
  allowedDomains: readDomains,
  blockedDomains: readDomains,
  timeRange: (given) => (isRecord(given) ? given : undefined),
  offline: (given) => (given === false ? true : undefined),
  location: readPlace,
  contextSize: (given) => ['low', 'medium', 'high'].find((size) => size === given),
};

function readDomains(given: unknown): unknown {
  const isList = Array.isArray(given) && given.length <= maxDomains;
  return isList && given.every((domain) => typeof domain === 'string' && domain.length <= 253) ? given : undefined;
}

/** Chat Completions has the members in `approximate`. */
function readPlace(given: unknown): unknown {
  if (!isRecord(given)) return undefined;
  const { city, region, country, timezone } = isRecord(given.approximate) ? given.approximate : given;
  const place = Object.entries({ city, region, country, timezone }).filter(([, value]) => value != null);
  return place.every(([, value]) => typeof value === 'string' && value.length <= 100) ? Object.fromEntries(place) : undefined;
}

export const secondSearch = 'is a second web search: send one';

type Offer = { tool: { type?: unknown }; path: string };

/** Takes the search out of the tools of a request. `isFree`: the model decides whether it calls a tool. Throws `invalid_request` for a second one. */
export function takeWebSearch<Offered extends Offer>(
  offered: Offered[],
  kindOf: (tool: Offered['tool']) => Field | undefined,
  { members, isFree }: { members: SearchMembers; isFree: boolean },
): { tools: Offered[]; webSearch: WebSearch | null } {
  const isSearch = ({ tool }: Offered): boolean => kindOf(tool)?.fate === 'carried';
  const [search, second] = offered.filter(isSearch);
  if (search === undefined) return { tools: offered, webSearch: null };
  if (second !== undefined) throw invalidRequest([{ path: second.path, message: secondSearch }]);
  const isOptional = isFree && offered.some(({ tool }) => kindOf(tool)?.fate === 'read');
  const declared = { name: `tools.${String(search.tool.type)}`, path: search.path, isOptional, value: search.tool };
  return { tools: offered.filter((offer) => offer !== search), webSearch: readWebSearch(declared, members) };
}
