/**
 * Runs a session's accepted turns, one at a time and in order, and sees to it that each ends once. It drives
 * `engine/run-turn.ts`; the step function decides. What a dead process left behind is ended here as well.
 */
import type { AliasMap } from '../core/alias-map.ts';
import { limits } from '../core/limits.ts';
import type { Plan } from '../core/plan.ts';
import { Problem } from '../core/problem.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from '../core/session-event.ts';
import type { Transcript } from '../core/transcript.ts';
import { applyEvent, beginTurn, type TurnState } from '../core/turn.ts';
import { closingEvents, runTurn, type TurnDeps } from '../engine/run-turn.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { AuditOutbox } from './audit-outbox.ts';
import type { EventLog } from './event-log.ts';
import type { Timers } from './timers.ts';
import type { TurnRow, TurnStore } from './turn-store.ts';

export type RunnerParts = {
  deps: TurnDeps;
  log: EventLog;
  turns: TurnStore;
  timers: Timers;
  transcript: Transcript;
  files: FileSystem;
  audit: AuditOutbox;
  workspace: string;
  keyId: string;
  session: string;
  /** The names that a plan offers; null without a toolset. */
  namesFor(plan: Plan): Promise<AliasMap | null>;
  flushAudit(): Promise<void>;
  /** Keeps the object alive until the work is done. */
  keep(work: Promise<void>): void;
};

type Run = { turn: string; state: TurnState; abort: AbortController; sealed: boolean };

export class TurnRunner {
  readonly #parts: RunnerParts;
  #run: Run | null = null;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  get active(): boolean {
    return this.#run !== null;
  }

  /** Starts the next turn unless one is running. */
  pump(): void {
    if (this.#run !== null) return;
    const next = this.#parts.turns.nextQueued();
    if (next === null) {
      this.#parts.timers.clear('turn');
      return;
    }
    const run = this.#begin(next);
    this.#parts.keep(this.#drive(run, next));
  }

  /** A turn that the store calls running but nobody runs: its process died. Ends it, with a result for every open call. */
  recover(): void {
    const row = this.#parts.turns.running();
    if (row === null || this.#run?.turn === row.id) return;
    const state = beginTurn(row.id);
    for (const event of this.#parts.log.readAll(row.before ?? 0)) applyEvent(state, event);
    const run: Run = { turn: row.id, state, abort: new AbortController(), sealed: false };
    this.#seal(run, 'interrupted', 'restarted');
  }

  /** Ends the running turn at once; its results and end are in the log when this returns. */
  cancel(): string | null {
    const run = this.#run;
    if (run === null) return null;
    this.#stop(run, 'cancelled', 'cancelled');
    return run.turn;
  }

  /** Stops without writing: the session is being deleted. */
  abandon(): void {
    if (this.#run === null) return;
    this.#run.sealed = true;
    this.#run.abort.abort(new Error('the session was deleted'));
    this.#run = null;
  }

  #begin(row: TurnRow): Run {
    const { log, turns, timers, deps } = this.#parts;
    const run: Run = { turn: row.id, state: beginTurn(row.id), abort: new AbortController(), sealed: false };
    this.#run = run;
    turns.begun(row.id, log.newest);
    const { model, agent, edition } = row.plan;
    this.#append(run, {
      type: 'turn-start',
      turn: row.id,
      input: turns.takeInput(row.id),
      model,
      ...(agent && { agent }),
      ...(edition && { edition }),
    });
    timers.set('turn', deps.clock.now() + limits.turnAlarmMs);
    return run;
  }

  async #drive(run: Run, row: TurnRow): Promise<void> {
    const { deps } = this.#parts;
    const settled = new AbortController();
    const timeoutMs = row.plan.limits.turnTimeoutMs ?? limits.turnTimeoutMs;
    deps.clock.sleep(timeoutMs, settled.signal).then(
      () => this.#timeOut(run, timeoutMs),
      // Aborted below: the turn ended in time.
      () => undefined,
    );
    try {
      await runTurn(deps, await this.#scope(run, row), run.abort.signal);
    } catch (error) {
      if (!run.abort.signal.aborted) this.#fail(run, error);
    } finally {
      settled.abort(new Error('the turn has ended'));
      if (this.#run === run) this.#run = null;
      this.pump();
    }
  }

  async #scope(run: Run, row: TurnRow) {
    const { log, transcript, files, audit, workspace, keyId, session, flushAudit } = this.#parts;
    const { plan } = row;
    const names = await this.#parts.namesFor(plan);
    return {
      workspace,
      turn: run.turn,
      plan,
      names,
      state: run.state,
      messages: () => transcript.messages(),
      newest: () => log.newest,
      append: (event: SessionEventBody) => this.#append(run, event),
      beforeEnd: flushAudit,
      call: {
        keyId,
        session,
        turn: run.turn,
        names,
        edition: plan.edition ?? null,
        files,
        timeoutMs: plan.limits.toolTimeoutMs ?? limits.toolTimeoutMs,
        audit: audit.add.bind(audit),
      },
    };
  }

  /** A sealed run writes nothing: what a stopped turn's work still says has no place any more. */
  #append(run: Run, event: SessionEventBody): void {
    if (run.sealed) return;
    const { log, transcript, turns } = this.#parts;
    const { id } = log.append(event);
    applyEvent(run.state, event);
    transcript.apply(event);
    if (event.type !== 'turn-end') return;
    run.sealed = true;
    turns.ended(run.turn, event.status, event.reason, id);
  }

  #fail(run: Run, error: unknown): void {
    const problem = error instanceof Problem ? error : new Problem('internal', 'The turn failed on our side. It can be tried again.');
    this.#parts.deps.log.error('a turn failed', {
      session: this.#parts.session,
      turn: run.turn,
      error: String(error),
      stack: error instanceof Error ? error.stack : undefined,
    });
    this.#append(run, { type: 'error', turn: run.turn, problem: problem.toBody() });
    this.#seal(run, 'failed', error instanceof Problem ? 'upstream_error' : 'internal');
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
    this.#parts.keep(this.#parts.flushAudit());
  }
}
