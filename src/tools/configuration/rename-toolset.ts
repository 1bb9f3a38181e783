import { z } from 'zod';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, NewName, requireNewName, requireToolset, nameTakenMessage } from './toolset-name.ts';
import { shownInfo, describeUsers, describeWarnings, retryLostWrites } from './write-draft.ts';

export const renameToolsetTool = defineConfigurationTool({
  name: 'rename-toolset',
  title: 'Rename a toolset',
  description:
    'Renames a saved toolset. Its content does not change, and it stays equipped. Agents and MCP URLs that use the old name must be updated.',
  input: z.strictObject({ name: ExistingName, newName: NewName }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolset: ToolsetInfo.optional(),
    warnings: z.array(z.string()).optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  failed: (error) => ({ success: false, error }),
  async run({ name, newName }, editor) {
    requireNewName(newName, 'newName');
    const users = describeUsers(await editor.usedBy(name));
    const { document } = await retryLostWrites(async () => {
      const { version } = await requireToolset(editor, name);
      if (newName === name || (await editor.toolset(newName)) !== null) throw nameTakenMessage(newName, 'newName');
      return await editor.rename(name, newName, version);
    });
    const toolset = shownInfo(document, await buildToolTable(await editor.tools(), editor.aliases), (await editor.equipment()).toolset);
    const named = [...users, `MCP URLs (/mcp/${name})`].join(', ');
    const warnings = [`the name ${name} no longer works. Change it to ${newName} in: ${named}`];
    return {
      answer: { success: true, toolset, warnings },
      text: `${name} is now ${describeToolset(toolset)}${describeWarnings(warnings)}`,
    };
  },
});
