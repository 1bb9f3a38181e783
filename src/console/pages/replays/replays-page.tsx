/** `/console/replays`: the list of replays; `/new`: the form that starts one; `/{id}`: one replay, `?case=` one of its cases. */
import type { components } from '../../../../client/src/index.ts';
import { hasScope } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { late } from '../../parts/layout/late.tsx';
import { FilteredRecords } from '../../parts/records/filtered-records.tsx';
import { type Column, Time, StateBadge } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { count, money } from '../../text/format.ts';
import { ReplayDetail } from './replay-detail.tsx';
import { replacedText } from './replaced-text.ts';

type Replay = components['schemas']['ListedReplay'];

const StartForm = late(async () => (await import('./start-form.tsx')).StartForm);

export function ReplaysPage({ id }: ViewProps) {
  if (id === 'new') return <StartForm />;
  return id === null ? <ReplayList /> : <ReplayDetail key={id} id={id} />;
}

function ReplayList() {
  return (
    <div class="view wide">
      <header class="head">
        <h1>Replays</h1>
        <span class="grow" />
        <div class="actions">
          {hasScope(['toolsets']) && (
            <a class="button" href={pathOf('suites')}>
              Suites
            </a>
          )}
          <a class="button" href={pathOf('replays', 'new')}>
            Start a replay
          </a>
        </div>
      </header>
      <FilteredRecords
        caption="Replays"
        filters={() => [{ name: 'suite', label: 'Suite', kind: 'text' }]}
        read={(asked, signal) => moniker.value.get('/v1/replays', { params: { query: asked }, signal })}
        keyOf={({ id }) => id}
        columns={columns}
        isLive={(items) => items.some(({ status }) => status === 'running')}
        none="No replays"
        hint={
          <>
            A replay repeats recorded work with another model, agent or toolset. Tool calls get their recorded results, and nothing is
            called. <a href={pathOf('suites')}>Create a suite</a>, or open a <a href={pathOf('sessions')}>session</a> and replay it.
          </>
        }
      />
    </div>
  );
}

const columns: readonly Column<Replay>[] = [
  {
    label: 'Started',
    cell: ({ id, createdAt }) => (
      <a href={pathOf('replays', id)}>
        <Time iso={createdAt} exact />
      </a>
    ),
  },
  { label: 'Suite', cell: ({ suite }) => (suite === null ? '–' : visible(`${suite.name}@${suite.version}`)) },
  { label: 'With', cell: (replay) => visible(replacedText(replay)) },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Cases', isNumber: true, cell: ({ cases }) => count(cases.total) },
  { label: 'Same', isNumber: true, cell: ({ cases }) => count(cases.same) },
  { label: 'Different', isNumber: true, cell: ({ cases: { different, ended, failed } }) => count(different + ended + failed) },
  { label: 'Cost', isNumber: true, cell: ({ replayed: { cost } }) => (cost === null ? <span class="muted">unknown</span> : money(cost)) },
];
