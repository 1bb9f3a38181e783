/**
 * The machine of the pure tier: a session in its simplest form, over the real step function and turn engine. A journal replaces the
 * tables of the `Session` object, so that thousands of runs fit in a second.
 */
import type { ApprovalVerdict, Decision } from '../../src/core/policy/approval.ts';
import { outerRootId } from '../../src/core/toolset/composite-tool.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import { Problem } from '../../src/core/problem.ts';
import type { SessionEvent, SessionEventBody, TurnEndReason, TurnStatus } from '../../src/core/turn/session-event.ts';
import { createTranscript } from '../../src/core/turn/transcript.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn, isWaiting, type TurnState, pendingQuestions } from '../../src/core/turn/turn-state.ts';
import { runTurn, type TurnDeps, type TurnScope } from '../../src/engine/turn/run-turn.ts';
import { closingEvents } from '../../src/engine/turn/turn-end.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { Journal, type Row } from './journal.ts';
import type { Machine, Process } from './machine.ts';
import { PureCalls } from './pure-calls.ts';
import { givenFile, namesFor } from './upstream.ts';
import type { Life, World } from './world.ts';

type Accepted = Extract<Row, { type: 'accepted' }>;
type Run = { turn: Accepted; state: TurnState; abort: AbortController; sealed: boolean; working: boolean };

/** `depsOf`: model, tools and clock of one process. */
export function createPureMachine(world: World, depsOf: (life: Life) => TurnDeps): Machine {
  const journal = new Journal();
  return {
    boot: (life) => new PureSession(world, journal, life, depsOf(life)),
    flush: () => journal.flush(),
    lose: () => journal.lose(world.random),
    alarm: () => journal.alarm,
    clearAlarm: () => journal.write({ type: 'alarm', alarm: null }),
    events: () => journal.events(),
    unfinished: () =>
      journal.rows.reduce(
        (open, row) => open + (row.type === 'accepted' ? 1 : row.type === 'event' && row.event.type === 'turn-end' ? -1 : 0),
        0,
      ),
  };
}

class PureSession implements Process {
  readonly #world: World;
  readonly #journal: Journal;
  readonly #life: Life;
  readonly #deps: TurnDeps;
  readonly #epoch: number;
  readonly #transcript = createTranscript();
  readonly #queue: Accepted[] = [];
  readonly #keys = new Map<string, string>();
  readonly #calls = new PureCalls();
  readonly #files;
  #newest = 0;
  /** The turn that runs or waits. */
  #run: Run | null = null;

  constructor(world: World, journal: Journal, life: Life, deps: TurnDeps) {
    this.#world = world;
    this.#journal = journal;
    this.#life = life;
    this.#deps = deps;
    this.#files = createMemoryFiles(() => world.now);
    this.#files.write(givenFile, new Uint8Array(1), { own: false });
    this.#epoch = journal.epoch + 1;
    this.#fold();
    // Durable before anything else: from here on no earlier process writes.
    this.#write({ type: 'epoch', epoch: this.#epoch });
    journal.flush();
    const run = this.#run;
    if (run !== null && !isWaiting(run.state)) {
      this.#append(run, { type: 'turn-resume', turn: run.turn.turn, attempt: run.state.recoveries + 1 });
      this.#drive(run);
    }
    this.#pump();
  }

  async send(key: string, text: string, plan: Plan): Promise<string> {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const accepted: Accepted = { type: 'accepted', turn: this.#world.id('turn'), key, input: [{ type: 'text', text }], plan };
    if (!this.#write(accepted)) return accepted.turn;
    this.#accept(accepted);
    this.#pump();
    return accepted.turn;
  }

  async cancel(): Promise<string | null> {
    const run = this.#run;
    if (run === null) return null;
    this.#end(run, 'cancelled', 'cancelled');
    return run.turn.turn;
  }

  async decide(callId: string, decision: Decision): Promise<void> {
    const asked = this.#journal.events().find((event) => event.type === 'approval-required' && event.callId === callId);
    if (asked?.type !== 'approval-required') throw new Problem('not_found', 'There is no such approval.');
    const decided = this.#journal.events().find((event) => event.type === 'approval-decided' && event.callId === callId);
    if (decided?.type === 'approval-decided' && decided.decision === decision) return;
    const run = this.#run;
    const isOpen = run !== null && pendingQuestions(run.state).some((question) => question.callId === callId);
    const late = Date.parse(asked.expiresAt) <= this.#world.now;
    if (!isOpen || late) throw new Problem('conflict', 'It is already decided.');
    this.#tell(run, [decidedEvent(run, callId, decision, 'key')]);
  }

  async giveResult(callId: string, text: string): Promise<void> {
    const run = this.#run;
    const call = run?.state.calls.get(callId);
    if (run === null || call === undefined || call.asked !== 'client' || call.answered)
      throw new Problem('not_found', 'There is no such pending call.');
    const { name, canonical, via } = call;
    const at = { turn: run.turn.turn, step: run.state.step, callId, name, canonical, via };
    this.#tell(run, [{ type: 'tool-result', ...at, isError: false, content: [{ type: 'text', text }] }]);
  }

  async alarm(): Promise<void> {
    const run = this.#run;
    const now = this.#world.now;
    if (run !== null && !run.working) {
      const late = pendingQuestions(run.state).filter(({ callId }) => (this.#expiries.get(callId) ?? now + 1) <= now);
      for (const { callId } of late) {
        if (run.sealed) break;
        this.#tell(run, [decidedEvent(run, callId, 'expire', 'clock')]);
      }
    }
    this.#setAlarm();
  }

  async read(after: number): Promise<SessionEvent[]> {
    return this.#journal.events().slice(after, after + this.#world.random.int(1, 20));
  }

  readonly #expiries = new Map<string, number>();

  #fold(): void {
    for (const row of this.#journal.rows) {
      if (row.type === 'accepted') this.#accept(row);
      if (row.type === 'event') this.#apply(row.event);
      if (row.type === 'call') this.#calls.apply(row);
    }
  }

  #accept(accepted: Accepted): void {
    this.#queue.push(accepted);
    this.#keys.set(accepted.key, accepted.turn);
  }

  #apply(event: SessionEvent): void {
    this.#newest = event.id;
    this.#transcript.apply(event);
    if (event.type === 'turn-start') {
      const turn = this.#queue.shift();
      if (turn === undefined || turn.turn !== event.turn) throw new Error(`${event.turn} started out of order`);
      this.#run = { turn, state: beginTurn(turn.turn), abort: new AbortController(), sealed: false, working: false };
    }
    if (event.type === 'approval-required') this.#expiries.set(event.callId, Date.parse(event.expiresAt));
    if (this.#run !== null) applyEvent(this.#run.state, event);
    if (event.type === 'turn-end' && this.#run !== null) {
      this.#run.sealed = true;
      this.#run = null;
    }
  }

  /** False when another process has taken over: a stale one writes nothing. */
  #write(row: Row): boolean {
    if (this.#life.state === 'dead') return false;
    if (row.type !== 'epoch' && this.#journal.epoch !== this.#epoch) return false;
    this.#journal.write(row);
    return true;
  }

  #append(run: Run | null, body: SessionEventBody): void {
    if (run?.sealed) return;
    const event: SessionEvent = { ...body, id: this.#newest + 1, at: this.#world.now };
    if (this.#write({ type: 'event', event })) {
      this.#world.note(() => `  ${event.id} ${describe(body)}`);
      this.#apply(event);
      return;
    }
    if (run === null) return;
    run.sealed = true;
    run.abort.abort(new Error('a newer process has taken over'));
  }

  #pump(): void {
    const next = this.#queue[0];
    if (this.#run === null && next !== undefined && this.#life.state === 'alive') {
      const { turn, input, plan } = next;
      this.#append(null, { type: 'turn-start', turn, input, model: plan.model, ...(plan.edition && { edition: plan.edition }) });
      if (this.#run !== null) this.#drive(this.#run);
    }
    this.#setAlarm();
  }

  #tell(run: Run, events: readonly SessionEventBody[]): void {
    for (const event of events) this.#append(run, event);
    if (!run.working && !run.sealed && !isWaiting(run.state)) this.#drive(run);
    this.#setAlarm();
  }

  #drive(run: Run): void {
    run.working = true;
    this.#setAlarm();
    void this.#work(run);
  }

  async #work(run: Run): Promise<void> {
    const disarm = this.#life.clock.after(limits.turnTimeoutMs, () => this.#end(run, 'failed', 'timeout'));
    try {
      let outcome = await runTurn(this.#deps, this.#scope(run), run.abort.signal);
      // A decision that came while the last call was being stored applies at once.
      while (outcome === 'waiting' && !isWaiting(run.state)) outcome = await runTurn(this.#deps, this.#scope(run), run.abort.signal);
    } catch (error) {
      if (!run.abort.signal.aborted) this.#world.fail(`a turn threw: ${error instanceof Error ? error.stack : String(error)}`);
    }
    disarm();
    run.working = false;
    if (!run.sealed) this.#setAlarm();
    else if (this.#run === null) this.#pump();
  }

  #end(run: Run, status: TurnStatus, reason: TurnEndReason): void {
    for (const event of closingEvents(run.state, status, reason)) this.#append(run, event);
    run.abort.abort(new Error(`the turn was ended: ${reason}`));
    this.#pump();
  }

  #scope(run: Run): TurnScope {
    const { turn, plan } = run.turn;
    const names = namesFor(plan);
    return {
      workspace: 'default',
      turn,
      plan,
      names: () => names,
      state: run.state,
      messages: () => this.#transcript.messages(),
      conversation: this.#transcript,
      newest: () => this.#newest,
      append: (...events) => {
        for (const event of events) this.#append(run, event);
      },
      inputs: { store: () => undefined, given: () => null },
      flushBeforeEnd: () => this.#life.pause('the turn is about to end'),
      call: {
        keyId: 'key',
        session: 's',
        turn,
        names: () => names,
        edition: plan.edition ?? null,
        files: this.#files,
        results: null,
        timeoutMs: limits.toolTimeoutMs,
        rules: [],
        canWait: true,
        journal: this.#calls.open(
          { turn, step: () => run.state.step, append: (event) => this.#append(run, event) },
          (row) => !run.sealed && this.#write(row),
          () => this.#journal.events(),
        ),
        started: (callId, attempt) => this.#append(run, { type: 'tool-start', turn, step: run.state.step, callId, attempt }),
        audit: () => undefined,
      },
    };
  }

  /** Soon while something runs; while a turn waits for approval, when the first one expires. */
  #setAlarm(): void {
    const run = this.#run;
    const open = run === null ? [] : pendingQuestions(run.state);
    const expiry = open.flatMap(({ callId }) => this.#expiries.get(callId) ?? []).sort((a, b) => a - b)[0] ?? null;
    const due = run?.working ? this.#world.now + limits.turnAlarmMs : expiry;
    if (due !== (this.#journal.alarm?.due ?? null)) this.#write({ type: 'alarm', alarm: due === null ? null : { due } });
  }
}

function decidedEvent({ turn, state }: Run, callId: string, decision: ApprovalVerdict, by: string): SessionEventBody {
  const parent = outerRootId(callId);
  return { type: 'approval-decided', turn: turn.turn, step: state.step, callId, ...(parent !== undefined && { parent }), decision, by };
}

export function describe(event: SessionEventBody): string {
  const { type, ...rest } = event;
  return `${type} ${JSON.stringify(rest, (key, value: unknown) => (key === 'turn' ? undefined : value)).slice(0, 160)}`;
}
