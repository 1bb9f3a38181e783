/** Finds names to learn for a toolset: the audit says in which turns calls were refused, and the logs of their sessions what was called then. */
import { learnNames, type Lesson } from '../../core/impact/learned-names.ts';
import type { RecordedCall } from '../../core/impact/recorded-calls.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { Sessions } from '../../ports/session.ts';
import { readPages } from '../read-pages.ts';
import { type FoundTurns, type ReadTurns, readRecordedCalls } from './recorded-turns.ts';

/** Rows of the audit that one request reads, for each of the two codes. */
const reading = { limit: 200, maxPages: 20 };

export type Learned = {
  lessons: Lesson[];
  /** Of turns with refused calls. */
  calls: readonly RecordedCall[];
  turns: ReadTurns;
};

type Deps = { audit: AuditPort; sessions: Sessions };
type Asked = { toolset: string; from: string; to: string; key: string | undefined; least: number };

export async function learnToolsetNames(deps: Deps, principal: Principal, names: AliasMap, asked: Asked): Promise<Learned> {
  const found = await refusedTurns(deps.audit, asked);
  const { calls, ...turns } = await readRecordedCalls(deps.sessions, principal, found);
  return { lessons: learnNames(calls, names, asked.least), calls, turns };
}

/** The newest first. */
async function refusedTurns(audit: AuditPort, { toolset, from, to, key }: Asked): Promise<FoundTurns> {
  const codes = ['unknown_tool', 'invalid_arguments'] as const;
  const where = { from, to, kind: 'call' as const, ...(key !== undefined && { key }) };
  const lists = await Promise.all(codes.map((code) => readPages((page) => audit.list({ ...page, ...where, code }), reading)));
  const rows = lists.flatMap(({ items }) => items).filter((row) => row.kind === 'call');
  return { rows: rows.filter((row) => row.toolset === toolset), more: lists.some(({ nextCursor }) => nextCursor !== null) };
}
