/**
 * The append-only numbered log of one session. Appending is synchronous: the row is written, then readers are woken. The
 * platform's output gate delays their bytes until the row is durable. The newest events are cached in memory for readers.
 */
import { readChunks, writeChunks } from '../../storage/text-rows.ts';
import { limits } from '../../core/limits.ts';
import type { SessionEvent, SessionEventBody } from '../../core/turn/session-event.ts';
import { KB, MB } from '../../core/limits/units.ts';

/** One page of events read for a stream; bounds what a slow reader holds in memory. */
const eventPageCharacters = 256 * KB;
/** Newest events cached in memory for the readers of a running turn. */
export const eventTailCharacters = 1 * MB;

const insertEvent = 'INSERT INTO events (id, at, body) VALUES (?, ?, ?) RETURNING id';
/** One statement instead of a query of the epoch before each event. */
const insertEventOfRun = `INSERT INTO events (id, at, body) SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM turns WHERE id = ? AND epoch = ?) RETURNING id`;

type EventRow = { id: number; at: number; body: string };

export class EventLog {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  #newest: number;
  /** The newest events, contiguous, limited in characters. */
  #tail: SessionEvent[] = [];
  #tailSizes: number[] = [];
  #tailCharacters = 0;
  #waiting = new Set<() => void>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    const row = sql.exec<{ newest: number | null }>('SELECT max(id) AS newest FROM events').one();
    this.#newest = row.newest ?? 0;
  }

  get newest(): number {
    return this.#newest;
  }

  append(body: SessionEventBody): SessionEvent {
    const event = this.#append(body, insertEvent);
    if (event === null) throw new Error('the event was not stored');
    return event;
  }

  /** Appends an event of a run of a turn. Returns null, and appends nothing, if a newer run of the turn exists. */
  appendOfRun(body: SessionEventBody, { turn, epoch }: { turn: string; epoch: number }): SessionEvent | null {
    return this.#append(body, insertEventOfRun, turn, epoch);
  }

  #append(body: SessionEventBody, insert: string, ...fence: (string | number)[]): SessionEvent | null {
    const text = JSON.stringify(body);
    const event: SessionEvent = { ...body, id: this.#newest + 1, at: this.#now() };
    const isLong = text.length > limits.maxRowCharacters;
    if (this.#sql.exec(insert, event.id, event.at, isLong ? '' : text, ...fence).toArray().length === 0) return null;
    if (isLong)
      writeChunks(text, (seq, part) => this.#sql.exec('INSERT INTO event_chunks (id, seq, part) VALUES (?, ?, ?)', event.id, seq, part));
    this.#newest = event.id;
    this.#remember(event, text.length);
    this.wakeReaders();
    return event;
  }

  /** Returns the events after `after`, oldest first, at most one page. */
  read(after: number): SessionEvent[] {
    const oldest = this.#tail[0]?.id;
    if (oldest !== undefined && after >= oldest - 1)
      return this.#tail.slice(after - oldest + 1, after - oldest + 1 + limits.maxEventsPerPage);
    return [...this.#page(after)];
  }

  /** Returns a page of the events between two numbers, oldest first: the first ones, or with `fromEnd` the last ones. */
  readBetween({ after, before, limit, fromEnd }: { after: number; before: number; limit: number; fromEnd: boolean }): SessionEvent[] {
    const query = `SELECT id, at, body FROM events WHERE id > ? AND id < ? ORDER BY id ${fromEnd ? 'DESC' : 'ASC'} LIMIT ?`;
    const events = [...this.#events(this.#sql.exec<EventRow>(query, after, before, limit))];
    return fromEnd ? events.reverse() : events;
  }

  /** Yields every event after `after` up to `last`, one page at a time. */
  *readAll(after: number, last = this.#newest): Generator<SessionEvent> {
    let cursor = after;
    while (cursor < last) {
      const page = this.read(cursor);
      if (page.length === 0) return;
      for (const event of page) {
        if (event.id > last) return;
        yield event;
        cursor = event.id;
      }
    }
  }

  /** Called by a reader that shows events as they are written, each time before it waits for one. */
  noteReader(): void {
    this.#readAt = this.#now();
  }

  /** True while such a reader may be waiting. One that has left counts until it would have read again. */
  isFollowed(): boolean {
    return this.#now() - this.#readAt <= limits.heartbeatMs;
  }

  /** Calls `callback` once, at the next append. The returned function unsubscribes. */
  onChange(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /** Wakes the readers: after an append, when the turn starts to wait, and when the session is being deleted. */
  wakeReaders(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const callback of waiting) callback();
  }

  #page(after: number): Generator<SessionEvent> {
    const query = 'SELECT id, at, body FROM events WHERE id > ? ORDER BY id LIMIT ?';
    return this.#events(this.#sql.exec<EventRow>(query, after, limits.maxEventsPerPage));
  }

  /** Yields the events of these rows, until they are a page of characters. */
  *#events(rows: Iterable<EventRow>): Generator<SessionEvent> {
    let characters = 0;
    for (const { id, at, body } of rows) {
      const text = body === '' ? (readChunks(this.#sql.exec('SELECT part FROM event_chunks WHERE id = ? ORDER BY seq', id)) ?? '') : body;
      yield { ...(JSON.parse(text) as SessionEventBody), id, at };
      characters += text.length;
      if (characters >= eventPageCharacters) return;
    }
  }

  #remember(event: SessionEvent, size: number): void {
    this.#tail.push(event);
    this.#tailSizes.push(size);
    this.#tailCharacters += size;
    if (this.#tailCharacters <= eventTailCharacters) return;
    // Drops half of the cache at once, so that dropping costs one move per event instead of one per append.
    let drop = 0;
    while (drop < this.#tail.length - 1 && this.#tailCharacters > eventTailCharacters / 2) {
      this.#tailCharacters -= this.#tailSizes[drop] ?? 0;
      drop += 1;
    }
    this.#tail = this.#tail.slice(drop);
    this.#tailSizes = this.#tailSizes.slice(drop);
  }
}
