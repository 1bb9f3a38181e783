/**
 * What the Catalog is to be told of this session's turns: a row in the same block as the event that it is about, so that no crash comes
 * between them; told after it, in order, at least once. Whether anybody wants to hear is known beforehand where it can be: a session of
 * which nobody wants to hear stores nothing. What is told is read from the log when it is told.
 */
import { crashPoint } from '../core/crash-point.ts';
import { limits } from '../core/limits.ts';
import type { Plan } from '../core/plan.ts';
import type { SessionEventBody, TurnStatus } from '../core/session-event.ts';
import { couldConcern } from '../core/triggers/callbacks/concerns.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/subscription.ts';
import { boundNotice, type NoticeType, type TurnNotice } from '../core/triggers/callbacks/turn-notice.ts';
import type { TriggerEvent } from '../core/triggers/callbacks/callback-settings.ts';
import { waitedFor } from '../core/turn-state.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import type { EventLog } from './event-log.ts';
import { ofTurn, openQuestions } from './pending.ts';
import type { Timers } from './timers.ts';
import { toTurnAnswer, toWaitingAnswer } from './turn-answer.ts';
import type { Run } from './turn-run.ts';
import type { TurnStore } from './turn-store.ts';

type NoticeParts = {
  sql: SqlStorage;
  session: string;
  log: EventLog;
  turns: TurnStore;
  timers: Timers;
  now(): number;
  /** Who listens in this workspace; asked often, so it is to be cached. */
  subscriptions(): Promise<readonly SubscriptionHead[]>;
  /** Something was stored: hand it over, behind whatever is being done. */
  tell(): void;
};

type Send = (notices: readonly TurnNotice[]) => Promise<void>;

type NoticeRow = { sequence: number; type: NoticeType; turn: string; event: number; at: number };

export class Notices {
  readonly #parts: NoticeParts;
  /** null: not known. */
  #listeners: readonly SubscriptionHead[] | null = null;
  #sending: Promise<void> | null = null;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** Who listens is looked up at each step, and waited for by nobody: at the turn's end it is as old as its last step. */
  follow(plan: Plan, event: SessionEventBody): void {
    if (event.type !== 'step-start' || plan.trigger !== undefined) return;
    const { subscriptions } = this.#parts;
    subscriptions().then(
      (heads) => {
        this.#listeners = heads;
      },
      () => {
        // Not known: the Catalog is told, and drops what nobody wants.
        this.#listeners = null;
      },
    );
  }

  /** In the block that ends it. `event`: its last. */
  ended(turn: string, plan: Plan, status: TurnStatus, event: number): void {
    this.#note(plan, { type: status === 'completed' ? 'turn.completed' : 'turn.failed', turn, event });
  }

  /** It waits for somebody. Told once for each time that something new is asked, and never of the caller's own tools alone. */
  rested({ turn, plan, state }: Pick<Run, 'turn' | 'plan' | 'state'>): void {
    const { log, turns } = this.#parts;
    if (!this.#isWanted(plan, 'approval.required') || waitedFor(state).every(({ asked }) => asked === 'client')) return;
    const questions = openQuestions(ofTurn(turn, log.readAll(turns.get(turn)?.before ?? 0)));
    const newest = questions.reduce((last, { type, id }) => (type === 'client-tool-required' ? last : Math.max(last, id)), 0);
    if (!turns.asks(turn, newest)) return;
    this.#note(plan, { type: 'approval.required', turn, event: log.newest });
  }

  /** Somebody has said something. Once nobody is waited for, its delivery is not to be shown as if. */
  heard({ turn, plan, state }: Pick<Run, 'turn' | 'plan' | 'state'>): void {
    const { turns, log } = this.#parts;
    if (plan.trigger !== undefined && turns.hasAsked(turn) && waitedFor(state).length === 0)
      this.#store({ type: 'turn.resumed', turn, event: log.newest });
  }

  /** The session is being deleted: turns that were never begun end here, and whoever sent them hears of it. */
  abandonQueued(): void {
    const { turns, log } = this.#parts;
    for (let next = turns.nextQueued(); next !== null; next = turns.nextQueued()) {
      turns.ended(next.id, 'cancelled', 'cancelled', log.newest);
      this.ended(next.id, next.plan, 'cancelled', log.newest);
    }
  }

  waiting(): boolean {
    return this.#parts.sql.exec('SELECT sequence FROM notices LIMIT 1').toArray().length > 0;
  }

  /** Sends all that is stored, and forgets what was taken. Answers the fault when something is left, else null. */
  async handOver(send: Send): Promise<Error | null> {
    if (!this.waiting()) return null;
    this.#sending ??= this.#sendAll(send);
    const late = (): never => {
      throw new Error('the Catalog took too long');
    };
    try {
      await withTimeLimit(this.#sending, limits.noticeWaitMs, late);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #isWanted(plan: Plan, type: TriggerEvent): boolean {
    return plan.trigger !== undefined || this.#listeners === null || couldConcern(this.#listeners, type, plan.agent);
  }

  #note(plan: Plan, notice: Pick<NoticeRow, 'turn' | 'event'> & { type: TriggerEvent }): void {
    if (this.#isWanted(plan, notice.type)) this.#store(notice);
  }

  #store({ type, turn, event }: Pick<NoticeRow, 'type' | 'turn' | 'event'>): void {
    const { sql, timers, now, tell } = this.#parts;
    sql.exec('INSERT INTO notices (type, turn, event, at) VALUES (?, ?, ?, ?)', type, turn, event, now());
    // Durable with the row: it is told although the process dies.
    timers.set('notice', now() + limits.noticeRetryMs);
    tell();
  }

  async #sendAll(send: Send): Promise<void> {
    const { sql } = this.#parts;
    try {
      for (;;) {
        // Also so that nothing below runs in the same step as the caller, which keeps what this answers.
        await crashPoint('turn-ended-before-noted');
        const query = 'SELECT sequence, type, turn, event, at FROM notices ORDER BY sequence LIMIT ?';
        const rows = sql.exec<NoticeRow>(query, limits.noticeBatchRows).toArray();
        const last = rows.at(-1);
        if (last === undefined) return;
        await send(rows.map((row) => this.#build(row)));
        // By time, too: where the answer came so late that the session was deleted and made again, its notices count from 1 again.
        sql.exec('DELETE FROM notices WHERE sequence <= ? AND at <= ?', last.sequence, last.at);
      }
    } finally {
      // In the same step as the last look: what is stored from here on is sent by another run.
      this.#sending = null;
    }
  }

  #build({ sequence, type, turn, event, at }: NoticeRow): TurnNotice {
    const { turns, log, session } = this.#parts;
    const row = turns.get(turn);
    // Rows of turns are never removed.
    if (row === null) throw new Error(`a notice is about ${turn}, which is not there`);
    const { agent, trigger } = row.plan;
    const about = { session, sequence, type, turn, at, ...(agent !== undefined && { agent }), ...(trigger !== undefined && { trigger }) };
    if (type === 'turn.resumed') return { ...about, status: 'running', reason: '', text: '', usage: { inputTokens: 0, outputTokens: 0 } };
    const events = row.before === null ? [] : ofTurn(turn, log.readAll(row.before, event));
    const answer = type === 'approval.required' ? toWaitingAnswer(turn, events) : toTurnAnswer(turn, events);
    const { text, pending, problem, usage } = answer;
    // A turn that was never begun has no events: how it ended stands in its row alone.
    const { status, reason } = row.before === null ? { status: row.status ?? 'cancelled', reason: row.reason ?? 'cancelled' } : answer;
    return boundNotice({
      ...about,
      ...{ status, reason, text },
      ...(pending !== undefined && { pending }),
      ...(problem !== undefined && { problem }),
      usage,
    });
  }
}
