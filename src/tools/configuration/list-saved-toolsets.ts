import { z } from 'zod';
import { fitRows } from '../../core/configuration/fit-rows.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo, toolsetInfo } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits.ts';
import { defineConfigurationTool } from './configuration-tool.ts';

/** Minimum bytes for each toolset in a long list. `get-active-toolset` and `equip-toolset` return a single toolset in full. */
const leastRoom = 2_000;

export const listSavedToolsets = defineConfigurationTool({
  name: 'list-saved-toolsets',
  title: 'List saved toolsets',
  description: 'Lists the saved toolsets with their tools and all names of each tool, and shows which toolset is equipped.',
  input: z.strictObject({
    after: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'Name of the last toolset of the previous page. Returns the toolsets after it.' }),
  }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolsets: z.array(ToolsetInfo),
    leftOut: z.int().optional().meta({ description: 'Number of toolsets left out. Request them with `after`.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, toolsets: [] }),
  async run({ after }, editor) {
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const { toolset: equipped } = await editor.equipment();
    const stored = (await editor.toolsets()).filter(({ name }) => after === undefined || name > after);
    const room = Math.max(leastRoom, Math.floor(limits.maxConfigurationAnswerBytes / 2 / Math.max(1, stored.length)));
    const infos = stored.map((document) => toolsetInfo(document, table, equipped, room));
    const { rows: toolsets, leftOut } = fitRows(infos, limits.maxConfigurationAnswerBytes);
    const more = leftOut === 0 ? [] : [`${leftOut} more are left out. Continue with after: ${toolsets.at(-1)?.name}.`];
    const text =
      toolsets.length === 0
        ? 'No toolsets are saved. Create one with build-toolset.'
        : [...toolsets.map(describeToolset), ...more].join('\n\n');
    return { answer: { success: true, toolsets, ...(leftOut > 0 && { leftOut }) }, text };
  },
});
