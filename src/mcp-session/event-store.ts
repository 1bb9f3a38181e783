/**
 * Messages of a session's streams, kept so that a client whose stream broke can go on after the last it has seen (MCP 2025-11-25, resumability).
 * Bounded: the oldest go, and who comes back later than that has lost them. Ids tell the order, and mean nothing in another session.
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { limits } from '../core/limits.ts';

export type SessionEvents = EventStore & {
  /** What is said while the session is being put together again was said before. */
  muted: boolean;
};

export function createEventStore(sql: SqlStorage): SessionEvents {
  let last = sql.exec<{ last: number | null }>('SELECT max(number) AS last FROM events').one().last ?? 0;
  let characters = sql.exec<{ total: number | null }>('SELECT sum(length(message)) AS total FROM events').one().total ?? 0;
  const store: SessionEvents = {
    muted: false,
    async storeEvent(stream, message) {
      if (store.muted) return '0';
      last += 1;
      const text = JSON.stringify(message);
      const kept = text.length > limits.maxMcpSessionEventCharacters ? tooLong : text;
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
      const rows = sql.exec<Row>(
        'SELECT number, message FROM events WHERE stream = ? AND number > ? ORDER BY number, part',
        stream,
        Number(eventId),
      );
      for (const [number, text] of joined([...rows])) {
        const message = JSON.parse(text) as JSONRPCMessage;
        // What only marks a stream's beginning is no message.
        if (Object.keys(message).length > 0) await send(String(number), message);
      }
      return stream;
    },
  };

  const streamOf = (eventId: string): string | null => {
    if (!/^[1-9][0-9]{0,14}$/.test(eventId)) return null;
    return sql.exec<{ stream: string }>('SELECT stream FROM events WHERE number = ? LIMIT 1', Number(eventId)).toArray()[0]?.stream ?? null;
  };

  /** The oldest, until both bounds hold; the newest stays. */
  const drop = (): void => {
    const beforeNumber = last - limits.maxMcpSessionEvents;
    while (characters > limits.maxMcpSessionEventCharacters || oldest() <= beforeNumber) {
      const number = oldest();
      if (number >= last) return;
      characters -= sql.exec<{ size: number }>('SELECT sum(length(message)) AS size FROM events WHERE number = ?', number).one().size;
      sql.exec('DELETE FROM events WHERE number = ?', number);
    }
  };
  const oldest = (): number => sql.exec<{ first: number | null }>('SELECT min(number) AS first FROM events').one().first ?? last;
  return store;
}

type Row = { number: number; message: string };

function joined(rows: readonly Row[]): Map<number, string> {
  const parts = new Map<number, string[]>();
  for (const { number, message } of rows) {
    const list = parts.get(number) ?? [];
    parts.set(number, list);
    list.push(message);
  }
  return new Map([...parts].map(([number, list]) => [number, list.join('')]));
}

/** Told of a message that is not kept; the stream goes on behind it. */
const tooLong = '{}';
