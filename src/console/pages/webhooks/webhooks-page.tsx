/** `/console/webhooks/{name?}`: the list of webhooks, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { WebhookEditor } from './webhook-editor.tsx';

export function WebhooksPage({ id }: ViewProps) {
  if (id !== null) return <WebhookEditor key={id} name={id} />;
  return (
    <DocumentList
      view="webhooks"
      title="Webhooks"
      about="A webhook starts a turn of an agent for each event that another service sends."
      noun="webhook"
      empty="No webhooks yet. Create one: name it, then choose who signs its events and what it tells the agent."
      example="triage"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/webhooks', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, description, agent, scheme, paused }) => ({
            ...{ name, description },
            facts: `${scheme} → agent/${agent}${paused ? ', paused' : ''}`,
          })),
        };
      }}
    />
  );
}
