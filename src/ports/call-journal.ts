/**
 * What a session remembers of the calls beneath an open call, so that one that waited or died goes on without running again what had
 * finished. An inner call's id is its parent's with a dot and its place, from 1: `call_x.2.1`. Everything is dropped when the outermost call has its result.
 */
import type { Approved } from '../core/approval.ts';
import type { GivenInput } from '../core/mcp-input.ts';
import type { Via } from '../core/message.ts';
import type { ToolResult } from '../core/tool.ts';

export type InnerCallStart = {
  callId: string;
  /** The call of the step, or the direct call, that all of it is beneath. */
  root: string;
  requested: string;
  canonical: string | null;
  via: Via | null;
  arguments: Record<string, unknown>;
  /** SHA-256 (hex) over name, entry and arguments: another one at the same place is another program. */
  fingerprint: string;
};

/**
 * `attempts`: times it was begun since it last waited. `order`: counts the finished ones of a root from 1; null: it has not finished. With an
 * order and no result it is to be made again, and answered in that place: its effect was on files that went with the run.
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
  /** When the root was first begun, the same in every run; milliseconds since the epoch. */
  startedAt(root: string): number;
  find(callId: string): JournalEntry | null;
  /** All that the root's calls left, in no order, without results. */
  beneath(root: string): Omit<JournalEntry, 'result'>[];
  /** Durably, before the effect. */
  begin(call: InnerCallStart): void;
  /** It has to wait, and has done nothing: what it asks for is asked for exactly this call. */
  pause(call: InnerCallStart): void;
  /** Answers its order; null: the journal is full, and holds no more than that it ran. `keep` false: as `JournalEntry` without a result. */
  finish(call: InnerCallStart, result: ToolResult, options: { durationMs: number; keep: boolean }): number | null;
  /** The decision on an inner call; null: it was not asked about, or is not decided. `approved`: of a yes. */
  verdict(callId: string): { decision: 'approve' | 'deny' | 'expire'; approved: Approved | null } | null;
  /** What an inner call asked for before, with the answers, and how often it has asked. */
  given(callId: string): { input: GivenInput | null; rounds: number };
}
