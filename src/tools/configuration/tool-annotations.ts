/**
 * The tools that add and remove notes of a toolset's tools. Both find the entries in the same way, and both can be retried on a newer
 * version.
 */
import { z } from 'zod';
import { addNotes, Note, NoteName, removeNotes, type NoteChanges } from '../../core/configuration/annotations.ts';
import { faultText } from '../../core/configuration/refusals.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { documentOf } from '../../core/configuration/toolset-info.ts';
import { EntryReference, findEntries, indexEntries } from '../../core/configuration/update.ts';
import { limits } from '../../core/limits.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { requireToolset } from './toolset-name.ts';
import { retryLostWrites, writeDraft } from './write-draft.ts';

const where = {
  toolRef: EntryReference.meta({
    description: 'The tool, given by namespacedName or refId. If the toolset lists it several times, all its entries are changed.',
  }),
  toolset: z.string().optional().meta({ description: 'Name of a saved toolset. Default: the equipped one.' }),
};

const common = {
  success: z.boolean(),
  error: z.string().optional(),
  toolset: z.string().optional(),
  tool: z.string().optional(),
  successCount: z.int(),
  errorCount: z.int(),
  errors: z.array(z.string()).optional(),
};

const none = (error: string) => ({ success: false, error, successCount: 0, errorCount: 1, errors: [error] });

export const addToolAnnotation = defineConfigurationTool({
  name: 'add-tool-annotation',
  title: 'Annotate a tool',
  description:
    'Adds notes to a tool of the equipped toolset or of another one. Notes are shown below the description of the tool to every caller. Existing notes are not replaced: a note whose name is already used is skipped and reported.',
  input: z.strictObject({ ...where, notes: z.array(Note).min(1).max(limits.maxNotesPerEntry) }),
  output: z.object({ ...common, addedNotes: z.array(Note) }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ ...none(error), addedNotes: [] }),
  async run({ toolRef, notes, toolset }, editor) {
    const { done, ...outcome } = await annotate(editor, { toolRef, toolset }, (stored, indices) => addNotes(stored, indices, notes));
    const added = new Map(notes.map((note) => [note.name, note] as const).reverse());
    const addedNotes = done.flatMap((name) => added.get(name) ?? []);
    return { answer: { ...outcome.answer, addedNotes }, ...tell(outcome.answer, 'added', done) };
  },
});

export const removeToolAnnotation = defineConfigurationTool({
  name: 'remove-tool-annotation',
  title: 'Remove notes from a tool',
  description: 'Removes notes, by name, from a tool of the equipped toolset or of another one.',
  input: z.strictObject({
    ...where,
    names: z.array(NoteName).min(1).max(limits.maxNotesPerEntry).meta({ description: 'Names of the notes to remove.' }),
  }),
  output: z.object({ ...common, removedNotes: z.array(z.string()) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  failed: (error) => ({ ...none(error), removedNotes: [] }),
  async run({ toolRef, names, toolset }, editor) {
    const { done, ...outcome } = await annotate(editor, { toolRef, toolset }, (stored, indices) => removeNotes(stored, indices, names));
    return { answer: { ...outcome.answer, removedNotes: done }, ...tell(outcome.answer, 'removed', done) };
  },
});

type Target = { toolRef: EntryReference; toolset: string | undefined };
type Change = (stored: Toolset, indices: readonly number[]) => NoteChanges;

/** Throws `ToolFault` if the tool is not in the toolset. */
async function annotate(editor: ToolsetEditor, { toolRef, toolset: given }: Target, change: Change) {
  const table = await buildToolTable(await editor.tools(), editor.aliases);
  const toolset = given ?? (await editor.equipment()).toolset;
  if (toolset === null) throw new ToolFault('toolset: no toolset is equipped; name the toolset that contains the tool');
  const { done, faults, tool } = await retryLostWrites(async () => {
    const stored = await requireToolset(editor, toolset, 'toolset');
    const before = documentOf(stored);
    const found = findEntries(indexEntries(before.tools), toolRef, 'toolRef', table);
    if (!found.ok) throw new ToolFault(found.fault);
    const { document, ...annotated } = change(before, found.indices);
    const tool = before.tools[found.indices[0]]?.tool ?? '';
    if (annotated.done.length === 0) return { ...annotated, tool };
    const places = document.tools.map(() => ({ path: null, hasAlias: false }));
    await writeDraft(editor, toolset, { document, places }, stored.version, table);
    return { ...annotated, tool };
  });
  const answer = {
    success: done.length > 0,
    ...(done.length === 0 && { error: faultText(faults) }),
    toolset,
    tool,
    successCount: done.length,
    errorCount: faults.length,
    ...(faults.length > 0 && { errors: faults }),
  };
  return { done, answer };
}

type Outcome = { toolset: string; tool: string; errors?: string[] };

function tell({ toolset, tool, errors = [] }: Outcome, verb: string, done: readonly string[]): { text: string; isError: boolean } {
  const left = errors.length === 0 ? '' : ` Not ${verb}: ${faultText(errors)}.`;
  return { text: `${tool} in ${toolset}: ${verb} ${done.join(', ') || 'nothing'}.${left}`, isError: done.length === 0 };
}
