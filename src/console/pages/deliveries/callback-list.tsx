/** Messages about turns that are sent to other services: their attempts, and retries. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { Facts, type Column, Records, StateBadge, Time } from '../../parts/records/records.tsx';
import { asWritten } from '../../parts/fields/controls.tsx';
import { FilteredRecords, openingColumn } from '../../parts/records/filtered-records.tsx';
import type { ListFilter } from '../../parts/records/filters.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, query, setQuery } from '../../router.ts';
import { duration } from '../../text/format.ts';

type Callback = components['schemas']['Callback'];

const statuses: readonly Callback['status'][] = ['pending', 'delivered', 'dead'];
const kinds: readonly Callback['target']['kind'][] = ['webhook', 'schedule', 'subscription'];

const filters: readonly ListFilter[] = [
  { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...asWritten(statuses)] },
  { name: 'kind', label: 'For', kind: 'choice', choices: [['', 'all'], ...kinds.map((one) => [one, `${one}s`] as const)] },
  { name: 'name', label: 'Name', kind: 'text' },
];

export function CallbackList() {
  const chosen = query.value.get('callback');
  return (
    <FilteredRecords
      caption="Callbacks"
      filters={() => filters}
      read={(asked, signal) => moniker.value.get('/v1/callbacks', { params: { query: asked }, signal })}
      keyOf={({ id }) => id}
      columns={columns}
      none="No callbacks"
      hint={
        <>
          Give a <a href={pathOf('webhooks')}>webhook</a> or a <a href={pathOf('schedules')}>schedule</a> a callback URL: it receives a
          signed message when a turn ends or waits for an approval.
        </>
      }
      sheet={({ reload }) => chosen !== null && <CallbackSheet key={chosen} id={chosen} onChange={() => void reload()} />}
    />
  );
}

const columns: readonly Column<Callback>[] = [
  openingColumn(
    'Created',
    ({ createdAt }) => createdAt,
    ({ id }) => ({ callback: id }),
  ),
  { label: 'Message', cell: ({ type }) => <code>{type}</code> },
  { label: 'For', cell: ({ target: { kind, name } }) => visible(`${kind} ${name}`) },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  { label: 'Next attempt', cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '–' : <Time iso={nextAttemptAt} exact />) },
];

function CallbackSheet({ id, onChange }: { id: string; onChange(): void }) {
  const { problem, attempt } = useAttempt();
  const { data, error, reload } = useLoaded((signal) =>
    moniker.value.get('/v1/callbacks/{callback}', { params: { path: { callback: id } }, signal }),
  );
  const retry = () =>
    attempt(async () => {
      await moniker.value.post('/v1/callbacks/{callback}/retry', { params: { path: { callback: id } } });
      announce('The callback is sent again');
      await reload();
      onChange();
    });
  return (
    <Sheet title="Callback" onClose={() => setQuery({ callback: null })}>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {data !== null && (
        <>
          {data.status !== 'delivered' && (
            <p class="actions">
              <button type="button" class="primary" onClick={() => void retry()}>
                Retry now
              </button>
              <button type="button" onClick={() => void reload()}>
                Read again
              </button>
            </p>
          )}
          <Facts
            rows={[
              ['Status', <StateBadge key="status" state={data.status} />],
              ['Message', <code key="type">{data.type}</code>],
              ['For', visible(`${data.target.kind} ${data.target.name}`)],
              [
                'Session',
                data.session && (
                  <a key="session" href={pathOf('sessions', data.session)}>
                    {data.session.slice(0, 12)}
                  </a>
                ),
              ],
              ['Next attempt', data.nextAttemptAt === null ? null : <Time key="next" iso={data.nextAttemptAt} exact />],
              ['Id', <code key="id">{data.id}</code>],
            ]}
          />
          <h3>Attempts</h3>
          {data.attempts.length === 0 ? (
            <p class="muted">None yet.</p>
          ) : (
            <Records
              caption="Attempts"
              items={data.attempts}
              keyOf={({ at }) => at}
              columns={[
                { label: 'Time', cell: ({ at }) => <Time iso={at} exact /> },
                { label: 'Response', cell: ({ status }) => status ?? 'none' },
                { label: 'Took', isNumber: true, cell: ({ durationMs }) => duration(durationMs) },
                { label: 'Error', cell: ({ error: why }) => visible(why ?? '–') },
              ]}
            />
          )}
          <h3>Body</h3>
          {data.body === null ? (
            <p class="muted">It was dropped, because too many messages were waiting.</p>
          ) : (
            <pre class="file">{visible(JSON.stringify(data.body, null, 2))}</pre>
          )}
        </>
      )}
    </Sheet>
  );
}
