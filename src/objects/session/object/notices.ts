/**
 * The outbox for notices about this session's turns to the Catalog. A notice is a row in the transaction of the event that it is
 * about, and is sent afterwards, in order, at least once; its content is read from the log when it is sent. A session without
 * subscribers stores no notices, as far as it knows them.
 */
import { noUsage } from '../../../core/model/chat-event.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { SessionEventBody, TurnStatus } from '../../../core/turn/session-event.ts';
import { truncateNotice, type NoticeType, type TurnNotice } from '../../../core/triggers/callbacks/turn-notice.ts';
import { matchesSubscription, type SubscriptionHead, type TurnEvent } from '../../../core/triggers/callbacks/callback.ts';
import { pendingQuestions } from '../../../core/turn/turn-state.ts';
import { Outbox, type OutboxHost, tableRows } from '../../shared/outbox.ts';
import type { EventLog } from '../log/event-log.ts';
import { eventsOfTurn, openQuestionEvents } from '../pending/pending.ts';
import type { Timers } from './timers.ts';
import { toTurnAnswer, toWaitingAnswer } from '../turn/turn-answer.ts';
import type { TurnRun } from '../turn/turn-run.ts';
import type { TurnStore } from '../turn/turn-store.ts';

/** Notices sent at a time: each is at most as large as the body of a callback, and an RPC carries 32 MB. */
export const noticeBatchRows = 10;

type NoticeParts = OutboxHost & {
  sql: SqlStorage;
  events: EventLog;
  turns: TurnStore;
  timers: Timers;
  /** Returns the subscriptions of the workspace. Called often, so it should be cached. */
  subscriptions(): Promise<readonly SubscriptionHead[]>;
  send(notices: readonly TurnNotice[]): Promise<void>;
};

const statements = {
  next: 'SELECT sequence, type, turn, event, at FROM notices ORDER BY sequence LIMIT ?',
  remove: 'DELETE FROM notices WHERE sequence = ? AND at = ?',
};

type NoticeRow = { sequence: number; type: NoticeType; turn: string; event: number; at: number };

export class Notices {
  readonly #parts: NoticeParts;
  /** null when unknown. */
  #listeners: readonly SubscriptionHead[] | null = null;
  readonly outbox: Outbox<NoticeRow>;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
    this.outbox = new Outbox({
      ...parts,
      // If the session was deleted and created again while sending, its notices count from 1 again.
      rows: tableRows<NoticeRow>(parts.sql, { ...statements, changes: 'at', batch: noticeBatchRows }),
      send: async (rows) => {
        await failpoint('turn-ended-before-noted');
        await parts.send(rows.map((row) => this.#build(row)));
      },
      what: 'notices about turns',
      timer: parts.timers.of('notice'),
    });
  }

  /** Refreshes the subscribers at each step, in the background: at the end of a turn they are as old as its last step. */
  refreshListeners(plan: Plan, event: SessionEventBody): void {
    if (event.type !== 'step-start' || plan.trigger !== undefined) return;
    const { subscriptions } = this.#parts;
    subscriptions().then(
      (heads) => {
        this.#listeners = heads;
      },
      () => {
        // Unknown: the Catalog is notified and drops what no subscription matches.
        this.#listeners = null;
      },
    );
  }

  /** Notes the end of a turn, in the transaction that ends it. `event`: its last event. */
  noteEnd(turn: string, plan: Plan, status: TurnStatus, event: number): void {
    this.#note(plan, { type: status === 'completed' ? 'turn.completed' : 'turn.failed', turn, event });
  }

  /** Notes that the turn waits: once for each new question, and not when only tools of the client are pending. */
  noteWaiting({ turn, plan, state }: Pick<TurnRun, 'turn' | 'plan' | 'state'>): void {
    const { events: log, turns } = this.#parts;
    if (!this.#isWanted(plan, 'approval.required') || pendingQuestions(state).every(({ asked }) => asked === 'client')) return;
    const questions = openQuestionEvents(turn, log.readAll(turns.get(turn)?.before ?? 0));
    const newest = questions.reduce((last, { type, id }) => (type === 'client-tool-required' ? last : Math.max(last, id)), 0);
    if (!turns.claimNotice(turn, newest)) return;
    this.#note(plan, { type: 'approval.required', turn, event: log.newest });
  }

  /** Notes that the turn has resumed, once nothing is pending, so that its delivery is no longer shown as waiting. */
  noteResumed({ turn, plan, state }: Pick<TurnRun, 'turn' | 'plan' | 'state'>): void {
    const { turns, events: log } = this.#parts;
    if (plan.trigger !== undefined && turns.hasWaitedNotice(turn) && pendingQuestions(state).length === 0)
      this.#store({ type: 'turn.resumed', turn, event: log.newest });
  }

  /** Ends the queued turns of a session that is being deleted, with a notice for each. */
  abandonQueued(): void {
    const { turns, events: log } = this.#parts;
    for (let next = turns.nextQueued(); next !== null; next = turns.nextQueued()) {
      turns.markEnded(next.id, 'cancelled', 'cancelled', log.newest);
      this.noteEnd(next.id, next.plan, 'cancelled', log.newest);
    }
  }

  #isWanted(plan: Plan, type: TurnEvent): boolean {
    return (
      plan.trigger !== undefined || this.#listeners === null || this.#listeners.some((head) => matchesSubscription(head, type, plan.agent))
    );
  }

  #note(plan: Plan, notice: Pick<NoticeRow, 'turn' | 'event'> & { type: TurnEvent }): void {
    if (this.#isWanted(plan, notice.type)) this.#store(notice);
  }

  #store({ type, turn, event }: Pick<NoticeRow, 'type' | 'turn' | 'event'>): void {
    const { sql, now } = this.#parts;
    sql.exec('INSERT INTO notices (type, turn, event, at) VALUES (?, ?, ?, ?)', type, turn, event, now());
    this.outbox.added();
    this.outbox.send();
  }

  #build({ sequence, type, turn, event, at }: NoticeRow): TurnNotice {
    const { turns, events: log, session } = this.#parts;
    const row = turns.get(turn);
    // Turn rows are never deleted.
    if (row === null) throw new Error(`a notice names the unknown turn ${turn}`);
    const { agent, trigger } = row.plan;
    const about = { session, sequence, type, turn, at, ...(agent !== undefined && { agent }), ...(trigger !== undefined && { trigger }) };
    if (type === 'turn.resumed') return { ...about, status: 'running', reason: '', text: '', usage: noUsage };
    const events = row.before === null ? [] : eventsOfTurn(turn, log.readAll(row.before, event));
    const answer = type === 'approval.required' ? toWaitingAnswer(turn, events) : toTurnAnswer(turn, events);
    const { text, pending, problem, usage } = answer;
    // A turn that never started has no events; its row says how it ended.
    const { status, reason } = row.before === null ? { status: row.status ?? 'cancelled', reason: row.reason ?? 'cancelled' } : answer;
    return truncateNotice({
      ...about,
      ...{ status, reason, text },
      ...(pending !== undefined && { pending }),
      ...(problem !== undefined && { problem }),
      usage,
    });
  }
}
