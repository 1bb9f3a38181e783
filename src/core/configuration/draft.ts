/**
 * A toolset document that a configuration tool is about to store, with the position of each entry in the request, so that errors use
 * the index that the caller sent. Approval, presets and secrets are not part of it: entries that a request does not change keep
 * theirs.
 */
import { z } from 'zod';
import { fold } from '../names/fold.ts';
import { limits } from '../limits.ts';
import { quote } from '../names/names.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { namesOfEntry } from './entry-names.ts';
import { namespacedName, refId, type ToolTable } from './tool-table.ts';

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
export type EntryPlace = { path: string | null; hasAlias: boolean };
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
  const flattened = flattenedNames(document.tools);
  return document.tools.flatMap((entry, index) => {
    const own = places[index]?.path ?? null;
    const written = entry.aliases ?? namesOfEntry(entry, table.known.get(entry.tool ?? '')).aliases;
    return written.flatMap((alias, at) => {
      const name = typeof alias === 'string' ? alias : alias.name;
      const [canonical, other] = [...(flattened.get(fold(name)) ?? [])].find(([tool]) => tool !== entry.tool) ?? [];
      if (canonical === undefined || other === undefined) return [];
      const like = places[other]?.path ?? null;
      const told = `reads like ${canonical}, which is also in this toolset; choose another alias`;
      if (own !== null && entry.aliases !== undefined)
        return [`${aliasPath(own, places[index]?.hasAlias === true, at)}: ${quote(name)} ${told}`];
      const path = like ?? own;
      return path === null ? [] : [`${path}: ${entry.tool} has the alias ${quote(name)}, which ${told} for it`];
    });
  });
}

/** Flattened name → the tools that have it, each with its first entry. Rarely more than one. */
function flattenedNames(tools: readonly ToolsetEntry[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const names = new Map<string, Map<string, number>>();
  for (const [index, { tool = '' }] of tools.entries()) {
    const folded = fold(tool);
    const known = names.get(folded) ?? new Map<string, number>();
    if (!known.has(tool)) known.set(tool, index);
    names.set(folded, known);
  }
  return names;
}

/** Returns the path in the request of the alias at this index of the document's list. */
export function aliasPath(path: string, hasAlias: boolean, at: number): string {
  if (hasAlias && at === 0) return `${path}.alias`;
  return `${path}.aliases[${hasAlias ? at - 1 : at}]`;
}
