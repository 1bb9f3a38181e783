/** What the service knows about a stored server: its health, signing in to it, held definitions and tools. Loaded with the first stored server. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { Disclosure } from '../../parts/layout/disclosure.tsx';
import { Facts, RecordPages, StateBadge, Time } from '../../parts/records/records.tsx';
import { SignInButton } from '../../parts/actions/sign-in-button.tsx';
import { visible } from '../../parts/text/visible.ts';
import { HeldTools } from './held-tools.tsx';
import type { OpenServer } from './server-state.ts';
import { ServerTools } from './server-tools.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { HeldCard } from './held-card.tsx';
import { offerSubject } from './review-subject.ts';

type StatusProps = { state: OpenServer; view: components['schemas']['ServerView'] };

export function StoredServer({ state, view }: StatusProps) {
  return (
    <>
      <ServerStatus state={state} view={view} />
      <HeldTools state={state} tools={view.tools} />
      <ServerTools state={state} view={view} />
      {view.offers !== undefined && <ReviewedOffers state={state} offers={view.offers} />}
    </>
  );
}

function ServerStatus({ state, view: { name, kind, health, connection, offers, authorization, oauth, command, instances } }: StatusProps) {
  const isRefreshing = useSignal(false);
  if (kind === 'static') return null;
  const isPerUser = oauth?.per === 'user';
  const offered =
    offers === undefined ? [] : [count(offers.prompts, 'prompt'), count(offers.resources + offers.resourceTemplates, 'resource')];
  const others = offered.filter((text) => text !== null).join(', ');
  const refresh = async (): Promise<void> => {
    isRefreshing.value = true;
    let updated = 0;
    const isDone = await state.act(async () => {
      const report = await moniker.value.post('/v1/servers/{server}/refresh', { params: { path: state.path } });
      state.warnings.value = report.warnings;
      updated = report.updated.length;
    });
    isRefreshing.value = false;
    if (isDone) announce(`The tools were listed again${updated === 0 ? '' : `; ${updated} updated`}`);
  };
  return (
    <section class="server-status" aria-label="Health">
      <div class="actions">
        <StateBadge state={health?.status ?? 'unknown'} />
        {health?.listedAt != null && (
          <span class="muted">
            listed <Time iso={health.listedAt} />
          </span>
        )}
        {health !== undefined && health.failures > 0 && <span class="muted">{health.failures} failures in a row</span>}
        <span class="grow" />
        {authorization !== undefined && oauth?.grant !== 'client_credentials' && (
          <SignIn state={state} isSignedIn={authorization?.status === 'signed-in'} />
        )}
        <button type="button" disabled={isRefreshing.value} onClick={() => void refresh()}>
          {isRefreshing.value ? 'Refreshing…' : 'Refresh'}
        </button>
      </div>
      {health?.reason !== undefined && <p class="notice warn rounded">{visible(health.reason)}</p>}
      <Facts
        rows={[
          ['Server', connection?.server && visible(`${connection.server.name} ${connection.server.version}`)],
          ['Protocol', connection && visible(`MCP ${connection.protocolVersion}`)],
          ['Also offers', others || null],
          [isPerUser ? 'For the tool list' : 'Signed in', authorization && <Authorization status={authorization} />],
        ]}
      />
      {command !== undefined && (
        <Disclosure title="Processes">
          <ServerProcesses server={name} instances={instances ?? 'session'} />
        </Disclosure>
      )}
      {isPerUser && (
        <Disclosure title="Accounts of the users">
          <UserConnections state={state} />
        </Disclosure>
      )}
    </section>
  );
}

function Authorization({ status: { status, expiresAt, scopes } }: { status: components['schemas']['AuthorizationStatus'] }) {
  return (
    <>
      <StateBadge state={status} /> {scopes !== undefined && scopes.length > 0 && <>with {visible(scopes.join(', '))} </>}
      {status === 'signed-in' && expiresAt !== undefined && (
        <span class="muted">the token is renewed before {new Date(expiresAt).toLocaleString()}</span>
      )}
    </>
  );
}

const signInLabels = { signIn: 'Sign in', signOut: 'Sign out', question: 'Delete the tokens?' };

function SignIn({ state, isSignedIn }: { state: OpenServer; isSignedIn: boolean }) {
  const params = { path: state.path };
  const begin = () => moniker.value.post('/v1/servers/{server}/authorize', { params });
  const end = async (): Promise<void> => {
    await state.act(async () => void (await moniker.value.delete('/v1/servers/{server}/authorize', { params })));
  };
  const reload = (): void => void state.reload().catch(() => undefined);
  return <SignInButton labels={signInLabels} isSignedIn={isSignedIn} begin={begin} attempt={state.act} end={end} reload={reload} />;
}

/** Who has connected an account of their own. */
function UserConnections({ state }: { state: OpenServer }) {
  const params = { path: state.path };
  const pages = usePages((page, signal) =>
    moniker.value.get('/v1/servers/{server}/connections', {
      params: { ...params, query: { limit: 50, ...page } },
      signal,
    }),
  );
  const end = async (key: string): Promise<void> => {
    await state.act(
      async () =>
        void (await moniker.value.delete('/v1/servers/{server}/connections/{key}', { params: { path: { ...params.path, key } } })),
    );
    await pages.reload();
  };
  return (
    <RecordPages
      caption="Connected accounts"
      pages={pages}
      keyOf={({ key }) => key}
      columns={[
        { label: 'Connected', cell: ({ key, name }) => visible(name ?? key) },
        { label: 'Since', cell: ({ connectedAt }) => <Time iso={connectedAt} /> },
        {
          label: 'Action',
          cell: ({ key, name }) => (
            <ConfirmButton
              label="Disconnect"
              name={`Disconnect ${name ?? key}`}
              question="Delete the tokens?"
              onConfirm={() => void end(key)}
            />
          ),
        },
      ]}
      hint="Nobody has connected an account yet. Each user does, on the page Connections."
    />
  );
}

function count(number: number, noun: string): string | null {
  return number === 0 ? null : `${number} ${noun}${number === 1 ? '' : 's'}`;
}

type Counts = NonNullable<components['schemas']['ServerView']['offers']>;

/** The prompts, resources and templates of a stored server with their states, and decisions about those that are held. */
function ReviewedOffers({ state, offers: { prompts, resources, resourceTemplates, held } }: { state: OpenServer; offers: Counts }) {
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
        hint="None."
      />
    </section>
  );
}

/** The processes of a server with a command. Loaded when a person opens them. */
function ServerProcesses({ server, instances }: { server: string; instances: string }) {
  const pages = usePages(async (_page, signal) => {
    const { items } = await moniker.value.get('/v1/programs', { signal });
    return { items: items.filter((one) => one.server === server), nextCursor: null };
  });
  const ofNobody = instances === 'shared' ? 'all' : 'the next session';
  return (
    <RecordPages
      caption="Processes of the command"
      pages={pages}
      keyOf={({ owner, startedAt }) => `${owner} ${startedAt}`}
      columns={[
        { label: 'Of', cell: ({ owner }) => (owner === null ? ofNobody : <code>{visible(owner)}</code>) },
        { label: 'State', cell: ({ state }) => <StateBadge state={state} /> },
        { label: 'Calls', cell: ({ calls }) => calls },
        { label: 'Started', cell: ({ startedAt }) => <Time iso={startedAt} /> },
        { label: 'Last use', cell: ({ usedAt }) => <Time iso={usedAt} /> },
      ]}
      hint="None runs. The first call starts one."
    />
  );
}
