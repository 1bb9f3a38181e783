import { z } from 'zod';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, requireToolset } from './toolset-name.ts';
import { shownInfo } from './write-draft.ts';

export const equipToolset = defineConfigurationTool({
  name: 'equip-toolset',
  title: 'Equip a toolset',
  description:
    'Equips a saved toolset for this API key and leaves configuration mode. MCP clients can then call only the tools of this toolset. It stays equipped until another toolset is equipped or unequip-toolset is called.',
  input: z.strictObject({ name: ExistingName }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), toolset: ToolsetInfo.optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error }),
  async run({ name }, editor) {
    const document = await requireToolset(editor, name);
    const { toolset: equipped } = await editor.equip({ toolset: name, mode: 'normal' });
    // The toolset may have been removed meanwhile: the Catalog returns what is equipped now.
    if (equipped !== name) await requireToolset(editor, name);
    const toolset = shownInfo(document, await buildToolTable(await editor.tools(), editor.aliases), equipped);
    return { answer: { success: true, toolset }, text: `Equipped ${describeToolset(toolset)}` };
  },
});
