import { z } from 'zod';
import { fitRows } from '../../core/configuration/fit.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { tellToolset, ToolsetInfo, toolsetInfo } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits.ts';
import { defineConfigurationTool } from './configuration-tool.ts';

/** Of each toolset, where there are many: those that are looked for are named by `get-active-toolset` and `equip-toolset` in full. */
const leastRoom = 2_000;

export const listSavedToolsets = defineConfigurationTool({
  name: 'list-saved-toolsets',
  title: 'List saved toolsets',
  description: 'Lists the toolsets that are saved, with the tools of each under all their names, and says which one is equipped.',
  input: z.strictObject({
    after: z.string().max(64).optional().meta({ description: 'Only toolsets whose names come after this one: to read on.' }),
  }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolsets: z.array(ToolsetInfo),
    leftOut: z.int().optional().meta({ description: 'How many more there are: read on with `after`.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, toolsets: [] }),
  async run({ after }, desk) {
    const table = await buildToolTable(await desk.tools(), desk.aliases);
    const { toolset: equipped } = await desk.equipment();
    const stored = (await desk.toolsets()).filter(({ name }) => after === undefined || name > after);
    const room = Math.max(leastRoom, Math.floor(limits.maxConfigurationAnswerBytes / 2 / Math.max(1, stored.length)));
    const infos = stored.map((document) => toolsetInfo(document, table, equipped, room));
    const { rows: toolsets, leftOut } = fitRows(infos, limits.maxConfigurationAnswerBytes);
    const more = leftOut === 0 ? [] : [`${leftOut} more are left out: read on with after ${toolsets.at(-1)?.name}.`];
    const text =
      toolsets.length === 0 ? 'No toolsets are saved. build-toolset makes one.' : [...toolsets.map(tellToolset), ...more].join('\n\n');
    return { answer: { success: true, toolsets, ...(leftOut > 0 && { leftOut }) }, text };
  },
});
