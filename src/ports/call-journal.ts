/**
 * What a session remembers of the calls beneath an open call, so that one that waited or died goes on without running again what had
 * finished. An inner call's id is its parent's with a dot and its place, from 1: `call_x.2.1`. Everything is dropped when the outermost call has its result.
 */
import type { GivenInput, InputRequired } from '../core/mcp-input.ts';
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
  /** SHA-256 (hex) over name and arguments: another one at the same place is another program. */
  fingerprint: string;
};

/** `attempts`: times it was begun. `order`: counts the finished ones of a root from 1. */
export type JournalEntry = { fingerprint: string; attempts: number; result: ToolResult | null; order: number | null };

export interface CallJournal {
  /** When the root was first begun, the same in every run; milliseconds since the epoch. */
  startedAt(root: string): number;
  find(callId: string): JournalEntry | null;
  /** Durably, before the effect. */
  begin(call: InnerCallStart): void;
  finish(call: InnerCallStart, result: ToolResult, durationMs: number): void;
  /** The person's word on an inner call; null: nobody was asked, or nobody has said. `host`: the one that was asked about. */
  verdict(callId: string): { approved: boolean; host: string | null } | null;
  /** What an inner call asked for before, with the answers, and how often it has asked. */
  given(callId: string): { input: GivenInput | null; rounds: number };
  keepInput(callId: string, input: InputRequired): void;
}
