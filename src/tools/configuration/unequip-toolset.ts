import { z } from 'zod';
import { defineConfigurationTool } from './configuration-tool.ts';

export const unequipToolset = defineConfigurationTool({
  name: 'unequip-toolset',
  title: 'Unequip the toolset',
  description: 'Takes the equipped toolset away from this key, which is then in configuration mode. The toolset stays saved.',
  input: z.strictObject({}),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error }),
  async run(_request, desk) {
    const { toolset } = await desk.equipment();
    await desk.equip({ toolset: null, mode: 'configuration' });
    const message = toolset === null ? 'Nothing was equipped.' : `${toolset} is not equipped any more. It stays saved.`;
    return { answer: { success: true, message }, text: message };
  },
});
