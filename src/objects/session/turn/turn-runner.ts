/**
 * Runs a session's accepted turns in order, one at a time, and ensures that each ends once, also after crashes. It drives
 * `engine/turn/run-turn.ts`; the step function decides. A waiting turn has no run: `applyExternal` applies decisions, results and input to it,
 * and it resumes from its log.
 */
import { failpoint } from '../../../core/failpoint.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { InputPart } from '../../../core/model/message.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from '../../../core/turn/session-event.ts';
import { applyEvent } from '../../../core/turn/fold-turn.ts';
import { isWaiting, type TurnState } from '../../../core/turn/turn-state.ts';
import { runTurn } from '../../../engine/turn/run-turn.ts';
import { closingEvents, problemOfTurn, turnTookTooLong } from '../../../engine/turn/turn-end.ts';
import { auditUnaudited, toUnauditedResult, toUnauditedInnerResult } from '../../../engine/turn/turn-audit.ts';
import type { WaitStore } from '../pending/wait-store.ts';
import type { Notices } from '../object/notices.ts';
import type { SummaryOutbox } from '../object/summary-outbox.ts';
import type { Timers } from '../object/timers.ts';
import type { UsageOutbox } from '../object/usage-outbox.ts';
import { countTurn, foldTurn, spentMs, toRun, turnLine, waitReason, type TurnRun } from './turn-run.ts';
import { createSessionTurnScope, type SessionTurnParts } from './session-turn-scope.ts';
import { type RunningTurns, TurnPlace } from './turn-place.ts';
import type { OpenTurnRow, TurnStore } from './turn-store.ts';

export type RunnerParts = SessionTurnParts & {
  turns: TurnStore;
  timers: Timers;
  waits: WaitStore;
  notices: Notices;
  usage: Pick<UsageOutbox, 'note'>;
  summary: Pick<SummaryOutbox, 'applyEvent' | 'noteChange'>;
  running: RunningTurns;
  /** Keeps the object alive until the work is done (`waitUntil`). */
  waitUntil(work: Promise<void>): void;
  /** Lets timers and requests of the process run (`Clock.sleep(0)`). */
  yieldToEventLoop(): Promise<void>;
};

export class TurnRunner {
  readonly #parts: RunnerParts;
  #run: TurnRun | null = null;
  readonly #place: TurnPlace;
  readonly #working = new Set<Promise<void>>();
  #shut = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#place = new TurnPlace(parts.running, parts);
  }

  /** True while a turn runs; false while it waits. */
  get active(): boolean {
    return this.#run !== null;
  }

  /** Throws `rate_limited` if a turn would start now and its key or workspace has too many in progress. Call it before `accept`. */
  requirePlace(plan: Plan): void {
    if (this.#parts.turns.isIdle()) this.#place.require(plan);
  }

  /**
   * Stores the turn and starts it, unless another one has not ended. `awaitsAnswer`: as in `SubmitTurn`, of a turn that starts now. Returns the
   * number of turns ahead of it.
   */
  accept(id: string, plan: Plan, input: InputPart[], awaitsAnswer = false): number {
    const { turns, log } = this.#parts;
    if (this.#run === null && !this.#shut && turns.isIdle()) {
      const before = log.newest;
      this.#begin({ id, plan, spentMs: 0 }, turns.acceptStarted(id, plan, before), input, { awaitsAnswer });
      return 0;
    }
    turns.accept(id, plan, input);
    const position = this.active || turns.isWaiting() ? turns.countQueued() : 0;
    this.startNext();
    return position;
  }

  /** Starts the next turn unless one is running or waiting. */
  startNext(): void {
    const { turns, timers, log } = this.#parts;
    if (this.#run !== null || this.#shut) return;
    const next = turns.isWaiting() ? null : turns.nextQueued();
    if (next === null) {
      timers.clear('turn');
      return;
    }
    const epoch = turns.markStarted(next.id, log.newest);
    this.#begin(next, epoch, turns.takeInput(next.id), { isQueued: true });
  }

  #begin(
    row: Pick<OpenTurnRow, 'id' | 'plan' | 'spentMs'>,
    epoch: number,
    input: InputPart[],
    { awaitsAnswer = false, isQueued = false }: { awaitsAnswer?: boolean; isQueued?: boolean },
  ): void {
    const run = { ...toRun(row, epoch, this.#parts.deps.clock.now()), awaitsAnswer };
    this.#run = run;
    const { model, agent, edition } = row.plan;
    this.#append(run, { type: 'turn-start', turn: row.id, input, model, ...(agent && { agent }), ...(edition && { edition }) });
    this.#start(run, isQueued);
  }

  /** Resumes a turn that is stored as running but has no run, because its process died, within the limits of `core/turn/turn.ts`. */
  recover(): void {
    const { turns } = this.#tools();
    const row = turns.open();
    if (row === null || this.#run?.turn === row.id) return;
    if (row.state === 'waiting') return;
    const run = this.#restoreRun(row);
    // It had asked, and the process died before the wait was stored: the turn waits, and nothing was interrupted.
    if (isWaiting(run.state)) {
      this.#startWaiting(run);
      return;
    }
    this.#append(run, { type: 'turn-resume', turn: row.id, attempt: run.state.recoveries + 1 });
    this.#start(run);
    this.#parts.deps.log.info('a turn resumes after its process died', {
      session: this.#parts.session,
      turn: row.id,
      attempt: run.state.recoveries,
    });
  }

  /** Stores the time that the running turn has worked, so that a restart does not reset its time limit. Called by the alarm. */
  recordTimeSpent(): void {
    const { turns, clock } = this.#tools();
    this.#place.renew();
    if (this.#run !== null) turns.recordTimeSpent(this.#run.turn, spentMs(this.#run, clock.now()));
  }

  /** Ends the running or waiting turn at once and returns its id; null without one. Its results and end are in the log when this returns. */
  cancel(): string | null {
    const run = this.#run ?? this.#restoreOpenRun();
    if (run === null) return null;
    const wasWaiting = run !== this.#run;
    this.#stop(run, 'cancelled', 'cancelled');
    // The results of a turn that ran are audited when its run has ended (`#drive`).
    if (wasWaiting) this.#track(auditUnaudited(this.#parts, run, run.unaudited));
    return run.turn;
  }

  /** Cancels every turn that has not ended; queued turns end as soon as they start. Returns how many. */
  cancelAll(): number {
    let count = 0;
    while (this.cancel() !== null) count += 1;
    return count;
  }

  /**
   * Applies external events to a running or waiting turn: a decision, a result of the client's tools, more input. `eventsFor` receives the
   * state and returns the events. The turn then continues as far as it can. Returns false when the turn has ended.
   */
  applyExternal(turn: string, eventsFor: (state: TurnState) => readonly SessionEventBody[]): boolean {
    const { turns } = this.#tools();
    const active = this.#run?.turn === turn ? this.#run : null;
    const row = active === null ? turns.waiting() : null;
    const run = active ?? (row?.id === turn ? this.#restoreRun(row) : null);
    if (run === null || this.#shut) return false;
    const events = eventsFor(run.state);
    const unaudited = events.flatMap((event) => {
      if (event.type === 'tool-result') return [toUnauditedResult(run, event)];
      return event.type === 'inner-result' ? toUnauditedInnerResult(run, event) : [];
    });
    this.#append(run, ...events);
    run.unaudited = run.unaudited.filter(({ result }) => !unaudited.some((other) => other.result === result));
    if (unaudited.length > 0) this.#track(auditUnaudited(this.#parts, run, unaudited));
    this.#parts.notices.noteResumed(run);
    if (active !== null) return true;
    if (isWaiting(run.state)) this.#parts.turns.markWaiting(turn, waitReason(run.state));
    else {
      turns.markRunning(turn);
      this.#start(run);
    }
    return true;
  }

  /** Stops permanently, because the session is being deleted: cancels what runs, starts nothing, and resolves when the work has ended. */
  async stop(): Promise<void> {
    this.#shut = true;
    this.cancel();
    await Promise.all(this.#working);
  }

  #tools() {
    return { ...this.#parts, clock: this.#parts.deps.clock };
  }

  /** Creates a new run of a started turn from its log. Earlier runs can no longer write. */
  #restoreRun(row: OpenTurnRow): TurnRun {
    const { turns, log, clock } = this.#tools();
    const run = toRun(row, turns.raiseEpoch(row.id), clock.now());
    foldTurn(run.state, log.readAll(row.before ?? 0));
    return run;
  }

  /** Creates a run of the waiting turn; in an object that is only opened to be deleted, also of a turn whose run died. */
  #restoreOpenRun(): TurnRun | null {
    const row = this.#parts.turns.open();
    return row === null ? null : this.#restoreRun(row);
  }

  #start(run: TurnRun, isQueued = false): void {
    const { timers, clock } = this.#tools();
    this.#run = run;
    this.#place.enter();
    countTurn(this.#parts, run, 'runs');
    timers.set('turn', clock.now() + limits.turnAlarmMs);
    this.#track(this.#drive(run, isQueued));
  }

  #track(work: Promise<void>): void {
    this.#working.add(work);
    const done = work.finally(() => this.#working.delete(work));
    this.#parts.waitUntil(done);
  }

  async #drive(run: TurnRun, isQueued: boolean): Promise<void> {
    const { deps, clock } = this.#tools();
    const timeoutMs = run.plan.limits.turnTimeoutMs ?? limits.turnTimeoutMs;
    const disarm = clock.after(Math.max(0, timeoutMs - run.earlierMs), () => this.#timeOut(run, timeoutMs));
    try {
      // On one machine all objects share a thread, which handles timers and network traffic only when nothing else is left to do: a long
      // queue of turns that send no requests would delay them until its end.
      if (isQueued) await this.#parts.yieldToEventLoop();
      if (run.state.step === 0 && run.state.recoveries === 0) await failpoint('ack-before-turn');
      const scope = await createSessionTurnScope(this.#parts, run, (...events) => this.#append(run, ...events));
      // Repeats when a decision came in while the last call of a step was being stored.
      while ((await runTurn(deps, scope, run.abort.signal)) === 'waiting' && !this.#startWaiting(run));
    } catch (error) {
      if (!run.abort.signal.aborted) this.#fail(run, error);
    } finally {
      disarm();
      // After a failure other calls of the turn may still be running.
      run.abort.abort(new Error('the turn has ended'));
      this.#rest(run);
      this.startNext();
    }
    // Audited only now, when all work that may write its own rows has ended.
    await auditUnaudited(this.#parts, run, run.unaudited);
  }

  /** Stores that the turn waits and drops its run. Returns false when there is something to do after all. */
  #startWaiting(run: TurnRun): boolean {
    const { turns, timers, log, clock, notices } = this.#tools();
    if (run.sealed) return true;
    if (!isWaiting(run.state)) return false;
    turns.markWaiting(run.turn, waitReason(run.state));
    notices.noteWaiting(run);
    countTurn(this.#parts, run, 'rests');
    this.#noteUsage(run.turn);
    this.#parts.summary.noteChange();
    turns.recordTimeSpent(run.turn, spentMs(run, clock.now()));
    run.sealed = true;
    this.#rest(run);
    timers.clear('turn');
    log.wakeReaders();
    return true;
  }

  /** Appends events. A sealed run, whose turn has ended, and a run that was replaced by a newer one write nothing. */
  #append(run: TurnRun, ...given: readonly SessionEventBody[]): void {
    if (run.sealed) return;
    // A call has one result: the first one counts, as it does for readers of the log.
    const answered = new Set<string>();
    const events = given.filter((event) => {
      if (event.type !== 'tool-result') return true;
      const isFirst = run.state.calls.get(event.callId)?.answered !== true && !answered.has(event.callId);
      answered.add(event.callId);
      return isFirst;
    });
    if (events.length === 0) return;
    const appended = this.#parts.log.appendOfRun(events, run);
    if (appended === null) {
      run.sealed = true;
      run.abort.abort(new Error('a newer run of this turn has taken over'));
      return;
    }
    for (const [index, { id }] of appended.entries()) {
      const event = events[index];
      if (event !== undefined) this.#apply(run, event, id);
    }
  }

  /** Updates with an event what follows the log, in the transaction that appends the event. `id`: its number. */
  #apply(run: TurnRun, event: SessionEventBody, id: number): void {
    const { transcript, turns, waits, journals, notices, summary } = this.#parts;
    if (event.type === 'tool-result' && !run.audited.has(event.callId)) run.unaudited.push(toUnauditedResult(run, event));
    applyEvent(run.state, event);
    transcript.apply(event);
    journals.applyEvent(event);
    notices.refreshListeners(run.plan, event);
    if (waits.applyEvent(event)) this.setExpiryTimer();
    summary.applyEvent(event);
    if (event.type !== 'turn-end') return;
    run.sealed = true;
    turns.markEnded(run.turn, event.status, event.reason, id, run.plan);
    notices.noteEnd(run.turn, run.plan, event.status, id);
    countTurn(this.#parts, run, 'rests');
    this.#noteUsage(run.turn);
    this.#parts.deps.log.info('turn ended', turnLine(this.#parts, run, event));
  }

  #noteUsage(turn: string): void {
    const { usage, log } = this.#parts;
    usage.note(turn, log.newest);
  }

  /** Sets the timer to the next expiry of an approval or a question of a tool. Call it when the pending questions have changed. */
  setExpiryTimer(): void {
    const { waits, timers } = this.#parts;
    const next = waits.nextExpiry();
    if (next === null) timers.clear('approval');
    else timers.set('approval', next);
  }

  #fail(run: TurnRun, error: unknown): void {
    this.#parts.deps.log.error('a turn failed', {
      session: this.#parts.session,
      turn: run.turn,
      error: String(error),
      stack: error instanceof Error ? error.stack : undefined,
    });
    this.#append(run, { type: 'error', turn: run.turn, problem: problemOfTurn(error).toBody() });
    this.#seal(run, 'failed', 'internal');
  }

  #timeOut(run: TurnRun, timeoutMs: number): void {
    this.#append(run, { type: 'error', turn: run.turn, problem: turnTookTooLong(timeoutMs, run.state, run.plan.model).toBody() });
    this.#stop(run, 'failed', 'timeout');
  }

  #stop(run: TurnRun, status: TurnStatus, reason: TurnEndReason): void {
    this.#seal(run, status, reason);
    run.abort.abort(new Error(`the turn was ended: ${reason}`));
    this.#rest(run);
    this.startNext();
  }

  /** The run has ended or waits. */
  #rest(run: TurnRun): void {
    if (this.#run !== run) return;
    this.#run = null;
    this.#place.leave();
  }

  #seal(run: TurnRun, status: TurnStatus, reason: TurnEndReason): void {
    if (run.sealed) return;
    this.#append(run, ...closingEvents(run.state, status, reason));
  }
}
