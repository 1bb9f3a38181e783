/**
 * Calls that the client of a turn runs itself. They are stored beyond their end, so that a repeated result is recognized at any
 * time. Follows the log; `accept-results.ts` accepts the results.
 */
import { innerIdRange } from '../../core/tools/composite-tool.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';

/** `closed`: the turn continued or ended without a result of the client. */
export type StoredClientCall = { callId: string; turn: string; state: 'pending' | 'answered' | 'closed'; answerHash: string | null };

export class ClientCalls {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Applies an event of the log. Call it with every event, in the transaction that appends the event. */
  applyEvent(event: SessionEventBody): void {
    switch (event.type) {
      case 'client-tool-required':
        this.#sql.exec(`INSERT INTO client_calls (call_id, turn, state) VALUES (?, ?, 'pending')`, event.callId, event.turn);
        return;
      case 'inner-result':
        this.#sql.exec(`UPDATE client_calls SET state = 'closed' WHERE call_id = ? AND state = 'pending'`, event.callId);
        return;
      case 'tool-result': {
        const close = `UPDATE client_calls SET state = 'closed' WHERE (call_id = ? OR (call_id >= ? AND call_id < ?)) AND state = 'pending'`;
        this.#sql.exec(close, event.callId, ...innerIdRange(event.callId));
        return;
      }
      case 'turn-end':
        this.#sql.exec(`UPDATE client_calls SET state = 'closed' WHERE turn = ? AND state = 'pending'`, event.turn);
        return;
      default:
        return;
    }
  }

  get(callId: string): StoredClientCall | null {
    const [row] = [
      ...this.#sql.exec<{ call_id: string; turn: string; state: StoredClientCall['state']; answer_hash: string | null }>(
        'SELECT call_id, turn, state, answer_hash FROM client_calls WHERE call_id = ?',
        callId,
      ),
    ];
    return row === undefined ? null : { callId: row.call_id, turn: row.turn, state: row.state, answerHash: row.answer_hash };
  }

  /** Returns the ids of the calls without a result. */
  pending(): string[] {
    return [...this.#sql.exec<{ call_id: string }>(`SELECT call_id FROM client_calls WHERE state = 'pending'`)].map((row) => row.call_id);
  }

  /** Returns the ids of the calls that a tool made. They are not in the transcript. */
  nestedIds(): string[] {
    return [...this.#sql.exec<{ call_id: string }>(`SELECT call_id FROM client_calls WHERE call_id GLOB '*.*'`)].map((row) => row.call_id);
  }

  /** Stores that the client sent a result; `answerHash` identifies a repeat of the same result. */
  markAnswered(callId: string, answerHash: string): void {
    this.#sql.exec(`UPDATE client_calls SET state = 'answered', answer_hash = ? WHERE call_id = ?`, answerHash, callId);
  }
}
