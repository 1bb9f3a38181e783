/**
 * The clients of a session in a simulated run, and what they received: they send, decide, answer, read and stream, and receive nothing
 * from a dead process. They never crash themselves.
 */
import { limits } from '../../src/core/limits/limits.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import type { ClientCommand } from './commands.ts';
import { Connections } from './connections.ts';
import type { SentMessage, Witness } from './invariants.ts';
import type { ChatSaid, Machine, Process } from './machine.ts';
import type { Upstream } from './upstream.ts';
import type { Life, World } from './world.ts';

type DirectCall = { key: string | null; name: string; args: Record<string, unknown>; at: number };

export class Clients {
  readonly #world: World;
  readonly #machine: Machine;
  readonly #upstream: Upstream;
  readonly #to: Connections;
  readonly #messages = new Map<string, SentMessage>();
  readonly #accepted: string[] = [];
  readonly #decisions: { callId: string; decision: 'approve' | 'deny' }[] = [];
  readonly #results: { callId: string; text: string }[] = [];
  readonly #cancelled: string[] = [];
  readonly #delivered = new Map<number, string>();
  readonly #cursors = new Map<number, number>();
  readonly #chats = new Map<string, ChatSaid & { at: number }>();
  /** Frames that chat clients received, by response. */
  readonly #frames = new Map<string, string>();
  readonly #answers = new Map<string, string>();
  readonly #direct: DirectCall[] = [];
  /** Of direct calls: what each waits for, and all approvals. */
  readonly #asked = new Map<string, DirectCall>();
  readonly #approvals = new Map<DirectCall, Set<string>>();
  #remembered = false;
  #leaving = false;
  #removed: Witness['removed'] = null;

  constructor(world: World, machine: Machine, upstream: Upstream, running: () => { life: Life; process: Process }) {
    this.#world = world;
    this.#machine = machine;
    this.#upstream = upstream;
    this.#to = new Connections(world, machine, running);
  }

  witness(): Witness {
    return {
      effects: this.#upstream.effects,
      requests: this.#upstream.requests,
      messages: this.#messages,
      decisions: this.#decisions.filter(({ callId }) => !this.#asked.has(callId)),
      results: this.#results,
      cancelled: this.#cancelled,
      delivered: this.#delivered,
      answers: this.#answers,
      direct: this.#direct.map((call) => ({
        n: call.args.n,
        once: call.key !== null,
        asks: call.name === 'guarded',
        approvals: this.#approvals.get(call)?.size ?? 0,
      })),
      remembered: this.#remembered,
      leaving: this.#leaving,
      removed: this.#removed,
    };
  }

  do(command: ClientCommand): void {
    switch (command.do) {
      case 'send':
        return void this.#sendNew(command);
      case 'repeat':
        return void this.#repeat();
      case 'cancel':
        return void this.#cancel();
      case 'decide': {
        const callId = this.#target('approval-required', command.of);
        for (const decision of command.words) this.decide(callId, decision);
        return;
      }
      case 'decide-by-link':
        return void this.#decideByLink(this.#target('approval-required', command.of), command.words);
      case 'remember':
        return void this.#remember(this.#target('approval-required', 'pending'));
      case 'give-result': {
        const callId = this.#target('client-tool-required', command.of);
        for (const text of command.texts) this.giveResult(callId, text);
        return;
      }
      case 'read':
        return void this.#read(command);
      case 'chat':
        return void this.#chat(command);
      case 'chat-again':
        return void this.#chatAgain();
      case 'stream':
        return void this.#streamTurn();
      case 'stream-chat':
        return void this.#streamChat();
      case 'answer':
        return void this.#answer();
      case 'call':
        return void this.#callNew(command);
      case 'call-again':
        return void this.#callAgain();
      case 'remove':
        return void this.#remove();
      default:
        command satisfies never;
    }
  }

  decide(callId: string, decision: 'approve' | 'deny'): void {
    this.#noteWord(callId, decision);
    this.#to.ask(
      `${decision} ${callId}`,
      (process) => process.decide(callId, decision),
      () => this.#decisions.push({ callId, decision }),
    );
  }

  giveResult(callId: string, text: string): void {
    this.#to.ask(
      `result ${text} of ${callId}`,
      (process) => process.giveResult(callId, text),
      () => this.#results.push({ callId, text }),
    );
  }

  /** After the last crash: every response to a chat client is read once more and must be unchanged. */
  readAnswersAgain(): void {
    for (const [completion, told] of this.#frames) {
      this.#to.whole(
        `${completion} again`,
        (process) => process.streamCompletion(completion),
        (stream) => {
          void this.#to.follow(stream, (text, all) => {
            if (!told.startsWith(all) && !all.startsWith(told))
              this.#world.fail(`${completion} was ${told}, and is now ${all} (at ${text})`);
          });
        },
      );
    }
  }

  #sendNew({ words, plan, twice }: Extract<ClientCommand, { do: 'send' }>): void {
    const key = `message ${this.#messages.size + 1}`;
    const text = `${key}${' word'.repeat(words)}`;
    this.#messages.set(key, { text, plan, at: this.#world.now, turn: null, before: [...this.#accepted] });
    this.#send(key);
    if (twice) this.#send(key);
  }

  #cancel(): void {
    this.#to.ask(
      'cancel',
      (process) => process.cancel(),
      (turn) => turn !== null && this.#cancelled.push(turn),
    );
  }

  #remove(): void {
    this.#leaving = true;
    this.#to.whole(
      'remove',
      (process) => process.remove(),
      () => {
        this.#removed ??= { requests: this.#upstream.requests };
      },
    );
  }

  #send(key: string): void {
    const message = this.#messages.get(key);
    if (message === undefined) return;
    this.#to.ask(
      `send ${key}`,
      (process) => process.send(key, message.text, message.plan),
      (turn) => this.#wasAccepted(key, turn),
    );
  }

  #wasAccepted(key: string, turn: string): void {
    const message = this.#messages.get(key);
    if (message === undefined) return;
    const told = message.turn ?? turn;
    if (told !== turn) this.#world.fail(`the message ${key} got ${told}, then ${turn}`);
    this.#messages.set(key, { ...message, turn });
    if (!this.#accepted.includes(turn)) this.#accepted.push(turn);
  }

  /** Within the validity of its key. */
  #repeat(): void {
    const fresh = [...this.#messages].filter(
      ([key, { at }]) => !this.#chats.has(key) && this.#world.now - at < limits.idempotencyTtlMs / 2,
    );
    const [key] = fresh.length === 0 ? [] : this.#world.random.pick(fresh);
    if (key !== undefined) this.#send(key);
  }

  #remember(callId: string): void {
    this.#noteWord(callId, 'approve');
    // From the request on: the rule may be stored although no response arrived.
    this.#remembered = true;
    this.#to.whole(
      `remember ${callId}`,
      (process) => process.remember(callId),
      () => this.#decisions.push({ callId, decision: 'approve' }),
    );
  }

  /** One link with two concurrent decisions: it is valid for one. */
  #decideByLink(callId: string, words: readonly ('approve' | 'deny')[]): void {
    this.#to.whole(
      `link to ${callId}`,
      (process) => process.mintLink(callId),
      (nonce) => {
        for (const decision of words) {
          this.#noteWord(callId, decision);
          this.#to.whole(
            `${decision} ${callId} by link`,
            (process) => process.decideByLink(nonce, decision),
            () => this.#decisions.push({ callId, decision }),
          );
        }
      },
    );
  }

  #noteWord(callId: string, decision: 'approve' | 'deny'): void {
    const call = this.#asked.get(callId);
    if (call !== undefined && decision === 'approve') this.#approvals.set(call, (this.#approvals.get(call) ?? new Set()).add(callId));
  }

  #read({ reader, rewind }: Extract<ClientCommand, { do: 'read' }>): void {
    const after = Math.max(0, (this.#cursors.get(reader) ?? 0) - rewind);
    this.#cursors.set(reader, after);
    this.#to.ask(
      `read after ${after}`,
      (process) => process.read(after),
      (events) => {
        for (const [index, event] of events.entries()) {
          if (event.id !== after + index + 1)
            return this.#world.fail(`a reader at ${after} received event ${event.id} as number ${index + 1}`);
          this.#wasGiven(event.id, JSON.stringify(event));
        }
        if ((this.#cursors.get(reader) ?? 0) === after) this.#cursors.set(reader, after + events.length);
      },
    );
  }

  #wasGiven(id: number, text: string): void {
    const known = this.#delivered.get(id) ?? text;
    if (known !== text) this.#world.fail(`event ${id} was delivered as ${known}, then as ${text}`);
    this.#delivered.set(id, text);
  }

  #chat({ plan, text, results }: Extract<ClientCommand, { do: 'chat' }>): void {
    const key = `chat ${this.#chats.size + 1}`;
    const waiting = results ? this.#waitingFor('client-tool-required') : [];
    const said = text || waiting.length === 0 ? `${key} word` : null;
    this.#chats.set(key, { text: said, results: waiting.map((callId) => ({ callId, text: 'of a chat' })), plan, at: this.#world.now });
    if (said !== null) this.#messages.set(key, { text: said, plan, at: this.#world.now, turn: null, before: [] });
    this.#sendChat(key);
  }

  #chatAgain(): void {
    const fresh = [...this.#chats].filter(([, { at }]) => this.#world.now - at < limits.idempotencyTtlMs / 2);
    const [key] = fresh.length === 0 ? [] : this.#world.random.pick(fresh);
    if (key !== undefined) this.#sendChat(key);
  }

  #sendChat(key: string): void {
    const said = this.#chats.get(key);
    if (said === undefined) return;
    this.#to.whole(
      `say ${key}`,
      (process) => process.chat(key, said),
      ({ turn, completion }) => {
        this.#wasAccepted(key, turn);
        this.#results.push(...said.results);
        if (!this.#frames.has(completion)) this.#frames.set(completion, '');
      },
    );
  }

  #streamTurn(): void {
    if (this.#accepted.length === 0) return;
    const turn = this.#world.random.pick(this.#accepted);
    this.#to.whole(
      `stream ${turn}`,
      (process) => process.streamTurn(turn),
      (stream) => {
        let last = 0;
        void this.#to.follow(stream, (_text, all) => {
          for (const frame of all.split('\n\n').slice(0, -1)) {
            const id = Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? 0);
            if (id <= last) continue;
            last = id;
            this.#wasGiven(id, /^data: ([^\n]*)$/m.exec(frame)?.[1] ?? '');
          }
        });
      },
    );
  }

  #streamChat(): void {
    if (this.#frames.size === 0) return;
    const completion = this.#world.random.pick([...this.#frames.keys()]);
    this.#to.whole(
      `stream ${completion}`,
      (process) => process.streamCompletion(completion),
      (stream) => {
        void this.#to.follow(stream, (_text, received) => {
          // An error that ends a stream, such as the deletion of its session, has no number: it is not part of the completion.
          const all = received
            .split('\n\n')
            .filter((frame) => frame.startsWith('id: '))
            .join('\n\n');
          const told = this.#frames.get(completion) ?? '';
          if (!all.startsWith(told) && !told.startsWith(all)) this.#world.fail(`${completion} was ${told}, then ${all}`);
          if (all.length > told.length) this.#frames.set(completion, all);
        });
      },
    );
  }

  #answer(): void {
    if (this.#accepted.length === 0) return;
    const turn = this.#world.random.pick(this.#accepted);
    this.#to.whole(
      `answer of ${turn}`,
      (process) => process.answer(turn),
      (status) => {
        if (status !== 'waiting') this.#answers.set(turn, status);
      },
    );
  }

  #callNew({ name, safe, keyed }: Extract<ClientCommand, { do: 'call' }>): void {
    // Each has a number that no other call of the run has, which identifies its effects.
    const number = 1_000 + this.#direct.length;
    const call: DirectCall = { key: keyed ? `direct ${number}` : null, name, args: { n: number, safe }, at: this.#world.now };
    this.#direct.push(call);
    this.#call(call);
  }

  #callAgain(): void {
    const fresh = this.#direct.filter(({ at }) => this.#world.now - at < limits.idempotencyTtlMs / 2);
    if (fresh.length > 0) this.#call(this.#world.random.pick(fresh));
  }

  #call(call: DirectCall): void {
    this.#to.whole(
      `call ${String(call.args.n)}`,
      (process) => process.call(call.key, call.name, call.args),
      (pending) => {
        if (pending === null) return;
        this.#asked.set(pending, call);
      },
    );
  }

  #target(kind: 'approval-required' | 'client-tool-required', of: 'pending' | 'any' | 'unknown'): string {
    const asked = of === 'any' ? this.#everAsked(kind) : of === 'pending' ? this.#waitingFor(kind) : [];
    const direct = kind === 'approval-required' && of !== 'unknown' ? [...this.#asked.keys()] : [];
    const wanted = [...asked, ...direct];
    return wanted.length === 0 ? 'call_unknown' : this.#world.random.pick(wanted);
  }

  #everAsked(kind: 'approval-required' | 'client-tool-required'): string[] {
    return this.#machine.events().flatMap((event) => (event.type === kind ? [event.callId] : []));
  }

  #waitingFor(kind: 'approval-required' | 'client-tool-required'): string[] {
    const closes = (event: SessionEvent) => event.type === 'approval-decided' || event.type === 'tool-result';
    const closed = new Set(this.#machine.events().flatMap((event) => (closes(event) && 'callId' in event ? [event.callId] : [])));
    return this.#everAsked(kind).filter((callId) => !closed.has(callId));
  }
}
