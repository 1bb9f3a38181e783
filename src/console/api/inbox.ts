/** What calls of all sessions wait for: read every ten seconds while the tab is visible, and after each decision. */
import { computed, signal } from '@preact/signals';
import type { components } from '../../../client/src/index.ts';
import { moniker } from './moniker.ts';
import { createPoll } from './poll.ts';

export type InboxItem = components['schemas']['InboxItem'];
type Decision = components['schemas']['DecisionRequest'];

const pollMs = 10_000;
const maxItems = 100;

/** Questions that were decided in this tab: the list is a copy that may still have them for a few seconds. */
const decidedHere = signal<ReadonlySet<string>>(new Set());

const inbox = createPoll(pollMs, async (client) => {
  const { items, nextCursor } = await client.get('/v1/approvals', { params: { query: { limit: maxItems } } });
  const listed = new Set(items.map(keyOfItem));
  decidedHere.value = new Set([...decidedHere.value].filter((key) => listed.has(key)));
  return { items, hasMore: nextCursor !== null };
});
export const { error: inboxError, refresh: refreshInbox, start: pollInbox } = inbox;

/** The oldest first; null: not read yet. */
export const pendingItems = computed(
  () =>
    inbox.data.value?.items.filter((item) => !decidedHere.value.has(keyOfItem(item))).sort((a, b) => a.askedAt.localeCompare(b.askedAt)) ??
    null,
);
export const hasMorePending = computed(() => inbox.data.value?.hasMore ?? false);
export const pendingCount = computed(() => pendingItems.value?.length ?? 0);

export function keyOfItem({ session, callId, round }: InboxItem): string {
  return `${session} ${callId} ${round}`;
}

/** Decides an approval. Rejects with the error of the request. */
export async function decideItem({ session: id, callId, round }: InboxItem, decided: Omit<Decision, 'round'>): Promise<void> {
  const body = { ...decided, round };
  await moniker.value.post('/v1/sessions/{id}/approvals/{callId}', { params: { path: { id, callId } }, body });
  await hideQuestions(id, callId);
}

/** Leaves out what a call waited for, after it was decided or answered in this tab. */
export async function hideQuestions(session: string, callId: string): Promise<void> {
  const answered = (inbox.data.value?.items ?? []).filter((item) => item.session === session && item.callId === callId);
  decidedHere.value = new Set([...decidedHere.value, ...answered.map(keyOfItem)]);
  await refreshInbox();
}
