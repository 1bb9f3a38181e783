/**
 * Stores the messages of a session's streams, so that a client whose stream broke can continue after the last message that it
 * received (MCP 2025-11-25, resumability). Limited in size: the oldest messages are dropped, and a client that names a dropped one gets an
 * error. Event ids increase within one session.
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { MB } from '../../core/limits/units.ts';
import { readChunks, writeChunks } from '../shared/text-rows.ts';

/** Messages of a session stored for clients that reconnect (`Last-Event-ID`). */
export const maxMcpSessionEvents = 1_000;
/** One result of the largest size fits, with what JSON adds. */
const maxMcpEventCharacters = 24 * MB;
const maxMcpSessionEventCharacters = 32 * MB;

export type McpSessionEvents = EventStore & {
  /** While true, nothing is stored: a session that is being restored repeats messages that were stored before. */
  muted: boolean;
  /** Stores a message, or an empty object at the beginning of a stream, and returns its id. */
  store(stream: string, message: object): string;
};

export function createEventStore(sql: SqlStorage): McpSessionEvents {
  /** The stored numbers in order, with their sizes. */
  const sizes = new Map<number, number>();
  let last = 0;
  let characters = 0;
  const note = (number: number, size: number): void => {
    sizes.set(number, size);
    characters += size;
    last = number;
  };
  const all = 'SELECT number, sum(length(message)) AS size FROM events GROUP BY number ORDER BY number';
  for (const { number, size } of sql.exec<{ number: number; size: number }>(all)) note(number, size);

  const add = (stream: string, message: object): string => {
    const number = last + 1;
    const text = JSON.stringify(message);
    const kept = text.length > maxMcpEventCharacters ? JSON.stringify(inPlaceOf(message as JSONRPCMessage)) : text;
    let size = 0;
    writeChunks(kept, (part, piece) => {
      // In SQLite's characters, which are code points: the total is only right if all sizes are.
      const insert = 'INSERT INTO events (number, part, stream, message) VALUES (?, ?, ?, ?) RETURNING length(message) AS size';
      size += sql.exec<{ size: number }>(insert, number, part, stream, piece).one().size;
    });
    note(number, size);
    return String(number);
  };

  /** Drops the oldest messages until both limits hold; always keeps the newest one. */
  const drop = (): void => {
    let dropped = 0;
    for (const [number, size] of sizes) {
      if (number === last || (characters <= maxMcpSessionEventCharacters && number > last - maxMcpSessionEvents)) break;
      sizes.delete(number);
      characters -= size;
      dropped = number;
    }
    if (dropped > 0) sql.exec('DELETE FROM events WHERE number <= ?', dropped);
  };

  const store: McpSessionEvents = {
    muted: false,
    store(stream, message) {
      const id = add(stream, message);
      drop();
      return id;
    },
    storeEvent: async (stream, message) => (store.muted ? '0' : store.store(stream, message)),
    getStreamIdForEventId: async (eventId) => streamOf(eventId) ?? undefined,
    async replayEventsAfter(eventId, { send }) {
      const stream = streamOf(eventId) ?? '';
      const query = 'SELECT DISTINCT number FROM events WHERE stream = ? AND number > ? ORDER BY number';
      // Read one at a time: together they can be large.
      for (const { number } of sql.exec<{ number: number }>(query, stream, Number(eventId)).toArray()) {
        const text = readChunks(sql.exec('SELECT message AS part FROM events WHERE number = ? ORDER BY events.part', number));
        const message = JSON.parse(text ?? '{}') as JSONRPCMessage;
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
  return store;
}

/** Stored instead of a message that is too long; the stream continues after it. */
function inPlaceOf(message: JSONRPCMessage): object {
  if ('method' in message || !('id' in message)) return {};
  const text = `The response was lost when the connection broke: it is longer than ${maxMcpEventCharacters} characters. The request was carried out; request less, or a part of it.`;
  return { jsonrpc: '2.0', id: message.id, error: { code: -32000, message: text, data: { code: 'outcome_unknown' } } };
}
