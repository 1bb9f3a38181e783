import { z } from 'zod';
import { faultText } from '../../core/configuration/refusals.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { documentOf, tellToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { applyUpdate, isAdditive, ToolsetUpdate } from '../../core/configuration/update.ts';
import { Problem } from '../../core/problem.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { requireToolset } from './toolset-name.ts';
import { shownInfo, tellWarnings, writeAgain, writeDraft } from './write-draft.ts';

export const updateToolset = defineConfigurationTool({
  name: 'update-toolset',
  title: 'Change a toolset',
  description:
    'Changes a saved toolset: its description, its whole list of tools (tools), or single ones (add, change, remove). What the request does not speak of stays, settings of an administrator included. All of it is done, or nothing.',
  input: ToolsetUpdate,
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolset: ToolsetInfo.optional(),
    warnings: z.array(z.string()).optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  failed: (error) => ({ success: false, error }),
  async run(update, desk) {
    const { name } = update;
    const table = await buildToolTable(await desk.tools(), desk.aliases);
    const change = async () => {
      const stored = await requireToolset(desk, name);
      const drafted = applyUpdate(documentOf(stored), update, table);
      if (!drafted.ok) throw new ToolFault(faultText(drafted.faults));
      return await writeDraft(desk, name, drafted.draft, stored.version, table);
    };
    const { document, warnings } = isAdditive(update) ? await writeAgain(change) : await writeOnce(change);
    const toolset = shownInfo(document, table, (await desk.equipment()).toolset);
    const answer = { success: true, toolset, ...(warnings.length > 0 && { warnings }) };
    return { answer, text: `Changed ${tellToolset(toolset)}${tellWarnings(warnings)}` };
  },
});

/** A whole new list was made by somebody who had seen the old one. */
async function writeOnce<Answer>(change: () => Promise<Answer>): Promise<Answer> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'precondition_failed') throw error;
    throw new ToolFault(
      'The toolset was changed by somebody else at the same time: look at it with list-saved-toolsets, then send the list again.',
    );
  }
}
