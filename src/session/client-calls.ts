/**
 * Calls that the caller of a turn runs itself, kept after their end: a result that is sent twice is known again, whatever
 * the turn does meanwhile. Follows the log; taking results in is `take-results.ts`.
 */
import { idsBeneath } from '../core/composite-tool.ts';
import type { SessionEventBody } from '../core/session-event.ts';

/** `closed`: its turn went on or ended without the caller. */
export type ClientCall = { callId: string; turn: string; state: 'pending' | 'answered' | 'closed'; answerHash: string | null };

export class ClientCalls {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** To be called with every event, in the block that appends it. */
  follow(event: SessionEventBody): void {
    switch (event.type) {
      case 'client-tool-required':
        this.#sql.exec(`INSERT INTO client_calls (call_id, turn, state) VALUES (?, ?, 'pending')`, event.callId, event.turn);
        return;
      case 'inner-result':
        this.#sql.exec(`UPDATE client_calls SET state = 'closed' WHERE call_id = ? AND state = 'pending'`, event.callId);
        return;
      case 'tool-result': {
        const close = `UPDATE client_calls SET state = 'closed' WHERE (call_id = ? OR (call_id >= ? AND call_id < ?)) AND state = 'pending'`;
        this.#sql.exec(close, event.callId, ...idsBeneath(event.callId));
        return;
      }
      case 'turn-end':
        this.#sql.exec(`UPDATE client_calls SET state = 'closed' WHERE turn = ? AND state = 'pending'`, event.turn);
        return;
      default:
        return;
    }
  }

  get(callId: string): ClientCall | null {
    const [row] = [
      ...this.#sql.exec<{ call_id: string; turn: string; state: ClientCall['state']; answer_hash: string | null }>(
        'SELECT call_id, turn, state, answer_hash FROM client_calls WHERE call_id = ?',
        callId,
      ),
    ];
    return row === undefined ? null : { callId: row.call_id, turn: row.turn, state: row.state, answerHash: row.answer_hash };
  }

  /** Ids of those that nobody has answered yet. */
  pending(): string[] {
    return [...this.#sql.exec<{ call_id: string }>(`SELECT call_id FROM client_calls WHERE state = 'pending'`)].map((row) => row.call_id);
  }

  /** Ids of those that a tool made, which stand in no transcript. */
  beneathOthers(): string[] {
    return [...this.#sql.exec<{ call_id: string }>(`SELECT call_id FROM client_calls WHERE call_id GLOB '*.*'`)].map((row) => row.call_id);
  }

  /** The caller has said it; `answerHash` knows the same answer again. */
  answered(callId: string, answerHash: string): void {
    this.#sql.exec(`UPDATE client_calls SET state = 'answered', answer_hash = ? WHERE call_id = ?`, answerHash, callId);
  }
}
