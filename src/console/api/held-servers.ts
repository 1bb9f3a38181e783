/** How many servers have held definitions: read every minute while the tab is visible, and after each decision on one. */
import { computed } from '@preact/signals';
import { createPoll } from './poll.ts';

const pollMs = 60_000;
const maxPages = 10;

const held = createPoll(pollMs, async (client) => {
  let found = 0;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, nextCursor } = await client.get('/v1/servers', { params: { query: { limit: 100, ...(cursor && { cursor }) } } });
    found += items.filter((server) => server.held > 0).length;
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return found;
});

export const heldServers = computed(() => held.data.value ?? 0);
export const { refresh: refreshHeldServers, start: pollHeldServers } = held;
