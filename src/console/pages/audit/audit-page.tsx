/** `/console/audit`: every call, refusal, decision and change of the configuration, newest first, and the proof that no row was altered. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { Facts, type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { FilteredRecords, openingColumn } from '../../parts/records/filtered-records.tsx';
import type { ListFilter } from '../../parts/records/filters.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, query, setQuery } from '../../router.ts';
import { duration } from '../../text/format.ts';
import { VerifyPanel } from './verify-panel.tsx';

type Entry = components['schemas']['AuditCall'] | components['schemas']['AuditChange'];
type Verdict = components['schemas']['AuditCall']['verdict'];

const verdicts: readonly Verdict[] = ['ran', 'refused', 'outcome_unknown', 'waiting', 'approved', 'denied', 'expired'];

export function AuditPage() {
  const leftOut = useSignal<components['schemas']['UnreadableLog'][]>([]);
  return (
    <div class="view wide">
      <header class="head">
        <h1>Audit</h1>
      </header>
      <VerifyPanel />
      {leftOut.value.map(({ log, reason }) => (
        <p key={log} class="notice warn" role="alert">
          The list lacks the rows of log {log}. {visible(reason)}
        </p>
      ))}
      <FilteredRecords
        caption="Audit"
        filters={filtersFor}
        read={async (query, signal) => {
          const page = await moniker.value.get('/v1/audit', { params: { query }, signal });
          leftOut.value = page.leftOut;
          return page;
        }}
        keyOf={({ id }) => id}
        columns={columns}
        none="No rows"
        hint={
          <>
            Each call of a tool, each decision and each change of the configuration has a row.{' '}
            <a href={pathOf('chat')}>Make a call in the chat</a>
          </>
        }
        sheet={({ items }) => {
          const chosen = items?.find(({ id }) => id === query.value.get('row'));
          return (
            chosen !== undefined && (
              <Sheet title={chosen.kind === 'call' ? 'Call' : 'Change'} onClose={() => setQuery({ row: null })}>
                <Facts rows={factsOf(chosen)} />
              </Sheet>
            )
          );
        }}
      />
    </div>
  );
}

/** Codes, tools and agents of the rows that are shown are offered. */
function filtersFor(items: readonly Entry[]): ListFilter[] {
  const calls = items.filter((item) => item.kind === 'call');
  const offered = (pick: (call: components['schemas']['AuditCall']) => string | null) => [
    ...new Set(calls.flatMap((call) => pick(call) ?? [])),
  ];
  return [
    { name: 'from', label: 'From', kind: 'time' },
    { name: 'to', label: 'To', kind: 'time' },
    {
      ...{ name: 'kind', label: 'Kind', kind: 'choice' },
      choices: [
        ['', 'all'],
        ['call', 'calls and decisions'],
        ['change', 'changes'],
      ],
    },
    {
      ...{ name: 'verdict', label: 'Verdict', kind: 'choice' },
      choices: [['', 'any'], ...verdicts.map((one) => [one, one.replaceAll('_', ' ')] as const)],
    },
    { name: 'code', label: 'Code', kind: 'text', suggestions: offered(({ code }) => code) },
    { name: 'tool', label: 'Tool', kind: 'text', suggestions: offered(({ canonical, requested }) => canonical ?? requested) },
    { name: 'agent', label: 'Agent', kind: 'text', suggestions: offered(({ agent }) => agent) },
    { name: 'key', label: 'Key', kind: 'text', placeholder: 'id', suggestions: [...new Set(items.map(({ keyId }) => keyId))] },
    { name: 'session', label: 'Session', kind: 'text' },
  ];
}

const columns: readonly Column<Entry>[] = [
  openingColumn(
    'Time',
    ({ at }) => at,
    ({ id }) => ({ row: id }),
  ),
  { label: 'What', cell: subjectCell },
  {
    label: 'Verdict',
    cell: (entry) =>
      entry.kind === 'change' ? (
        <span class="badge">{entry.action}</span>
      ) : (
        <>
          <StateBadge state={entry.verdict} /> {entry.code !== null && <span class="muted">{entry.code}</span>}
        </>
      ),
  },
  { label: 'Key', cell: ({ keyId }) => <code>{visible(keyId)}</code> },
  {
    label: 'Session',
    cell: (entry) =>
      entry.kind === 'call' && entry.session !== null ? (
        <a href={pathOf('sessions', entry.session)}>{visible(entry.agent ?? entry.session.slice(0, 12))}</a>
      ) : (
        '–'
      ),
  },
  { label: 'Time taken', isNumber: true, cell: (entry) => (entry.kind === 'call' ? duration(entry.durationMs) : '–') },
];

function subjectCell(entry: Entry) {
  if (entry.kind === 'change')
    return (
      <>
        {entry.resource} <code>{visible(entry.name)}</code>
        {entry.version !== null && <span class="muted"> version {entry.version}</span>}
      </>
    );
  const { requested, canonical } = entry;
  return (
    <code>
      {visible(requested)}
      {canonical !== null && canonical !== requested && (
        <>
          <span aria-hidden="true"> → </span>
          <span class="visually-hidden">is</span> {visible(canonical)}
        </>
      )}
    </code>
  );
}

function factsOf(entry: Entry): [string, ComponentChildren][] {
  const name = (value: string | null) => (value === null ? null : <code>{visible(value)}</code>);
  const common: [string, ComponentChildren][] = [
    ['Time', <Time key="at" iso={entry.at} exact />],
    ['Key', name(entry.keyId)],
  ];
  if (entry.kind === 'change')
    return [
      ...common,
      ['Action', entry.action],
      ['Of', entry.resource],
      ['Name', name(entry.name)],
      ['Version', entry.version],
      ['Row', name(entry.id)],
    ];
  return [
    ...common,
    ['Verdict', <StateBadge key="verdict" state={entry.verdict} />],
    ['Code', name(entry.code)],
    ['Called as', name(entry.requested)],
    ['Tool', name(entry.canonical)],
    ['Found by', entry.via],
    ['Toolset', name(entry.toolset)],
    ['Edition', name(entry.edition)],
    ['Agent', name(entry.agent)],
    ['Session', entry.session === null ? null : <a href={pathOf('sessions', entry.session)}>{visible(entry.session)}</a>],
    ['Turn', name(entry.turn)],
    ['Call', name(entry.callId)],
    ['Called by', name(entry.parent)],
    ['Time taken', duration(entry.durationMs)],
    ['Hash of arguments', name(entry.argumentsHash)],
    ['Row', name(entry.id)],
  ];
}
