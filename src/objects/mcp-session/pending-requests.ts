/**
 * Requests of a session that have no response yet, as rows. Rows that exist when the object starts are of requests that were
 * interrupted with the previous one, and the client may still wait for them.
 */
import { limits } from '../../core/limits/limits.ts';

/** `callId`: set once the tool was called. */
export type PendingRequest = { message: Record<string, unknown>; stream: string; callId: string | null };

export interface PendingRequests {
  add(id: unknown, message: Record<string, unknown>): void;
  /** Stores the stream on which the response is sent. */
  setStream(id: unknown, stream: string): void;
  /** Stores the call id, before the tool is called. */
  setCallId(id: unknown, callId: string): void;
  remove(id: unknown): void;
  list(): PendingRequest[];
}

export function createPendingRequests(sql: SqlStorage): PendingRequests {
  return {
    add(id, message) {
      const text = JSON.stringify(message);
      // A request that is too long for a row is lost when the process dies.
      if (text.length > limits.maxRowCharacters) return;
      sql.exec("INSERT OR REPLACE INTO under_way (id, stream, message, call_id) VALUES (?, '', ?, NULL)", JSON.stringify(id), text);
    },
    setStream: (id, stream) => void sql.exec('UPDATE under_way SET stream = ? WHERE id = ?', stream, JSON.stringify(id)),
    setCallId: (id, callId) => void sql.exec('UPDATE under_way SET call_id = ? WHERE id = ?', callId, JSON.stringify(id)),
    remove: (id) => void sql.exec('DELETE FROM under_way WHERE id = ?', JSON.stringify(id)),
    list: () =>
      [...sql.exec<Row>('SELECT stream, message, call_id FROM under_way ORDER BY id')].map(({ stream, message, call_id: callId }) => ({
        // Written by `add`.
        message: JSON.parse(message) as Record<string, unknown>,
        ...{ stream, callId },
      })),
  };
}

type Row = { stream: string; message: string; call_id: string | null };
