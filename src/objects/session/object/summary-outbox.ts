/**
 * What the Catalog's lists show of this session, and the outbox for it: a row with a revision, and the questions whose state the Catalog
 * does not have yet (`waits.indexed`). Both are written with the change itself; an update is sent afterwards, whole, so that a repeated
 * or lost one does no harm. A turn without questions is one update, at its end.
 */
import { addUsage, noUsage, type Usage } from '../../../core/model/chat-event.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import {
  titleOf,
  type OpenWork,
  type SessionStatus,
  type SessionSummary,
  type SessionUpdate,
  type SessionWait,
} from '../../../core/turn/session-summary.ts';
import type { SessionSetup } from '../../../ports/session.ts';
import { readWaits, toSessionWait } from '../pending/wait.ts';
import type { TurnStore } from '../turn/turn-store.ts';
import { Outbox, type OutboxHost } from '../../shared/outbox.ts';
import type { Timers } from './timers.ts';

/** Questions sent at a time. */
export const summaryBatchWaits = 100;

type SummaryParts = OutboxHost & {
  sql: SqlStorage;
  meta: { keyId: string; setup: Pick<SessionSetup, 'agent' | 'model' | 'toolset' | 'forCall' | 'replay'>; createdAt: number };
  turns: TurnStore;
  timers: Timers;
  send(update: SessionUpdate): Promise<void>;
};

type SummaryRow = { revision: number; sent: number; title: string | null; activeAt: number; usage: string };

/** What else an event changes. */
type Change = { activeAt?: number | null; title?: string | null; usage?: Usage };

const columns = 'revision, sent, title, active_at AS activeAt, usage';

export class SummaryOutbox {
  readonly #parts: SummaryParts;
  readonly outbox: Outbox<SessionUpdate>;
  /** When the current turn started, while the row does not say so: most turns end before a list would show their start. */
  #startedAt: number | null = null;
  /** The stored row, which only this object writes; undefined until it is read. */
  #stored: SummaryRow | null | undefined;

  constructor(parts: SummaryParts) {
    this.#parts = parts;
    this.outbox = new Outbox({
      ...parts,
      rows: {
        read: () => this.#unsent(),
        remove: (sent) => {
          for (const update of sent) this.#markSent(update);
        },
      },
      send: async (updates) => {
        for (const update of updates) await parts.send(update);
      },
      what: 'the state for the lists of the workspace',
      timer: parts.timers.of('summary'),
    });
  }

  /** Call it with every event, in the transaction that appends the event. */
  applyEvent(event: SessionEventBody): void {
    const { now } = this.#parts;
    if (event.type === 'turn-start' || event.type === 'turn-resume') this.#startedAt = now();
    if (event.type === 'turn-start' && this.summary().title === null) this.#change({ title: titleOf(event.input) });
    if (event.type === 'turn-end') this.noteChange({ activeAt: now(), usage: addUsage(this.summary().usage, event.usage) });
  }

  /** Stores the start of a turn that did not end soon. The caller flushes it. */
  noteStart(): void {
    if (this.#startedAt !== null && this.#change()) this.outbox.added();
  }

  /** Call it in the transaction in which a turn asks: it usually waits right after, which is another change. */
  noteAsked(): void {
    if (this.#change()) this.outbox.added(limits.turnAlarmMs);
  }

  /** Call it in the transaction of any other change of the status or of a question. */
  noteChange(change: Change = {}): void {
    if (this.#change(change)) this.outbox.added();
    this.outbox.send();
  }

  /** Call it in the transaction that takes over the conversation of another session. */
  noteFork(title: string | null): void {
    this.noteChange();
    this.#load(`UPDATE summary SET title = ? RETURNING ${columns}`, title);
  }

  summary(): Omit<SessionSummary, 'status'> {
    return this.#toSummary(this.#row());
  }

  #toSummary(row: SummaryRow | null): Omit<SessionSummary, 'status'> {
    const { createdAt } = this.#parts.meta;
    const activeAt = this.#startedAt ?? row?.activeAt ?? createdAt;
    if (row === null) return { revision: 0, title: null, activeAt, usage: noUsage };
    // Written only by `#change`.
    return { revision: row.revision, title: row.title, activeAt, usage: JSON.parse(row.usage) as Usage };
  }

  openWork(): OpenWork {
    const { sql, turns } = this.#parts;
    const query = `SELECT count(*) AS count FROM waits WHERE state = 'pending' AND kind <> 'client-tool'`;
    return { pendingQuestions: sql.exec<{ count: number }>(query).one().count, queuedTurns: turns.countQueued() };
  }

  /** Returns false for a session without a summary. The first title stays. */
  #change({ activeAt = this.#startedAt, title = null, usage }: Change = {}): boolean {
    const { meta } = this.#parts;
    // It is in no list, and its call cannot wait.
    if (meta.setup.forCall === true) return false;
    const statement = `INSERT INTO summary (id, revision, sent, title, active_at, usage) VALUES (1, 1, 0, ?1, coalesce(?2, ?3), coalesce(?4, ?5))
      ON CONFLICT (id) DO UPDATE SET revision = revision + 1, title = coalesce(title, ?1), active_at = coalesce(?2, active_at), usage = coalesce(?4, usage) RETURNING ${columns}`;
    this.#load(statement, title, activeAt, meta.createdAt, usage === undefined ? null : JSON.stringify(usage), JSON.stringify(noUsage));
    this.#startedAt = null;
    return true;
  }

  /** Returns the newest state with the oldest questions that the Catalog does not have; nothing if it has all. */
  #unsent(): SessionUpdate[] {
    const row = this.#row();
    if (row === null || row.revision <= row.sent) return [];
    const { session, meta } = this.#parts;
    const { agent = null, model = null, toolset = null } = meta.setup;
    const about = { id: session, keyId: meta.keyId, agent, model, toolset, createdAt: meta.createdAt };
    const summary = { ...this.#toSummary(row), status: this.#status() };
    return [{ ...about, summary, waits: this.#unindexed(), open: this.openWork(), ...(meta.setup.replay === true && this.#replay()) }];
  }

  #replay(): Pick<SessionUpdate, 'replay'> {
    const listed = this.#parts.sql.exec<{ listed: string | null }>('SELECT listed FROM replay').toArray()[0]?.listed;
    return listed == null ? {} : { replay: listed };
  }

  #markSent({ summary, waits }: SessionUpdate): void {
    this.#markIndexed(waits);
    const note = `UPDATE summary SET sent = ?1 WHERE revision >= ?1 RETURNING ${columns}`;
    if (waits.length < summaryBatchWaits) this.#load(note, summary.revision);
  }

  /** Returns questions whose state the Catalog does not have, oldest first. */
  #unindexed(): SessionWait[] {
    const { sql } = this.#parts;
    if (sql.exec('SELECT 1 FROM waits WHERE indexed = 0 LIMIT 1').toArray().length === 0) return [];
    return readWaits(sql, 'indexed = 0 ORDER BY asked_at, call_id, round LIMIT ?', summaryBatchWaits).map(toSessionWait);
  }

  /** Marks questions as known to the Catalog, unless they have changed. */
  #markIndexed(sent: readonly SessionWait[]): void {
    for (const { callId, kind, round, state, decidedAt } of sent) {
      const query = `UPDATE waits SET indexed = 1 WHERE call_id = ? AND kind = ? AND round = ? AND decided_at IS ? AND (state = 'pending') = ?`;
      this.#parts.sql.exec(query, callId, kind, round, decidedAt, state === 'pending' ? 1 : 0);
    }
  }

  #status(): SessionStatus {
    if (this.#parts.meta.setup.replay === true) {
      const isRunning = this.#parts.sql.exec(`SELECT 1 FROM replay WHERE status = 'running'`).toArray().length > 0;
      return isRunning ? 'running' : 'completed';
    }
    const row = this.#parts.turns.current();
    return row === null ? 'idle' : (row.status ?? (row.state === 'ended' ? 'interrupted' : row.state));
  }

  #row(): SummaryRow | null {
    if (this.#stored === undefined) this.#load(`SELECT ${columns} FROM summary`);
    return this.#stored ?? null;
  }

  /** Runs a statement that returns the row as it leaves it. */
  #load(statement: string, ...bindings: (string | number | null)[]): void {
    this.#stored = this.#parts.sql.exec<SummaryRow>(statement, ...bindings).toArray()[0] ?? null;
  }
}
