/** What a simulated run drives: a session on storage that outlives its processes. Each tier has one. */
import type { Decision } from '../../src/core/policy/approval.ts';
import type { Failpoint } from '../../src/core/failpoint.ts';
import type { AuditRow } from '../../src/core/records/audit.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import type { Upstream } from './upstream.ts';
import type { Life, World } from './world.ts';

/** A session as its callers reach it while one process lives. A thrown `Problem` is a response. */
export type Process = {
  /** Returns the turn's id once the message is stored. The same key is the same message. */
  send(key: string, text: string, plan: Plan): Promise<string>;
  cancel(): Promise<string | null>;
  decide(callId: string, decision: Decision): Promise<void>;
  giveResult(callId: string, text: string): Promise<void>;
  alarm(): Promise<void>;
  /** Returns events after this number, in order: some of them or none. */
  read(after: number): Promise<SessionEvent[]>;
  /** Only for the session object. */
  more?: WholeProcess;
};

/** Commands that only the session object has. */
export type WholeProcess = {
  /** Approves with `remember`. */
  remember(callId: string): Promise<void>;
  mintLink(callId: string): Promise<string>;
  decideByLink(nonce: string, decision: Decision): Promise<void>;
  /** A direct call: returns the id of what it waits for, or null when it has a result. */
  call(key: string | null, name: string, args: Record<string, unknown>): Promise<string | null>;
  /** A chat client's request: results of its tools, and a text or nothing. */
  chat(key: string, said: ChatSaid): Promise<{ turn: string; completion: string }>;
  streamTurn(turn: string): Promise<ReadableStream<Uint8Array>>;
  streamCompletion(completion: string): Promise<ReadableStream<Uint8Array>>;
  /** The status of a turn as in a plain response, once it has ended or cannot continue by itself. */
  answer(turn: string): Promise<string>;
  remove(): Promise<void>;
};

export type ChatSaid = { text: string | null; results: readonly { callId: string; text: string }[]; plan: Plan };

/** Setting the alarm again creates a new one, also for the same time. */
export type Alarm = { due: number };

export type Machine = {
  /** Starts a new process, with its work at startup. */
  boot(life: Life): Process;
  /** Something is sent: what was written is durable. */
  flush(): void;
  /** The process died: returns how many writes are lost. */
  lose(): number;
  alarm(): Alarm | null;
  /** The alarm fired, and its handler has ended. */
  clearAlarm(): void;
  /** The whole log as stored. */
  events(): SessionEvent[];
  /** Accepted turns that have not ended, and ends without a sent notice. */
  unfinished(): number;
  /** Turns whose end the Catalog was notified of. */
  told?(): ReadonlySet<string>;
  /** The usage that was stored, by turn. */
  counted?(): Counted;
  /** The rows of the audit, by their number. */
  audited?(): Audited;
  /** True when the session was deleted and nothing is left of it. */
  isGone?(): boolean;
  /** The run has ended. */
  close?(): void;
};

export type Tier = {
  make(world: World, upstream: Upstream): Machine;
  /** True for the session object, with its own crash points, links, direct calls, chat clients and deletion. */
  whole: boolean;
  /** Named points that its code passes. */
  crashPoints: readonly Failpoint[];
};

export type Counted = Map<string, { part: number; modelCalls: number; toolCalls: number; inputTokens: number }>;

export type Audited = Map<string, AuditRow>;
