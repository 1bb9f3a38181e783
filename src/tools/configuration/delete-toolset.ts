import { z } from 'zod';
import { quoted } from '../../core/problem.ts';
import { ToolFault } from '../define-tool.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { ExistingName, requireToolset } from './toolset-name.ts';
import { describeUsers, retryLostWrites } from './write-draft.ts';

export const deleteToolsetTool = defineConfigurationTool({
  name: 'delete-toolset',
  title: 'Delete a toolset',
  description: 'Deletes a saved toolset for all its users. Requires confirm: true. If it is equipped, no toolset is equipped afterwards.',
  input: z.strictObject({
    name: ExistingName,
    confirm: z.boolean().optional().meta({ description: 'Must be true. Ask the user before you set it.' }),
  }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  failed: (error) => ({ success: false, error, message: error }),
  async run({ name, confirm = false }, editor) {
    const { body } = await requireToolset(editor, name);
    const { length } = body.tools as unknown[];
    if (!confirm) {
      const users = describeUsers(await editor.usedBy(name)).join(', ');
      const named = users === '' ? '' : `, used by ${users},`;
      throw new ToolFault(`confirm: deleting ${quoted(name)} (${length} tools)${named} requires confirm: true; ask its users first`);
    }
    const { toolset: equipped } = await editor.equipment();
    await retryLostWrites(async () => editor.remove(name, (await requireToolset(editor, name)).version));
    const message = `Deleted ${name}.${equipped === name ? ' It was equipped; no toolset is equipped now.' : ''}`;
    return { answer: { success: true, message }, text: message };
  },
});
