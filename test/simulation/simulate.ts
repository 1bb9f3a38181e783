/**
 * One simulated run: a seed's commands against a session, with crashes anywhere, then a calm phase in which every accepted turn has to
 * end. The same seed gives the same run, to the last event.
 */
import { foldTurnUse } from '../../src/core/turn/turn-usage.ts';
import type { Failpoint } from '../../src/core/failpoint.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn, isUndecided, unansweredCalls } from '../../src/core/turn/turn-state.ts';
import { Clients } from './clients.ts';
import { commandsOf, type Command } from './commands.ts';
import { onCrashPoint } from './crash-hook.ts';
import { checkInvariants } from './invariants.ts';
import type { Alarm, Machine, Process, Tier } from './machine.ts';
import type { Upstream } from './upstream.ts';
import { settle, World, type Life } from './world.ts';

export type Outcome = { violation: string | null; trace: string[]; events: SessionEvent[]; deaths: Map<string, number> };

/** Steps of one run: far more than any run needs that makes progress. */
const maxSteps = 20_000;

export async function simulate(tier: Tier, seed: number, commands = commandsOf(seed, tier), tracing = false): Promise<Outcome> {
  const run = new Simulation(tier, seed, tracing);
  onCrashPoint((point) => run.passes(point));
  await run.play(commands);
  return run.end();
}

/** The smallest list of commands that still breaks an invariant, with its trace. */
export async function shrink(tier: Tier, seed: number): Promise<{ commands: Command[]; outcome: Outcome }> {
  let commands = commandsOf(seed, tier);
  for (let index = commands.length - 1; index >= 0; index -= 1) {
    const fewer = commands.filter((_, at) => at !== index);
    if ((await simulate(tier, seed, fewer)).violation !== null) commands = fewer;
  }
  return { commands, outcome: await simulate(tier, seed, commands, true) };
}

class Simulation {
  readonly #world: World;
  readonly #machine: Machine;
  readonly #clients: Clients;
  readonly #deaths = new Map<string, number>();
  #life: Life | null = null;
  #process: Process | null = null;
  #peace = false;
  /** The alarm whose handler has not ended. */
  #ringing: Alarm | null = null;
  /** The named point at which the process has to die, and how often it passes it before. */
  #doomed: { point: Failpoint; skip: number; how: 'kill' | 'takeover' } | null = null;

  constructor(tier: Tier, seed: number, tracing: boolean) {
    const upstream: Upstream = { effects: [], requests: 0 };
    this.#world = new World(seed, { tracing });
    this.#machine = tier.make(this.#world, upstream);
    this.#world.alarm = { due: () => this.#alarmDue(), ring: () => this.#ring() };
    this.#clients = new Clients(this.#world, this.#machine, upstream, () => this.#running());
  }

  end(): Outcome {
    const { violation, trace } = this.#world;
    const outcome = { violation: violation?.message ?? null, trace: trace ?? [], events: this.#machine.events(), deaths: this.#deaths };
    this.#machine.close?.();
    return outcome;
  }

  async play(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      for (let step = 0; step < command.after && this.#well(); step += 1) if (!(await this.#world.step())) break;
      if (!this.#well()) return;
      this.#world.note(() => `> ${JSON.stringify(command, (key, value: unknown) => (key === 'plan' ? '…' : value))}`);
      await this.#do(command);
      await settle();
    }
    await this.#calmDown();
    if (this.#well()) this.#check();
  }

  /** A process reaches a named point: it dies there, at once or a moment later, or others run first, or nothing happens. */
  passes(point: Failpoint): void | Promise<void> {
    const life = this.#life;
    if (life === null) return;
    const doom = this.#doomed;
    if (doom?.point !== point) return this.#world.random.chance(0.05) ? life.pause(point) : undefined;
    doom.skip -= 1;
    if (doom.skip >= 0) return;
    this.#doomed = null;
    if (doom.how === 'takeover') {
      this.#takeOver();
      return life.pause(point);
    }
    return this.#world.random.chance(0.5) ? this.#dieAt(point, life) : life.pause(point).then(() => this.#dieAt(point, life));
  }

  /** Never resolves, unless the calm phase or another process has begun. */
  #dieAt(point: Failpoint, life: Life): void | Promise<void> {
    if (this.#peace || this.#life !== life) return;
    this.#kill(point);
    return new Promise(() => undefined);
  }

  #well(): boolean {
    return this.#world.violation === null;
  }

  #check(): void {
    const witness = this.#clients.witness();
    this.#checkTold();
    this.#checkCounted();
    this.#checkAudited();
    if (this.#machine.isGone?.() === true) {
      if (!witness.leaving) this.#world.fail('the session was deleted without a request');
      if (this.#machine.alarm() !== null) this.#world.fail('an alarm outlives the session');
      if (witness.removed !== null && witness.requests > witness.removed.requests)
        this.#world.fail('a model request was sent after the deletion');
      return;
    }
    const fault = witness.removed === null ? checkInvariants(this.#machine.events(), witness) : 'the session was deleted and still exists';
    if (fault !== null) this.#world.fail(fault);
  }

  /** The usage of every turn is what its log says, however often it was sent; that of a deleted session is at least there. */
  #checkCounted(): void {
    const counted = this.#machine.counted?.();
    if (counted === undefined || this.#machine.isGone?.() === true) return;
    const ends = this.#machine.events().flatMap((event) => (event.type === 'turn-end' ? [event.turn] : []));
    for (const turn of ends) {
      const own = this.#machine.events().filter((event) => 'turn' in event && event.turn === turn);
      const { calls, toolCalls } = foldTurnUse(own, 'a/b');
      const inputTokens = calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0);
      const { part: _part, ...stored } = counted.get(turn) ?? { part: 0 };
      const expected = JSON.stringify({ modelCalls: calls.length, toolCalls, inputTokens });
      if (JSON.stringify(stored) !== expected) this.#world.fail(`the usage of ${turn} is ${JSON.stringify(stored)}, not ${expected}`);
    }
  }

  /**
   * Each call that ended has one verdict in the audit. The processes here may die between two blocks of code that workerd stores together, because its
   * event loop has not turned (`ActorSqlite`): then the next process adds a verdict. So the crash tier checks that, with the runtime itself.
   */
  #checkAudited(): void {
    if (this.#deaths.size > 0) return;
    const ended = [...(this.#machine.audited?.().values() ?? [])].filter(({ turn, verdict }) => turn !== null && isVerdict.has(verdict));
    const counts = Map.groupBy(ended, ({ callId }) => callId);
    for (const [callId, rows] of counts)
      if (rows.length > 1)
        this.#world.fail(
          `the audit has ${rows.length} verdicts on ${callId}: ${rows.map(({ verdict, code }) => `${verdict} ${code}`).join(', ')}`,
        );
  }

  /** The subscribers know how every turn ended: checked against the log, or against the accepted turns of a deleted session. */
  #checkTold(): void {
    const told = this.#machine.told?.();
    if (told === undefined) return;
    const isGone = this.#machine.isGone?.() === true;
    const ended = isGone
      ? [...this.#clients.witness().messages.values()].flatMap(({ turn }) => turn ?? [])
      : this.#machine.events().flatMap((event) => (event.type === 'turn-end' ? [event.turn] : []));
    const missing = ended.find((turn) => !told.has(turn));
    if (missing !== undefined) this.#world.fail(`no notice for the end of ${missing}${isGone ? ' in a deleted session' : ''}`);
  }

  async #do(command: Command): Promise<void> {
    switch (command.do) {
      case 'pass':
        return await this.#world.pass(command.ms);
      case 'crash':
        return command.how === 'kill' ? this.#kill('anywhere') : this.#takeOver();
      case 'crash-at':
        this.#doomed = { point: command.point, skip: command.skip, how: command.how };
        return;
      case 'crash-often':
        for (let time = 0; time < command.times && this.#well(); time += 1) {
          this.#running();
          await settle();
          const steps = this.#world.random.int(0, 6);
          for (let step = 0; step < steps && this.#well(); step += 1) await this.#world.step();
          this.#kill('again and again');
        }
        return;
      default:
        return this.#clients.do(command);
    }
  }

  /** Returns the current process; without one, a client or an alarm starts a new one. */
  #running(): { life: Life; process: Process } {
    if (this.#life !== null && this.#process !== null) return { life: this.#life, process: this.#process };
    const life = this.#world.newLife();
    this.#world.note(() => `* process ${life.number} starts`);
    this.#life = life;
    const process = this.#machine.boot(life);
    // It may have died while starting.
    if (this.#life === life) this.#process = process;
    return { life, process };
  }

  #kill(where: string): void {
    const life = this.#life;
    if (life === null || this.#peace) return;
    this.#forget(where);
    this.#world.bury(life);
    const lost = this.#machine.lose();
    this.#world.note(() => `* process ${life.number} dies (${where}); ${lost} writes are lost`);
  }

  #takeOver(): void {
    const life = this.#life;
    if (life === null) return;
    this.#forget('takeover');
    life.state = 'stale';
    // The new one starts with what is durable. Later writes of the old one are lost, with everything that waits for them.
    const lost = this.#machine.lose();
    life.isMute = lost > 0;
    this.#world.note(() => `* process ${life.number} is left behind; ${lost} writes are lost`);
    this.#running();
  }

  #forget(where: string): void {
    this.#life = null;
    this.#process = null;
    this.#ringing = null;
    this.#deaths.set(where, (this.#deaths.get(where) ?? 0) + 1);
  }

  /** At least once: until its handler has ended and its writes are durable, an alarm remains and fires again for the next process. */
  #ring(): void {
    const ringing = this.#machine.alarm();
    this.#ringing = ringing;
    const { life, process } = this.#running();
    process.alarm().then(
      () => {
        if (life.state !== 'alive') return;
        this.#ringing = null;
        if (this.#machine.alarm() === ringing) this.#machine.clearAlarm();
        this.#machine.flush();
      },
      (error: unknown) => {
        if (life.state === 'alive') this.#world.fail(`the alarm threw: ${error instanceof Error ? error.stack : String(error)}`);
      },
    );
  }

  #alarmDue(): number | null {
    const alarm = this.#machine.alarm();
    return alarm === null || alarm === this.#ringing ? null : alarm.due;
  }

  /** No more crashes; every question is answered or expires, and then every turn has to end. */
  async #calmDown(): Promise<void> {
    this.#peace = true;
    this.#doomed = null;
    let readAgain = false;
    for (let step = 0; step < maxSteps && this.#well(); step += 1) {
      if (await this.#world.step()) continue;
      if (this.#machine.unfinished() === 0) {
        if (readAgain || this.#machine.isGone?.() === true) return;
        readAgain = true;
        this.#clients.readAnswersAgain();
        await settle();
        continue;
      }
      const asked = this.#waitedFor();
      const due = this.#world.nextDue();
      if (asked !== null && (due === null || this.#world.random.chance(0.8))) {
        if (asked.kind === 'client') this.#clients.giveResult(asked.callId, 'late');
        else this.#clients.decide(asked.callId, this.#world.random.chance(0.7) ? 'approve' : 'deny');
        await settle();
      } else if (due !== null) await this.#world.pass(Math.max(0, due - this.#world.now));
      else return this.#world.fail('nothing runs, no alarm is set, nothing waits, and some turns have not ended');
    }
    if (this.#well()) this.#world.fail(`after ${maxSteps} steps some turns have not ended`);
  }

  #waitedFor(): { kind: 'approval' | 'client'; callId: string } | null {
    const events = this.#machine.events();
    const start = events.findLast((event) => event.type === 'turn-start');
    if (start?.type !== 'turn-start') return null;
    const state = beginTurn(start.turn);
    for (const event of events) if ('turn' in event && event.turn === start.turn) applyEvent(state, event);
    const open = unansweredCalls(state).filter(isUndecided);
    const call = open.length === 0 || state.phase === 'ended' ? null : this.#world.random.pick(open);
    return call === null || call.asked === null || call.asked === 'input' ? null : { kind: call.asked, callId: call.callId };
  }
}

const isVerdict: ReadonlySet<string> = new Set(['ran', 'refused', 'outcome_unknown']);
