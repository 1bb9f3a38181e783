/** A replay: its progress, what changed in sums, and its cases by status. */
import type { components } from '../../../../client/src/index.ts';
import { useAttempt, useEvery, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { saveAs } from '../../parts/documents/save-as.ts';
import { asWritten } from '../../parts/fields/controls.tsx';
import { CaseView } from './case-view.tsx';
import { Facts, type Column, Time, StateBadge } from '../../parts/records/records.tsx';
import { FilteredRecords } from '../../parts/records/filtered-records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf, query, setQuery } from '../../router.ts';
import { count, duration, money } from '../../text/format.ts';
import { ComparedFacts } from './compared-facts.tsx';
import { replacedText } from './replaced-text.ts';

type Replay = components['schemas']['Replay'];
type Case = components['schemas']['ReplayCase'];

const pollMs = 1_500;
const statuses: readonly Case['status'][] = ['same', 'different', 'ended', 'failed', 'unreadable', 'skipped', 'running', 'waiting'];

export function ReplayDetail({ id }: { id: string }) {
  const { data, error, reload } = useLoaded((signal) =>
    moniker.value.get('/v1/replays/{replay}', { params: { path: { replay: id } }, signal }),
  );
  useEvery(pollMs, data?.status === 'running', reload);
  const number = Number(query.value.get('case'));
  if (data === null)
    return (
      <div class="view wide">
        {error === null ? <p class="muted">Loading…</p> : <ProblemView error={error} retry={() => void reload()} />}
      </div>
    );
  if (Number.isInteger(number) && number > 0) return <CaseView key={number} replay={data} number={number} />;
  return (
    <div class="view wide">
      <Head replay={data} reload={reload} />
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      <ComparedFacts recorded={data.recorded} replayed={data.replayed} />
      <h2 class="cases">Cases</h2>
      <FilteredRecords
        caption="Cases"
        filters={() => [{ name: 'status', label: 'Status', kind: 'choice', choices: [['', 'all'], ...asWritten(statuses)] }]}
        read={(asked, signal) =>
          moniker.value.get('/v1/replays/{replay}/cases', { params: { path: { replay: id }, query: asked }, signal })
        }
        keyOf={(one) => String(one.number)}
        columns={columns}
        none="No cases"
        hint="The suite selected no recorded work."
        isLive={() => data.status === 'running'}
      />
    </div>
  );
}

function Head({ replay, reload }: { replay: Replay; reload(): Promise<void> }) {
  const { problem, attempt, act } = useAttempt();
  const { id, suite, status, reason, cases, rules, uncounted, createdAt, endedAt, unmatched, concurrency, maxCost } = replay;
  const params = { path: { replay: id } };
  const cancel = () => act(() => moniker.value.post('/v1/replays/{replay}/cancel', { params }), 'The replay is cancelled', reload);
  const remove = () =>
    attempt(async () => {
      await moniker.value.delete('/v1/replays/{replay}', { params });
      announce('The replay is deleted');
      navigate(pathOf('replays'));
    });
  const download = () =>
    attempt(async () =>
      saveAs(await moniker.value.get('/v1/replays/{replay}/export', { params, parseAs: 'blob' }), `replay-${id.slice(0, 12)}.ndjson`),
    );
  return (
    <>
      <header class="head">
        <h1>
          <a href={pathOf('replays')}>Replays</a> / {visible(suite?.name ?? id.slice(0, 12))}
        </h1>
        <span class="grow" />
        <div class="actions">
          {suite !== null && (
            <a class="button" href={pathOf('replays', 'new', { suite: suite.name })}>
              Replay the suite again
            </a>
          )}
          {status === 'running' ? (
            <button type="button" onClick={() => void cancel()}>
              Cancel
            </button>
          ) : (
            <>
              <button type="button" onClick={() => void download()}>
                Export as NDJSON
              </button>
              <ConfirmButton label="Delete" question="Delete the replay?" onConfirm={() => void remove()} />
            </>
          )}
        </div>
      </header>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <Progress cases={cases} isRunning={status === 'running'} />
      <Facts
        rows={[
          ['Status', <StateBadge key="status" state={status} />],
          ['Reason', reason === null ? null : visible(reason)],
          ['With', visible(replacedText(replay))],
          [
            'Suite',
            suite === null ? null : (
              <a key="suite" href={pathOf('suites', suite.name)}>
                {visible(`${suite.name}@${suite.version}`)}
              </a>
            ),
          ],
          ['Rules', rules.passed + rules.failed === 0 ? null : `${count(rules.passed)} hold, ${count(rules.failed)} do not`],
          ['Left out', cases.left === 0 ? null : `${count(cases.left)} more matched than the limit of the suite`],
          ['Not counted', uncounted === 0 ? null : `what ${count(uncounted)} attempts used that did not end`],
          ['Unmatched calls', unmatched === 'end' ? null : 'run if their tool is safe'],
          ['At the same time', count(concurrency)],
          ['Most cost', maxCost === null ? null : money(maxCost)],
          ['Started', <Time key="started" iso={createdAt} exact />],
          ['Took', endedAt === null ? null : duration(Date.parse(endedAt) - Date.parse(createdAt))],
          ['Id', <code key="id">{id}</code>],
        ]}
      />
    </>
  );
}

/** A bar with a part for each status, and the same in words, which filter the cases. */
function Progress({ cases, isRunning }: { cases: Replay['cases']; isRunning: boolean }) {
  const parts = statuses.flatMap((status) => {
    const number = status in cases ? cases[status as keyof Replay['cases']] : 0;
    return number === 0 ? [] : [{ status, number }];
  });
  return (
    <section class="statuses" aria-label="Progress">
      <div class="parts" aria-hidden="true">
        {parts.map(({ status, number }) => (
          <i key={status} class={status} style={{ flexGrow: number }} />
        ))}
        <i style={{ flexGrow: Math.max(0, cases.total - parts.reduce((sum, { number }) => sum + number, 0)) }} />
      </div>
      <p class="actions" role={isRunning ? 'status' : undefined}>
        <span>
          {count(cases.done)} of {count(cases.total)} cases
        </span>
        {parts.map(({ status, number }) => (
          <button key={status} type="button" class="link" onClick={() => setQuery({ status })}>
            {count(number)} {status}
          </button>
        ))}
      </p>
    </section>
  );
}

/** `2 changed, 1 added`; the calls that are the same are not news. */
function callsText({ calls: { same, changed, added, missing } }: Case): string {
  const parts = Object.entries({ changed, added, missing }).flatMap(([kind, number]) => (number === 0 ? [] : [`${number} ${kind}`]));
  return parts.join(', ') || (same === 0 ? 'none' : `${same} same`);
}

const columns: readonly Column<Case>[] = [
  {
    label: 'Case',
    cell: ({ number }) => (
      <button type="button" class="link case" onClick={() => setQuery({ case: String(number) }, { push: true })}>
        Case {number}
      </button>
    ),
  },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Calls', cell: callsText },
  {
    label: 'Why',
    cell: ({ reason, rules }) =>
      visible(
        [...(reason === null ? [] : [reason]), ...rules.flatMap(({ passed, detail }) => (passed || detail === null ? [] : [detail]))].join(
          ' ',
        ) || '–',
      ),
  },
  {
    label: 'Cost',
    isNumber: true,
    cell: ({ recorded, replayed }) => `${costText(recorded?.cost)} → ${costText(replayed?.cost)}`,
  },
];

function costText(cost: number | null | undefined): string {
  return cost === null || cost === undefined ? '–' : money(cost);
}
