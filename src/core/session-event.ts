/**
 * The native events of a session's log (DESIGN §5). The log is the truth: transcript, streams of every dialect, resume and
 * the turn's own state are folds over it. A number never changes its content. New kinds may be added, none changed.
 */
import type { ApprovalVerdict, AskedEffect, AskKind } from './approval.ts';
import type { Usage } from './chat-event.ts';
import type { EditionPointer } from './edition-tool.ts';
import type { ElicitationAction } from './elicitation.ts';
import type { InputRequest } from './mcp-input.ts';
import type { InputPart, Message, Via } from './message.ts';
import type { Issue, ProblemBody } from './problem.ts';
import type { ContentBlock, ToolResultCode } from './tool.ts';
import type { Proposal } from './ui-tool.ts';

export type TurnStatus = 'completed' | 'failed' | 'cancelled' | 'interrupted';

/** Why a turn ended; `stop` is the model's own end. */
export type TurnEndReason =
  | 'stop'
  | 'length'
  | 'content_filter'
  | 'max_steps'
  | 'max_tokens'
  | 'max_cost'
  | 'timeout'
  | 'cancelled'
  | 'upstream_error'
  /** The service died in it too often without getting further. */
  | 'recovery_limit'
  /** A newer release wrote its log: this one cannot go on from there. Before format 2: the service had died in it. */
  | 'restarted'
  | 'internal';

/** Raised when a fold of old logs would need to know: turns store the format that they were accepted with. */
export const logFormat = 2;

export type SessionEventBody =
  /** The conversation as it was before this session: a client's resent history, or a fork's prefix. `gathered`: the tools that it had come to there. */
  | { type: 'history'; messages: Message[]; gathered?: readonly { canonical: string; name: string }[] }
  | { type: 'turn-start'; turn: string; input: InputPart[]; model: string; agent?: string; edition?: EditionPointer }
  | { type: 'step-start'; turn: string; step: number }
  | { type: 'text-delta'; turn: string; step: number; text: string }
  | { type: 'reasoning-delta'; turn: string; step: number; text: string }
  | {
      type: 'tool-input-start';
      turn: string;
      step: number;
      callId: string;
      name: string;
      canonical: string | null;
      via: Via | null;
      nativeId?: string;
    }
  | { type: 'tool-input-delta'; turn: string; step: number; callId: string; delta: string }
  | {
      type: 'tool-input-end';
      turn: string;
      step: number;
      callId: string;
      arguments: Record<string, unknown> | null;
      repaired: boolean;
      /** With `repaired`: nothing but closing brackets was missing, and the stream had ended properly. */
      closersOnly?: boolean;
      /** Only when `arguments` is null: the text as it came, and why it cannot be used. */
      raw?: string;
      fault?: 'truncated' | 'invalid_json';
    }
  /**
   * A call is about to be tried: with its `tool-result` the two rows of an effect. One without the other means that the
   * process died in between. `attempt` counts from 1; only `safe` calls have a second.
   */
  | { type: 'tool-start'; turn: string; step: number; callId: string; attempt: number }
  /** A person is asked. `entry` is the wire name of the toolset entry, `name` what the model said; `expiresAt` is ISO 8601. */
  | {
      type: 'approval-required';
      turn: string;
      step: number;
      callId: string;
      /** Of an inner call: the call of the step that it is beneath. The same below. */
      parent?: string;
      /** With `parent`: questions beneath that call which follow at once, so that who reads on waits for the last. The same below. */
      more?: number;
      name: string;
      canonical: string;
      entry: string;
      arguments: Record<string, unknown>;
      reason: string;
      /** What kind of thing is asked for, and what a remembered rule would be about (`approval.ts`). */
      ask: AskKind;
      target: string | null;
      /** What the call would do that requires approval, bounded; `effectCount` counts all. Absent in logs of older releases; the same below. */
      effects?: readonly AskedEffect[];
      effectCount?: number;
      several?: true;
      /** What a yes is bound to (`approval.ts`). */
      binding?: readonly string[];
      /** Counts the questions of the call from 1: its effects changed after the earlier ones were approved. */
      round?: number;
      expiresAt: string;
    }
  /** `by`: id of the key that decided, `link`, or `clock` for `expire`. */
  | { type: 'approval-decided'; turn: string; step: number; callId: string; parent?: string; decision: ApprovalVerdict; by: string }
  /**
   * A tool calls a tool: `parent` is the call of the step that it is beneath, `callId` the inner call's own (`ports/call-journal.ts`). With its
   * `inner-result` the two rows of an effect. What made code is given back is kept beside the log; `content` is shortened for readers.
   */
  | {
      type: 'inner-call';
      turn: string;
      step: number;
      callId: string;
      parent: string;
      name: string;
      canonical: string | null;
      via: Via | null;
      arguments: Record<string, unknown>;
    }
  | {
      type: 'inner-result';
      turn: string;
      step: number;
      callId: string;
      parent: string;
      canonical: string | null;
      isError: boolean;
      code?: ToolResultCode;
      content: ContentBlock[];
      durationMs: number;
    }
  /** What a tool's server tells of a call under way: now and then, never all of it. */
  | { type: 'tool-progress'; turn: string; step: number; callId: string; progress: number; total?: number; message?: string }
  /**
   * The server of a tool asks a person something, and the call is made again with the answer. `requests`: by the server's own keys, as
   * `core/elicitation.ts` let them pass. `round` counts the questions of one call from 1. What the server wants back is kept beside the log.
   */
  | {
      type: 'input-required';
      turn: string;
      step: number;
      callId: string;
      parent?: string;
      more?: number;
      name: string;
      canonical: string;
      entry: string;
      arguments: Record<string, unknown>;
      server: string;
      requests: Readonly<Record<string, InputRequest>>;
      round: number;
      expiresAt: string;
    }
  /** The answers, without what was written into forms. `by`: id of the key, or `clock`, which declines. */
  | {
      type: 'input-given';
      turn: string;
      step: number;
      callId: string;
      parent?: string;
      round: number;
      actions: Readonly<Record<string, ElicitationAction>>;
      by: string;
    }
  /** The caller is to run it: `name` is one of the tools that the request brought. */
  | {
      type: 'client-tool-required';
      turn: string;
      step: number;
      callId: string;
      parent?: string;
      more?: number;
      name: string;
      canonical: string;
      arguments: Record<string, unknown>;
    }
  | {
      type: 'tool-result';
      turn: string;
      step: number;
      callId: string;
      /** The name the model used. */
      name: string;
      canonical: string | null;
      via: Via | null;
      isError: boolean;
      code?: ToolResultCode;
      content: ContentBlock[];
      structuredContent?: Record<string, unknown>;
      issues?: Issue[];
    }
  /** Opaque to everyone but the adapter of `provider`; goes back as it came. */
  | { type: 'native'; turn: string; step: number; provider: string; data: unknown }
  /** `model`: who was asked; a step may have asked several. */
  | { type: 'usage'; turn: string; step: number; usage: Usage; model?: string }
  | { type: 'step-end'; turn: string; step: number; reason: string; model: string }
  | { type: 'step-restart'; turn: string; step: number; from: number }
  /** The turn goes on after its process died. `attempt` counts the turn's recoveries from 1. */
  | { type: 'turn-resume'; turn: string; attempt: number }
  /** Said while the turn waited: the next step answers it, too. */
  | { type: 'turn-input'; turn: string; input: InputPart[] }
  /** From here on models read `summary` in place of the turns up to and including `through`. One row: old or new, never a mix. */
  | { type: 'compaction'; turn: string; through: string; summary: string }
  /** For the person, before the turn's end: the best first. */
  | ({ type: 'proposal'; turn: string } & Proposal)
  | { type: 'error'; turn: string; problem: ProblemBody }
  | { type: 'turn-end'; turn: string; status: TurnStatus; reason: TurnEndReason; usage: Usage };

/** `id` counts from 1 in each session without gaps; `at` is milliseconds since the epoch. */
export type SessionEvent = SessionEventBody & { id: number; at: number };
