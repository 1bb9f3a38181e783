/** MCP clients that people have signed in to: what each may do, and ending it. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, usePages } from '../../api/load.ts';
import { hasScope } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { RecordPages, type Column, Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';

type Grant = components['schemas']['Grant'];

export function Apps() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/grants', { params: { query: { limit: 50, ...page } }, signal }));
  const { problem, act } = useAttempt();
  const end = (id: string) =>
    act(() => moniker.value.delete('/v1/grants/{grant}', { params: { path: { grant: id } } }), 'The app is disconnected', pages.reload);
  const columns: readonly Column<Grant>[] = [
    {
      label: 'App',
      cell: ({ client }) => (
        <>
          {visible(client.name)}
          <br />
          <span class="muted">at {visible(placeOf(client))}</span>
        </>
      ),
    },
    ...(hasScope(['admin']) ? [{ label: 'Person', cell: ({ user }: Grant) => visible(user.email ?? user.name) }] : []),
    { label: 'Uses', cell: ({ resource }) => <code>{visible(pathOfUrl(resource))}</code> },
    { label: 'May', cell: ({ scopes }) => scopes.join(', ') },
    { label: 'Since', cell: ({ createdAt }) => <Time iso={createdAt} /> },
    {
      label: 'Action',
      cell: ({ id, client }) => (
        <ConfirmButton label="Disconnect" name={`Disconnect ${client.name}`} question="Disconnect it?" onConfirm={() => void end(id)} />
      ),
    },
  ];
  return (
    <>
      <p class="muted">
        MCP clients that people have signed in to. Each may do no more than its person, at one address. A disconnected app is rejected
        within 30 seconds. The names are those that the apps gave themselves.
      </p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages
        caption="Apps"
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        none="No app is connected"
        hint={
          <>
            In Claude, ChatGPT, VS Code or another MCP client, add the server <code>{location.origin}/mcp/TOOLSET</code>. It opens a page of
            this service, on which you sign in and agree.
          </>
        }
      />
    </>
  );
}

/** A private-use scheme names a program on the person's device. */
function placeOf({ redirectScheme, redirectHost }: Grant['client']): string {
  return redirectScheme === 'https' || redirectScheme === 'http' ? redirectHost : `${redirectScheme}://${redirectHost}`;
}

function pathOfUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}
