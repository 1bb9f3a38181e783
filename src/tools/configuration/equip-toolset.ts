import { z } from 'zod';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { tellToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, requireToolset } from './toolset-name.ts';
import { shownInfo } from './write-draft.ts';

export const equipToolset = defineConfigurationTool({
  name: 'equip-toolset',
  title: 'Equip a toolset',
  description:
    'Equips a saved toolset for this key and leaves configuration mode: over MCP its tools, and only those, can then be called. It stays equipped until another is, or unequip-toolset is called.',
  input: z.strictObject({ name: ExistingName }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), toolset: ToolsetInfo.optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error }),
  async run({ name }, desk) {
    const document = await requireToolset(desk, name);
    const { toolset: equipped } = await desk.equip({ toolset: name, mode: 'normal' });
    // Removed in between: what is equipped is what the Catalog says.
    if (equipped !== name) await requireToolset(desk, name);
    const toolset = shownInfo(document, await buildToolTable(await desk.tools(), desk.aliases), equipped);
    return { answer: { success: true, toolset }, text: `Equipped ${tellToolset(toolset)}` };
  },
});
