import { z } from 'zod';
import { ActiveToolset, describeActive } from '../../core/configuration/active-toolset.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset } from '../../core/configuration/toolset-info.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { describeWarnings } from './write-draft.ts';

export const getActiveToolset = defineConfigurationTool({
  name: 'get-active-toolset',
  title: 'Show the equipped toolset',
  description: 'Shows the equipped toolset: the names of its tools, which of them can be called now, and their size in tokens.',
  input: z.strictObject({}),
  output: ActiveToolset,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, equipped: false }),
  async run(_request, editor) {
    const { toolset, mode } = await editor.equipment();
    const document = toolset === null ? null : await editor.toolset(toolset);
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const answer = describeActive(document, mode, table, await editor.servers());
    return { answer, text: tell(answer) };
  },
});

function tell({ toolset, toolSummary, unavailableServers = [], warnings = [], context, mode }: ActiveToolset): string {
  if (toolset === undefined)
    return 'No toolset is equipped. Call list-saved-toolsets to see the saved toolsets, or build-toolset to create one.';
  const down = unavailableServers.map(({ name, status = 'not listing its tools', reason }) => {
    return `the server ${name} is ${status}${reason === undefined ? '' : `: ${reason}`}`;
  });
  const exposed = toolSummary?.currentlyExposed;
  const cost = `${exposed} ${exposed === 1 ? 'tool' : 'tools'} can be called, about ${context?.tokens} tokens (${context?.percent}% of all tools). Mode: ${mode}.`;
  return `${describeToolset(toolset)}\n${cost}${describeWarnings([...down, ...warnings])}`;
}
