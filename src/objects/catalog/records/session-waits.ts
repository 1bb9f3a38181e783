/**
 * The questions of all sessions: approvals, requests for input and calls of clients, pending and decided. Copies for lists; the session has
 * the original, and only it decides. All pending ones are stored (`open-work.ts` bounds those that ask a person), and `maxDecidedWaits` of the
 * decided ones.
 */
import type { SessionUpdate, SessionWait } from '../../../core/turn/session-summary.ts';
import type { CatalogContext } from '../context.ts';
import { overwrite, requestClose } from './close-database.ts';

export const maxDecidedWaits = 10_000;
/** Surplus rows are deleted in steps. */
const sweepStep = 100;

/** Call in the transaction that stores the update. A row that is already there in this state is unchanged. */
export function storeWaits({ sql }: CatalogContext, { id, keyId, agent, waits }: SessionUpdate): void {
  for (const wait of waits) {
    const text = JSON.stringify(wait);
    const which = [id, wait.callId, wait.kind];
    const known = sql.exec<{ wait: string }>('SELECT wait FROM session_waits WHERE session = ? AND call_id = ? AND kind = ?', ...which);
    const before = known.toArray()[0]?.wait;
    if (before === text || (before !== undefined && isNewer(JSON.parse(before) as SessionWait, wait))) continue;
    // A new number: lists begin with what was asked or decided last.
    overwrite(sql, 'session_waits', 'wait', 'session = ? AND call_id = ? AND kind = ?', ...which);
    sql.exec('DELETE FROM session_waits WHERE session = ? AND call_id = ? AND kind = ?', ...which);
    const pending = wait.state === 'pending' ? 1 : 0;
    const insert =
      'INSERT INTO session_waits (session, call_id, kind, key_id, agent, pending, asked_at, wait) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
    sql.exec(insert, ...which, keyId, agent, pending, wait.askedAt, text);
    if (pending === 0) sweepDecided(sql);
  }
}

/** Call in the transaction that removes a session. */
export function eraseWaits(sql: SqlStorage, session: string): void {
  if (!overwrite(sql, 'session_waits', 'wait', 'session = ?', session)) return;
  sql.exec('DELETE FROM session_waits WHERE session = ?', session);
  requestClose(sql);
}

/** A repeated update must not undo a later one. */
function isNewer(before: SessionWait, wait: SessionWait): boolean {
  if (before.round !== wait.round) return before.round > wait.round;
  return before.state !== 'pending' && wait.state === 'pending' && before.askedAt >= wait.askedAt;
}

/** The keys with the most rows lose their oldest ones, so that no key removes those of others. */
function sweepDecided(sql: SqlStorage): void {
  const newest = sql.exec<{ number: number }>('SELECT max(number) AS number FROM session_waits').one().number;
  if (newest % sweepStep !== 0) return;
  const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM session_waits WHERE pending = 0').one();
  if (count <= maxDecidedWaits) return;
  const surplus = `number IN (SELECT number FROM (
      SELECT number, row_number() OVER (PARTITION BY key_id ORDER BY number DESC) AS place FROM session_waits WHERE pending = 0
    ) ORDER BY place DESC, number LIMIT ?)`;
  const most = count - maxDecidedWaits;
  overwrite(sql, 'session_waits', 'wait', surplus, most);
  const statement = `DELETE FROM session_waits WHERE ${surplus}`;
  sql.exec(statement, most);
}
