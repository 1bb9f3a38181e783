/** Finds the newest turns, and reads their calls from the logs of their sessions, a bounded number of them. */
import { type RecordedCall, recordedCalls } from '../../core/impact/recorded-calls.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { ChangedName } from '../../core/impact/name-impact.ts';
import { Problem } from '../../core/problem.ts';
import type { RequestEntry } from '../../core/records/usage.ts';
import type { SessionEvent } from '../../core/turn/session-event.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { readPages } from '../read-pages.ts';

/** Turns to read, the first ones first; rows of the audit or of the request log. `more`: there are older ones. */
export type FoundTurns = { rows: readonly { session: string | null; turn: string | null }[]; more: boolean };

/** `read`: turns with calls. `left`: those of sessions that are too many, gone, or of another key. `more`: older ones were not looked for. */
export type ReadTurns = { read: number; left: number; more: boolean };

/** Sessions whose logs one request reads, and events of each. */
const maxSessions = 50;
const eventsAtOnce = 500;
const maxEvents = 5_000;
const maxAtOnce = 5;
export const maxSessionsNamed = 20;

export type CallInSession = RecordedCall & { session: string };

/** Rows of the request log that one request reads. */
const reading = { limit: 200, maxPages: 10 };

export type Turns = { rows: RequestEntry[]; more: boolean };

/** The newest turns with calls, from the day `from`. `agent`, `key`: only its turns; undefined: all. */
export async function newestTurns(
  usage: UsageReader,
  { workspace, from, agent, key }: { workspace: string; from: string; agent?: string; key: string | undefined },
): Promise<Turns> {
  const where = { kind: 'turn', ...(agent !== undefined && { agent }), ...(key !== undefined && { key }) };
  const since = { from: Date.parse(from), where };
  const { items, nextCursor } = await readPages((page) => usage.requests(workspace, { ...page, ...since }), reading);
  return { rows: items.filter(({ toolCalls }) => toolCalls !== 0), more: nextCursor !== null };
}

/** `sessions`: those of the turns that were read in which the name was called. `readCalls`: how many calls of it those turns have. */
export type ChangedNameInSessions = ChangedName & { sessions: string[]; readCalls: number };

export function withSessions(changed: readonly ChangedName[], calls: readonly CallInSession[]): ChangedNameInSessions[] {
  const byName = Map.groupBy(calls, ({ requested }) => requested);
  return changed.map((one) => {
    const own = byName.get(one.requested) ?? [];
    const sessions = [...new Set(own.map(({ session }) => session))].slice(0, maxSessionsNamed);
    return { ...one, sessions, readCalls: own.length };
  });
}

export async function readRecordedCalls(
  sessions: Pick<Sessions, 'get'>,
  principal: Principal,
  { rows, more }: FoundTurns,
): Promise<ReadTurns & { calls: CallInSession[] }> {
  const turns = new Map<string, Set<string>>();
  for (const { session, turn } of rows)
    if (session !== null && turn !== null) turns.set(session, (turns.get(session) ?? new Set()).add(turn));
  const ids = [...turns.keys()].slice(0, maxSessions);
  const calls: CallInSession[] = [];
  let read = 0;
  for (let start = 0; start < ids.length; start += maxAtOnce) {
    const logs = await Promise.all(
      ids
        .slice(start, start + maxAtOnce)
        .map(async (id) => ({ id, events: (await readSessionLog(sessions, principal, id, withoutContent))?.events ?? [] })),
    );
    for (const { id, events } of logs) {
      const wanted = turns.get(id) ?? new Set();
      const found = recordedCalls(events).filter(({ turn }) => wanted.has(turn));
      read += new Set(found.map(({ turn }) => turn)).size;
      calls.push(...found.map((call) => ({ ...call, session: id })));
    }
  }
  const all = [...turns.values()].reduce((sum, { size }) => sum + size, 0);
  return { calls, read, left: all - read, more };
}

/**
 * Returns the first events of a session; null for one that is gone, or that the key may not read. `isCut`: there are more than one request
 * reads. `part`: what is returned of an event.
 */
export async function readSessionLog(
  sessions: Pick<Sessions, 'get'>,
  principal: Principal,
  id: string,
  part: (event: SessionEvent) => readonly SessionEvent[] = (event) => [event],
): Promise<{ events: SessionEvent[]; isCut: boolean } | null> {
  const events: SessionEvent[] = [];
  try {
    const session = sessions.get(id);
    for (let [after, read] = [0, 0]; read < maxEvents; ) {
      const { items, lastEvent } = await session.eventPage(principal, { after, limit: eventsAtOnce });
      read += items.length;
      events.push(...items.flatMap(part));
      after = items.at(-1)?.id ?? lastEvent;
      if (after >= lastEvent) return { events, isCut: false };
    }
    return { events, isCut: true };
  } catch (error) {
    if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'forbidden')) throw error;
    return null;
  }
}

/** Results are most of a log, and are not compared. */
function withoutContent(event: SessionEvent): SessionEvent[] {
  if (event.type !== 'tool-result') return event.type === 'turn-start' || event.type === 'tool-input-end' ? [event] : [];
  const { structuredContent: _structured, ...result } = event;
  return [{ ...result, content: [] }];
}
