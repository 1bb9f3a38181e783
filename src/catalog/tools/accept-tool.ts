/** Accepts what a server lists for a tool, in every toolset that has it: a held definition, its annotations, or both. */
import { acceptListedDefinition, type ToolAcceptance } from '../../core/listing/accept-definition.ts';
import { canonicalOf, toToolDefinition, toServerTool } from '../../core/listing/stored-tool.ts';
import type { StoredTool } from '../../core/listing/stored-tool.ts';
import { Problem } from '../../core/problem.ts';
import { quote } from '../../core/names/names.ts';
import type { AcceptedTool } from '../../core/servers/server.ts';
import { firstWarnings } from '../../core/warning.ts';
import { recordChange } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { knownTools } from './known-tools.ts';
import { dropDefinitions, serverOf } from '../servers/server-definitions.ts';
import { readTool, writeTool } from '../servers/server-tools.ts';
import { recompileWith, revise } from '../toolsets/toolsets.ts';

export async function acceptTool(
  context: CatalogContext,
  { server, name, acceptance, by }: { server: string; name: string; acceptance: ToolAcceptance; by: string },
): Promise<AcceptedTool> {
  const accepted = acceptListedDefinition(requireTool(context, server, name), acceptance);
  const definition = toToolDefinition(serverOf(context, server), accepted);
  const tools = definition === null ? [] : [definition];
  const { revisions, warnings } = await recompileWith(
    context,
    tools.map(({ canonical }) => canonical),
    knownTools(context, { tools }),
  );
  for (const { message } of warnings) context.log.info('toolset not recompiled', { server, tool: name, message });
  context.transact(() => {
    writeTool(context, server, accepted);
    recordChange(context, { by, action: 'accept', resource: 'server-tool', name: canonicalOf(server, name) });
    dropDefinitions(context, server);
    for (const revision of revisions) revise(context, revision);
  });
  return { ...toServerTool(server, accepted), warnings: firstWarnings(warnings, 'toolsets') };
}

/** Throws `not_found` for an unknown server or tool. */
export function requireTool(context: CatalogContext, server: string, name: string): StoredTool {
  requireRow(context.sql, 'server', server);
  const tool = readTool(context.sql, server, name);
  if (tool === null) throw new Problem('not_found', `The server ${quote(server)} has no tool ${quote(name)}.`);
  return tool;
}
