/** The runs of a schedule, newest first, and a run at once. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, useEvery, usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/actions/announce.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import type { Column } from '../../parts/records/records.tsx';
import { StateBadge } from '../../parts/text/state-badge.tsx';
import { Time } from '../../parts/records/time.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';

type Run = components['schemas']['Delivery'];

const pollMs = 2_000;

export function ScheduleRuns({ name }: { name: string }) {
  const { problem, attempt } = useAttempt();
  const pages = usePages(
    (page, signal) =>
      moniker.value.get('/v1/schedules/{schedule}/runs', {
        params: { path: { schedule: name }, query: { limit: 20, ...page } },
        signal,
      }),
    [name],
  );
  const isOpen = pages.items?.some(({ status }) => status === 'pending' || status === 'running') ?? false;
  useEvery(pollMs, isOpen, pages.reload);
  const run = () =>
    attempt(async () => {
      await moniker.value.post('/v1/schedules/{schedule}/run', { params: { path: { schedule: name } } });
      announce('The run has started');
      await pages.reload();
    });
  return (
    <section class="runs" aria-label="Runs">
      <header class="actions">
        <h2>Runs</h2>
        <button type="button" onClick={() => void run()}>
          Run now
        </button>
      </header>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages
        caption="Runs"
        pages={pages}
        keyOf={({ id }) => id}
        columns={columns}
        empty={<p>It has not run yet. Run it now to try it.</p>}
      />
    </section>
  );
}

const columns: readonly Column<Run>[] = [
  { label: 'Due', cell: ({ receivedAt }) => <Time iso={receivedAt} exact /> },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Reason', cell: ({ reason }) => visible(reason ?? '–') },
  { label: 'Ended', cell: ({ endedAt }) => (endedAt === null ? '–' : <Time iso={endedAt} />) },
  { label: 'Session', cell: ({ session }) => (session === null ? '–' : <a href={pathOf('sessions', session)}>{session.slice(0, 12)}</a>) },
];
