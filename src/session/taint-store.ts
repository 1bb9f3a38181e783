/**
 * What a session's conversation has seen (`core/taint.ts`), a row for each label: kept over restarts, and never taken back. Marked by the door
 * to the tools, read beneath every tool; a fork begins with the marks of the session that it comes from.
 */
import { createTaintMarks, type Taint, type TaintLabel, type TaintMarks } from '../core/taint.ts';

export function createTaintStore(sql: SqlStorage, now: () => number): TaintMarks & { take(taint: Taint): void } {
  let read: TaintMarks | null = null;
  const marks = (): TaintMarks => (read ??= createTaintMarks(readTaint(sql)));
  const mark = (label: TaintLabel, by: string): void => {
    if (marks().read()[label] !== null) return;
    marks().mark(label, by);
    sql.exec('INSERT OR IGNORE INTO taint (label, by, at) VALUES (?, ?, ?)', label, marks().read()[label], now());
  };
  return {
    read: () => marks().read(),
    mark,
    take(taint) {
      if (taint.private !== null) mark('private', taint.private);
      if (taint.untrusted !== null) mark('untrusted', taint.untrusted);
    },
  };
}

function readTaint(sql: SqlStorage): Taint {
  const rows = new Map(
    sql
      .exec<{ label: string; by: string }>('SELECT label, by FROM taint')
      .toArray()
      .map(({ label, by }) => [label, by]),
  );
  return { private: rows.get('private') ?? null, untrusted: rows.get('untrusted') ?? null };
}
