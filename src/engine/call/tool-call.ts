/** One tool call: its request, what it may wait for, and its outcome. `call-scope.ts` has what a call runs with. */
import type { GuardVerdict } from '../../core/policy/guard.ts';
import type { ApprovalQuestion, GivenApproval } from '../../core/policy/approval.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { GivenInput, InputRequired } from '../../core/tools/mcp-input.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import type { ToolOutcome } from '../../ports/tool-executor.ts';
import type { Via } from '../../core/model/message.ts';
import type { Refusal } from '../../core/turn/turn-budget.ts';

export type ToolCallRequest = {
  callId: string;
  /** The call that made this nested call. */
  parent?: string;
  requested: string;
  /** null: the arguments could not be parsed; `fault` says why. */
  arguments: Record<string, unknown> | null;
  fault?: 'truncated' | 'invalid_json' | null;
  /** Repairing the JSON changed more than closing brackets: such a call does not run if its effect requires approval. */
  guessed?: boolean;
  /** It stood in the text of the model's reply: rules and settings that allow destructive calls do not apply to it. */
  recovered?: boolean;
  /** The result instead of running the call: a limit of the turn, or a denial. */
  refusal?: Refusal | null;
  /** What the approval of the last question about this call is bound to. Absent or null: it was not asked. */
  approved?: GivenApproval | null;
  /** The input that the call asked for, and how often it has asked. */
  given?: GivenInput | null;
  rounds?: number;
  /** Earlier attempts, and whether the last of them was interrupted. */
  attempts?: number;
  interrupted?: boolean;
  /** The call was in flight between requests when its process stopped: it is not retried, whatever the tool. */
  unrecoverable?: boolean;
};

/** An external answer is needed first: from the user, or from the client whose tool it is. `arguments`: the tool's own, secrets as names. `round`: number of the call's question, from 1. */
export type WaitFor =
  | { kind: 'approval'; tool: EditionTool; ask: ApprovalQuestion; round: number; arguments: Record<string, unknown> }
  | { kind: 'client'; tool: EditionTool }
  | { kind: 'input'; tool: EditionTool; input: InputRequired; arguments: Record<string, unknown> }
  /** Nested calls wait: this call is rerun when all of them are answered. */
  | { kind: 'inner'; tool: EditionTool; waiting: readonly WaitingInner[] };

/** `name`, `arguments`: as the code called it. `rounds`: how often it has asked for input before. */
export type WaitingInner = {
  callId: string;
  name: string;
  arguments: Record<string, unknown> | null;
  rounds: number;
  waitFor: Exclude<WaitFor, { kind: 'inner' }>;
};

export type CallOutcome = { answer: ToolCallAnswer } | { waitFor: WaitFor };

export type ToolCallAnswer = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  /** False: the call was refused before the tool ran. */
  ran: boolean;
  result: ToolResult;
  /** How it failed, as in `ToolOutcome`. */
  failed?: ToolOutcome['failed'];
  durationMs: number;
  /** USD that the call costs; absent: the tool has no price, or was not called. */
  cost?: number;
  /** How the guard of the workspace decided; absent: it was not asked. */
  guard?: GuardVerdict;
};

/** A call of a replay. `tool`: null for an unknown name. `arguments`: as the model gave them. */
export type ReplayedCall = {
  callId: string;
  requested: string;
  canonical: string | null;
  tool: EditionTool | null;
  arguments: Record<string, unknown> | null;
};

/**
 * `verdict`: of the policy; `allow` for the client's tools. `isSafe`: running it has no effect, as far as its tool says. `canRun`: it is safe,
 * allowed without approval, and does not depend on what only its session has.
 */
export type CallToAnswer = ReplayedCall & { verdict: 'allow' | 'ask' | 'deny'; isSafe: boolean; canRun: boolean };

export type CallRecording = {
  /** A call that is refused by its name or its arguments. */
  refused(call: ReplayedCall): void;
  /** Returns the recorded result; `run`: the call is to be made after all; null: the recording has none, and the replay ends. */
  answer(call: CallToAnswer): ToolResult | 'run' | null;
};
