/**
 * A session's record of the nested calls of an open call, so that a call that waited or was interrupted continues without repeating the ones
 * that finished. A nested call's id is its parent's id, a dot and its position from 1: `call_x.2.1`. Deleted when the outermost call ends.
 */
import type { GivenApproval } from '../core/policy/approval.ts';
import type { GivenInput } from '../core/tools/mcp-input.ts';
import type { Via } from '../core/model/message.ts';
import type { ToolResult } from '../core/tools/tool.ts';

export type InnerCallStart = {
  callId: string;
  /** The outermost call: of a step, or a direct call. */
  root: string;
  requested: string;
  canonical: string | null;
  via: Via | null;
  arguments: Record<string, unknown>;
  /** SHA-256 (hex) of name, entry and arguments: a different one at the same position means that the code changed its path. */
  fingerprint: string;
};

/**
 * `attempts`: how often the call was started since it last waited. `order`: its position among the finished calls of a root, from 1; null: not
 * finished. With an order and no result the call is repeated and delivered in that position, since its effect was on discarded files.
 */
export type JournalEntry = {
  callId: string;
  canonical: string | null;
  fingerprint: string;
  attempts: number;
  order: number | null;
  result: ToolResult | null;
};

export interface CallJournal {
  /** When the root first started, in milliseconds since the epoch; the same in every run. */
  startedAt(root: string): number;
  find(callId: string): JournalEntry | null;
  /** Returns the entries of all nested calls of the root, unordered, without results. */
  entriesUnder(root: string): Omit<JournalEntry, 'result'>[];
  /** Records the start durably, before the effect. */
  begin(call: InnerCallStart): void;
  /** Records that the call waits and has had no effect: the question is bound to exactly this call. */
  markWaiting(call: InnerCallStart): void;
  /** Returns its order; null if the journal is full, which then only records that the call ran. `keep` false: stores no result, see `JournalEntry`. */
  finish(
    call: InnerCallStart,
    result: ToolResult,
    options: { durationMs: number; keep: boolean; cost?: number | undefined },
  ): number | null;
  /** Returns the decision on a nested call; null: not asked or not decided. `approved`: what an approval is bound to. `reason`: of a denial. */
  verdict(callId: string): { decision: 'approve' | 'deny' | 'expire'; approved: GivenApproval | null; reason?: string | undefined } | null;
  /** Returns the input that a nested call asked for, with the answers, and how often it has asked. */
  given(callId: string): { input: GivenInput | null; rounds: number };
}
