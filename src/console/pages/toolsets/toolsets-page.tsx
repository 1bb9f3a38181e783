/** `/console/toolsets/{name?}`: the list of toolsets, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { ToolsetView } from './toolset-editor.tsx';

export function ToolsetsPage({ id }: ViewProps) {
  if (id !== null) return <ToolsetView key={id} name={id} />;
  return (
    <DocumentList
      view="toolsets"
      title="Toolsets"
      about="A toolset is a list of tools under the names that models see."
      noun="toolset"
      empty="No toolsets yet. Create one: name it, then add tools."
      example="helpdesk"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/toolsets', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        const facts = (toolCount: number, version: number) => `${toolCount} tools, version ${version}`;
        return { nextCursor, items: items.map(({ toolCount, version, ...rest }) => ({ ...rest, facts: facts(toolCount, version) })) };
      }}
    />
  );
}
