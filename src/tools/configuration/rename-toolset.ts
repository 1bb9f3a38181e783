import { z } from 'zod';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { tellToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, NewName, requireNewName, requireToolset, takenName } from './toolset-name.ts';
import { shownInfo, tellUsers, tellWarnings, writeAgain } from './write-draft.ts';

export const renameToolset = defineConfigurationTool({
  name: 'rename-toolset',
  title: 'Rename a toolset',
  description:
    'Gives a saved toolset another name. All that stands in it stays, and it stays equipped. Agents and MCP addresses that name it have to be told.',
  input: z.strictObject({ name: ExistingName, newName: NewName }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolset: ToolsetInfo.optional(),
    warnings: z.array(z.string()).optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  failed: (error) => ({ success: false, error }),
  async run({ name, newName }, desk) {
    requireNewName(newName, 'newName');
    const users = tellUsers(await desk.users(name));
    const { document } = await writeAgain(async () => {
      const { version } = await requireToolset(desk, name);
      if (newName === name || (await desk.toolset(newName)) !== null) throw takenName(newName, 'newName');
      return await desk.rename(name, newName, version);
    });
    const toolset = shownInfo(document, await buildToolTable(await desk.tools(), desk.aliases), (await desk.equipment()).toolset);
    const named = [...users, `MCP addresses (/mcp/${name})`].join(', ');
    const warnings = [`what names ${name} finds it no more, so change it to ${newName}: ${named}`];
    return { answer: { success: true, toolset, warnings }, text: `${name} is now ${tellToolset(toolset)}${tellWarnings(warnings)}` };
  },
});
