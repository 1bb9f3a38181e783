/**
 * All configuration tools (contract §10), with those that list the available tools and switch modes. They are built-in tools, and a toolset
 * has them only if it lists them. Used by `registry.ts`.
 */
import { type DefinedTool, ToolFault } from '../define-tool.ts';
import { buildToolsetTool, addToolAnnotation, removeToolAnnotation, updateToolset } from './edit-toolset.ts';
import {
  deleteToolsetTool,
  equipToolset,
  getActiveToolset,
  listSavedToolsets,
  renameToolsetTool,
  unequipToolset,
} from './saved-toolsets.ts';
import * as z from 'zod';
import { callableIn } from '../../core/names/reserved-names.ts';
import { defineConfigurationTool } from './configuration-tool.ts';
import { AvailableTools, AvailableToolsQuery, listAvailable } from '../../core/configuration/available-tools.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';

// The tools that enter and leave configuration mode. Each sets the mode, so a second call has no effect.

const Mode = z.enum(['configuration', 'normal']);

const enterConfigurationMode = defineConfigurationTool({
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

const exitConfigurationMode = defineConfigurationTool({
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

const listAvailableTools = defineConfigurationTool({
  name: 'list-available-tools',
  title: 'List available tools',
  description:
    'Lists every tool that a toolset can contain, grouped by server: its namespacedName and refId (for build-toolset), what it does, its default aliases, and its size in tokens. Long lists are paged: filter by server or query, or continue with after.',
  input: AvailableToolsQuery,
  output: AvailableTools,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run(query, editor) {
    const answer = listAvailable(await buildToolTable(await editor.tools(), editor.aliases), await editor.servers(), query);
    return { answer, text: tell(answer) };
  },
});

function tell({ summary, toolsByServer = [] }: AvailableTools): string {
  if (summary === undefined) return 'No tools are available.';
  const { totalTools, totalServers, matchingTools, shownTools, leftOut, nextAfter, tokens } = summary;
  const which = matchingTools === totalTools ? '' : ` ${matchingTools} match.`;
  const rest =
    leftOut === 0
      ? ''
      : ` ${shownTools} are shown, ${leftOut} are left out: filter by server or query, or continue with after: ${nextAfter}.`;
  const head = `${totalTools} tools of ${totalServers} servers, about ${tokens} tokens in total.${which}${rest}`;
  const servers = toolsByServer.flatMap(({ serverName, toolCount, status, reason, tools }) => {
    const health = status === undefined || status === 'ok' ? '' : `, ${status}${reason === undefined ? '' : `: ${reason}`}`;
    const rows = tools.map(({ namespacedName, aliases, state, context, description = '' }) => {
      const also = aliases.length === 0 ? '' : ` (aliases: ${aliases.join(', ')})`;
      return `- ${namespacedName}${also}${state === 'held' ? ' [held]' : ''} ~${context.tokens} tokens: ${description}`;
    });
    return [`## ${serverName} (${toolCount} tools${health})`, ...rows];
  });
  return [head, ...servers].join('\n');
}

export const configurationToolset: readonly DefinedTool[] = [
  listAvailableTools,
  buildToolsetTool,
  listSavedToolsets,
  equipToolset,
  unequipToolset,
  getActiveToolset,
  deleteToolsetTool,
  addToolAnnotation,
  enterConfigurationMode,
  exitConfigurationMode,
  updateToolset,
  renameToolsetTool,
  removeToolAnnotation,
];
