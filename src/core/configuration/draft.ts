/**
 * A toolset document that a configuration tool is about to store, and where each of its entries stands in the request, so that what is
 * wrong with one is told by the index that the caller gave it. Says nothing of approval, presets or secrets: entries that a request does
 * not touch keep theirs.
 */
import { z } from 'zod';
import { fold } from '../fold.ts';
import { limits } from '../limits.ts';
import { quote } from '../names.ts';
import type { Toolset, ToolsetEntry } from '../toolset.ts';
import { namesOfEntry } from './entry-names.ts';
import { namespacedName, refId, type ToolTable } from './tool-table.ts';

// Said in the schema, judged further on: white space around an alias is forgiven, and what is wrong with one is told with its index.
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
        'The name that the tool is shown and called by in this toolset, in place of its own: lower case, 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter. No other tool of the toolset may have it.',
    }),
  aliases: z
    .array(z.string().meta(aliasForm))
    .max(limits.maxAliasesPerEntry)
    .optional()
    .meta({ description: 'Further names, by which it can be called as well. Left out with alias: those that the tool brings along.' }),
});
export type EntryRequest = z.infer<typeof EntryRequest>;

/** `path` null: an entry of before that the request says nothing of. `hasAlias`: the first of its aliases was given as `alias`. */
export type Place = { path: string | null; hasAlias: boolean };
export type DraftEntry = { entry: ToolsetEntry; place: Place };
export type Draft = { document: Toolset; places: readonly Place[] };
export type Drafted = { ok: true; draft: Draft } | { ok: false; faults: string[] };

/** The entries of a new toolset. `list`: the member of the request that they stand in. */
export function readEntries(
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

export function placeOf({ alias }: Pick<EntryRequest, 'alias'>, path: string): Place {
  return { path, hasAlias: alias !== undefined };
}

/** Left out altogether where none are spoken of: then the tool's own default aliases stand. */
export function givenAliases({ alias, aliases }: Pick<EntryRequest, 'alias' | 'aliases'>): Pick<ToolsetEntry, 'aliases'> {
  if (alias === undefined && aliases === undefined) return {};
  return { aliases: [...(alias === undefined ? [] : [alias]), ...(aliases ?? [])] };
}

/** `rest`: all of the document but its entries. */
export function toDraft(rest: Omit<Toolset, 'tools'>, entries: readonly DraftEntry[], table: ToolTable): Drafted {
  if (entries.length === 0) return { ok: false, faults: ['tools: is empty: a toolset has at least one tool'] };
  if (entries.length > limits.maxToolsetEntries)
    return { ok: false, faults: [`tools: are ${entries.length}; a toolset has at most ${limits.maxToolsetEntries}`] };
  const draft: Draft = {
    document: { ...rest, tools: entries.map(({ entry }) => entry) },
    places: entries.map(({ place }) => place),
  };
  const faults = readsLikeAnother(draft, table);
  return faults.length === 0 ? { ok: true, draft } : { ok: false, faults };
}

/**
 * An alias that another tool's canonical name becomes when it is flattened (`docker_ps` for `docker.ps`): a client that flattens names
 * itself would call the wrong one of the two.
 */
function readsLikeAnother({ document, places }: Draft, table: ToolTable): string[] {
  const flattened = Map.groupBy(document.tools.keys(), (index) => fold(document.tools[index]?.tool ?? ''));
  return document.tools.flatMap((entry, index) => {
    const { aliases } = namesOfEntry(entry, table.known.get(entry.tool ?? ''));
    return aliases.flatMap(({ name }, at) => {
      const others = flattened.get(fold(name)) ?? [];
      const other = others.find((candidate) => document.tools[candidate]?.tool !== entry.tool);
      if (other === undefined) return [];
      const told = `reads like ${document.tools[other]?.tool}, which is in this toolset too; take another alias`;
      const own = places[index];
      const path = own?.path == null || entry.aliases === undefined ? null : aliasPath(own.path, own.hasAlias, at);
      if (path !== null) return [`${path}: ${quote(name)} ${told}`];
      return [`${places[other]?.path ?? own?.path ?? 'tools'}: ${entry.tool} has the alias ${quote(name)}, which ${told} for it`];
    });
  });
}

/** Where the alias at this place of the document's list stands in the request. */
export function aliasPath(path: string, hasAlias: boolean, at: number): string {
  if (hasAlias && at === 0) return `${path}.alias`;
  return `${path}.aliases[${hasAlias ? at - 1 : at}]`;
}
