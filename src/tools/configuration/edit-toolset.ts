/** The configuration tools that store toolsets: building one, changing one, and the notes of its tools. */
import { boundedText } from '../../core/text/bounded-text.ts';
import * as z from 'zod';
import { EntryRequest, readEntryRequests, toDraft, faultText } from '../../core/configuration/draft.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo, documentOf } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { ToolFault } from '../define-tool.ts';
import {
  ChangedToolset,
  defineConfigurationTool,
  NewName,
  requireNewName,
  nameTakenMessage,
  shownInfo,
  describeWarnings,
  writeDraft,
  requireToolset,
  retryLostWrites,
} from './configuration-tool.ts';
import {
  applyUpdate,
  isAdditive,
  ToolsetUpdate,
  addNotes,
  Note,
  NoteName,
  removeNotes,
  type NoteChanges,
  EntryReference,
  findEntries,
  indexEntries,
} from '../../core/configuration/update.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import { toolOf } from '../../core/toolset/entries/entry-targets.ts';

export const buildToolsetTool = defineConfigurationTool({
  name: 'build-toolset',
  title: 'Build a toolset',
  description:
    'Saves a new toolset from tools listed by list-available-tools. Set an alias for a tool if its own name is long, unclear or already used. Names must be unique within the toolset. If anything is wrong, nothing is saved; the error names each entry by its index and says what to do. With autoEquip the toolset is equipped immediately.',
  input: z.strictObject({
    name: NewName,
    description: boundedText(limits.maxDescriptionBytes).optional().meta({ description: 'Purpose of the toolset.' }),
    tools: z
      .array(EntryRequest)
      .max(limits.maxToolsetEntries)
      .meta({
        description: 'Tools to include, each given by namespacedName or refId.',
        examples: [[{ namespacedName: 'github.list_pull_requests', alias: 'list_prs' }, { namespacedName: 'github.get_me' }]],
      }),
    autoEquip: z.boolean().optional().meta({ description: 'true: equip the toolset after saving it, and leave configuration mode.' }),
  }),
  output: z.object({
    meta: z.object({
      success: z.boolean(),
      toolsetName: z.string().optional(),
      autoEquipped: z.boolean().optional(),
      error: z.string().optional(),
      warnings: z.array(z.string()).optional(),
    }),
    toolset: ToolsetInfo.optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  failed: (error) => ({ meta: { success: false, error } }),
  async run({ name, description, tools, autoEquip = false }, editor) {
    requireNewName(name);
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const { entries, faults } = readEntryRequests(tools, 'tools', table);
    if (faults.length > 0) throw new ToolFault(faultText(faults));
    const rest = { announce: 'prompt' as const, ...(description !== undefined && description !== '' && { description }) };
    const drafted = toDraft(rest, entries, table);
    if (!drafted.ok) throw new ToolFault(faultText(drafted.faults));
    if ((await editor.toolset(name)) !== null) throw nameTakenMessage(name);
    const written = await writeNew(name, () => writeDraft(editor, name, drafted.draft, null, table));
    const equipped = autoEquip ? await tryEquip(editor, name) : false;
    const warnings =
      autoEquip && !equipped
        ? [...written.warnings, `"${name}" was saved but could not be equipped: call equip-toolset`]
        : written.warnings;
    const toolset = shownInfo(written.document, table, equipped ? name : (await editor.equipment()).toolset);
    const next = equipped
      ? 'It is equipped: its tools can now be called at /mcp.'
      : 'Call equip-toolset to make its tools callable at /mcp.';
    return {
      answer: { meta: { success: true, toolsetName: name, autoEquipped: equipped, ...(warnings.length > 0 && { warnings }) }, toolset },
      text: `Saved the toolset ${describeToolset(toolset)}\n${next}${describeWarnings(warnings)}`,
    };
  },
});

/** Another client may have created a toolset with this name since the check. */
async function writeNew<Answer>(name: string, write: () => Promise<Answer>): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Problem && error.code === 'precondition_failed') throw nameTakenMessage(name);
    throw error;
  }
}

/** Failures are ignored here: the toolset is already stored. */
async function tryEquip(editor: ToolsetEditor, name: string): Promise<boolean> {
  try {
    return (await editor.equip({ toolset: name, mode: 'normal' })).toolset === name;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

export const updateToolset = defineConfigurationTool({
  name: 'update-toolset',
  title: 'Change a toolset',
  description:
    'Changes a saved toolset: its description, its whole list of tools (tools), or single tools (add, change, remove). Everything that the request does not mention stays unchanged, including settings made by an administrator. Either all changes apply or none.',
  input: ToolsetUpdate,
  output: ChangedToolset,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run(update, editor) {
    const { name } = update;
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const change = async () => {
      const stored = await requireToolset(editor, name);
      const before = documentOf(stored);
      const drafted = applyUpdate(before, update, table);
      if (!drafted.ok) throw new ToolFault(faultText(drafted.faults));
      const written = await writeDraft(editor, name, drafted.draft, stored.version, table);
      const broken = await editor.brokenCalls(name, before, drafted.draft.document);
      return { ...written, warnings: [...written.warnings, ...broken] };
    };
    const { document, warnings } = isAdditive(update) ? await retryLostWrites(change) : await writeOnce(change);
    const toolset = shownInfo(document, table, (await editor.equipment()).toolset);
    const answer = { success: true, toolset, ...(warnings.length > 0 && { warnings }) };
    return { answer, text: `Changed ${describeToolset(toolset)}${describeWarnings(warnings)}` };
  },
});

/** No retry: a complete new list was made from the version that the caller saw. */
async function writeOnce<Answer>(change: () => Promise<Answer>): Promise<Answer> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'precondition_failed') throw error;
    throw new ToolFault('Another client changed the toolset at the same time. Read it with list-saved-toolsets, then send the list again.');
  }
}

// The tools that add and remove notes of a toolset's tools. Both find the entries in the same way, and both can be retried on a newer
// version.

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
    const found = findEntries(indexEntries(before, table), toolRef, 'toolRef', table);
    if (!found.ok) throw new ToolFault(found.fault);
    const { document, ...annotated } = change(before, found.indices);
    const tool = toolOf(before.tools[found.indices[0]] ?? {}) ?? '';
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
