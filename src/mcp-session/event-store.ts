/**
 * Stores the messages of a session's streams, so that a client whose stream broke can continue after the last message that it
 * received (MCP 2025-11-25, resumability). Limited in size: the oldest messages are dropped. Event ids increase within one session.
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { limits } from '../core/limits.ts';
import { MB } from '../core/limits/units.ts';

/** Messages of a session stored for clients that reconnect (`Last-Event-ID`). */
export const maxMcpSessionEvents = 1_000;
const maxMcpSessionEventCharacters = 4 * MB;

export type McpSessionEvents = EventStore & {
  /** While true, nothing is stored: a session that is being restored repeats messages that were stored before. */
  muted: boolean;
};

export function createEventStore(sql: SqlStorage): McpSessionEvents {
  let last = sql.exec<{ last: number | null }>('SELECT max(number) AS last FROM events').one().last ?? 0;
  let characters = sql.exec<{ total: number | null }>('SELECT sum(length(message)) AS total FROM events').one().total ?? 0;
  const store: McpSessionEvents = {
    muted: false,
    async storeEvent(stream, message) {
      if (store.muted) return '0';
      last += 1;
      const text = JSON.stringify(message);
      const kept = text.length > maxMcpSessionEventCharacters ? tooLong : text;
      for (let start = 0; start < kept.length; start += limits.maxRowCharacters) {
        const piece = kept.slice(start, start + limits.maxRowCharacters);
        sql.exec('INSERT INTO events (number, part, stream, message) VALUES (?, ?, ?, ?)', last, start, stream, piece);
      }
      characters += kept.length;
      drop();
      return String(last);
    },
    getStreamIdForEventId: async (eventId) => streamOf(eventId) ?? undefined,
    async replayEventsAfter(eventId, { send }) {
      const stream = streamOf(eventId) ?? '';
      const query = 'SELECT number, message FROM events WHERE stream = ? AND number > ? ORDER BY number, part';
      const rows = sql.exec<{ number: number; message: string }>(query, stream, Number(eventId)).toArray();
      for (const [number, parts] of Map.groupBy(rows, (row) => row.number)) {
        const message = JSON.parse(parts.map((part) => part.message).join('')) as JSONRPCMessage;
        // An empty object marks the beginning of a stream and is not a message.
        if (Object.keys(message).length > 0) await send(String(number), message);
      }
      return stream;
    },
  };

  const streamOf = (eventId: string): string | null => {
    if (!/^[1-9][0-9]{0,14}$/.test(eventId)) return null;
    return sql.exec<{ stream: string }>('SELECT stream FROM events WHERE number = ? LIMIT 1', Number(eventId)).toArray()[0]?.stream ?? null;
  };

  /** Drops the oldest messages until both limits hold; always keeps the newest one. */
  const drop = (): void => {
    const beforeNumber = last - maxMcpSessionEvents;
    while (characters > maxMcpSessionEventCharacters || oldest() <= beforeNumber) {
      const number = oldest();
      if (number >= last) return;
      characters -= sql.exec<{ size: number }>('SELECT sum(length(message)) AS size FROM events WHERE number = ?', number).one().size;
      sql.exec('DELETE FROM events WHERE number = ?', number);
    }
  };
  const oldest = (): number => sql.exec<{ first: number | null }>('SELECT min(number) AS first FROM events').one().first ?? last;
  return store;
}

/** Stored in place of a message that is too long; the stream continues after it. */
const tooLong = '{}';
