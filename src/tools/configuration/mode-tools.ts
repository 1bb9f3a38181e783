/** Entering and leaving configuration mode: each sets the mode, so that calling one twice changes nothing. */
import { z } from 'zod';
import { callableIn } from '../../core/configuration/modes.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';

const Mode = z.enum(['configuration', 'normal']);

export const enterConfigurationMode = defineConfigurationTool({
  name: 'enter-configuration-mode',
  title: 'Enter configuration mode',
  description:
    'Shows the tools that list, build, equip and change toolsets, in the place of the equipped tools. equip-toolset and exit-configuration-mode lead back.',
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
  async run(_request, desk) {
    const { mode: currentMode } = await desk.equip({ mode: 'configuration' });
    const availableTools = [...callableIn(currentMode)];
    const message = `In configuration mode. Tools: ${availableTools.join(', ')}.`;
    return { answer: { success: true, message, currentMode, availableTools }, text: message };
  },
});

export const exitConfigurationMode = defineConfigurationTool({
  name: 'exit-configuration-mode',
  title: 'Leave configuration mode',
  description:
    'Goes back to the tools of the equipped toolset. Where nothing is equipped there is nothing to go back to: equip-toolset first.',
  input: z.strictObject({}),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string(), currentMode: Mode.optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error }),
  async run(_request, desk) {
    const { toolset } = await desk.equipment();
    if (toolset === null) throw new ToolFault('Nothing is equipped, so configuration mode stays: call equip-toolset, which leaves it.');
    const { mode: currentMode } = await desk.equip({ mode: 'normal' });
    const message = `In normal mode, with the toolset ${toolset}.`;
    return { answer: { success: true, message, currentMode }, text: message };
  },
});
