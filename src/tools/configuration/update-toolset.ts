import { z } from 'zod';
import { faultText } from '../../core/configuration/refusals.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { documentOf, describeToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { applyUpdate, isAdditive, ToolsetUpdate } from '../../core/configuration/update.ts';
import { Problem } from '../../core/problem.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { requireToolset } from './toolset-name.ts';
import { shownInfo, describeWarnings, retryLostWrites, writeDraft } from './write-draft.ts';

export const updateToolset = defineConfigurationTool({
  name: 'update-toolset',
  title: 'Change a toolset',
  description:
    'Changes a saved toolset: its description, its whole list of tools (tools), or single tools (add, change, remove). Everything that the request does not mention stays unchanged, including settings made by an administrator. Either all changes apply or none.',
  input: ToolsetUpdate,
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolset: ToolsetInfo.optional(),
    warnings: z.array(z.string()).optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  failed: (error) => ({ success: false, error }),
  async run(update, editor) {
    const { name } = update;
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const change = async () => {
      const stored = await requireToolset(editor, name);
      const drafted = applyUpdate(documentOf(stored), update, table);
      if (!drafted.ok) throw new ToolFault(faultText(drafted.faults));
      return await writeDraft(editor, name, drafted.draft, stored.version, table);
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
