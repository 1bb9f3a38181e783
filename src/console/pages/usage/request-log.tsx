/** The log of requests to models and of turns, newest first; a row opens its details. */
import type { ComponentChildren } from 'preact';
import type { components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { hasScope } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { Facts, type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { asWritten } from '../../parts/fields/controls.tsx';
import { FilteredRecords, openingColumn } from '../../parts/records/filtered-records.tsx';
import type { ListFilter } from '../../parts/records/filters.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, query, setQuery } from '../../router.ts';
import { compact, count, duration, money } from '../../text/format.ts';

type Entry = components['schemas']['RequestEntry'];

const statuses: readonly Entry['status'][] = ['completed', 'failed', 'cancelled', 'interrupted', 'waiting'];

const filters: readonly ListFilter[] = [
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
  { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...asWritten(statuses)] },
  {
    ...{ name: 'kind', label: 'Kind', kind: 'choice' },
    choices: [
      ['', 'any'],
      ['request', 'proxied request'],
      ['turn', 'turn'],
    ],
  },
  { name: 'model', label: 'Model', kind: 'text', placeholder: 'provider/model' },
  { name: 'agent', label: 'Agent', kind: 'text' },
  { name: 'key', label: 'Key', kind: 'text', placeholder: 'id, or me' },
  { name: 'session', label: 'Session', kind: 'text' },
];

export function RequestLog() {
  const chosen = query.value.get('request');
  return (
    <FilteredRecords
      caption="Requests"
      filters={() => filters}
      read={(asked, signal) => moniker.value.get('/v1/requests', { params: { query: asked }, signal })}
      keyOf={({ id }) => id}
      columns={columns}
      none="No requests"
      hint={
        <>
          Requests to models and turns appear here within seconds. <a href={pathOf('chat')}>Send a message in the chat</a>
        </>
      }
      sheet={() => chosen !== null && <RequestSheet id={chosen} />}
    />
  );
}

const columns: readonly Column<Entry>[] = [
  openingColumn(
    'Time',
    ({ at }) => at,
    ({ id }) => ({ request: id }),
  ),
  { label: 'Model', cell: ({ model, models }) => <code>{visible(model ?? models.join(', '))}</code> },
  { label: 'By', cell: ({ agent, keyId }) => visible(agent === null ? keyId : `agent/${agent}`) },
  {
    label: 'Status',
    cell: ({ status, code }) => (
      <>
        <StateBadge state={status} /> {status === 'completed' || code === null ? null : <span class="muted">{visible(code)}</span>}
      </>
    ),
  },
  { label: 'Time taken', isNumber: true, cell: ({ durationMs }) => duration(durationMs) },
  {
    label: 'Tokens',
    isNumber: true,
    cell: ({ usage }) =>
      usage === null ? <span class="muted">unknown</span> : `${compact(usage.inputTokens)} → ${compact(usage.outputTokens)}`,
  },
  { label: 'Cost', isNumber: true, cell: ({ cost }) => (cost === null ? <span class="muted">unknown</span> : money(cost)) },
];

function RequestSheet({ id }: { id: string }) {
  const { data, error } = useLoaded(
    (signal) => moniker.value.get('/v1/requests/{request}', { params: { path: { request: id } }, signal }),
    [id],
  );
  return (
    <Sheet title={data?.kind === 'turn' ? 'Turn' : 'Request'} onClose={() => setQuery({ request: null })}>
      {error !== null && <ProblemView error={error} />}
      {data !== null && (
        <>
          {hasScope(['chat']) && (
            <p class="actions">
              <a class="button" href={pathOf('replays', 'new', recordedIn(data))}>
                Replay with another model
              </a>
            </p>
          )}
          <Facts rows={factsOf(data)} />
        </>
      )}
      {data?.bodies != null && <Bodies bodies={data.bodies} />}
      {data?.kind === 'request' && data.bodies === null && (
        <p class="muted">
          Bodies are logged only if the <a href={pathOf('settings')}>settings of the workspace</a> say so.
        </p>
      )}
    </Sheet>
  );
}

function recordedIn({ id, session, turn }: Entry): Record<string, string> {
  return session === null ? { request: id } : { session, ...(turn !== null && { turn }) };
}

function Bodies({ bodies: { request, response, truncated } }: { bodies: components['schemas']['RequestBodies'] }) {
  return (
    <>
      {truncated && <p class="notice warn">The longer of them is cut: only its beginning is stored.</p>}
      <h3>Request</h3>
      {request === null ? <p class="muted">It was binary.</p> : <pre class="file">{visible(request)}</pre>}
      <h3>Response</h3>
      {response === null ? <p class="muted">There was none, or it was binary.</p> : <pre class="file">{visible(response)}</pre>}
    </>
  );
}

function factsOf(entry: Entry): [string, ComponentChildren][] {
  const { id, at, requestId, keyId, agent, session, turn, dialect, toolset, model, models, status, code, usage, cost } = entry;
  const text = (value: string | null) => (value === null ? null : visible(value));
  const name = (value: string | null) => (value === null ? null : <code>{visible(value)}</code>);
  return [
    ['Time', <Time key="at" iso={at} exact />],
    ['Status', <StateBadge key="status" state={status} />],
    ['Reason', text(code)],
    ['Key', name(keyId)],
    ['Agent', text(agent)],
    ['Session', session === null ? null : <a href={pathOf('sessions', session)}>{visible(session)}</a>],
    ['Turn', name(turn)],
    ['Requested model', name(model)],
    ['Called models', name(models.join(', '))],
    ['Toolset', text(toolset)],
    ['Format', text(dialect)],
    ['Time taken', duration(entry.durationMs)],
    ['First token after', entry.firstTokenMs === null ? null : duration(entry.firstTokenMs)],
    ['Model calls', count(entry.modelCalls)],
    ['Tool calls', entry.toolCalls === null ? 'unknown: the response was forwarded unread' : count(entry.toolCalls)],
    ['Input tokens', usage === null ? 'unknown' : count(usage.inputTokens)],
    ['Cached input', usage?.cachedInputTokens === undefined ? null : count(usage.cachedInputTokens)],
    ['Output tokens', usage === null ? 'unknown' : count(usage.outputTokens)],
    ['Reasoning', usage?.reasoningTokens === undefined ? null : count(usage.reasoningTokens)],
    ['Cost', cost === null ? 'unknown: the model has no price, or reported no tokens' : money(cost)],
    ['Calls of unknown cost', entry.unpricedCalls === 0 ? null : count(entry.unpricedCalls)],
    ['Request id', name(requestId)],
    ['Row', name(id)],
  ];
}
