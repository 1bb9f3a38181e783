import { z } from 'zod';
import { EntryRequest, readEntryRequests, toDraft } from '../../core/configuration/draft.ts';
import { faultText } from '../../core/configuration/refusals.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { NewName, requireNewName, nameTakenMessage } from './toolset-name.ts';
import { shownInfo, describeWarnings, writeDraft } from './write-draft.ts';

export const buildToolsetTool = defineConfigurationTool({
  name: 'build-toolset',
  title: 'Build a toolset',
  description:
    'Saves a new toolset from tools listed by list-available-tools. Set an alias for a tool if its own name is long, unclear or already used. Names must be unique within the toolset. If anything is wrong, nothing is saved; the error names each entry by its index and says what to do. With autoEquip the toolset is equipped immediately.',
  input: z.strictObject({
    name: NewName,
    description: z.string().max(limits.maxDescriptionBytes).optional().meta({ description: 'Purpose of the toolset.' }),
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
