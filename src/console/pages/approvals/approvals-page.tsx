/** `/console/approvals`: what calls of all sessions wait for, and `/console/approvals/decided`: what was decided, by whom. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hasMorePending, type InboxItem, inboxError, keyOfItem, pendingCount, pendingItems, refreshInbox } from '../../api/inbox.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { FilteredRecords } from '../../parts/records/filtered-records.tsx';
import type { ListFilter } from '../../parts/records/filters.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { type Column, StateBadge, Time, Empty } from '../../parts/records/records.tsx';
import { ViewParts } from '../../parts/layout/view-parts.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { PendingCard } from './pending-card.tsx';

export function ApprovalsPage({ id }: ViewProps) {
  return (
    <ViewParts
      id={id}
      view="approvals"
      title="Approvals"
      parts={[
        { id: null, title: pendingCount.value > 0 ? `Pending (${pendingCount.value})` : 'Pending', Content: Pending },
        { id: 'decided', title: 'Decided', Content: Decided },
      ]}
    />
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
        <Empty title="Nothing waits for you">
          Calls that require approval appear here, whoever started them: a chat, a webhook or a schedule. Try one:{' '}
          <a href={pathOf('chat')}>“Something that asks first” in the chat</a>.
        </Empty>
      )}
      <ul class="pending" ref={list} tabIndex={-1} aria-label="Pending">
        {(items ?? []).map((item) => (
          <li key={keyOfItem(item)}>
            <PendingCard item={item} onSettled={settle} onProblem={(error) => (problem.value = error)} />
          </li>
        ))}
      </ul>
      {hasMorePending.value && <p class="muted">More than these are waiting. They appear when these are decided.</p>}
    </>
  );
}

const kinds = { approval: 'Approval', input: 'Answer', 'client-tool': 'Result of a client' } as const;

const filters: readonly ListFilter[] = [
  { name: 'kind', label: 'Kind', kind: 'choice', choices: [['', 'any'], ...Object.entries(kinds)] },
  { name: 'agent', label: 'Agent', kind: 'text' },
  { name: 'session', label: 'Session', kind: 'text' },
];

function Decided() {
  return (
    <FilteredRecords
      caption="Decided"
      filters={() => filters}
      read={(query, signal) => moniker.value.get('/v1/approvals', { params: { query: { ...query, state: 'decided' } }, signal })}
      keyOf={keyOfItem}
      columns={columns}
      none="No decisions"
      hint={
        <>
          Decisions stay here with the key, link or timer that made them. <a href={pathOf('approvals')}>See what is pending</a>
        </>
      }
    />
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
