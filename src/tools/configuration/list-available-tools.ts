import { AvailableTools, AvailableToolsQuery, listAvailable } from '../../core/configuration/available-tools.ts';
import { buildToolTable } from '../../core/configuration/tool-table.ts';
import { defineConfigurationTool } from './configuration-tool.ts';

export const listAvailableTools = defineConfigurationTool({
  name: 'list-available-tools',
  title: 'List available tools',
  description:
    'Lists every tool that a toolset can contain, grouped by server: its namespacedName and refId (for build-toolset), what it does, its default aliases, and its size in tokens. Long lists are paged: filter by server or query, or continue with after.',
  input: AvailableToolsQuery,
  output: AvailableTools,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error }),
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
