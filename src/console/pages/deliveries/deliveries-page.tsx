/** `/console/deliveries`: events that webhooks received, and `/console/deliveries/callbacks`: messages that were sent about turns. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useLoaded, usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { Filters, filtersOf } from '../../parts/filters.tsx';
import { RecordPages } from '../../parts/record-pages.tsx';
import { type Column, Records } from '../../parts/records.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { ViewTabs } from '../../parts/view-tabs.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf, query, setQuery, type ViewProps } from '../../router.ts';
import { count } from '../../text/format.ts';
import { CallbackList } from './callback-list.tsx';
import { DeliverySheet } from './delivery-sheet.tsx';

type Row = components['schemas']['WebhookDelivery'];
type Refused = components['schemas']['RefusedDeliveries'];

const statuses: readonly Row['status'][] = ['ignored', 'skipped', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'];

export function DeliveriesPage({ id }: ViewProps) {
  const isCallbacks = id === 'callbacks';
  return (
    <div class="view wide">
      <header class="head">
        <h1>Deliveries</h1>
        <ViewTabs
          label="Deliveries"
          view="deliveries"
          current={isCallbacks ? id : null}
          tabs={[
            { id: null, title: 'Received' },
            { id: 'callbacks', title: 'Callbacks' },
          ]}
        />
      </header>
      {isCallbacks ? <CallbackList /> : <DeliveryList />}
    </div>
  );
}

function DeliveryList() {
  const filter = filtersOf(['webhook', 'status', 'from']);
  const refused = useSignal<readonly Refused[]>([]);
  const webhooks = useLoaded(async (signal) => {
    const { items } = await moniker.value.get('/v1/webhooks', { params: { query: { limit: 200 } }, signal });
    return items.map(({ name }) => name);
  });
  const pages = usePages(
    async (cursor, signal) => {
      const found = await moniker.value.get('/v1/deliveries', { params: { query: { ...filter, ...(cursor && { cursor }) } }, signal });
      refused.value = found.refused;
      return found;
    },
    [JSON.stringify(filter)],
  );
  const webhook = query.value.get('of');
  const delivery = query.value.get('delivery');
  return (
    <>
      <Filters
        filters={[
          {
            ...{ name: 'webhook', label: 'Webhook', kind: 'choice' },
            choices: [['', 'all'], ...(webhooks.data ?? []).map((name) => [name, name] as const)],
          },
          { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...statuses.map((one) => [one, one] as const)] },
          { name: 'from', label: 'Since', kind: 'time' },
        ]}
      />
      <RefusedCounts refused={refused.value} />
      <RecordPages
        caption="Deliveries"
        pages={pages}
        keyOf={({ webhook, id }) => `${webhook} ${id}`}
        columns={columns}
        empty={
          webhooks.data?.length === 0 ? (
            <>
              <h2>There is no webhook yet</h2>
              <p>
                A webhook starts a turn for each event that another service sends. <a href={pathOf('webhooks')}>Create one</a>
              </p>
            </>
          ) : (
            <>
              <h2>No deliveries {Object.keys(filter).length > 0 ? 'match these filters' : 'yet'}</h2>
              <p>
                Events appear here as soon as the sender delivers them. <a href={pathOf('webhooks')}>Copy the URL of a webhook</a> to the
                sender, or test the webhook with an example.
              </p>
            </>
          )
        }
      />
      {webhook !== null && delivery !== null && (
        <DeliverySheet
          key={`${webhook} ${delivery}`}
          webhook={webhook}
          delivery={delivery}
          onChange={() => void pages.reload()}
          onClose={() => setQuery({ of: null, delivery: null })}
        />
      )}
    </>
  );
}

/** Requests without a valid signature have no delivery: the sender has another secret, or is not the sender. */
function RefusedCounts({ refused }: { refused: readonly Refused[] }) {
  if (refused.length === 0) return null;
  const total = refused.reduce((sum, day) => sum + day.count, 0);
  return (
    <details class="notice warn">
      <summary>
        {count(total)} {total === 1 ? 'request was' : 'requests were'} refused: no valid signature
      </summary>
      <p>If the sender is yours, compare the secret of the webhook with the one of the sender.</p>
      <Records
        caption="Refused requests"
        items={refused}
        keyOf={({ webhook, day }) => `${webhook} ${day}`}
        columns={[
          { label: 'Day (UTC)', cell: ({ day }) => day },
          { label: 'Webhook', cell: ({ webhook }) => <a href={pathOf('webhooks', webhook)}>{visible(webhook)}</a> },
          { label: 'Requests', isNumber: true, cell: (day) => count(day.count) },
          { label: 'Last', cell: ({ lastAt }) => <Time iso={lastAt} /> },
        ]}
      />
    </details>
  );
}

const columns: readonly Column<Row>[] = [
  {
    label: 'Received',
    cell: ({ webhook, id, receivedAt }) => (
      <button type="button" class="link" onClick={() => setQuery({ of: webhook, delivery: id }, { push: true })}>
        <Time iso={receivedAt} exact />
      </button>
    ),
  },
  { label: 'Webhook', cell: ({ webhook }) => <a href={pathOf('webhooks', webhook)}>{visible(webhook)}</a> },
  { label: 'Event', cell: ({ event }) => visible(event ?? '–') },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Reason', cell: ({ reason }) => visible(reason ?? '–') },
  { label: 'Session', cell: ({ session }) => (session === null ? '–' : <a href={pathOf('sessions', session)}>{session.slice(0, 12)}</a>) },
];
