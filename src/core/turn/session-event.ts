/**
 * The native events of a session's log (contract §5). The log is authoritative: the transcript, the streams of every dialect, resumed
 * streams and the state of a turn are folds over it. The content of a numbered event never changes. New kinds may be added, existing
 * ones are not changed.
 */
import type { ApprovalVerdict, AskedEffect, AskKind } from '../policy/approval.ts';
import type { Usage } from '../model/chat-event.ts';
import type { Citation } from '../model/citation.ts';
import type { GuardVerdict } from '../guard.ts';
import type { EditionPointer } from '../toolset/edition-tool.ts';
import type { ElicitationAction } from '../tools/elicitation.ts';
import type { InputRequest } from '../tools/mcp-input.ts';
import type { InputPart, Message, Via } from './message.ts';
import type { Issue, ProblemBody } from '../problem.ts';
import type { ContentBlock, ToolResultCode } from '../tools/tool.ts';
import type { Proposal } from '../tools/ui-tool.ts';

export type TurnStatus = 'completed' | 'failed' | 'cancelled' | 'interrupted';

/** Why a turn ended; `stop` means that the model ended it. */
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
  /** The process died too often in this turn without progress. */
  | 'recovery_limit'
  /** A newer release wrote the log, and this one cannot continue it. Before format 2: the process died during the turn. */
  | 'restarted'
  | 'internal';

/** Increased when a fold of old logs needs to know the difference: turns store the format that they were accepted with. */
export const logFormat = 2;

export type SessionEventBody =
  /**
   * The conversation from before this session: a client's resent history, or the prefix of a fork. `gathered`: the tools gathered
   * there.
   */
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
      /** With `repaired`: only closing brackets were missing, and the stream ended properly. */
      closersOnly?: boolean;
      /** Only if `arguments` is null: the original text, and why it cannot be used. */
      raw?: string;
      fault?: 'truncated' | 'invalid_json';
    }
  /**
   * A call is about to be attempted. Together with its `tool-result` these are the two rows of an effect; one without the other means
   * that the process died in between. `attempt` counts from 1; only `safe` calls have a second attempt.
   */
  | { type: 'tool-start'; turn: string; step: number; callId: string; attempt: number }
  /**
   * A person must decide. `entry` is the wire name of the toolset entry, `name` the name that the model used; `expiresAt` is ISO
   * 8601.
   */
  | {
      type: 'approval-required';
      turn: string;
      step: number;
      callId: string;
      /** For an inner call: its outer call in the step. Same below. */
      parent?: string;
      /**
       * With `parent`: the number of further questions under that call in the same batch, so that readers wait for the last one. Same
       * below.
       */
      more?: number;
      name: string;
      canonical: string;
      entry: string;
      arguments: Record<string, unknown>;
      reason: string;
      /** The kind of the question, and what a remembered rule would apply to (`approval.ts`). */
      ask: AskKind;
      target: string | null;
      /** The effects that require approval, bounded; `effectCount` counts all. Absent in logs of older releases; same below. */
      effects?: readonly AskedEffect[];
      effectCount?: number;
      several?: true;
      /** What an approval is bound to (`approval.ts`). */
      binding?: readonly string[];
      /** Counts the questions of the call from 1: its effects changed after the earlier ones were approved. */
      round?: number;
      expiresAt: string;
    }
  /** `by`: id of the key that decided, `link`, or `clock` for `expire`. */
  | { type: 'approval-decided'; turn: string; step: number; callId: string; parent?: string; decision: ApprovalVerdict; by: string }
  /**
   * A tool calls a tool: `parent` is the outer call in the step, `callId` the id of the inner call (`ports/call-journal.ts`).
   * Together with its `inner-result` these are the two rows of an effect. The result returned to made code is stored beside the log;
   * `content` is shortened for readers.
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
  /** Progress that the server of a tool reports during a call: rate-limited, not every update. */
  | { type: 'tool-progress'; turn: string; step: number; callId: string; progress: number; total?: number; message?: string }
  /**
   * The server of a tool asks a person something, and the call is repeated with the answer. `requests`: by the server's own keys, as
   * screened by `core/tools/elicitation.ts`. `round` counts the questions of one call from 1. The server's `state` is stored beside the
   * log.
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
  /** The answers, without the content of forms. `by`: id of the key, or `clock`, which declines. */
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
  /** The client runs the tool: `name` is one of the tools in the request. */
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
  /**
   * The guard of the workspace decided on a call. `before`: a call that resumes uses this decision; `arguments`: those that the call runs
   * with. `after`: about its result, unless the guard allowed it. `of`: hash of the call that was asked about. `refused`: the call may not run.
   */
  | {
      type: 'guard-decided';
      turn: string;
      step: number;
      callId: string;
      parent?: string;
      stage: 'before' | 'after';
      verdict: GuardVerdict;
      of: string;
      refused?: true;
      reason?: string;
      arguments?: Record<string, unknown>;
    }
  | {
      type: 'tool-result';
      turn: string;
      step: number;
      callId: string;
      /** The name that the model used. */
      name: string;
      canonical: string | null;
      via: Via | null;
      isError: boolean;
      code?: ToolResultCode;
      content: ContentBlock[];
      structuredContent?: Record<string, unknown>;
      issues?: Issue[];
    }
  /** Opaque to everything but the adapter of `provider`; sent back unchanged. */
  | { type: 'native'; turn: string; step: number; provider: string; data: unknown }
  /** An image that the model made, as base64. Models are not sent it again. */
  | { type: 'image'; turn: string; step: number; mediaType: string; data: string }
  /** Sources of the step's text. */
  | { type: 'citations'; turn: string; step: number; citations: Citation[] }
  /** `model`: the model that was called; a step may have called several. */
  | { type: 'usage'; turn: string; step: number; usage: Usage; model?: string }
  /** `inOrder`: the calls of the step run one after the other. */
  | { type: 'step-end'; turn: string; step: number; reason: string; model: string; inOrder?: true }
  /** After a failed reply: `model`, which was called, and the `code` of the problem. Without them the process died during the reply. */
  | { type: 'step-restart'; turn: string; step: number; from: number; model?: string; code?: string }
  /** The turn continues after its process died. `attempt` counts the turn's recoveries from 1. */
  | { type: 'turn-resume'; turn: string; attempt: number }
  /** Input sent while the turn waited; the next step answers it too. */
  | { type: 'turn-input'; turn: string; input: InputPart[] }
  /**
   * From here on models read `summary` in place of the turns up to and including `through`. One row, so a reader sees either the old
   * or the new conversation.
   */
  | { type: 'compaction'; turn: string; through: string; summary: string }
  /** For the person, before the end of the turn; best first. */
  | ({ type: 'proposal'; turn: string } & Proposal)
  /** `model`: the last one that failed. */
  | { type: 'error'; turn: string; problem: ProblemBody; model?: string }
  | { type: 'turn-end'; turn: string; status: TurnStatus; reason: TurnEndReason; usage: Usage };

/** `id` counts from 1 in each session without gaps; `at` is milliseconds since the epoch. */
export type SessionEvent = SessionEventBody & { id: number; at: number };
