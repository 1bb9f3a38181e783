/**
 * Merges the logs of the audit into one list, newest first. A cursor has the position in every log, so that pages stay consistent while rows
 * are added: a later page has only rows that were below the position in their log. A log that cannot be read is named in each page.
 */
import type { AuditEntry, AuditFilter, AuditRow, UnreadableLog } from '../../../core/records/audit.ts';
import type { LogEntry, LogPage, LogRequest } from '../../../ports/audit-log.ts';
import type { AuditListPage } from '../../../ports/audit.ts';
import type { PageRequest } from '../../../ports/catalog.ts';
import { isRestoreInProgress } from '../../shared/object-client.ts';
import { Problem } from '../../../core/problem.ts';
import { isCount, isRecord } from '../../../core/json/wire-value.ts';
import { decodeCursor, encodeCursor } from '../../../core/json/cursor.ts';

const list = 'audit';

/** A log to list: `changes` or the number of a shard. */
export type ListedLog = { name: string; read(request: LogRequest): Promise<LogPage> };

type Source = { log: string; page: LogPage; taken: number };

export async function listLogs(logs: readonly ListedLog[], query: PageRequest & AuditFilter): Promise<AuditListPage> {
  const { cursor, limit, ...filter } = query;
  const positions = readPositions(cursor);
  const leftOut: UnreadableLog[] = [];
  const sources = await Promise.all(
    logs
      // A log that is not in the cursor got its first row after the first page.
      .filter(({ name }) => positions === null || (positions.get(name) ?? 0) > 0)
      .map(async ({ name, read }): Promise<Source> => {
        const before = positions?.get(name);
        const page = await read({ ...filter, limit, ...(before !== undefined && { before }) }).catch((error: unknown) => {
          leftOut.push({ log: name, reason: whyUnreadable(error) });
          return noRows;
        });
        return { log: name, page, taken: 0 };
      }),
  );
  const items: AuditEntry[] = [];
  for (let source = newest(sources); source !== null && items.length < limit; source = newest(sources)) {
    const { number, text } = source.page.entries[source.taken] as LogEntry;
    items.push(toAuditEntry(source.log, number, text));
    source.taken += 1;
  }
  const left = sources.map((source): [string, number] => [source.log, positionAfter(source)]).filter(([, before]) => before > 0);
  if (left.length === 0) return { items, nextCursor: null, leftOut };
  // Asked again with the next page: it may be usable by then, and is named otherwise.
  const again = leftOut.map(({ log }): [string, number] => [log, positions?.get(log) ?? Number.MAX_SAFE_INTEGER]);
  return { items, nextCursor: encodeCursor(list, Object.fromEntries([...left, ...again])), leftOut };
}

const noRows: LogPage = { entries: [], next: 0, nextAt: 0 };

/** Throws the error of a restore, during which no log can be read. */
export function whyUnreadable(error: unknown): string {
  if (isRestoreInProgress(error)) throw error;
  if (error instanceof Problem) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

/** Returns the log with the newest next entry; null if there is none, or if rows that were not read yet could be newer. */
function newest(sources: readonly Source[]): Source | null {
  const timeOf = ({ page, taken }: Source): number => page.entries[taken]?.at ?? (page.next > 0 ? page.nextAt : Number.NEGATIVE_INFINITY);
  const [first] = sources.toSorted((a, b) => timeOf(b) - timeOf(a));
  return first?.page.entries[first.taken] === undefined ? null : first;
}

/** Returns the position before which the next page starts; 0 if nothing is left. */
function positionAfter({ page, taken }: Source): number {
  const next = page.entries[taken];
  return next === undefined ? page.next : next.number + 1;
}

function readPositions(cursor: string | undefined): Map<string, number> | null {
  const positions = decodeCursor(list, cursor, isPositions);
  return positions === undefined ? null : new Map(Object.entries(positions));
}

/** The position in each log, by its name. */
function isPositions(value: unknown): value is Record<string, number> {
  return isRecord(value) && Object.entries(value).every(([log, before]) => logName.test(log) && isCount(before));
}

const logName = /^(?:changes|\d{1,3})$/;

/** Rows are stored without null members. */
function toAuditEntry(log: string, number: number, text: string): AuditEntry {
  const stored = JSON.parse(text) as Partial<AuditEntry>;
  const id = `${log}.${number}`;
  // Rows are written only by this service.
  return (stored.kind === 'change' ? { ...stored, id } : { ...nullMembers, ...stored, id, kind: 'call' }) as AuditEntry;
}

const nullMembers = {
  ...{ session: null, sequence: null, turn: null, agent: null, parent: null },
  ...{ canonical: null, via: null, toolset: null, edition: null, code: null },
} satisfies Partial<AuditRow>;
