/** `/console/sessions/{id?}`: the list of sessions, or what happened in one. */
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { asWritten } from '../../parts/fields/controls.tsx';
import { FilteredRecords } from '../../parts/records/filtered-records.tsx';
import type { ListFilter } from '../../parts/records/filters.tsx';
import { type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { compact } from '../../text/format.ts';
import { SessionDetail } from './session-detail.tsx';

type Row = components['schemas']['SessionRow'];

const statuses: readonly Row['status'][] = ['idle', 'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted'];

export function SessionsPage({ id }: ViewProps) {
  return id === null ? <SessionList /> : <SessionDetail key={id} id={id} />;
}

function SessionList() {
  return (
    <div class="view wide">
      <header class="head">
        <h1>Sessions</h1>
      </header>
      <FilteredRecords
        caption="Sessions"
        filters={filtersFor}
        read={(query, signal) => moniker.value.get('/v1/sessions', { params: { query }, signal })}
        keyOf={({ id }) => id}
        columns={columns}
        none="No sessions"
        hint={
          <>
            Each chat, webhook and schedule has sessions, and so do requests with tools. <a href={pathOf('chat')}>Begin a chat</a>
          </>
        }
      />
    </div>
  );
}

function filtersFor(items: readonly Row[]): ListFilter[] {
  const agents = [...new Set(items.flatMap(({ agent }) => agent ?? []))];
  return [
    { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...asWritten(statuses)] },
    { name: 'agent', label: 'Agent', kind: 'text', suggestions: agents },
    { name: 'trigger', label: 'Started by', kind: 'text', placeholder: 'webhook:…', suggestions: ['webhook', 'schedule'] },
  ];
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
