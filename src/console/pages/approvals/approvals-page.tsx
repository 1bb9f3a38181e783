/** `/console/approvals`: what calls of all sessions wait for, and `/console/approvals/decided`: what was decided, by whom. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hasMorePending, type InboxItem, inboxError, keyOfItem, pendingCount, pendingItems, refreshInbox } from '../../api/inbox.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { Filters, filtersOf } from '../../parts/filters.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import { RecordPages } from '../../parts/record-pages.tsx';
import type { Column } from '../../parts/records.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { ViewTabs } from '../../parts/view-tabs.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { PendingCard } from './pending-card.tsx';

export function ApprovalsPage({ id }: ViewProps) {
  const isDecided = id === 'decided';
  return (
    <div class="view wide">
      <header class="head">
        <h1>Approvals</h1>
        <ViewTabs
          label="Approvals"
          view="approvals"
          current={isDecided ? id : null}
          tabs={[
            { id: null, title: pendingCount.value > 0 ? `Pending (${pendingCount.value})` : 'Pending' },
            { id: 'decided', title: 'Decided' },
          ]}
        />
      </header>
      {isDecided ? <Decided /> : <Pending />}
    </div>
  );
}

function Pending() {
  const list = useRef<HTMLUListElement>(null);
  const problem = useSignal<unknown>(null);
  useEffect(() => void refreshInbox(), []);
  const items = pendingItems.value;
  const settle = (text: string): void => {
    announce(text);
    // The card with the focused button leaves the page.
    list.current?.focus();
  };
  return (
    <>
      {inboxError.value !== null && <ProblemView error={inboxError.value} retry={() => void refreshInbox()} />}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {items === null && inboxError.value === null && <p class="muted">Loading…</p>}
      {items?.length === 0 && (
        <div class="empty">
          <h2>Nothing waits for you</h2>
          <p>
            Calls that require approval appear here, whoever started them: a chat, a webhook or a schedule. Try one:{' '}
            <a href={pathOf('chat')}>“Something that asks first” in the chat</a>.
          </p>
        </div>
      )}
      <ul class="pending" ref={list} tabIndex={-1} aria-label="Pending">
        {(items ?? []).map((item) => (
          <li key={keyOfItem(item)}>
            <PendingCard
              item={item}
              onSettled={settle}
              onProblem={(error) => {
                problem.value = error;
              }}
            />
          </li>
        ))}
      </ul>
      {hasMorePending.value && <p class="muted">More than these are waiting. They appear when these are decided.</p>}
    </>
  );
}

const kinds = { approval: 'Approval', input: 'Answer', 'client-tool': 'Result of a client' } as const;

function Decided() {
  const filter = filtersOf(['kind', 'agent', 'session']);
  const pages = usePages(
    (cursor, signal) => {
      const all = { ...filter, state: 'decided' as const, ...(cursor && { cursor }) };
      return moniker.value.get('/v1/approvals', { params: { query: all }, signal });
    },
    [JSON.stringify(filter)],
  );
  return (
    <>
      <Filters
        filters={[
          { name: 'kind', label: 'Kind', kind: 'choice', choices: [['', 'any'], ...Object.entries(kinds)] },
          { name: 'agent', label: 'Agent', kind: 'text' },
          { name: 'session', label: 'Session', kind: 'text' },
        ]}
      />
      <RecordPages
        caption="Decided"
        pages={pages}
        keyOf={keyOfItem}
        columns={columns}
        empty={
          <>
            <h2>Nothing was decided {Object.keys(filter).length > 0 ? 'with these filters' : 'yet'}</h2>
            <p>
              Decisions stay here with the key, link or timer that made them. <a href={pathOf('approvals')}>See what is pending</a>
            </p>
          </>
        }
      />
    </>
  );
}

const columns: readonly Column<InboxItem>[] = [
  { label: 'Call', cell: ({ canonical, callId }) => <code>{visible(canonical ?? callId)}</code> },
  { label: 'Question', cell: ({ reason }) => visible(reason) },
  { label: 'Decision', cell: ({ state }) => <StateBadge state={state} /> },
  { label: 'By', cell: ({ decidedBy }) => <code>{visible(decidedBy ?? '–')}</code> },
  { label: 'When', cell: ({ decidedAt, askedAt }) => <Time iso={decidedAt ?? askedAt} /> },
  { label: 'Session', cell: ({ session, agent }) => <a href={pathOf('chat', session)}>{visible(agent ?? session.slice(0, 12))}</a> },
];
