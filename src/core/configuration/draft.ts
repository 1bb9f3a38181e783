/**
 * A toolset document that a configuration tool is about to store, with the position of each entry in the request, so that errors use the
 * index that the caller sent. Approval, presets and secrets are not part of it: entries that a request does not change keep theirs.
 */
import * as z from 'zod';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import { quote, toWireName } from '../names/names.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { namespacedName, refId, type ToolTable } from './tool-table.ts';
import { namesOfEntry } from '../toolset/named-entry.ts';
import type { NameConflict } from '../toolset/name-claims.ts';
import type { Issue, Problem } from '../problem.ts';
import { toolOf } from '../toolset/entries/entry-targets.ts';

// Documented in the schema, but checked later: surrounding white space is accepted, and errors name the index of the alias.
const aliasForm = { pattern: '^[a-z][a-z0-9_-]{1,63}$', examples: ['git_status'] };

export const EntryRequest = z.strictObject({
  namespacedName: namespacedName.optional(),
  refId: refId.optional(),
  alias: z
    .string()
    .optional()
    .meta({
      ...aliasForm,
      description:
        'The name under which the tool is shown and called in this toolset, instead of its own: lower case, 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter. It must be unique in the toolset.',
    }),
  aliases: z.array(z.string().meta(aliasForm)).max(limits.maxAliasesPerEntry).optional().meta({
    description: 'Further names by which the tool can be called. If alias and aliases are both left out: the default aliases of the tool.',
  }),
});
export type EntryRequest = z.infer<typeof EntryRequest>;

/** `path` null: an existing entry that the request does not mention. `hasAlias`: the first of its aliases was given as `alias`. */
type EntryPlace = { path: string | null; hasAlias: boolean };
export type DraftEntry = { entry: ToolsetEntry; place: EntryPlace };
export type Draft = { document: Toolset; places: readonly EntryPlace[] };
export type DraftResult = { ok: true; draft: Draft } | { ok: false; faults: string[] };

/** The entries of a new toolset. `list`: the field of the request that contains them. */
export function readEntryRequests(
  requests: readonly EntryRequest[],
  list: string,
  table: ToolTable,
): { entries: DraftEntry[]; faults: string[] } {
  const entries: DraftEntry[] = [];
  const faults: string[] = [];
  for (const [index, request] of requests.entries()) {
    const path = `${list}[${index}]`;
    const found = table.find(request, path);
    if (!found.ok) faults.push(found.fault);
    else entries.push({ entry: { tool: found.definition.canonical, ...givenAliases(request) }, place: placeOf(request, path) });
  }
  return { entries, faults };
}

export function placeOf({ alias }: Pick<EntryRequest, 'alias'>, path: string): EntryPlace {
  return { path, hasAlias: alias !== undefined };
}

/** Left out entirely if the request sets none: then the tool's default aliases apply. */
export function givenAliases({ alias, aliases }: Pick<EntryRequest, 'alias' | 'aliases'>): Pick<ToolsetEntry, 'aliases'> {
  if (alias === undefined && aliases === undefined) return {};
  return { aliases: [...(alias === undefined ? [] : [alias]), ...(aliases ?? [])] };
}

/** `rest`: the document without its entries. */
export function toDraft(rest: Omit<Toolset, 'tools'>, entries: readonly DraftEntry[], table: ToolTable): DraftResult {
  if (entries.length === 0) return { ok: false, faults: ['tools: is empty; a toolset needs at least one tool'] };
  if (entries.length > limits.maxToolsetEntries)
    return { ok: false, faults: [`tools: has ${entries.length} entries; a toolset can have at most ${limits.maxToolsetEntries}`] };
  const draft: Draft = {
    document: { ...rest, tools: entries.map(({ entry }) => entry) },
    places: entries.map(({ place }) => place),
  };
  const faults = readsLikeAnother(draft, table);
  return faults.length === 0 ? { ok: true, draft } : { ok: false, faults };
}

/**
 * Finds aliases that equal another tool's flattened canonical name (`docker_ps` for `docker.ps`): a client that flattens names itself
 * would call the wrong tool. Entries from before the request are not checked.
 */
function readsLikeAnother({ document, places }: Draft, table: ToolTable): string[] {
  const named = document.tools.map((entry, index) => ({ tool: toolOf(entry) ?? '', index }));
  const flattened = Map.groupBy(named, ({ tool }) => fold(tool));
  return document.tools.flatMap((entry, index) => {
    const own = places[index]?.path ?? null;
    const written = entry.aliases ?? namesOfEntry(entry, table.known.get(toolOf(entry) ?? '')).aliases;
    return written.flatMap((alias, at) => {
      const name = typeof alias === 'string' ? alias : alias.name;
      const other = flattened.get(fold(name))?.find(({ tool }) => tool !== toolOf(entry));
      if (other === undefined) return [];
      const like = places[other.index]?.path ?? null;
      const told = `reads like ${other.tool}, which is also in this toolset; choose another alias`;
      if (own !== null && entry.aliases !== undefined)
        return [`${aliasPath(own, places[index]?.hasAlias === true, at)}: ${quote(name)} ${told}`];
      const path = like ?? own;
      return path === null ? [] : [`${path}: ${toolOf(entry)} has the alias ${quote(name)}, which ${told} for it`];
    });
  });
}

/** Returns the path in the request of the alias at this index of the document's list. */
function aliasPath(path: string, hasAlias: boolean, at: number): string {
  if (hasAlias && at === 0) return `${path}.alias`;
  return `${path}.aliases[${hasAlias ? at - 1 : at}]`;
}

// Explains why a toolset was not stored, by positions in the request and with what to do. The problems are those of every toolset write
// (`edition.ts`): they use positions in the document, and name conflicts by tool.

/** Reported errors of one request to build or change a toolset. */
export const maxConfigurationFaults = 20;

/** Returns one line per error; the problem's own detail if it does not concern entries. */
export function refusalLines(problem: Problem, draft: Draft, table: ToolTable): string[] {
  // We write both fields, in these shapes (`core/toolset/edition.ts`, `core/problem.ts`).
  const conflicts = (problem.extra.conflicts ?? []) as NameConflict[];
  const issues = (problem.extra.issues ?? []) as Issue[];
  if (problem.code === 'name_conflict' && conflicts.length > 0) {
    // The search for a name walks all entries, so it is done only for the conflicts that are listed.
    const told = conflicts.slice(0, maxConfigurationFaults).map((conflict) => clashLine(conflict, draft, table));
    return [...told, ...conflicts.slice(told.length).map(({ name }) => quote(name))];
  }
  if (problem.code === 'invalid_request' && issues.length > 0) return issues.map((issue) => issueLine(issue, draft));
  return [problem.detail];
}

/** Joins errors to one text, bounded to what can be fixed at once. */
export function faultText(faults: readonly string[]): string {
  const shown = faults.slice(0, maxConfigurationFaults);
  const rest = faults.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function issueLine({ path, message }: Issue, { document, places }: Draft): string {
  const [, index, rest = ''] = /^tools\[(\d+)\](.*)$/s.exec(path) ?? [];
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined) return path === '' ? message : `${path}: ${message}`;
  if (place.path === null) return `the entry of ${toolOf(document.tools[Number(index)] ?? {})}${rest}: ${message}`;
  const [, at] = /^\.aliases\[(\d+)\]/.exec(rest) ?? [];
  if (at !== undefined) return `${aliasPath(place.path, place.hasAlias, Number(at))}: ${message}`;
  return `${place.path}${rest === '.tool' ? '.namespacedName' : rest}: ${message}`;
}

/** An entry that claims a name; `at` is the path of the name itself, or of the entry. */
type Claim = { index: number; at: string; isOfRequest: boolean; isAlias: boolean };

function clashLine({ name, tools: [keeper, mover], suggestion }: NameConflict, draft: Draft, table: ToolTable): string {
  const movers = claimsOf(mover, name, draft, table);
  const keepers = keeper === mover ? movers : claimsOf(keeper, name, draft, table);
  const claims = [...new Map([...keepers, ...movers].map((claim) => [claim.index, claim])).values()].sort((a, b) => a.index - b.index);
  const told = (claim: Claim): string => `${toolOf(draft.document.tools[claim.index] ?? {})} at ${claim.at}`;
  // An alias can be changed, a tool's own name cannot; and the caller can change what the request contains.
  const ofRequest = claims.filter(({ isOfRequest }) => isOfRequest);
  const blamed = ofRequest.findLast(({ isAlias }) => isAlias) ?? ofRequest.at(-1) ?? claims.at(-1);
  if (blamed === undefined) return `tools: ${quote(name)} is claimed by ${keeper} and by ${mover}; name ${mover} "${suggestion}" instead`;
  const others = claims.filter((claim) => claim !== blamed);
  if (keeper === mover && others.length > 0) {
    const again = `${mover} has the name ${quote(name)} twice, also at ${others.map(({ at }) => at).join(', ')}`;
    return `${blamed.at}: ${again}; list it once, or give each entry a different alias, such as "${suggestion}"`;
  }
  const owner = others.length === 0 ? `${keeper}, which has that name in every toolset` : others.map(told).join(' and by ');
  return `${blamed.at}: ${quote(name)} is also claimed by ${owner}; give one of them another alias, such as "${suggestion}" for ${mover}`;
}

function claimsOf(canonical: string, name: string, draft: Draft, table: ToolTable): Claim[] {
  const entries = draft.document.tools.flatMap((entry, index) => (toolOf(entry) === canonical ? [{ entry, index }] : []));
  const claims = entries.flatMap(({ entry, index }): (Claim & { isExact: boolean })[] => {
    const place = draft.places[index];
    const path = place?.path ?? `the entry of ${canonical}`;
    const definition = table.known.get(canonical);
    const names = namesOfEntry(entry, definition);
    const at = (entry.aliases ?? []).findIndex((alias) => fold(typeof alias === 'string' ? alias : alias.name) === fold(name));
    const own = definition?.name ?? '';
    const isExact = at >= 0 || [names.wireName, ...names.aliases.map((alias) => alias.name)].some((known) => fold(known) === fold(name));
    const where = at >= 0 && place?.path != null ? aliasPath(place.path, place.hasAlias, at) : path;
    return isExact || own === name || toWireName(canonical, own) === name
      ? [{ index, at: where, isOfRequest: place?.path != null, isAlias: at >= 0, isExact }]
      : [];
  });
  // Of several entries of one tool, those with this name count, not those that merely have the same tool.
  const exact = claims.filter(({ isExact }) => isExact);
  return exact.length > 0 ? exact : claims;
}
