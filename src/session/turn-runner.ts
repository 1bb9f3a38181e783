/**
 * Runs a session's accepted turns, one at a time and in order, and sees to it that each ends once, whatever dies meanwhile.
 * It drives `engine/run-turn.ts`; the step function decides. A turn that waits for somebody has no run at all: what is said
 * of it comes in by `tell`, and it goes on from its log.
 */
import { crashPoint } from '../core/crash-point.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { logFormat, type SessionEventBody, type TurnEndReason, type TurnStatus } from '../core/session-event.ts';
import { applyEvent } from '../core/fold-turn.ts';
import { isWaiting, waitedFor, type TurnState } from '../core/turn-state.ts';
import { closingEvents, runTurn } from '../engine/run-turn.ts';
import type { Approvals } from './approvals.ts';
import type { ClientCalls } from './client-calls.ts';
import type { Inputs } from './inputs.ts';
import type { Notices } from './notices.ts';
import type { Timers } from './timers.ts';
import { auditUnheard, unheard, unheardBeneath } from './turn-audit.ts';
import { foldTurn, spentMs, toRun, upgradeLog, type Run } from './turn-run.ts';
import { turnScope, type TurnScopeParts } from './turn-scope.ts';
import type { TurnRow, TurnStore } from './turn-store.ts';

export type RunnerParts = TurnScopeParts & {
  turns: TurnStore;
  timers: Timers;
  approvals: Approvals;
  clientCalls: ClientCalls;
  inputs: Inputs;
  notices: Notices;
  /** Keeps the object alive until the work is done. */
  keep(work: Promise<void>): void;
};

export class TurnRunner {
  readonly #parts: RunnerParts;
  #run: Run | null = null;
  readonly #working = new Set<Promise<void>>();
  #shut = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** True while a turn runs; one that waits does not. */
  get active(): boolean {
    return this.#run !== null;
  }

  /** Starts the next turn unless one is running, or waits for somebody. */
  pump(): void {
    const { turns, timers, log, clock } = this.#tools();
    if (this.#run !== null || this.#shut) return;
    const next = turns.isWaiting() ? null : turns.nextQueued();
    if (next === null) {
      timers.clear('turn');
      return;
    }
    const run = toRun(next, turns.begun(next.id, log.newest), clock.now());
    this.#run = run;
    const { model, agent, edition } = next.plan;
    const input = turns.takeInput(next.id);
    this.#append(run, { type: 'turn-start', turn: next.id, input, model, ...(agent && { agent }), ...(edition && { edition }) });
    this.#start(run);
  }

  /** A turn that the store calls running but nobody runs: its process died. It goes on from its log, within the bounds of `core/turn.ts`. */
  recover(): void {
    const { turns } = this.#tools();
    const row = turns.open();
    if (row === null || this.#run?.turn === row.id) return;
    if (row.format > logFormat) this.#giveUp(row);
    if (row.format > logFormat || row.state === 'waiting') return;
    const run = this.#revive(row);
    // It had asked, and died before that was written down: it waits, and nothing of it was cut off.
    if (isWaiting(run.state)) {
      this.#rest(run);
      return;
    }
    for (const event of upgradeLog(run.state, row.format)) this.#append(run, event);
    turns.adopt(row.id);
    this.#append(run, { type: 'turn-resume', turn: row.id, attempt: run.state.recoveries + 1 });
    this.#start(run);
    this.#parts.deps.log.info('a turn goes on after its process died', {
      session: this.#parts.session,
      turn: row.id,
      attempt: run.state.recoveries,
    });
  }

  /** The alarm of a running turn: what it has worked so far is written down, so that no restart gives it that time again. */
  tick(): void {
    const { turns, clock } = this.#tools();
    if (this.#run !== null) turns.worked(this.#run.turn, spentMs(this.#run, clock.now()));
  }

  /** Ends the running or waiting turn at once; its results and end are in the log when this returns. */
  cancel(): string | null {
    const run = this.#run ?? this.#reviveOpen();
    if (run === null) return null;
    const waited = run !== this.#run;
    this.#stop(run, 'cancelled', 'cancelled');
    // Of one that ran, when what it left running has written its own.
    if (waited) this.#keep(auditUnheard(this.#parts, run, run.closed));
    return run.turn;
  }

  /** The same for every turn that has not ended: those in the queue end as soon as they begin. Returns how many. */
  cancelAll(): number {
    let count = 0;
    while (this.cancel() !== null) count += 1;
    return count;
  }

  /**
   * What somebody outside says of a turn that runs or waits: a decision, a result of the caller's tools, more input. `say` is
   * given the state and answers the events. The turn goes on as far as it then can. False when it has ended.
   */
  tell(turn: string, say: (state: TurnState) => readonly SessionEventBody[]): boolean {
    const { turns } = this.#tools();
    const active = this.#run?.turn === turn ? this.#run : null;
    const row = active === null ? turns.waiting() : null;
    const run = active ?? (row?.id === turn ? this.#revive(row) : null);
    if (run === null || this.#shut) return false;
    const told = say(run.state);
    const heard = told.flatMap((event) => {
      if (event.type === 'tool-result') return [unheard(run, event)];
      return event.type === 'inner-result' ? unheardBeneath(run, event) : [];
    });
    for (const event of told) this.#append(run, event);
    run.closed = run.closed.filter(({ result }) => !heard.some((other) => other.result === result));
    if (heard.length > 0) this.#keep(auditUnheard(this.#parts, run, heard));
    this.#parts.notices.heard(run);
    if (active !== null) return true;
    if (isWaiting(run.state)) this.#parts.turns.rested(turn, waitReason(run.state));
    else {
      turns.wentOn(turn);
      this.#start(run);
    }
    return true;
  }

  /** For good: the session is being deleted. What runs is cancelled, nothing is begun; resolves when its work is over. */
  async shut(): Promise<void> {
    this.#shut = true;
    this.cancel();
    await Promise.all(this.#working);
  }

  #tools() {
    return { ...this.#parts, clock: this.#parts.deps.clock };
  }

  /** A run of a turn that was begun before, as its log has it. Earlier runs of it write no more. */
  #revive(row: TurnRow): Run {
    const { turns, log, clock } = this.#tools();
    const run = toRun(row, turns.raiseEpoch(row.id), clock.now());
    foldTurn(run.state, log.readAll(row.before ?? 0));
    return run;
  }

  /** The turn that waits; in an object that is only opened to be deleted, also one whose run died. */
  #reviveOpen(): Run | null {
    const row = this.#parts.turns.open();
    return row === null ? null : this.#revive(row);
  }

  /** A newer release wrote its log: what it says is not read, so it can only be ended. */
  #giveUp(row: TurnRow): void {
    const { turns, clock } = this.#tools();
    const run = toRun(row, turns.raiseEpoch(row.id), clock.now());
    this.#append(run, { type: 'turn-end', turn: row.id, status: 'interrupted', reason: 'restarted', usage: run.state.usage });
  }

  #start(run: Run): void {
    const { timers, clock } = this.#tools();
    this.#run = run;
    timers.set('turn', clock.now() + limits.turnAlarmMs);
    this.#keep(this.#drive(run));
  }

  #keep(work: Promise<void>): void {
    this.#working.add(work);
    const done = work.finally(() => this.#working.delete(work));
    this.#parts.keep(done);
  }

  async #drive(run: Run): Promise<void> {
    const { deps, clock } = this.#tools();
    const timeoutMs = run.plan.limits.turnTimeoutMs ?? limits.turnTimeoutMs;
    const disarm = clock.after(Math.max(0, timeoutMs - run.spentBefore), () => this.#timeOut(run, timeoutMs));
    try {
      if (run.state.step === 0 && run.state.recoveries === 0) await crashPoint('ack-before-turn');
      const scope = await turnScope(this.#parts, run, (event) => this.#append(run, event));
      // What was decided while the last call of a step was being written down is done at once.
      while ((await runTurn(deps, scope, run.abort.signal)) === 'waiting' && !this.#rest(run));
    } catch (error) {
      if (!run.abort.signal.aborted) this.#fail(run, error);
    } finally {
      disarm();
      // A turn that failed may have calls that still run beside the one that broke.
      run.abort.abort(new Error('the turn has ended'));
      if (this.#run === run) this.#run = null;
      this.pump();
    }
    // When the work that may yet write its own rows is over.
    await auditUnheard(this.#parts, run, run.closed);
  }

  /** Nothing runs, nothing is in memory that would be missed: the turn waits. False when there is something to do after all. */
  #rest(run: Run): boolean {
    const { turns, timers, log, clock, notices } = this.#tools();
    if (run.sealed) return true;
    if (!isWaiting(run.state)) return false;
    turns.rested(run.turn, waitReason(run.state));
    notices.rested(run);
    turns.worked(run.turn, spentMs(run, clock.now()));
    run.sealed = true;
    if (this.#run === run) this.#run = null;
    timers.clear('turn');
    timers.settle();
    log.wakeReaders();
    return true;
  }

  /** A sealed run writes nothing: what a stopped turn's work still says has no place any more. Nor does one that was overtaken. */
  #append(run: Run, event: SessionEventBody): void {
    if (run.sealed) return;
    const { log, transcript, turns, approvals, clientCalls, inputs, journals, notices } = this.#parts;
    if (!turns.isEpoch(run.turn, run.epoch)) {
      run.sealed = true;
      run.abort.abort(new Error('a newer run of this turn has taken over'));
      return;
    }
    // One result a call, for good: the first one stands, as for whoever reads the log.
    if (event.type === 'tool-result' && run.state.calls.get(event.callId)?.answered === true) return;
    const { id } = log.append(event);
    if (event.type === 'tool-result' && !run.audited.has(event.callId)) run.closed.push(unheard(run, event));
    applyEvent(run.state, event);
    transcript.apply(event);
    clientCalls.follow(event);
    journals.follow(event);
    notices.follow(run.plan, event);
    if ([approvals.follow(event), inputs.follow(event)].includes(true)) this.setApprovalTimer();
    if (event.type !== 'turn-end') return;
    run.sealed = true;
    turns.ended(run.turn, event.status, event.reason, id);
    notices.ended(run.turn, run.plan, event.status, id);
  }

  /** Rings when the next approval, or question of a tool, expires; to be called when what is pending has changed. */
  setApprovalTimer(): void {
    const { approvals, inputs, timers } = this.#parts;
    const next = [approvals.nextExpiry(), inputs.nextExpiry()].filter((at) => at !== null);
    if (next.length === 0) timers.clear('approval');
    else timers.set('approval', Math.min(...next));
  }

  #fail(run: Run, error: unknown): void {
    // What providers and tools do wrong is told by events and results: whatever is thrown here is ours.
    const problem = error instanceof Problem ? error : new Problem('internal', 'The turn failed on our side. It can be tried again.');
    this.#parts.deps.log.error('a turn failed', {
      session: this.#parts.session,
      turn: run.turn,
      error: String(error),
      stack: error instanceof Error ? error.stack : undefined,
    });
    this.#append(run, { type: 'error', turn: run.turn, problem: problem.toBody() });
    this.#seal(run, 'failed', 'internal');
  }

  #timeOut(run: Run, timeoutMs: number): void {
    const problem = new Problem(
      'upstream_timeout',
      `The turn took longer than ${timeoutMs / 1000} s and was ended. Ask for a smaller piece of work.`,
    );
    this.#append(run, { type: 'error', turn: run.turn, problem: problem.toBody() });
    this.#stop(run, 'failed', 'timeout');
  }

  #stop(run: Run, status: TurnStatus, reason: TurnEndReason): void {
    this.#seal(run, status, reason);
    run.abort.abort(new Error(`the turn was ended: ${reason}`));
    if (this.#run === run) this.#run = null;
    this.pump();
  }

  #seal(run: Run, status: TurnStatus, reason: TurnEndReason): void {
    if (run.sealed) return;
    for (const event of closingEvents(run.state, status, reason)) this.#append(run, event);
  }
}

function waitReason(state: TurnState) {
  return waitedFor(state).some(({ asked }) => asked !== 'client') ? 'approval_required' : 'client_tool_required';
}
