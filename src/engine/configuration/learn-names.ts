/** Finds names to learn for a toolset: the audit says in which turns calls were refused, and the logs of their sessions what was called then. */
import { learnNames, type Lesson } from '../../core/impact/learned-names.ts';
import { type RecordedCall, recordedCalls } from '../../core/impact/recorded-calls.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { SessionEvent } from '../../core/turn/session-event.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { Sessions } from '../../ports/session.ts';

/** Rows of the audit that one request reads, for each of the two codes. */
const maxAuditPages = 20;
const pageRows = 200;
/** Sessions whose logs one request reads, the newest first, and events of each. */
const maxSessions = 50;
const eventsAtOnce = 500;
const maxEvents = 5_000;
const maxAtOnce = 5;

export type Learned = {
  lessons: Lesson[];
  /** What was read: turns with refused calls. `left`: turns that were not read, as they were too many, or their session is gone or of another key. */
  turns: { read: number; left: number };
};

type Deps = { audit: AuditPort; sessions: Sessions };
type Asked = { toolset: string; from: string; to: string; key: string | undefined; least: number };

export async function learnToolsetNames(deps: Deps, principal: Principal, names: AliasMap, asked: Asked): Promise<Learned> {
  const turns = await refusedTurns(deps.audit, asked);
  const ids = [...turns.keys()].slice(0, maxSessions);
  const calls: RecordedCall[] = [];
  let read = 0;
  for (let start = 0; start < ids.length; start += maxAtOnce) {
    const logs = await Promise.all(
      ids.slice(start, start + maxAtOnce).map(async (id) => ({ id, events: await readEvents(deps.sessions, principal, id) })),
    );
    for (const { id, events } of logs) {
      const wanted = turns.get(id) ?? new Set();
      const found = recordedCalls(events).filter(({ turn }) => wanted.has(turn));
      read += new Set(found.map(({ turn }) => turn)).size;
      calls.push(...found);
    }
  }
  const all = [...turns.values()].reduce((sum, { size }) => sum + size, 0);
  return { lessons: learnNames(calls, names, asked.least), turns: { read, left: all - read } };
}

/** By session, the newest first. */
async function refusedTurns(audit: AuditPort, { toolset, from, to, key }: Asked): Promise<Map<string, Set<string>>> {
  const turns = new Map<string, Set<string>>();
  for (const code of ['unknown_tool', 'invalid_arguments'] as const) {
    let cursor: string | null | undefined;
    for (let page = 0; page < maxAuditPages && cursor !== null; page += 1) {
      const range = { from, to, limit: pageRows, ...(cursor !== undefined && { cursor }) };
      const rows = await audit.list({ ...range, kind: 'call', code, ...(key !== undefined && { key }) });
      for (const row of rows.items) {
        if (row.kind !== 'call' || row.toolset !== toolset || row.session === null || row.turn === null) continue;
        turns.set(row.session, (turns.get(row.session) ?? new Set()).add(row.turn));
      }
      cursor = rows.nextCursor;
    }
  }
  return turns;
}

/** Empty for a session that is gone, or that the key may not read. */
async function readEvents(sessions: Sessions, principal: Principal, id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const session = sessions.get(id);
  try {
    for (let after = 0; events.length < maxEvents; ) {
      const { items, lastEvent } = await session.eventPage(principal, { after, limit: eventsAtOnce });
      events.push(...items);
      after = items.at(-1)?.id ?? lastEvent;
      if (after >= lastEvent) break;
    }
  } catch (error) {
    if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'forbidden')) throw error;
  }
  return events;
}
