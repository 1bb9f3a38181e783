/** The hosts that approvals made known to the workspace; each can be forgotten. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/actions/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import type { Column } from '../../parts/records/records.tsx';
import { Time } from '../../parts/records/time.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';

type KnownHost = components['schemas']['KnownHost'];

export function KnownHosts() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/policy/hosts', { params: { query: { limit: 100, ...page } }, signal }));
  const { problem, attempt } = useAttempt();
  const forget = (host: string) =>
    attempt(async () => {
      await moniker.value.delete('/v1/policy/hosts/{host}', { params: { path: { host } } });
      announce(`${host} is forgotten`);
      await pages.reload();
    });
  const columns: readonly Column<KnownHost>[] = [
    { label: 'Host', cell: ({ host }) => <code>{visible(host)}</code> },
    { label: 'Approved', cell: ({ approvedAt }) => <Time iso={approvedAt} /> },
    { label: 'By', cell: ({ approvedBy }) => visible(approvedBy) },
    {
      label: 'Action',
      cell: ({ host }) => (
        <ConfirmButton label="Forget" name={`Forget ${host}`} question={`Ask about ${host} again?`} onConfirm={() => void forget(host)} />
      ),
    },
  ];
  return (
    <section aria-label="Known hosts">
      <h2>Known hosts</h2>
      <p class="muted">Requests to these are not asked about as new, since an administrator approved one.</p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages
        caption="Known hosts"
        pages={pages}
        columns={columns}
        keyOf={({ host }) => host}
        empty={<p>None yet: a host appears here when an administrator approves a request to it.</p>}
      />
    </section>
  );
}
