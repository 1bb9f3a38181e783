/** `/console/servers/{name?}`: the list of servers with their health, or one server. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { ViewProps } from '../../router.ts';
import { ServerEditor } from './server-editor.tsx';

export const kindTitles = { mcp: 'MCP server', openapi: 'OpenAPI document', static: 'Definitions' } as const;

export function ServersPage({ id }: ViewProps) {
  if (id !== null) return <ServerEditor key={id} name={id} />;
  return (
    <DocumentList
      view="servers"
      title="Servers"
      about="A server brings tools: an MCP server, the operations of an OpenAPI document, or definitions of your own."
      noun="server"
      empty="No servers yet. Add one: name it, then choose MCP, OpenAPI or definitions. Its tools are named after it, such as weather.get_forecast."
      example="weather"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/servers', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, kind, url, command, toolCount, held, health }) => ({
            name,
            description: url ?? command ?? 'a pasted document',
            facts: (
              <span class="actions">
                {kindTitles[kind]}, {toolCount} {toolCount === 1 ? 'tool' : 'tools'}
                {held > 0 && <span class="badge warn">{held} held</span>}
                {health !== undefined && <StateBadge state={health.status} />}
              </span>
            ),
          })),
        };
      }}
    />
  );
}
