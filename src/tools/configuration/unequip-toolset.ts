import { z } from 'zod';
import { defineConfigurationTool } from './configuration-tool.ts';

export const unequipToolset = defineConfigurationTool({
  name: 'unequip-toolset',
  title: 'Unequip the toolset',
  description: 'Unequips the toolset of this API key and enters configuration mode. The toolset stays saved.',
  input: z.strictObject({}),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error }),
  async run(_request, editor) {
    const { toolset } = await editor.equipment();
    await editor.equip({ toolset: null, mode: 'configuration' });
    const message = toolset === null ? 'No toolset was equipped.' : `${toolset} is no longer equipped. It stays saved.`;
    return { answer: { success: true, message }, text: message };
  },
});
