import { z } from 'zod';
import { quoted } from '../../core/problem.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, requireToolset } from './toolset-name.ts';
import { tellUsers, writeAgain } from './write-draft.ts';

export const deleteToolset = defineConfigurationTool({
  name: 'delete-toolset',
  title: 'Delete a toolset',
  description: 'Deletes a saved toolset for everybody who uses it. Needs confirm: true. If it is equipped, nothing is equipped after.',
  input: z.strictObject({
    name: ExistingName,
    confirm: z.boolean().optional().meta({ description: 'Must be true: ask the person first.' }),
  }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  failed: (error) => ({ success: false, error, message: error }),
  async run({ name, confirm = false }, desk) {
    const { body } = await requireToolset(desk, name);
    const { length } = body.tools as unknown[];
    if (!confirm) {
      const users = tellUsers(await desk.users(name)).join(', ');
      const named = users === '' ? '' : `, which ${users} name,`;
      throw new ToolFault(`confirm: deleting ${quoted(name)} (${length} tools)${named} needs confirm: true; ask whoever uses it first`);
    }
    const { toolset: equipped } = await desk.equipment();
    await writeAgain(async () => desk.remove(name, (await requireToolset(desk, name)).version));
    const message = `Deleted ${name}.${equipped === name ? ' It was equipped: nothing is now.' : ''}`;
    return { answer: { success: true, message }, text: message };
  },
});
