/** The prompts, resources and templates of a stored server with their states, and decisions about those that are held. */
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import { StateBadge } from '../../parts/text/state-badge.tsx';
import { visible } from '../../parts/text/visible.ts';
import { HeldCard } from './held-card.tsx';
import { offerSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

type Counts = NonNullable<components['schemas']['ServerView']['offers']>;

export function ReviewedOffers({ state, offers: { prompts, resources, resourceTemplates, held } }: { state: OpenServer; offers: Counts }) {
  const pages = usePages((page, signal) =>
    moniker.value.get('/v1/servers/{server}/offers', {
      params: { path: state.path, query: { limit: 100, ...page } },
      signal,
    }),
  );
  if (prompts + resources + resourceTemplates + held === 0) return null;
  const reviewed = { ...state, act: (work: () => Promise<unknown>) => state.act(work).then((isDone) => pages.reload().then(() => isDone)) };
  return (
    <section aria-label="Prompts and resources of the server">
      <h2>Prompts and resources</h2>
      <p class="muted">
        A toolset offers them to MCP clients with its members “prompts” and “resources”; without these, what trusted servers list.
      </p>
      {pages.items?.map(
        ({ kind, name, held: hold, definition, decisions }) =>
          hold !== undefined && (
            <HeldCard
              key={`${kind} ${name}`}
              state={reviewed}
              subject={offerSubject(state, { kind, name })}
              held={hold}
              decisions={decisions}
              pastCalls={<p class="muted">What accepting it would break is not computed: only calls of tools are compared.</p>}
            >
              <CodeBlock text={JSON.stringify(definition, null, 2)} language="json" label={`Definition of ${name}`} />
            </HeldCard>
          ),
      )}
      <RecordPages
        caption="Prompts and resources of the server"
        pages={pages}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        columns={[
          { label: 'Name', cell: ({ name }) => <code>{visible(name)}</code> },
          { label: 'Kind', cell: ({ kind }) => kind },
          { label: 'Description', cell: ({ definition }) => <span class="brief">{visible(String(definition.description ?? ''))}</span> },
          { label: 'State', cell: ({ state: of }) => <StateBadge state={of} /> },
        ]}
        empty={<p class="muted">None.</p>}
      />
    </section>
  );
}
