/** `/console/deliveries`: events that webhooks received, and `/console/deliveries/callbacks`: messages that were sent about turns. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { asWritten } from '../../parts/fields/controls.tsx';
import { FilteredRecords, openingColumn } from '../../parts/records/filtered-records.tsx';
import { type Column, Records, StateBadge, Time } from '../../parts/records/records.tsx';
import { ViewParts } from '../../parts/layout/view-parts.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, query, setQuery, type ViewProps } from '../../router.ts';
import { count } from '../../text/format.ts';
import { CallbackList } from './callback-list.tsx';
import { DeliverySheet } from './delivery-sheet.tsx';

type Row = components['schemas']['WebhookDelivery'];
type Refused = components['schemas']['RefusedDeliveries'];

const statuses: readonly Row['status'][] = ['ignored', 'skipped', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'];

const parts = [
  { id: null, title: 'Received', Content: DeliveryList },
  { id: 'callbacks', title: 'Callbacks', Content: CallbackList },
];

export function DeliveriesPage({ id }: ViewProps) {
  return <ViewParts id={id} view="deliveries" title="Deliveries" parts={parts} />;
}

function DeliveryList() {
  const refused = useSignal<readonly Refused[]>([]);
  const webhooks = useNames((signal) => moniker.value.get('/v1/webhooks', { params: { query: { limit: 200 } }, signal }));
  const webhook = query.value.get('of');
  const delivery = query.value.get('delivery');
  return (
    <FilteredRecords
      caption="Deliveries"
      filters={() => [
        { name: 'webhook', label: 'Webhook', kind: 'choice', choices: [['', 'all'], ...asWritten(webhooks)] },
        { name: 'status', label: 'Status', kind: 'choice', choices: [['', 'any'], ...asWritten(statuses)] },
        { name: 'from', label: 'Since', kind: 'time' },
      ]}
      read={async (asked, signal) => {
        const found = await moniker.value.get('/v1/deliveries', { params: { query: asked }, signal });
        refused.value = found.refused;
        return found;
      }}
      notes={<RefusedCounts refused={refused.value} />}
      keyOf={({ webhook, id }) => `${webhook} ${id}`}
      columns={columns}
      none="No deliveries"
      hint={
        <>
          A webhook starts a turn for each event that another service sends; the events appear here as soon as they are delivered.{' '}
          {webhooks.length === 0 ? (
            <a href={pathOf('webhooks')}>Create a webhook</a>
          ) : (
            <>
              <a href={pathOf('webhooks')}>Copy the URL of a webhook</a> to the sender, or test the webhook with an example.
            </>
          )}
        </>
      }
      sheet={({ reload }) =>
        webhook !== null &&
        delivery !== null && (
          <DeliverySheet
            key={`${webhook} ${delivery}`}
            webhook={webhook}
            delivery={delivery}
            onChange={() => void reload()}
            onClose={() => setQuery({ of: null, delivery: null })}
          />
        )
      }
    />
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
  openingColumn(
    'Received',
    ({ receivedAt }) => receivedAt,
    ({ webhook, id }) => ({ of: webhook, delivery: id }),
  ),
  { label: 'Webhook', cell: ({ webhook }) => <a href={pathOf('webhooks', webhook)}>{visible(webhook)}</a> },
  { label: 'Event', cell: ({ event }) => visible(event ?? '–') },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Reason', cell: ({ reason }) => visible(reason ?? '–') },
  { label: 'Session', cell: ({ session }) => (session === null ? '–' : <a href={pathOf('sessions', session)}>{session.slice(0, 12)}</a>) },
];
