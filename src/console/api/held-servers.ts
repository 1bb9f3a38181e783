/** How many servers have held definitions: read every minute while the tab is visible, and after each decision on one. */
import { signal } from '@preact/signals';
import { moniker } from './moniker.ts';
import { poll } from './poll.ts';

export const heldServers = signal(0);

const error = signal<unknown>(null);
const pollMs = 60_000;
const maxPages = 10;

export async function refreshHeldServers(): Promise<void> {
  const client = moniker.value;
  try {
    let found = 0;
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const { items, nextCursor } = await client.get('/v1/servers', { params: { query: { limit: 100, ...(cursor && { cursor }) } } });
      found += items.filter(({ held }) => held > 0).length;
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    if (moniker.value !== client) return;
    heldServers.value = found;
    error.value = null;
  } catch (thrown) {
    if (moniker.value === client) error.value = thrown;
  }
}

export function pollHeldServers(): () => void {
  return poll(refreshHeldServers, {
    everyMs: pollMs,
    error,
    forget: () => {
      heldServers.value = 0;
      error.value = null;
    },
  });
}
