/**
 * Applies `update-toolset` to a stored document: a new list of tools, or single entries added, changed and removed. Everything that a
 * request does not mention stays byte for byte, including presets, approval, secrets and notes.
 */
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { EntryRequest, givenAliases, placeOf, readEntryRequests, toDraft, type DraftEntry, type DraftResult } from './draft.ts';
import { namespacedName, refId, type ToolTable } from './tool-table.ts';
import { revokeRemoved } from '../toolset/revocations.ts';
import { namesOfEntries } from '../toolset/settle-names.ts';
import { quote } from '../names/names.ts';
import { toolOf } from '../toolset/entries/entry-targets.ts';

const wireName = z
  .string()
  .optional()
  .meta({
    description: 'For a tool that is listed several times in the toolset: the name under which this entry is called.',
    examples: ['get_workflow'],
  });

/** An existing entry of a toolset. */
export const EntryReference = z.strictObject({ namespacedName: namespacedName.optional(), refId: refId.optional(), wireName });
export type EntryReference = z.infer<typeof EntryReference>;

const entries = <Entry extends z.ZodType>(entry: Entry, description: string) =>
  z.array(entry).max(limits.maxToolsetEntries).optional().meta({ description });

export const ToolsetUpdate = z.strictObject({
  name: z.string().meta({ description: 'The toolset to change.', examples: ['dev-tools'] }),
  description: z.string().optional().meta({ description: 'Replaces the description; an empty text removes it.' }),
  tools: entries(
    EntryRequest,
    'The complete new list, as for build-toolset. Tools that stay keep their settings. Cannot be combined with add, change, remove.',
  ),
  add: entries(EntryRequest, 'Tools to add at the end.'),
  change: entries(
    z.strictObject({ ...EntryReference.shape, alias: EntryRequest.shape.alias, aliases: EntryRequest.shape.aliases }),
    'Tools of the toolset that get other names. `aliases: []` removes their aliases.',
  ),
  remove: entries(EntryReference, 'Tools to remove.'),
  revoke: z.boolean().optional().meta({
    description:
      'true: the removed tools cannot be called any more, not even in running turns and in sessions that use an earlier version.',
  }),
});
export type ToolsetUpdate = z.infer<typeof ToolsetUpdate>;

export function applyUpdate(stored: Toolset, update: ToolsetUpdate, table: ToolTable): DraftResult {
  const { description, tools, add = [], change = [], remove = [] } = update;
  const hasSteps = add.length + change.length + remove.length > 0;
  if (tools !== undefined && hasSteps) return refuse('tools: is the complete new list; send either tools, or add, change and remove');
  if (tools === undefined && !hasSteps && description === undefined)
    return refuse('contains no change: set description, tools, add, change or remove');
  const kept = stored.tools.map((entry): DraftEntry => ({ entry, place: { path: null, hasAlias: false } }));
  const { entries, faults } = tools === undefined ? inSteps(stored, kept, add, change, remove, table) : replaced(kept, tools, table);
  if (faults.length > 0) return { ok: false, faults };
  const drafted = toDraft(withDescription(stored, description), entries, table);
  if (!drafted.ok || update.revoke !== true) return drafted;
  return { ok: true, draft: { ...drafted.draft, document: revokeRemoved(drafted.draft.document, stored) } };
}

/** Whether the update can be applied again to a document that another writer has changed in the meantime. */
export function isAdditive({ tools }: Pick<ToolsetUpdate, 'tools'>): boolean {
  return tools === undefined;
}

function refuse(fault: string): DraftResult {
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

/** Entries of tools that stay are kept unchanged, in the order of the new list; each is used once. */
function replaced(kept: readonly DraftEntry[], tools: readonly EntryRequest[], table: ToolTable): Outcome {
  const asked = readEntryRequests(tools, 'tools', table);
  const left = Map.groupBy(kept, ({ entry }) => toolOf(entry));
  const entries = asked.entries.map(({ entry, place }): DraftEntry => {
    const before = left.get(toolOf(entry))?.shift();
    return before === undefined ? { entry, place } : { entry: renamed(before.entry, entry.aliases, place.hasAlias), place };
  });
  return { entries, faults: asked.faults };
}

function inSteps(
  before: Toolset,
  kept: readonly DraftEntry[],
  add: readonly EntryRequest[],
  change: NonNullable<ToolsetUpdate['change']>,
  remove: NonNullable<ToolsetUpdate['remove']>,
  table: ToolTable,
): Outcome {
  const there = indexEntries({ ...before, tools: kept.map(({ entry }) => entry) }, table);
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
    else if (aliases === undefined) faults.push(`${path}: contains no new name: set alias or aliases`);
    else if (others.length > 0) faults.push(`${path}: is listed ${found.indices.length} times in this toolset; set wireName as well`);
    else if (at !== undefined && removed.has(at)) faults.push(`${path}: is removed by the same request`);
    else if (at !== undefined) {
      const entry = renamed(kept[at]?.entry ?? {}, aliases, request.alias !== undefined);
      entries[at] = { entry, place: placeOf(request, path) };
    }
  }
  const added = readEntryRequests(add, 'add', table);
  return { entries: [...entries.filter((_entry, at) => !removed.has(at)), ...added.entries], faults: [...faults, ...added.faults] };
}

/** An alias should become the visible name, so a given name is removed. Aliases that are not announced stay. */
function renamed(entry: ToolsetEntry, aliases: ToolsetEntry['aliases'], hasAlias: boolean): ToolsetEntry {
  if (aliases === undefined) return entry;
  const given = new Set(aliases.map((alias) => (typeof alias === 'string' ? alias : alias.name)));
  const others = (entry.aliases ?? []).filter((alias) => typeof alias !== 'string' && alias.mode !== 'announced' && !given.has(alias.name));
  const { name, ...rest } = entry;
  return { ...rest, ...(name !== undefined && !hasAlias && { name }), aliases: [...aliases, ...others] };
}

type FoundEntries = { ok: true; indices: [number, ...number[]] } | { ok: false; fault: string };

/** Entries of a document by tool. */
type EntryIndex = ReadonlyMap<string, readonly { wireName: string; index: number }[]>;

export function indexEntries(document: Toolset, table: ToolTable): EntryIndex {
  const placed = namesOfEntries(document, table.known).map(({ wireName }, index) => ({ wireName, index }));
  return Map.groupBy(placed, ({ index }) => toolOf(document.tools[index] ?? {}) ?? '');
}

/** Returns the entries that a reference matches, also for a tool that no longer exists. */
export function findEntries(entries: EntryIndex, reference: EntryReference, path: string, table: ToolTable): FoundEntries {
  const { namespacedName, refId, wireName } = reference;
  const isStored = namespacedName !== undefined && refId === undefined && entries.has(namespacedName);
  const named = isStored ? null : table.find({ namespacedName, refId }, path);
  if (named !== null && !named.ok) return named;
  const canonical: string = named === null ? (namespacedName ?? '') : named.definition.canonical;
  const ofTool = entries.get(canonical) ?? [];
  const names = ofTool.map((one) => one.wireName);
  const [first, ...others] = ofTool.filter((_row, at) => wireName === undefined || names[at] === wireName).map(({ index }) => index);
  if (first !== undefined) return { ok: true, indices: [first, ...others] };
  if (ofTool.length > 0) return { ok: false, fault: `${path}.wireName: the names of ${canonical} in this toolset are ${names.join(', ')}` };
  return { ok: false, fault: `${path}: ${canonical} is not in this toolset; get-active-toolset and list-saved-toolsets show its tools` };
}

// Notes of toolset entries, which follow the descriptions of their tools (`edition.ts`): adding and removing them one by one.

export const NoteName = z
  .string()
  .min(2)
  .max(50)
  .regex(/^[a-z0-9-]+$/, { message: 'must be a-z, 0-9 and "-", such as when-to-use' })
  .meta({ description: 'Identifies the note.', examples: ['when-to-use'] });

export const Note = z.strictObject({
  name: NoteName,
  note: boundedText(limits.maxNoteBytes).min(1).meta({ description: 'What callers of the tool should know.' }),
});
export type Note = z.infer<typeof Note>;

/** `done`: names of the notes that were added or removed. `faults`: one error for each of the others. */
export type NoteChanges = { document: Toolset; done: string[]; faults: string[] };

/** An existing note is never overwritten. */
export function addNotes(stored: Toolset, indices: readonly number[], notes: readonly Note[]): NoteChanges {
  const faults: string[] = [];
  const done: string[] = [];
  const given = new Map<string, number>();
  for (const [index, { name }] of notes.entries()) {
    const path = `notes[${index}]`;
    const first = given.get(name);
    const entries = indices.map((at) => stored.tools[at]?.notes ?? []);
    if (first !== undefined) faults.push(`${path}: ${quote(name)} is a duplicate of notes[${first}]`);
    else if (entries.some((before) => before.some((note) => note.name === name)))
      faults.push(`${path}: the note ${quote(name)} already exists and is not changed; remove it first with remove-tool-annotation`);
    else if (entries.some((before) => before.length + done.length >= limits.maxNotesPerEntry))
      faults.push(`${path}: a tool can have at most ${limits.maxNotesPerEntry} notes`);
    else done.push(name);
    given.set(name, first ?? index);
  }
  const added = notes.filter(({ name }, index) => done.includes(name) && given.get(name) === index);
  return { document: changed(stored, indices, (before) => [...before, ...added]), done, faults };
}

export function removeNotes(stored: Toolset, indices: readonly number[], names: readonly string[]): NoteChanges {
  const there = new Set(indices.flatMap((at) => (stored.tools[at]?.notes ?? []).map(({ name }) => name)));
  const asked = [...new Set(names)];
  const done = asked.filter((name) => there.has(name));
  const left = [...there].filter((name) => !asked.includes(name));
  const has = left.length === 0 ? 'it has none' : `it has ${left.join(', ')}`;
  const faults = asked.filter((name) => !there.has(name)).map((name) => `there is no note ${quote(name)}; ${has}`);
  const gone = new Set(done);
  return { document: changed(stored, indices, (before) => before.filter(({ name }) => !gone.has(name))), done, faults };
}

type Notes = NonNullable<ToolsetEntry['notes']>;

function changed(stored: Toolset, indices: readonly number[], change: (before: Notes) => Notes): Toolset {
  const chosen = new Set(indices);
  const tools = stored.tools.map((entry, index) => {
    if (!chosen.has(index)) return entry;
    const { notes: before = [], ...rest } = entry;
    const notes = change(before);
    return { ...rest, ...(notes.length > 0 && { notes }) };
  });
  return { ...stored, tools };
}
