/** Direct calls with an idempotency key and their responses, stored for a day. */
import { limits } from '../../../core/limits/limits.ts';
import { idempotencyMismatch } from '../../../core/problem.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';
import { requireRoom } from '../turn/turn-store.ts';
import type { SessionCall } from '../../../ports/session.ts';

export class CallStore {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Returns the call of this key; `answer` is null while it has none. Throws `idempotency_mismatch` for another body under the same key. */
  find(key: string, bodyHash: string): { callId: string; answer: SessionCall | null } | null {
    const before = this.#now() - limits.idempotencyTtlMs;
    if (wasClockSettled()) {
      this.#sql.exec('DELETE FROM call_answers WHERE key IN (SELECT key FROM calls WHERE at < ?)', before);
      this.#sql.exec('DELETE FROM calls WHERE at < ?', before);
    }
    const query = 'SELECT body_hash, call_id, answer FROM calls WHERE key = ?';
    const [row] = this.#sql.exec<{ body_hash: string; call_id: string; answer: string | null }>(query, key);
    if (row === undefined) return null;
    if (row.body_hash !== bodyHash) throw idempotencyMismatch();
    const answer = row.answer === '' ? this.#longAnswer(key) : row.answer;
    return { callId: row.call_id, answer: answer === null ? null : (JSON.parse(answer) as SessionCall) };
  }

  /** Throws `conflict` when the session is full. */
  begin(key: string, bodyHash: string, callId: string): void {
    requireRoom(this.#sql);
    this.#sql.exec('INSERT INTO calls (key, body_hash, call_id, at) VALUES (?, ?, ?, ?)', key, bodyHash, callId, this.#now());
  }

  /** Assigns the key to an earlier call that had to wait and is now resumed. */
  continueAs(key: string, callId: string): void {
    this.#sql.exec('UPDATE calls SET call_id = ? WHERE key = ?', callId, key);
  }

  recordResult(key: string, answer: SessionCall): void {
    const text = JSON.stringify(answer);
    const isLong = text.length > limits.maxRowCharacters;
    this.#sql.exec('UPDATE calls SET answer = ? WHERE key = ?', isLong ? '' : text, key);
    this.#sql.exec('DELETE FROM call_answers WHERE key = ?', key);
    if (isLong)
      writeChunks(text, (seq, part) => this.#sql.exec('INSERT INTO call_answers (key, seq, part) VALUES (?, ?, ?)', key, seq, part));
  }

  #longAnswer(key: string): string | null {
    return readChunks(this.#sql.exec('SELECT part FROM call_answers WHERE key = ? ORDER BY seq', key));
  }

  remove(key: string): void {
    this.#sql.exec('DELETE FROM call_answers WHERE key = ?', key);
    this.#sql.exec('DELETE FROM calls WHERE key = ?', key);
  }
}
