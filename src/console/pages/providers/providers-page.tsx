/** `/console/providers/{name?}`: model providers, with those of the settings and the built-in one, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { ProviderEditor } from './provider-editor.tsx';

const sources = { document: null, settings: 'from the settings', builtin: 'built in' } as const;

export function ProvidersPage({ id }: ViewProps) {
  if (id !== null) return <ProviderEditor key={id} name={id} />;
  return (
    <DocumentList
      view="providers"
      title="Providers"
      about="A provider runs models. Its name is the first part of a model’s name, such as anthropic/claude-sonnet-4-5."
      noun="provider"
      empty="No providers yet. Add one: name it, then choose its kind and give its key."
      example="groq"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/providers', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, kind, baseUrl, hasApiKey, source, models = [] }) => ({
            name,
            description: baseUrl ?? kind,
            facts: (
              <span class="actions">
                {models.length > 0 && `${models.length} ${models.length === 1 ? 'model' : 'models'}`}
                {sources[source] !== null && <span class="badge">{sources[source]}</span>}
                {kind !== 'rehearsal' && <span class={`badge ${hasApiKey ? 'ok' : ''}`}>{hasApiKey ? 'key set' : 'no key'}</span>}
              </span>
            ),
          })),
        };
      }}
    />
  );
}
