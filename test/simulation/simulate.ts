/**
 * One simulated run: a seed's commands against a session, deaths wherever they fall, then peace, in which everything that was
 * accepted has to end. The same seed gives the same run, to the last event.
 */
import { Problem } from '../../src/core/problem.ts';
import type { CrashPoint } from '../../src/core/crash-point.ts';
import { limits } from '../../src/core/limits.ts';
import { applyEvent, beginTurn, isUndecided, openCalls } from '../../src/core/turn.ts';
import type { SessionEvent } from '../../src/core/session-event.ts';
import { onCrashPoint } from './crash-hook.ts';
import { commandsOf, type Command } from './commands.ts';
import { checkInvariants, type SentMessage, type Witness } from './invariants.ts';
import type { Alarm, Machine, Process } from './machine.ts';
import type { Upstream } from './upstream.ts';
import { settle, World, type Life } from './world.ts';

export type Tier = (world: World, upstream: Upstream) => Machine;

export type Outcome = { violation: string | null; trace: string[]; events: SessionEvent[]; deaths: Map<string, number> };

/** Things that may happen in one run: far more than any run needs that gets somewhere. */
const maxSteps = 20_000;

export async function simulate(tier: Tier, seed: number, commands = commandsOf(seed), tracing = false): Promise<Outcome> {
  const run = new Simulation(tier, seed, tracing);
  onCrashPoint((point) => run.passes(point));
  await run.play(commands);
  return run.end();
}

/** As few of the commands as still break a promise; the trace is of those. */
export async function shrink(tier: Tier, seed: number): Promise<{ commands: Command[]; outcome: Outcome }> {
  let commands = commandsOf(seed);
  for (let index = commands.length - 1; index >= 0; index -= 1) {
    const fewer = commands.filter((_, at) => at !== index);
    if ((await simulate(tier, seed, fewer)).violation !== null) commands = fewer;
  }
  return { commands, outcome: await simulate(tier, seed, commands, true) };
}

class Simulation {
  readonly #world: World;
  readonly #upstream: Upstream = { effects: [], running: 0 };
  readonly #machine: Machine;
  #life: Life | null = null;
  #process: Process | null = null;
  #peace = false;
  /** The alarm whose handler is not done. */
  #ringing: Alarm | null = null;
  /** Named points at which the process is to die, and how often it comes past them before. */
  #doomed: { point: CrashPoint; skip: number; how: 'kill' | 'takeover' } | null = null;
  readonly #messages = new Map<string, SentMessage>();
  readonly #accepted: string[] = [];
  readonly #decisions: { callId: string; decision: 'approve' | 'deny' }[] = [];
  readonly #results: { callId: string; text: string }[] = [];
  readonly #cancelled: string[] = [];
  readonly #delivered = new Map<number, string>();
  readonly #cursors = new Map<number, number>();
  readonly #deaths = new Map<string, number>();

  constructor(tier: Tier, seed: number, tracing: boolean) {
    this.#world = new World(seed, { tracing });
    this.#machine = tier(this.#world, this.#upstream);
    this.#world.alarm = { due: () => this.#alarmDue(), ring: () => this.#ring() };
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
      await this.#do(command);
      await settle();
    }
    await this.#calmDown();
    if (!this.#well()) return;
    const fault = checkInvariants(this.#machine.events(), this.#witness());
    if (fault !== null) this.#world.fail(fault);
  }

  /** A process comes to a named point: it dies there, at once or a moment later, or others go first, or nothing. */
  passes(point: CrashPoint): void | Promise<void> {
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
    if (this.#world.random.chance(0.5)) this.#kill(point);
    else void life.pause(`${point}, and then no more`).then(() => this.#life === life && this.#kill(point));
    return new Promise(() => undefined);
  }

  #well(): boolean {
    return this.#world.violation === null;
  }

  #witness(): Witness {
    return {
      effects: this.#upstream.effects,
      messages: this.#messages,
      decisions: this.#decisions,
      results: this.#results,
      cancelled: this.#cancelled,
      delivered: this.#delivered,
    };
  }

  async #do(command: Command): Promise<void> {
    this.#world.note(() => `> ${JSON.stringify(command, (key, value: unknown) => (key === 'plan' ? '…' : value))}`);
    switch (command.do) {
      case 'send': {
        const key = `message ${this.#messages.size + 1}`;
        this.#messages.set(key, {
          text: `${key}${' word'.repeat(command.words)}`,
          plan: command.plan,
          at: this.#world.now,
          turn: null,
          before: [...this.#accepted],
        });
        this.#send(key);
        if (command.twice) this.#send(key);
        return;
      }
      case 'repeat':
        this.#repeat();
        return;
      case 'cancel':
        this.#ask(
          'cancel',
          (process) => process.cancel(),
          (turn) => turn !== null && this.#cancelled.push(turn),
        );
        return;
      case 'decide': {
        const callId = this.#target('approval-required', command.of);
        for (const decision of command.words) this.#decide(callId, decision);
        return;
      }
      case 'give-result': {
        const callId = this.#target('client-tool-required', command.of);
        for (const text of command.texts) this.#giveResult(callId, text);
        return;
      }
      case 'read': {
        const cursor = Math.max(0, (this.#cursors.get(command.reader) ?? 0) - command.rewind);
        this.#cursors.set(command.reader, cursor);
        this.#read(command.reader);
        return;
      }
      case 'pass':
        return await this.#world.pass(command.ms);
      case 'crash':
        if (command.how === 'kill') this.#kill('anywhere');
        else this.#takeOver();
        return;
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
        command satisfies never;
    }
  }

  #send(key: string): void {
    const message = this.#messages.get(key);
    if (message === undefined) return;
    this.#ask(
      `send ${key}`,
      (process) => process.send(key, message.text, message.plan),
      (turn) => {
        const told = this.#messages.get(key)?.turn ?? turn;
        if (told !== turn) this.#world.fail(`the message ${key} was told ${told}, then ${turn}`);
        this.#messages.set(key, { ...message, turn });
        if (!this.#accepted.includes(turn)) this.#accepted.push(turn);
      },
    );
  }

  /** Within the time that its key is kept for. */
  #repeat(): void {
    const fresh = [...this.#messages].filter(([, { at }]) => this.#world.now - at < limits.idempotencyTtlMs / 2);
    const [key] = fresh.length === 0 ? [] : this.#world.random.pick(fresh);
    if (key !== undefined) this.#send(key);
  }

  #decide(callId: string, decision: 'approve' | 'deny'): void {
    this.#ask(
      `${decision} ${callId}`,
      (process) => process.decide(callId, decision),
      () => this.#decisions.push({ callId, decision }),
    );
  }

  #giveResult(callId: string, text: string): void {
    this.#ask(
      `result ${text} of ${callId}`,
      (process) => process.giveResult(callId, text),
      () => this.#results.push({ callId, text }),
    );
  }

  #read(reader: number): void {
    const after = this.#cursors.get(reader) ?? 0;
    this.#ask(
      `read after ${after}`,
      (process) => process.read(after),
      (events) => {
        for (const [index, event] of events.entries()) {
          if (event.id !== after + index + 1)
            return this.#world.fail(`a reader at ${after} was given event ${event.id} as number ${index + 1}`);
          const text = JSON.stringify(event);
          const known = this.#delivered.get(event.id) ?? text;
          if (known !== text) return this.#world.fail(`event ${event.id} was delivered as ${known}, then as ${text}`);
          this.#delivered.set(event.id, text);
        }
        if ((this.#cursors.get(reader) ?? 0) === after) this.#cursors.set(reader, after + events.length);
      },
    );
  }

  /** Asks the session something, as a client whose connection ends with the process. An answer implies that all is stored. */
  #ask<T>(what: string, ask: (process: Process) => Promise<T>, heard: (answer: T) => void): void {
    const { life, process } = this.#running();
    const deliver = async (): Promise<void> => {
      try {
        const answer = await ask(process);
        await life.pause(`the answer to "${what}" is on its way`);
        if (life.state !== 'alive') return;
        this.#machine.flush();
        this.#world.note(() => `  "${what}" is answered`);
        heard(answer);
      } catch (error) {
        if (life.state !== 'alive') return;
        if (error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')) {
          this.#world.note(() => `  "${what}" is refused: ${error.code}`);
          return;
        }
        this.#world.fail(`"${what}" failed: ${error instanceof Error ? error.stack : String(error)}`);
      }
    };
    void deliver();
  }

  #target(kind: 'approval-required' | 'client-tool-required', of: 'pending' | 'any' | 'unknown'): string {
    const events = this.#machine.events();
    const asked = events.flatMap((event) => (event.type === kind ? [event.callId] : []));
    const closed = new Set(
      events.flatMap((event) => (event.type === 'approval-decided' || event.type === 'tool-result' ? [event.callId] : [])),
    );
    const wanted = of === 'unknown' ? [] : of === 'any' ? asked : asked.filter((callId) => !closed.has(callId));
    return wanted.length === 0 ? 'call_unknown' : this.#world.random.pick(wanted);
  }

  /** The process at hand; a client or an alarm that comes finds a new one when there is none. */
  #running(): { life: Life; process: Process } {
    if (this.#life !== null && this.#process !== null) return { life: this.#life, process: this.#process };
    const life = this.#world.newLife();
    this.#world.note(() => `* process ${life.number} begins`);
    this.#life = life;
    const process = this.#machine.boot(life);
    // It may have died in it.
    if (this.#life === life) this.#process = process;
    return { life, process };
  }

  #kill(where: string): void {
    const life = this.#life;
    if (life === null || this.#peace) return;
    this.#life = null;
    this.#process = null;
    this.#world.bury(life);
    const lost = this.#machine.lose();
    this.#ringing = null;
    this.#deaths.set(where, (this.#deaths.get(where) ?? 0) + 1);
    this.#world.note(() => `* process ${life.number} dies (${where}); ${lost} writes are lost`);
  }

  #takeOver(): void {
    const life = this.#life;
    if (life === null) return;
    life.state = 'stale';
    this.#ringing = null;
    this.#life = null;
    this.#process = null;
    this.#deaths.set('takeover', (this.#deaths.get('takeover') ?? 0) + 1);
    this.#world.note(() => `* process ${life.number} is left behind`);
    this.#running();
  }

  /** At least once: until its handler is done and what that wrote is durable, an alarm stands, and rings again for the next process. */
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

  /** Nobody dies any more and everything that waits is answered, or expires: then every turn ends. */
  async #calmDown(): Promise<void> {
    this.#peace = true;
    this.#doomed = null;
    for (let step = 0; step < maxSteps && this.#well(); step += 1) {
      if (await this.#world.step()) continue;
      if (this.#machine.unfinished() === 0) return;
      const asked = this.#waitedFor();
      const due = this.#world.nextDue();
      if (asked !== null && (due === null || this.#world.random.chance(0.8))) {
        if (asked.kind === 'client') this.#giveResult(asked.callId, 'late');
        else this.#decide(asked.callId, this.#world.random.chance(0.7) ? 'approve' : 'deny');
        await settle();
      } else if (due !== null) await this.#world.pass(Math.max(0, due - this.#world.now));
      else return this.#world.fail('nothing runs, nothing rings, nothing waits, and there are turns that have not ended');
    }
    if (this.#well()) this.#world.fail(`after ${maxSteps} steps there are turns that have not ended`);
  }

  #waitedFor(): { kind: 'approval' | 'client'; callId: string } | null {
    const events = this.#machine.events();
    const start = events.findLast((event) => event.type === 'turn-start');
    if (start?.type !== 'turn-start') return null;
    const state = beginTurn(start.turn);
    for (const event of events) if ('turn' in event && event.turn === start.turn) applyEvent(state, event);
    const open = openCalls(state).filter(isUndecided);
    const call = open.length === 0 || state.phase === 'ended' ? null : this.#world.random.pick(open);
    return call === null || call.asked === null ? null : { kind: call.asked, callId: call.callId };
  }
}
