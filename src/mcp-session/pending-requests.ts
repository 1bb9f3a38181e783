/**
 * Requests of a session that have no answer yet, as rows: what is there when the object wakes died with the one before, and somebody may
 * still wait for it.
 */
import { limits } from '../core/limits.ts';

/** `callId`: of a call whose tool had been asked already. */
export type PendingRequest = { message: Record<string, unknown>; stream: string; callId: string | null };

export interface PendingRequests {
  add(id: unknown, message: Record<string, unknown>): void;
  /** The stream that its answer is awaited on. */
  awaitedOn(id: unknown, stream: string): void;
  /** Its tool is about to be asked. */
  started(id: unknown, callId: string): void;
  remove(id: unknown): void;
  list(): PendingRequest[];
}

export function createPendingRequests(sql: SqlStorage): PendingRequests {
  return {
    add(id, message) {
      const text = JSON.stringify(message);
      // What is too long for a row is lost with its process, as all was without it.
      if (text.length > limits.maxRowCharacters) return;
      sql.exec("INSERT OR REPLACE INTO under_way (id, stream, message, call_id) VALUES (?, '', ?, NULL)", JSON.stringify(id), text);
    },
    awaitedOn: (id, stream) => void sql.exec('UPDATE under_way SET stream = ? WHERE id = ?', stream, JSON.stringify(id)),
    started: (id, callId) => void sql.exec('UPDATE under_way SET call_id = ? WHERE id = ?', callId, JSON.stringify(id)),
    remove: (id) => void sql.exec('DELETE FROM under_way WHERE id = ?', JSON.stringify(id)),
    list: () =>
      [...sql.exec<Row>('SELECT stream, message, call_id FROM under_way ORDER BY id')].map(({ stream, message, call_id: callId }) => ({
        // We wrote it.
        message: JSON.parse(message) as Record<string, unknown>,
        ...{ stream, callId },
      })),
  };
}

type Row = { stream: string; message: string; call_id: string | null };
