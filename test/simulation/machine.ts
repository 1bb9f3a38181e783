/** What a simulated run drives: a session on storage that outlives its processes. Each tier has one. */
import type { Decision } from '../../src/core/approval.ts';
import type { Plan } from '../../src/core/plan.ts';
import type { SessionEvent } from '../../src/core/session-event.ts';
import type { Life } from './world.ts';

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
};

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
  /** Turns that are accepted and have not ended. */
  unfinished(): number;
  /** The run is over. */
  close?(): void;
};
