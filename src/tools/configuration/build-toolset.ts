import { z } from 'zod';
import { EntryRequest, readEntries, toDraft } from '../../core/configuration/draft.ts';
import { faultText } from '../../core/configuration/refusals.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { tellToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ConfigurationDesk } from '../../ports/configuration-desk.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { NewName, requireNewName, takenName } from './toolset-name.ts';
import { shownInfo, tellWarnings, writeDraft } from './write-draft.ts';

export const buildToolset = defineConfigurationTool({
  name: 'build-toolset',
  title: 'Build a toolset',
  description:
    'Saves a new toolset: a list of tools from list-available-tools, each under a name of your choosing (alias) where its own is long, unclear or taken. Names must be free within the toolset. Nothing is saved when anything is wrong; the error names each entry by its index and says what to do. With autoEquip it is equipped at once.',
  input: z.strictObject({
    name: NewName,
    description: z.string().max(limits.maxDescriptionBytes).optional().meta({ description: 'What the toolset is for.' }),
    tools: z
      .array(EntryRequest)
      .max(limits.maxToolsetEntries)
      .meta({
        description: 'Each named by namespacedName or refId.',
        examples: [[{ namespacedName: 'github.list_pull_requests', alias: 'list_prs' }, { namespacedName: 'github.get_me' }]],
      }),
    autoEquip: z.boolean().optional().meta({ description: 'Equip it when it is built, and leave configuration mode.' }),
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
  async run({ name, description, tools, autoEquip = false }, desk) {
    requireNewName(name);
    const table = await buildToolTable(await desk.tools(), desk.aliases);
    const { entries, faults } = readEntries(tools, 'tools', table);
    if (faults.length > 0) throw new ToolFault(faultText(faults));
    const rest = { announce: 'prompt' as const, ...(description !== undefined && description !== '' && { description }) };
    const drafted = toDraft(rest, entries, table);
    if (!drafted.ok) throw new ToolFault(faultText(drafted.faults));
    if ((await desk.toolset(name)) !== null) throw takenName(name);
    const written = await writeNew(name, () => writeDraft(desk, name, drafted.draft, null, table));
    const equipped = autoEquip ? await tryEquip(desk, name) : false;
    const warnings =
      autoEquip && !equipped
        ? [...written.warnings, `"${name}" is saved, but could not be equipped: call equip-toolset`]
        : written.warnings;
    const toolset = shownInfo(written.document, table, equipped ? name : (await desk.equipment()).toolset);
    const next = equipped ? 'It is equipped: its tools can be called at /mcp now.' : 'equip-toolset makes its tools callable at /mcp.';
    return {
      answer: { meta: { success: true, toolsetName: name, autoEquipped: equipped, ...(warnings.length > 0 && { warnings }) }, toolset },
      text: `Saved the toolset ${tellToolset(toolset)}\n${next}${tellWarnings(warnings)}`,
    };
  },
});

/** Somebody may have taken the name since it was looked at. */
async function writeNew<Answer>(name: string, write: () => Promise<Answer>): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Problem && error.code === 'precondition_failed') throw takenName(name);
    throw error;
  }
}

/** The toolset is stored by now, whatever becomes of this. */
async function tryEquip(desk: ConfigurationDesk, name: string): Promise<boolean> {
  try {
    return (await desk.equip({ toolset: name, mode: 'normal' })).toolset === name;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
