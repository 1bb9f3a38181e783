/**
 * The questions that tools have asked a person in this session (elicitation), and the answers. The rows follow the log. Beside them
 * are stored the server's request state and the answers, which are in no event; they are deleted as soon as the call has its result.
 * `submit-input.ts` accepts answers.
 */
import { questionText, type ElicitationAnswer } from '../../core/tools/elicitation.ts';
import { innerIdRange } from '../../core/tools/composite-tool.ts';
import { limits } from '../../core/limits.ts';
import { toGiven, type GivenInput, type InputRequired } from '../../core/tools/mcp-input.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import { writeChunks } from '../log/event-log.ts';

/** `closed`: the call or turn ended without an answer. `question`: the question in one line. */
export type StoredInput = {
  callId: string;
  round: number;
  turn: string;
  canonical: string;
  question: string;
  state: 'pending' | 'given' | 'closed';
  expiresAt: number;
  answerHash: string | null;
};

export type ElicitationAnswers = Readonly<Record<string, ElicitationAnswer>>;

const columns = 'call_id AS callId, round, turn, canonical, question, state, expires_at AS expiresAt, answer_hash AS answerHash';

export class Inputs {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Applies an event of the log. Call it with every event, in the transaction that appends the event. Returns true when the pending questions changed. */
  applyEvent(event: SessionEventBody): boolean {
    switch (event.type) {
      case 'input-required': {
        const { callId, round, turn, canonical, requests, expiresAt } = event;
        this.#forgetOld();
        this.#sql.exec(
          `INSERT OR REPLACE INTO inputs (call_id, round, turn, canonical, question, state, expires_at) VALUES (?, ?, ?, ?, ?, 'pending', ?)`,
          callId,
          round,
          turn,
          canonical,
          questionText(requests),
          Date.parse(expiresAt),
        );
        return true;
      }
      case 'input-given':
        this.#sql.exec(`UPDATE inputs SET state = 'given' WHERE call_id = ? AND round = ?`, event.callId, event.round);
        return true;
      case 'tool-result':
        return [this.#close('call_id', event.callId), this.#closeBeneath(event.callId)].includes(true);
      case 'inner-result':
        return this.#close('call_id', event.callId);
      case 'turn-end':
        return this.#close('turn', event.turn);
      default:
        return false;
    }
  }

  /** Stores the question with its server's request state. Call it in the transaction that appends `input-required`. */
  addQuestion(callId: string, input: InputRequired): void {
    this.#write(callId, 'asked', input);
  }

  /** Stores the answers. Call it in the transaction that appends `input-given`. */
  addAnswers({ callId, round }: StoredInput, answers: ElicitationAnswers, hash: string): void {
    this.#sql.exec('UPDATE inputs SET answer_hash = ? WHERE call_id = ? AND round = ?', hash, callId, round);
    this.#write(callId, 'given', answers);
  }

  /** Returns the input with which the call is repeated; null when it has not asked or has no answer. */
  given(callId: string): GivenInput | null {
    const asked = this.questionOf(callId);
    const answers = this.#read<ElicitationAnswers>(callId, 'given');
    return asked === null || answers === null ? null : toGiven(asked, answers);
  }

  /** Returns the call's last question; null when it has not asked or already has its result. */
  questionOf(callId: string): InputRequired | null {
    return this.#read<InputRequired>(callId, 'asked');
  }

  /** Returns the question of this round, by default of the last one; null when it has none. */
  get(callId: string, round?: number): StoredInput | null {
    const which = round === undefined ? 'ORDER BY round DESC LIMIT 1' : 'AND round = ?';
    return (
      this.#all(`SELECT ${columns} FROM inputs WHERE call_id = ? ${which}`, callId, ...(round === undefined ? [] : [round]))[0] ?? null
    );
  }

  /** Returns all questions of one call, in order. */
  allOf(callId: string): StoredInput[] {
    return this.#all(`SELECT ${columns} FROM inputs WHERE call_id = ? ORDER BY round`, callId);
  }

  pendingCount(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM inputs WHERE state = 'pending'`).one().count;
  }

  /** Returns the pending questions that have expired. */
  expired(): StoredInput[] {
    return this.#all(`SELECT ${columns} FROM inputs WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, call_id`, this.#now());
  }

  nextExpiry(): number | null {
    return this.#sql.exec<{ at: number | null }>(`SELECT min(expires_at) AS at FROM inputs WHERE state = 'pending'`).one().at;
  }

  /** Deletes old closed questions. Their rows are stored for a while, since the history of a chat client may repeat a question. */
  #forgetOld(): void {
    this.#sql.exec(`DELETE FROM inputs WHERE state IN ('given', 'closed') AND expires_at <= ?`, this.#now() - limits.decidedApprovalTtlMs);
  }

  #close(by: 'call_id' | 'turn', id: string): boolean {
    const forget = `DELETE FROM input_parts WHERE call_id IN (SELECT call_id FROM inputs WHERE ${by} = ?)`;
    this.#sql.exec(forget, id);
    const close = `UPDATE inputs SET state = 'closed' WHERE ${by} = ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(close, id).toArray().length > 0;
  }

  #closeBeneath(callId: string): boolean {
    const ids = innerIdRange(callId);
    this.#sql.exec('DELETE FROM input_parts WHERE call_id >= ? AND call_id < ?', ...ids);
    const close = `UPDATE inputs SET state = 'closed' WHERE call_id >= ? AND call_id < ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(close, ...ids).toArray().length > 0;
  }

  #write(callId: string, kind: 'asked' | 'given', value: unknown): void {
    // A new question replaces the previous one, whose answer the server has received.
    this.#sql.exec(
      kind === 'asked' ? 'DELETE FROM input_parts WHERE call_id = ?' : `DELETE FROM input_parts WHERE call_id = ? AND kind = 'given'`,
      callId,
    );
    writeChunks(JSON.stringify(value), (seq, part) =>
      this.#sql.exec('INSERT INTO input_parts (call_id, kind, seq, part) VALUES (?, ?, ?, ?)', callId, kind, seq, part),
    );
  }

  #read<Value>(callId: string, kind: 'asked' | 'given'): Value | null {
    const query = 'SELECT part FROM input_parts WHERE call_id = ? AND kind = ? ORDER BY seq';
    const parts = this.#sql.exec<{ part: string }>(query, callId, kind).toArray();
    // `#write` wrote it.
    return parts.length === 0 ? null : (JSON.parse(parts.map(({ part }) => part).join('')) as Value);
  }

  #all(query: string, ...bindings: (string | number)[]): StoredInput[] {
    return this.#sql.exec<StoredInput>(query, ...bindings).toArray();
  }
}
