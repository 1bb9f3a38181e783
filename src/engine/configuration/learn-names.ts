/** Finds names to learn for a toolset: the audit says in which turns calls were refused, and the logs of their sessions what was called then. */
import { learnNames, type Lesson } from '../../core/impact/learned-names.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { Sessions } from '../../ports/session.ts';
import { readRecordedCalls, type SessionTurns } from './recorded-turns.ts';

/** Rows of the audit that one request reads, for each of the two codes. */
const maxAuditPages = 20;
const pageRows = 200;

export type Learned = {
  lessons: Lesson[];
  /** What was read: turns with refused calls. `left`: turns that were not read, as they were too many, or their session is gone or of another key. */
  turns: { read: number; left: number };
};

type Deps = { audit: AuditPort; sessions: Sessions };
type Asked = { toolset: string; from: string; to: string; key: string | undefined; least: number };

export async function learnToolsetNames(deps: Deps, principal: Principal, names: AliasMap, asked: Asked): Promise<Learned> {
  const turns = await refusedTurns(deps.audit, asked);
  const { calls, read, left } = await readRecordedCalls(deps.sessions, principal, turns);
  return { lessons: learnNames(calls, names, asked.least), turns: { read, left } };
}

/** By session, the newest first. */
async function refusedTurns(audit: AuditPort, { toolset, from, to, key }: Asked): Promise<SessionTurns> {
  const turns: SessionTurns = new Map();
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
