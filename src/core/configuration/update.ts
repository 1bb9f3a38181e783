/**
 * What `update-toolset` makes of a stored document: a new list of tools, or single entries added, changed and removed. Whatever a request
 * does not speak of stays byte for byte, presets, approval, secrets and notes included.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';
import type { Toolset, ToolsetEntry } from '../toolset.ts';
import { EntryRequest, givenAliases, placeOf, readEntries, toDraft, type DraftEntry, type Drafted } from './draft.ts';
import { namesOfEntry } from './entry-names.ts';
import { namespacedName, refId, type ToolTable } from './tool-table.ts';

const wireName = z
  .string()
  .optional()
  .meta({
    description: 'Of a tool that stands in the toolset several times: the name that this entry is called by.',
    examples: ['get_workflow'],
  });

/** An entry of a toolset that is there. */
export const EntryReference = z.strictObject({ namespacedName: namespacedName.optional(), refId: refId.optional(), wireName });
export type EntryReference = z.infer<typeof EntryReference>;

const entries = <Entry extends z.ZodType>(entry: Entry, description: string) =>
  z.array(entry).max(limits.maxToolsetEntries).optional().meta({ description });

export const ToolsetUpdate = z.strictObject({
  name: z.string().meta({ description: 'The toolset to change.', examples: ['dev-tools'] }),
  description: z.string().optional().meta({ description: 'In place of the one it has; empty: none.' }),
  tools: entries(
    EntryRequest,
    'The whole new list, as for build-toolset. Tools that stay keep their settings. Not together with add, change, remove.',
  ),
  add: entries(EntryRequest, 'Tools to add at the end.'),
  change: entries(
    z.strictObject({ ...EntryReference.shape, alias: EntryRequest.shape.alias, aliases: EntryRequest.shape.aliases }),
    'Tools of the toolset to give other names. `aliases: []` takes them away.',
  ),
  remove: entries(EntryReference, 'Tools to take out.'),
});
export type ToolsetUpdate = z.infer<typeof ToolsetUpdate>;

export function applyUpdate(stored: Toolset, update: ToolsetUpdate, table: ToolTable): Drafted {
  const { description, tools, add = [], change = [], remove = [] } = update;
  const hasSteps = add.length + change.length + remove.length > 0;
  if (tools !== undefined && hasSteps) return refuse('tools: is the whole new list: leave add, change and remove out, or tools');
  if (tools === undefined && !hasSteps && description === undefined)
    return refuse('says nothing to change: give description, tools, add, change or remove');
  const kept = stored.tools.map((entry): DraftEntry => ({ entry, place: { path: null, hasAlias: false } }));
  const { entries, faults } = tools === undefined ? inSteps(kept, add, change, remove, table) : replaced(kept, tools, table);
  if (faults.length > 0) return { ok: false, faults };
  return toDraft(withDescription(stored, description), entries, table);
}

/** Whether it can be made again upon what somebody else has stored meanwhile. */
export function isAdditive({ tools }: Pick<ToolsetUpdate, 'tools'>): boolean {
  return tools === undefined;
}

function refuse(fault: string): Drafted {
  return { ok: false, faults: [fault] };
}

function withDescription(
  { tools: _tools, description: before, ...rest }: Toolset,
  description: string | undefined,
): Omit<Toolset, 'tools'> {
  const after = description ?? before ?? '';
  return { ...rest, ...(after !== '' && { description: after }) };
}

type Outcome = { entries: DraftEntry[]; faults: string[] };

/** Entries of tools that stay are kept as they are, in the order of the new list; each is used once. */
function replaced(kept: readonly DraftEntry[], tools: readonly EntryRequest[], table: ToolTable): Outcome {
  const asked = readEntries(tools, 'tools', table);
  const left = Map.groupBy(kept, ({ entry }) => entry.tool);
  const entries = asked.entries.map(({ entry, place }): DraftEntry => {
    const before = left.get(entry.tool)?.shift();
    return before === undefined ? { entry, place } : { entry: renamed(before.entry, entry.aliases, place.hasAlias), place };
  });
  return { entries, faults: asked.faults };
}

function inSteps(
  kept: readonly DraftEntry[],
  add: readonly EntryRequest[],
  change: NonNullable<ToolsetUpdate['change']>,
  remove: NonNullable<ToolsetUpdate['remove']>,
  table: ToolTable,
): Outcome {
  const there = indexEntries(kept.map(({ entry }) => entry));
  const faults: string[] = [];
  const removed = new Set<number>();
  const entries = [...kept];
  for (const [index, reference] of remove.entries()) {
    const found = findEntries(there, reference, `remove[${index}]`, table);
    if (!found.ok) faults.push(found.fault);
    else for (const at of found.indices) removed.add(at);
  }
  for (const [index, request] of change.entries()) {
    const path = `change[${index}]`;
    const found = findEntries(there, request, path, table);
    const { aliases } = givenAliases(request);
    const [at, ...others] = found.ok ? found.indices : [];
    if (!found.ok) faults.push(found.fault);
    else if (aliases === undefined) faults.push(`${path}: says no new name: give alias, or aliases`);
    else if (others.length > 0) faults.push(`${path}: stands ${found.indices.length} times in this toolset: give wireName as well`);
    else if (at !== undefined && removed.has(at)) faults.push(`${path}: is removed by the same request`);
    else if (at !== undefined) {
      const entry = renamed(kept[at]?.entry ?? {}, aliases, request.alias !== undefined);
      entries[at] = { entry, place: placeOf(request, path) };
    }
  }
  const added = readEntries(add, 'add', table);
  return { entries: [...entries.filter((_entry, at) => !removed.has(at)), ...added.entries], faults: [...faults, ...added.faults] };
}

/** An alias is to be the name that is shown, so a name that the entry was given makes room. Names of other kinds than announced ones stay. */
function renamed(entry: ToolsetEntry, aliases: ToolsetEntry['aliases'], hasAlias: boolean): ToolsetEntry {
  if (aliases === undefined) return entry;
  const given = new Set(aliases.map((alias) => (typeof alias === 'string' ? alias : alias.name)));
  const others = (entry.aliases ?? []).filter((alias) => typeof alias !== 'string' && alias.mode !== 'announced' && !given.has(alias.name));
  const { name, ...rest } = entry;
  return { ...rest, ...(name !== undefined && !hasAlias && { name }), aliases: [...aliases, ...others] };
}

export type FoundEntries = { ok: true; indices: [number, ...number[]] } | { ok: false; fault: string };

/** Entries of a document by the tools that they are of. */
export type EntryIndex = ReadonlyMap<string, readonly { entry: ToolsetEntry; index: number }[]>;

export function indexEntries(entries: readonly ToolsetEntry[]): EntryIndex {
  const placed = entries.map((entry, index) => ({ entry, index }));
  return Map.groupBy(placed, ({ entry }) => entry.tool ?? '');
}

/** The entries that a reference means, also of a tool that is no more. */
export function findEntries(entries: EntryIndex, reference: EntryReference, path: string, table: ToolTable): FoundEntries {
  const { namespacedName, refId, wireName } = reference;
  const isStored = namespacedName !== undefined && refId === undefined && entries.has(namespacedName);
  const named = isStored ? null : table.find({ namespacedName, refId }, path);
  if (named !== null && !named.ok) return named;
  const canonical: string = named === null ? (namespacedName ?? '') : named.definition.canonical;
  const ofTool = entries.get(canonical) ?? [];
  const names = ofTool.map(({ entry }) => namesOfEntry(entry, table.known.get(canonical)).wireName);
  const [first, ...others] = ofTool.filter((_row, at) => wireName === undefined || names[at] === wireName).map(({ index }) => index);
  if (first !== undefined) return { ok: true, indices: [first, ...others] };
  if (ofTool.length > 0) return { ok: false, fault: `${path}.wireName: ${canonical} goes by ${names.join(', ')} here` };
  return { ok: false, fault: `${path}: ${canonical} is not in this toolset; get-active-toolset and list-saved-toolsets show what is` };
}
