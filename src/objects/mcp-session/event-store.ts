/**
 * Stores the messages of a session's streams, so that a client whose stream broke can continue after the last message that it
 * received (MCP 2025-11-25, resumability). Limited in size: the oldest messages are dropped, and a client that names a dropped one gets an
 * error. Event ids increase within one session.
 */
import { recordOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import { readChunks, writeChunks } from '../shared/text-rows.ts';

/** Messages of a session stored for clients that reconnect (`Last-Event-ID`). */
export const maxMcpSessionEvents = 1_000;
/** One result of the largest size fits, with what JSON adds. */
const maxMcpEventCharacters = 24 * MB;
const maxMcpSessionEventCharacters = 32 * MB;
/** Dropped together: a statement for each message would double those of a short call. */
const dropBatch = 100;

/** Stored at the beginning of a stream; it is not a message. */
export const streamStart = '{}';

export function createEventStore(sql: SqlStorage) {
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

  const add = (stream: string, message: string): string => {
    const number = last + 1;
    const kept = message.length > maxMcpEventCharacters ? inPlaceOf(message) : message;
    let size = 0;
    writeChunks(kept, (part, piece) => {
      // In SQLite's characters, which are code points: the total is only right if all sizes are.
      const insert = 'INSERT INTO events (number, part, stream, message) VALUES (?, ?, ?, ?) RETURNING length(message) AS size';
      size += sql.exec<{ size: number }>(insert, number, part, stream, piece).one().size;
    });
    note(number, size);
    return String(number);
  };

  /** Drops the oldest messages if there are too many, a batch at a time, or too long ones; always keeps the newest one. */
  const drop = (): void => {
    const kept = sizes.size > maxMcpSessionEvents ? maxMcpSessionEvents - dropBatch : maxMcpSessionEvents;
    let dropped = 0;
    for (const [number, size] of sizes) {
      if (number === last || (characters <= maxMcpSessionEventCharacters && number > last - kept)) break;
      sizes.delete(number);
      characters -= size;
      dropped = number;
    }
    if (dropped > 0) sql.exec('DELETE FROM events WHERE number <= ?', dropped);
  };

  return {
    /** Stores a message (JSON), or `streamStart`, and returns its id. */
    store(stream: string, message: string): string {
      const id = add(stream, message);
      drop();
      return id;
    },
    /** Stores a response that is all of its stream, after `streamStart`, and returns both ids. */
    storeWhole(stream: string, message: string): { start: string; id: string } {
      // One statement for both, since most responses are short.
      if (message.length > limits.maxRowCharacters) return { start: this.store(stream, streamStart), id: this.store(stream, message) };
      const insert = `INSERT INTO events (number, part, stream, message) VALUES (?1, 0, ?2, ?3), (?1 + 1, 0, ?2, ?4)
        RETURNING length(message) AS size`;
      const rows = sql.exec<{ size: number }>(insert, last + 1, stream, streamStart, message).toArray();
      const start = last + 1;
      note(start, streamStart.length);
      note(
        start + 1,
        rows.reduce((sum, { size }) => sum + size, -streamStart.length),
      );
      drop();
      return { start: String(start), id: String(start + 1) };
    },
    /** Returns the stream of an event; null: it is not stored (any more). */
    streamOf(id: string): string | null {
      if (!/^[1-9][0-9]{0,14}$/.test(id)) return null;
      return sql.exec<{ stream: string }>('SELECT stream FROM events WHERE number = ? LIMIT 1', Number(id)).toArray()[0]?.stream ?? null;
    },
    /** The messages of its stream after an event, read one at a time: together they can be large. */
    *after(id: string): Generator<{ id: string; message: string }> {
      const query = `SELECT DISTINCT number FROM events
        WHERE stream = (SELECT stream FROM events WHERE number = ?1 LIMIT 1) AND number > ?1 ORDER BY number`;
      for (const { number } of sql.exec<{ number: number }>(query, Number(id)).toArray()) {
        const message =
          readChunks(sql.exec('SELECT message AS part FROM events WHERE number = ? ORDER BY events.part', number)) ?? streamStart;
        if (message !== streamStart) yield { id: String(number), message };
      }
    },
  };
}

export type McpSessionEvents = ReturnType<typeof createEventStore>;

/** Stored instead of a message that is too long; the stream continues after it. */
function inPlaceOf(message: string): string {
  const { id, method }: Record<string, unknown> = recordOf(JSON.parse(message));
  if (method !== undefined) return streamStart;
  const text = `The response was lost when the connection broke: it is longer than ${maxMcpEventCharacters} characters. The request was carried out; request less, or a part of it.`;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: text, data: { code: 'outcome_unknown' } } });
}
