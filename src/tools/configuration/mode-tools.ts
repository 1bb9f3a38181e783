/** The tools that enter and leave configuration mode. Each sets the mode, so a second call has no effect. */
import { z } from 'zod';
import { callableIn } from '../../core/configuration/modes.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';

const Mode = z.enum(['configuration', 'normal']);

export const enterConfigurationMode = defineConfigurationTool({
  name: 'enter-configuration-mode',
  title: 'Enter configuration mode',
  description:
    'Enters configuration mode: shows the tools that list, build, equip and change toolsets instead of the equipped tools. To return, call equip-toolset or exit-configuration-mode.',
  input: z.strictObject({}),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    message: z.string(),
    currentMode: Mode.optional(),
    availableTools: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error, availableTools: [] }),
  async run(_request, editor) {
    const { mode: currentMode } = await editor.equip({ mode: 'configuration' });
    const availableTools = [...callableIn(currentMode)];
    const message = `In configuration mode. Tools: ${availableTools.join(', ')}.`;
    return { answer: { success: true, message, currentMode, availableTools }, text: message };
  },
});

export const exitConfigurationMode = defineConfigurationTool({
  name: 'exit-configuration-mode',
  title: 'Leave configuration mode',
  description:
    'Leaves configuration mode and shows the tools of the equipped toolset again. Fails if no toolset is equipped: call equip-toolset instead.',
  input: z.strictObject({}),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string(), currentMode: Mode.optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error }),
  async run(_request, editor) {
    const { toolset } = await editor.equipment();
    if (toolset === null)
      throw new ToolFault('No toolset is equipped, so configuration mode stays on. Call equip-toolset, which leaves it.');
    const { mode: currentMode } = await editor.equip({ mode: 'normal' });
    const message = `In normal mode, with the toolset ${toolset}.`;
    return { answer: { success: true, message, currentMode }, text: message };
  },
});
