/** The event log of a session, read in pages: its newest events first, earlier ones on request, and what is new since. */
import type { components, SessionEvent } from '../../../client/src/index.ts';
import { moniker } from '../api/moniker.ts';

export type SessionLog = { view: components['schemas']['Session']; events: readonly SessionEvent[] };

const maxEventsPerPage = 500;
/** Pages that are read at once. */
const maxPages = 8;

type Range = { after?: string; before?: string };

async function readPage(id: string, range: Range, signal: AbortSignal): Promise<SessionEvent[]> {
  const query = { follow: 'false' as const, limit: maxEventsPerPage, ...range };
  return (await moniker.value.get('/v1/sessions/{id}/events', { params: { path: { id }, query }, signal })).items;
}

/** Reads the session, and the events that `known` does not have yet: at first its newest ones. */
export async function readSession(id: string, known: readonly SessionEvent[], signal: AbortSignal): Promise<SessionLog> {
  const view = await moniker.value.get('/v1/sessions/{id}', { params: { path: { id } }, signal });
  if (known.length === 0) return { view, events: await readEarlier(id, [], signal) };
  const events = [...known];
  for (let count = 0; count < maxPages; count += 1) {
    const last = events.at(-1)?.id ?? 0;
    if (last >= view.lastEvent) break;
    const page = await readPage(id, { after: String(last) }, signal);
    if (page.length === 0) break;
    events.push(...page);
  }
  return { view, events };
}

/** Returns the events with earlier ones in front of them. */
export async function readEarlier(id: string, known: readonly SessionEvent[], signal: AbortSignal): Promise<readonly SessionEvent[]> {
  let events = known;
  for (let count = 0; count < maxPages && events[0]?.id !== 1; count += 1) {
    const [first] = events;
    const page = await readPage(id, first === undefined ? {} : { before: String(first.id) }, signal);
    if (page.length === 0) break;
    events = [...page, ...events];
  }
  return events;
}

/** Yields the lines of the whole log, oldest first, as JSON: one event a line. */
export async function* exportLog(id: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  for (let after = 0; ; ) {
    const page = await readPage(id, { after: String(after) }, signal);
    const last = page.at(-1)?.id ?? after;
    if (last <= after) return;
    yield `${page.map((event) => JSON.stringify(event)).join('\n')}\n`;
    after = last;
  }
}
