/** `/console/sessions/{id?}`: the list of sessions, or what happened in one. */
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { Filters, filtersOf } from '../../parts/filters.tsx';
import { RecordPages } from '../../parts/record-pages.tsx';
import type { Column } from '../../parts/records.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { compact } from '../../text/format.ts';
import { SessionDetail } from './session-detail.tsx';

type Row = components['schemas']['SessionRow'];

const statuses: readonly Row['status'][] = ['idle', 'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted'];

export function SessionsPage({ id }: ViewProps) {
  return id === null ? <SessionList /> : <SessionDetail key={id} id={id} />;
}

function SessionList() {
  const filter = filtersOf(['status', 'agent', 'trigger']);
  const pages = usePages(
    (cursor, signal) => moniker.value.get('/v1/sessions', { params: { query: { ...filter, ...(cursor && { cursor }) } }, signal }),
    [JSON.stringify(filter)],
  );
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <div class="view wide">
      <header class="head">
        <h1>Sessions</h1>
      </header>
      <Filters
        filters={[
          { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...statuses.map((one) => [one, one] as const)] },
          {
            name: 'agent',
            label: 'Agent',
            kind: 'text',
            suggestions: [...new Set((pages.items ?? []).flatMap(({ agent }) => agent ?? []))],
          },
          { name: 'trigger', label: 'Started by', kind: 'text', placeholder: 'webhook:…', suggestions: ['webhook', 'schedule'] },
        ]}
      />
      <RecordPages
        caption="Sessions"
        pages={pages}
        keyOf={({ id }) => id}
        columns={columns}
        empty={
          <>
            <h2>No sessions {isFiltered ? 'match these filters' : 'yet'}</h2>
            <p>
              Each chat, webhook and schedule has sessions, and so do requests with tools. <a href={pathOf('chat')}>Begin a chat</a>
            </p>
          </>
        }
      />
    </div>
  );
}

const columns: readonly Column<Row>[] = [
  { label: 'Session', cell: ({ id, title }) => <a href={pathOf('sessions', id)}>{visible(title ?? id.slice(0, 12))}</a> },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'With', cell: ({ agent, model }) => visible(agent === undefined ? (model ?? '') : `agent/${agent}`) },
  {
    label: 'Started by',
    cell: ({ trigger }) =>
      trigger === undefined ? (
        'a key'
      ) : (
        <>
          {trigger.kind} <a href={pathOf(`${trigger.kind}s`, trigger.name)}>{visible(trigger.name)}</a>
        </>
      ),
  },
  { label: 'Last activity', cell: ({ lastActivityAt }) => <Time iso={lastActivityAt} /> },
  { label: 'Tokens', isNumber: true, cell: ({ usage }) => `${compact(usage.inputTokens)} → ${compact(usage.outputTokens)}` },
];
