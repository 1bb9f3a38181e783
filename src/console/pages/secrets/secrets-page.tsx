/** `/console/secrets/{name?}`: secrets with the hosts that they may be sent to, or the editor of one. Values are never shown. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import { Time } from '../../parts/time.tsx';
import type { ViewProps } from '../../router.ts';
import { SecretEditor } from './secret-editor.tsx';

export function SecretsPage({ id }: ViewProps) {
  if (id !== null) return <SecretEditor key={id} name={id} />;
  return (
    <DocumentList
      view="secrets"
      title="Secrets"
      about="A secret is a value that servers, providers and tools use by its name. It is sent only to its hosts, stored encrypted, and never shown again."
      noun="secret"
      empty="No secrets yet. Add one: name it, then give its value and the hosts that may receive it."
      example="GITHUB_TOKEN"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/secrets', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, hosts, tools, updatedAt }) => ({
            name,
            description: `for ${hosts.join(', ')}`,
            facts: (
              <>
                {tools !== undefined && `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, `}
                changed <Time iso={updatedAt} />
              </>
            ),
          })),
        };
      }}
    />
  );
}
