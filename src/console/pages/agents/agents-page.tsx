/** `/console/agents/{name?}`: the list of agents, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { AgentEditor } from './agent-editor.tsx';

export function AgentsPage({ id }: ViewProps) {
  if (id !== null) return <AgentEditor key={id} name={id} />;
  return (
    <DocumentList
      view="agents"
      title="Agents"
      about="An agent is a model with instructions, tools and limits under one name. Clients use it as the model agent/NAME."
      noun="agent"
      empty="No agents yet. Create one: name it, then choose its model and its toolset."
      example="helpdesk"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/agents', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, description, model, toolset }) => ({
            ...{ name, description },
            facts: toolset === undefined ? model : `${model} with ${toolset}`,
          })),
        };
      }}
    />
  );
}
