/**
 * Marks of the taint rule that belong to no session object, by name: of answers that chat clients resend (`core/policy/answer-name.ts`), and of
 * the direct calls of a key (`engine/policy/direct-marks.ts`). Marks with the same name are merged, and last until they expire.
 */
import { limits } from '../../../core/limits/limits.ts';
import { joinTaint, type Taint } from '../../../core/policy/taint.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import type { NewMarks, StoredMarks } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';

/** Answers of one key; the oldest are deleted, in steps of `answerMarksPerSweep`. */
export const maxAnswerMarks = 10_000;

type MarksRow = {
  private: string | null;
  untrusted: string | null;
  origin: string | null;
  expires_at: number;
  session: string | null;
  session_until: number;
};

export function readTaintMarks({ sql, now }: CatalogContext, names: readonly string[]): (StoredMarks | null)[] {
  const at = now();
  return names.map((name) => readMarks(sql, name, at));
}

export function addTaintMarks({ sql, now, record }: CatalogContext, { names, taint, ttlMs, answersOf, session }: NewMarks): void {
  const at = now();
  record(() => {
    const newest = answersOf === undefined ? 0 : newestAnswer(sql, answersOf);
    if (wasClockSettled()) sql.exec('DELETE FROM taint_marks WHERE expires_at <= ?', at);
    for (const name of names) {
      const before = readMarks(sql, name, at);
      const joined = before === null ? taint : joinTaint(before.taint, taint);
      writeMarks(sql, name, joined, Math.max(at + ttlMs, before?.expiresAt ?? 0), answersOf ?? null);
      if (session !== undefined) writeSession(sql, name, session, at);
    }
    if (answersOf !== undefined) sweepAnswers(sql, answersOf, newest);
  });
}

function readMarks(sql: SqlStorage, name: string, at: number): StoredMarks | null {
  const query = 'SELECT private, untrusted, origin, expires_at, session, session_until FROM taint_marks WHERE name = ? AND expires_at > ?';
  const [row] = sql.exec<MarksRow>(query, name, at).toArray();
  if (row === undefined) return null;
  const { private: seen, untrusted, origin, session } = row;
  const isKnown = session !== null && session !== severalSessions && row.session_until > at;
  const taint = { private: seen, untrusted, ...(origin !== null && { origin }) };
  return { taint, expiresAt: row.expires_at, ...(isKnown && { session }) };
}

function writeMarks(sql: SqlStorage, name: string, taint: Taint, expiresAt: number, answersOf: string | null): void {
  const statement = `INSERT INTO taint_marks (name, answers_of, private, untrusted, origin, expires_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET private = excluded.private, untrusted = excluded.untrusted, origin = excluded.origin,
      expires_at = excluded.expires_at`;
  sql.exec(statement, name, answersOf, taint.private, taint.untrusted, taint.origin ?? null, expiresAt);
}

/** In place of a session: the same answer was given in several sessions, so it identifies none of them. */
const severalSessions = '';

/** Stores where an answer was given, for as long as an unlisted session is stored after its last request. */
function writeSession(sql: SqlStorage, name: string, session: string, at: number): void {
  const statement = `UPDATE taint_marks SET session_until = ?1,
    session = CASE WHEN session IS NOT NULL AND session <> ?2 AND session_until > ?3 THEN '${severalSessions}' ELSE ?2 END WHERE name = ?4`;
  sql.exec(statement, at + limits.unlistedSessionTtlMs, session, at, name);
}

function newestAnswer(sql: SqlStorage, keyId: string): number {
  return sql.exec<{ number: number | null }>('SELECT max(number) AS number FROM taint_marks WHERE answers_of = ?', keyId).one().number ?? 0;
}

/** Deletes in steps: finding the oldest reads a row for each remaining answer. `before`: number of the newest row before this write. */
function sweepAnswers(sql: SqlStorage, keyId: string, before: number): void {
  const step = (number: number): number => Math.floor(number / limits.answerMarksPerSweep);
  if (step(newestAnswer(sql, keyId)) === step(before)) return;
  const statement = `DELETE FROM taint_marks WHERE answers_of = ?1 AND number <=
    (SELECT number FROM taint_marks WHERE answers_of = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`;
  sql.exec(statement, keyId, maxAnswerMarks);
}
