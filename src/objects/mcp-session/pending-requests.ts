/**
 * Requests of a session that have no response yet, as rows. Rows that exist when the object starts are of requests that were
 * interrupted with the previous one, and the client may still wait for them.
 */
import { limits } from '../../core/limits/limits.ts';
import type { RpcId, RpcRequest } from '../../mcp/server/messages.ts';

/** `message`: as in JSON-RPC. `space`: the header `x-moniker-session`. `callId`: set once the tool was called. */
export type PendingRequest = { message: unknown; space: string | undefined; stream: string; callId: string | null };

export function createPendingRequests(sql: SqlStorage) {
  return {
    /** `stream`: on which the response is sent. */
    add({ id, method, params }: RpcRequest, { space, stream, callId }: Omit<PendingRequest, 'message'>) {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params, space });
      // A request that is too long for a row is lost when the process dies.
      if (text.length > limits.maxRowCharacters) return;
      sql.exec(
        'INSERT OR REPLACE INTO under_way (id, stream, message, call_id) VALUES (?, ?, ?, ?)',
        JSON.stringify(id),
        stream,
        text,
        callId,
      );
    },
    /** Stores the call id, before the tool is called. */
    setCallId: (id: RpcId, callId: string) => void sql.exec('UPDATE under_way SET call_id = ? WHERE id = ?', callId, JSON.stringify(id)),
    remove: (id: RpcId) => void sql.exec('DELETE FROM under_way WHERE id = ?', JSON.stringify(id)),
    list: (): PendingRequest[] =>
      [...sql.exec<Row>('SELECT stream, message, call_id FROM under_way ORDER BY id')].map(({ stream, message: text, call_id: callId }) => {
        // Written above.
        const { space, ...message } = JSON.parse(text) as { space?: string };
        return { message, space, stream, callId };
      }),
  };
}

export type PendingRequests = ReturnType<typeof createPendingRequests>;

type Row = { stream: string; message: string; call_id: string | null };
