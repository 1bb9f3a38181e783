/**
 * The native events of a session's log (contract §5). The log is authoritative: the transcript, the streams of every dialect, resumed
 * streams and the state of a turn are folds over it. The content of a numbered event never changes. New kinds may be added, existing
 * ones are not changed.
 */
import type { ApprovalVerdict, AskedEffect, AskKind } from '../policy/approval.ts';
import type { Usage } from '../model/chat-event.ts';
import type { DroppedItem } from '../model/dropped.ts';
import type { Citation } from '../model/citation.ts';
import type { GuardDecision } from '../policy/guard.ts';
import type { EditionPointer } from '../toolset/edition-tool.ts';
import type { ElicitationAction } from '../servers/elicitation.ts';
import type { InputRequest } from '../tools/mcp-input.ts';
import type { InputPart, Message, Via } from '../model/message.ts';
import type { Issue, ProblemBody } from '../problem.ts';
import type { Repair } from '../tools/argument-repair.ts';
import type { ContentBlock, ToolResultCode } from '../tools/tool.ts';
import type { Proposal } from '../tools/ui-tool.ts';
import type { ReplayEventBody } from './replay-event.ts';

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
  | 'internal';

type OfStep = { turn: string; step: number };
type OfCall = OfStep & { callId: string };
/** `parent`: for an inner call, its outer call in the step. */
type OfAnyCall = OfCall & { parent?: string };
/** `more`: with `parent`, the number of further questions under that call in the same batch, so that readers wait for the last one. */
type OfQuestion = OfAnyCall & { more?: number; name: string; canonical: string; arguments: Record<string, unknown> };
/** `cost`: in USD. Absent: the tool has no price, or was not called. */
type OfResult = OfCall & { canonical: string | null; isError: boolean; code?: ToolResultCode; content: ContentBlock[]; cost?: number };

export type SessionEventBody =
  /**
   * The conversation from before this session: a client's resent history, or the prefix of a fork. `gathered`: the tools gathered
   * there.
   */
  | { type: 'history'; messages: Message[]; gathered?: readonly { canonical: string; name: string }[] }
  | { type: 'turn-start'; turn: string; input: InputPart[]; model: string; agent?: string; edition?: EditionPointer }
  | ({ type: 'step-start' } & OfStep)
  | ({ type: 'text-delta'; text: string } & OfStep)
  | ({ type: 'reasoning-delta'; text: string } & OfStep)
  | ({ type: 'tool-input-start'; name: string; canonical: string | null; via: Via | null; nativeId?: string } & OfCall)
  | ({ type: 'tool-input-delta'; delta: string } & OfCall)
  | ({
      type: 'tool-input-end';
      arguments: Record<string, unknown> | null;
      repaired: boolean;
      /** With `repaired`: only closing brackets were missing, and the stream ended properly. */
      closersOnly?: boolean;
      /** It stood in the text of a reply that could have native calls. */
      recovered?: true;
      /** Only if `arguments` is null: the original text, and why it cannot be used. */
      raw?: string;
      fault?: 'truncated' | 'invalid_json';
    } & OfCall)
  /**
   * A call is about to be attempted. Together with its `tool-result` these are the two rows of an effect; one without the other means
   * that the process died in between. `attempt` counts from 1; only `safe` calls have a second attempt. `cost`: what the call costs if its
   * result does not say more (USD).
   */
  | ({ type: 'tool-start'; attempt: number; cost?: number } & OfCall)
  /**
   * A person must decide. `entry` is the wire name of the toolset entry, `name` the name that the model used; `expiresAt` is ISO
   * 8601.
   */
  | ({
      type: 'approval-required';
      entry: string;
      reason: string;
      /** The kind of the question, and what a remembered rule would apply to (`approval.ts`). */
      ask: AskKind;
      target: string | null;
      /** The effects that require approval, bounded; `effectCount` counts all. */
      effects: readonly AskedEffect[];
      effectCount: number;
      several?: true;
      /** What an approval is bound to (`approval.ts`). */
      binding: readonly string[];
      /** Counts the questions of the call from 1: its effects changed after the earlier ones were approved. */
      round: number;
      expiresAt: string;
    } & OfQuestion)
  /** `by`: id of the key that decided, `link`, or `clock` for `expire`. `reason`: of the person who decided. `remember`: as rules of the session. */
  | ({ type: 'approval-decided'; decision: ApprovalVerdict; by: string; reason?: string; remember?: 'session' } & OfAnyCall)
  /**
   * A tool calls a tool: `parent` is the outer call in the step, `callId` the id of the inner call (`ports/call-journal.ts`).
   * Together with its `inner-result` these are the two rows of an effect. The result returned to made code is stored beside the log;
   * `content` is shortened for readers.
   */
  | ({
      type: 'inner-call';
      parent: string;
      name: string;
      canonical: string | null;
      via: Via | null;
      arguments: Record<string, unknown>;
    } & OfCall)
  | ({ type: 'inner-result'; parent: string; durationMs: number } & OfResult)
  /** Progress that the server of a tool reports during a call: rate-limited, not every update. */
  | ({ type: 'tool-progress'; progress: number; total?: number; message?: string } & OfCall)
  /**
   * The server of a tool asks a person something, and the call is repeated with the answer. `requests`: by the server's own keys, as
   * screened by `core/servers/elicitation.ts`. `round` counts the questions of one call from 1. The server's `state` is stored beside the
   * log.
   */
  | ({
      type: 'input-required';
      entry: string;
      server: string;
      requests: Readonly<Record<string, InputRequest>>;
      round: number;
      expiresAt: string;
    } & OfQuestion)
  /** The answers, without the content of forms. `by`: id of the key, or `clock`, which declines. */
  | ({ type: 'input-given'; round: number; actions: Readonly<Record<string, ElicitationAction>>; by: string } & OfAnyCall)
  /** The client runs the tool: `name` is one of the tools in the request. */
  | ({ type: 'client-tool-required' } & OfQuestion)
  /**
   * The guard of the workspace decided on a call. `before`: a call that resumes uses this decision; `arguments`: those that the call runs
   * with. `after`: about its result, unless the guard allowed it. `of`: hash of the call that was asked about. `refused`: the call may not run.
   */
  | ({ type: 'guard-decided'; stage: 'before' | 'after' } & GuardDecision & OfAnyCall)
  /** `name`: the name that the model used. */
  | ({
      type: 'tool-result';
      name: string;
      via: Via | null;
      structuredContent?: unknown;
      issues?: Issue[];
      repaired?: Repair[];
    } & OfResult)
  /** What the request asked for and `model` was not sent, in the terms of the request; once for each model that is called. */
  | ({ type: 'dropped'; model: string; items: DroppedItem[] } & OfStep)
  /** Opaque to everything but the adapter of `provider`; sent back unchanged. */
  | ({ type: 'native'; provider: string; data: unknown } & OfStep)
  /** An image that the model made, as base64. Models are not sent it again. */
  | ({ type: 'image'; mediaType: string; data: string } & OfStep)
  /** Sources of the step's text. */
  | ({ type: 'citations'; citations: Citation[] } & OfStep)
  /** `model`: the model that was called; a step may have called several. */
  | ({ type: 'usage'; usage: Usage; model?: string } & OfStep)
  /** `inOrder`: the calls of the step run one after the other. */
  | ({ type: 'step-end'; reason: string; model: string; inOrder?: true } & OfStep)
  /** After a failed reply: `model`, which was called, and the `code` of the problem. Without them the process died during the reply. */
  | ({ type: 'step-restart'; from: number; model?: string; code?: string } & OfStep)
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
  | { type: 'turn-end'; turn: string; status: TurnStatus; reason: TurnEndReason; usage: Usage }
  | ReplayEventBody;

/** `id` counts from 1 in each session without gaps; `at` is milliseconds since the epoch. */
export type SessionEvent = SessionEventBody & { id: number; at: number };
