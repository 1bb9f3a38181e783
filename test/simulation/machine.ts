/** What a simulated run drives: a session on storage that outlives its processes. Each tier has one. */
import type { Decision } from '../../src/core/approval.ts';
import type { CrashPoint } from '../../src/core/crash-point.ts';
import type { Plan } from '../../src/core/plan.ts';
import type { SessionEvent } from '../../src/core/session-event.ts';
import type { Upstream } from './upstream.ts';
import type { Life, World } from './world.ts';

/** A session as its callers reach it, while one process lives. What it throws as a `Problem` is an answer. */
export type Process = {
  /** Answers the turn's id once the message is stored. The same key again is the same message. */
  send(key: string, text: string, plan: Plan): Promise<string>;
  cancel(): Promise<string | null>;
  decide(callId: string, decision: Decision): Promise<void>;
  giveResult(callId: string, text: string): Promise<void>;
  alarm(): Promise<void>;
  /** Events after this number, in order; some of them or none. */
  read(after: number): Promise<SessionEvent[]>;
  /** Only of a whole session. */
  more?: WholeProcess;
};

/** What only the session object can do. */
export type WholeProcess = {
  /** Approves, and for good. */
  remember(callId: string): Promise<void>;
  mintLink(callId: string): Promise<string>;
  decideByLink(nonce: string, decision: Decision): Promise<void>;
  /** A direct call: answers the id of what it waits for, or null when it was answered. */
  call(key: string | null, name: string, args: Record<string, unknown>): Promise<string | null>;
  /** What a chat client sends: results of its tools, and a text or nothing. */
  chat(key: string, said: ChatSaid): Promise<{ turn: string; completion: string }>;
  streamTurn(turn: string): Promise<ReadableStream<Uint8Array>>;
  streamCompletion(completion: string): Promise<ReadableStream<Uint8Array>>;
  /** How a turn stands, in the words of a plain answer: when it has ended, or cannot go on by itself. */
  answer(turn: string): Promise<string>;
  remove(): Promise<void>;
};

export type ChatSaid = { text: string | null; results: readonly { callId: string; text: string }[]; plan: Plan };

/** Setting it anew makes another one, also for the same time. */
export type Alarm = { due: number };

export type Machine = {
  /** A new process, which does what it does when it starts. */
  boot(life: Life): Process;
  /** Something goes out: what was written is durable. */
  flush(): void;
  /** The process died: answers how many writes are lost. */
  lose(): number;
  alarm(): Alarm | null;
  /** It rang, and its handler is done. */
  clearAlarm(): void;
  /** The whole log, as it is stored. */
  events(): SessionEvent[];
  /** Turns that are accepted and have not ended, and ends that are not told. */
  unfinished(): number;
  /** Turns of which the Catalog was told that they ended. */
  told?(): ReadonlySet<string>;
  /** The session was deleted: nothing is left of it. */
  isGone?(): boolean;
  /** The run is over. */
  close?(): void;
};

export type Tier = {
  make(world: World, upstream: Upstream): Machine;
  /** The session object is all there: its own crash points, links, direct calls, chat clients, deletion. */
  whole: boolean;
  /** Named points that its code comes past. */
  crashPoints: readonly CrashPoint[];
};
