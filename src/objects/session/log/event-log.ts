/**
 * The append-only numbered log of one session. Appending is synchronous: the row is written, then readers are woken. The
 * platform's output gate delays their bytes until the row is durable. The newest events are cached in memory for readers.
 * Events that are appended together share a row, since rows written are most of what a session costs.
 */
import { readChunks, writeChunks } from '../../shared/text-rows.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { SessionEvent, SessionEventBody } from '../../../core/turn/session-event.ts';
import { KB, MB } from '../../../core/limits/units.ts';

/** One page of events read for a stream; bounds what a slow reader holds in memory. */
const eventPageCharacters = 256 * KB;
/** Newest events cached in memory for the readers of a running turn. */
export const eventTailCharacters = 1 * MB;

const insertRow = 'INSERT INTO events (id, at, body, count) VALUES (?, ?, ?, ?) RETURNING id';
/** One statement instead of a query of the epoch before each row. */
const insertRowOfRun = `INSERT INTO events (id, at, body, count) SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM turns WHERE id = ? AND epoch = ?) RETURNING id`;
/** From the row that has the event after the first binding, up to the second. */
const rowsBetween =
  'SELECT id, at, body, count FROM events WHERE id >= coalesce((SELECT max(id) FROM events WHERE id <= ? + 1), 0) AND id < ?';

/** `id`: of its first event; `body`: of one event, or the array of several. */
type EventRow = { id: number; at: number; body: string; count: number };
type Page = { after: number; before: number; limit: number; fromEnd: boolean };

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
    const [last] = sql.exec<{ newest: number }>('SELECT id + count - 1 AS newest FROM events ORDER BY id DESC LIMIT 1').toArray();
    this.#newest = last?.newest ?? 0;
  }

  get newest(): number {
    return this.#newest;
  }

  append(body: SessionEventBody): SessionEvent {
    const [event] = this.#append([body], insertRow) ?? [];
    if (event === undefined) throw new Error('the event was not stored');
    return event;
  }

  /** Appends events of a run of a turn, in one transaction. Returns null, and appends nothing, if a newer run of the turn exists. */
  appendOfRun(bodies: readonly SessionEventBody[], { turn, epoch }: { turn: string; epoch: number }): SessionEvent[] | null {
    return this.#append(bodies, insertRowOfRun, turn, epoch);
  }

  #append(bodies: readonly SessionEventBody[], insert: string, ...fence: (string | number)[]): SessionEvent[] | null {
    const at = this.#now();
    const events: SessionEvent[] = [];
    for (const texts of toRows(bodies)) {
      const id = this.#newest + 1;
      const text = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]`;
      const isLong = text.length > limits.maxRowCharacters;
      if (this.#sql.exec(insert, id, at, isLong ? '' : text, texts.length, ...fence).toArray().length === 0) return null;
      if (isLong)
        writeChunks(text, (seq, part) => this.#sql.exec('INSERT INTO event_chunks (id, seq, part) VALUES (?, ?, ?)', id, seq, part));
      for (const { length } of texts) {
        this.#newest += 1;
        // `toRows` keeps the order and leaves out none.
        const event = { ...(bodies[events.length] as SessionEventBody), id: this.#newest, at };
        events.push(event);
        this.#remember(event, length);
      }
    }
    this.wakeReaders();
    return events;
  }

  /** Returns the events after `after`, oldest first, at most one page. */
  read(after: number): SessionEvent[] {
    const oldest = this.#tail[0]?.id;
    if (oldest !== undefined && after >= oldest - 1)
      return this.#tail.slice(after - oldest + 1, after - oldest + 1 + limits.maxEventsPerPage);
    return this.readBetween({ after, before: Number.MAX_SAFE_INTEGER, limit: limits.maxEventsPerPage, fromEnd: false });
  }

  /** Returns a page of the events between two numbers, oldest first: the first ones, or with `fromEnd` the last ones. */
  readBetween({ after, before, limit, fromEnd }: Page): SessionEvent[] {
    const query = `${rowsBetween} ORDER BY id ${fromEnd ? 'DESC' : 'ASC'} LIMIT ?`;
    const events: SessionEvent[] = [];
    let characters = 0;
    // The row that has the event `after` may have no later one.
    for (const row of this.#sql.exec<EventRow>(query, after, before, limit + 1)) {
      const text = this.#textOf(row);
      const own = toEvents(row, text).filter(({ id }) => id > after && id < before);
      events.push(...(fromEnd ? own.reverse() : own));
      characters += text.length;
      if (events.length >= limit || characters >= eventPageCharacters) break;
    }
    const page = events.slice(0, limit);
    return fromEnd ? page.reverse() : page;
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

  #textOf({ id, body }: EventRow): string {
    return body === '' ? (readChunks(this.#sql.exec('SELECT part FROM event_chunks WHERE id = ? ORDER BY seq', id)) ?? '') : body;
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

/** Splits events into rows of at most a page of characters, or one event. Returns their texts. */
function toRows(bodies: readonly SessionEventBody[]): string[][] {
  const rows: string[][] = [];
  let characters = eventPageCharacters;
  for (const body of bodies) {
    const text = JSON.stringify(body);
    characters += text.length;
    if (characters > eventPageCharacters) {
      rows.push([text]);
      characters = text.length;
    } else rows.at(-1)?.push(text);
  }
  return rows;
}

function toEvents({ id, at, count }: EventRow, text: string): SessionEvent[] {
  // Written by `#append`.
  const parsed = JSON.parse(text) as SessionEventBody | SessionEventBody[];
  const bodies = count === 1 ? [parsed as SessionEventBody] : (parsed as SessionEventBody[]);
  return bodies.map((body, index) => ({ ...body, id: id + index, at }));
}
