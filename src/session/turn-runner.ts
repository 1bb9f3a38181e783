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
import { auditCall, type CallScope } from '../engine/call-tool.ts';
import { closingEvents, runTurn, type TurnDeps } from '../engine/run-turn.ts';
import type { FileSystem } from '../ports/file-system.ts';
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
  workspace: string;
  keyId: string;
  session: string;
  /** The names that a plan offers; null without a toolset. */
  namesFor(plan: Plan): Promise<AliasMap | null>;
  rules(): Promise<CallScope['rules']>;
  audit: CallScope['audit'];
  flushAudit(): Promise<unknown>;
  /** Keeps the object alive until the work is done. */
  keep(work: Promise<void>): void;
};

type ResultEvent = Extract<SessionEventBody, { type: 'tool-result' }>;

type Run = {
  turn: string;
  plan: Plan;
  state: TurnState;
  abort: AbortController;
  sealed: boolean;
  /** Ids of the calls whose audit rows are written. */
  audited: Set<string>;
  /** Results that did not come through the door to the tools: they closed calls that the turn's end cut off. */
  closed: { result: ResultEvent; arguments: Record<string, unknown> | null }[];
};

export class TurnRunner {
  readonly #parts: RunnerParts;
  #run: Run | null = null;
  #driving: Promise<void> = Promise.resolve();
  #shut = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  get active(): boolean {
    return this.#run !== null;
  }

  /** Starts the next turn unless one is running. */
  pump(): void {
    if (this.#run !== null || this.#shut) return;
    const next = this.#parts.turns.nextQueued();
    if (next === null) {
      this.#parts.timers.clear('turn');
      return;
    }
    this.#driving = this.#drive(this.#begin(next));
    this.#parts.keep(this.#driving);
  }

  /** A turn that the store calls running but nobody runs: its process died. Ends it, with a result for every open call. */
  recover(): void {
    const row = this.#parts.turns.running();
    if (row === null || this.#run?.turn === row.id) return;
    const run = toRun(row);
    for (const event of this.#parts.log.readAll(row.before ?? 0)) applyEvent(run.state, event);
    this.#seal(run, 'interrupted', 'restarted');
    this.#parts.keep(this.#auditClosed(run));
  }

  /** Ends the running turn at once; its results and end are in the log when this returns. */
  cancel(): string | null {
    const run = this.#run;
    if (run === null) return null;
    this.#stop(run, 'cancelled', 'cancelled');
    return run.turn;
  }

  /** For good: the session is being deleted. What runs is cancelled, nothing is begun; resolves when its work is over. */
  async shut(): Promise<void> {
    this.#shut = true;
    this.cancel();
    await this.#driving;
  }

  #begin(row: TurnRow): Run {
    const { log, turns, timers, deps } = this.#parts;
    const run = toRun(row);
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

  async #drive(run: Run): Promise<void> {
    const { deps } = this.#parts;
    const timeoutMs = run.plan.limits.turnTimeoutMs ?? limits.turnTimeoutMs;
    const disarm = deps.clock.after(timeoutMs, () => this.#timeOut(run, timeoutMs));
    try {
      await runTurn(deps, await this.#scope(run), run.abort.signal);
    } catch (error) {
      if (!run.abort.signal.aborted) this.#fail(run, error);
    } finally {
      disarm();
      // A turn that failed may have calls that still run beside the one that broke.
      run.abort.abort(new Error('the turn has ended'));
      if (this.#run === run) this.#run = null;
      this.pump();
    }
    await this.#auditClosed(run);
  }

  /**
   * Calls that never came to the door (cut in mid-stream, not begun when the turn was cancelled, left by a dead process)
   * have results as well, so they have rows and lines like all others. Written when the work that may yet write its own is over.
   */
  async #auditClosed(run: Run): Promise<void> {
    const { deps, session, flushAudit } = this.#parts;
    const unheard = run.closed.filter(({ result }) => !run.audited.has(result.callId));
    try {
      for (const { result, arguments: args } of unheard) {
        const { callId, name: requested, canonical, via } = result;
        // Unknown is taken for the worse: it may have run.
        const answer = { requested, canonical, via, ran: result.code === 'outcome_unknown', result, durationMs: 0 };
        await auditCall(deps, this.#auditScope(run), { callId, requested, arguments: args }, answer);
      }
      await flushAudit();
    } catch (error) {
      deps.log.error('calls were not audited', { session, turn: run.turn, error: String(error) });
    }
  }

  #auditScope(run: Run) {
    const { keyId, session, audit } = this.#parts;
    const noted: CallScope['audit'] = async (row) => {
      await audit(row);
      run.audited.add(row.callId);
    };
    return { keyId, session, turn: run.turn, edition: run.plan.edition ?? null, audit: noted };
  }

  async #scope(run: Run) {
    const { log, transcript, files, workspace, flushAudit } = this.#parts;
    const { plan } = run;
    const names = await this.#parts.namesFor(plan);
    return {
      workspace,
      turn: run.turn,
      plan,
      names: () => names,
      state: run.state,
      messages: () => transcript.messages(),
      newest: () => log.newest,
      append: (event: SessionEventBody) => this.#append(run, event),
      beforeEnd: async () => void (await flushAudit()),
      call: {
        ...this.#auditScope(run),
        names: () => names,
        rules: await this.#parts.rules(),
        canWait: true,
        results: null,
        started: (callId: string, attempt: number) =>
          this.#append(run, { type: 'tool-start', turn: run.turn, step: run.state.step, callId, attempt }),
        files,
        timeoutMs: plan.limits.toolTimeoutMs ?? limits.toolTimeoutMs,
      },
    };
  }

  /** A sealed run writes nothing: what a stopped turn's work still says has no place any more. */
  #append(run: Run, event: SessionEventBody): void {
    if (run.sealed) return;
    const { log, transcript, turns } = this.#parts;
    const { id } = log.append(event);
    if (event.type === 'tool-result' && !run.audited.has(event.callId)) {
      run.closed.push({ result: event, arguments: run.state.calls.get(event.callId)?.arguments ?? null });
    }
    applyEvent(run.state, event);
    transcript.apply(event);
    if (event.type !== 'turn-end') return;
    run.sealed = true;
    turns.ended(run.turn, event.status, event.reason, id);
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

function toRun({ id, plan }: TurnRow): Run {
  return { turn: id, plan, state: beginTurn(id), abort: new AbortController(), sealed: false, audited: new Set(), closed: [] };
}
