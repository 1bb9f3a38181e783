/** Notes of toolset entries, which follow the descriptions of their tools (`edition.ts`): adding and removing them one by one. */
import { z } from 'zod';
import { limits } from '../limits.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { quote } from '../names/names.ts';

export const NoteName = z
  .string()
  .min(2)
  .max(50)
  .regex(/^[a-z0-9-]+$/, { message: 'must be a-z, 0-9 and "-", such as when-to-use' })
  .meta({ description: 'Identifies the note.', examples: ['when-to-use'] });

export const Note = z.strictObject({
  name: NoteName,
  note: z.string().min(1).max(limits.maxNoteBytes).meta({ description: 'What callers of the tool should know.' }),
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
