/**
 * The marks of the taint rule (`core/policy/taint.ts`) in an object's own table, one row per label: of a session's conversation or an MCP
 * session. They survive restarts and last as long as the object.
 */
import { markTaint, type Taint, type TaintMarks } from '../../core/policy/taint.ts';

export type TaintStore = TaintMarks & { addAll(taint: Taint): void };

export function createTaintStore(sql: SqlStorage, now: () => number): TaintStore {
  let cached: Taint | null = null;
  const read = (): Taint => (cached ??= readTaint(sql));
  const mark: TaintMarks['mark'] = (label, by, from) => {
    const marked = markTaint(read(), label, by, from);
    if (marked === read()) return;
    cached = marked;
    const origin = label === 'private' ? (marked.origin ?? null) : null;
    const write =
      'INSERT INTO taint (label, by, origin, at) VALUES (?, ?, ?, ?) ON CONFLICT (label) DO UPDATE SET origin = excluded.origin';
    sql.exec(write, label, marked[label], origin, now());
  };
  return {
    read,
    mark,
    addAll(taint) {
      if (taint.private !== null) mark('private', taint.private, taint.origin);
      if (taint.untrusted !== null) mark('untrusted', taint.untrusted);
    },
  };
}

function readTaint(sql: SqlStorage): Taint {
  const rows = sql.exec<{ label: string; by: string; origin: string | null }>('SELECT label, by, origin FROM taint').toArray();
  const of = (label: string) => rows.find((row) => row.label === label);
  const origin = of('private')?.origin ?? null;
  return { private: of('private')?.by ?? null, untrusted: of('untrusted')?.by ?? null, ...(origin !== null && { origin }) };
}
