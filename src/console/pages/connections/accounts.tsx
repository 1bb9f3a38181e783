/** Servers whose tools act with an account of the user: connecting and disconnecting it. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Records, StateBadge, Empty } from '../../parts/records/records.tsx';
import { SignInButton } from '../../parts/actions/sign-in-button.tsx';
import { visible } from '../../parts/text/visible.ts';

type Connection = components['schemas']['OwnConnection'];

const labels = { signIn: 'Connect', signOut: 'Disconnect', question: 'Delete the tokens?' };

export function Accounts() {
  const { data, error, isLoading, reload } = useLoaded((signal) => moniker.value.get('/v1/me/connections', { signal }));
  const { problem, attempt, act } = useAttempt();
  const begin = (server: string) => moniker.value.post('/v1/me/connections/{server}', { params: { path: { server } } });
  const end = (server: string) =>
    act(() => moniker.value.delete('/v1/me/connections/{server}', { params: { path: { server } } }), `Disconnected from ${server}`, reload);
  return (
    <div aria-busy={isLoading}>
      <p class="muted">Tools of these servers act with an account of yours. Nobody else can use it, and its tokens are shown nowhere.</p>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {data === null && error === null && <p class="muted">Loading…</p>}
      {data?.items.length === 0 && (
        <Empty title="No server needs an account of yours">
          An administrator chooses for each server whether it is used with one account for all, or with one for each person.
        </Empty>
      )}
      {data !== null && data.items.length > 0 && (
        <Records<Connection>
          caption="Accounts at servers"
          items={data.items}
          keyOf={({ server }) => server}
          columns={[
            { label: 'Server', cell: ({ server }) => visible(server) },
            { label: 'State', cell: ({ status }) => <StateBadge state={stateOf(status)} /> },
            { label: 'May', cell: ({ scopes = [] }) => visible(scopes.join(', ')) },
            {
              label: 'Action',
              cell: ({ server, status }) => (
                <span class="actions">
                  <SignInButton
                    labels={labels}
                    of={server}
                    isSignedIn={status === 'signed-in'}
                    begin={() => begin(server)}
                    attempt={attempt}
                    end={() => end(server)}
                    reload={() => void reload()}
                  />
                </span>
              ),
            },
          ]}
        />
      )}
    </div>
  );
}

function stateOf(status: Connection['status']): string {
  return { 'signed-in': 'connected', 'signed-out': 'not connected', expired: 'expired' }[status];
}
