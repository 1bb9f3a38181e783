/** Counts what keys, agents and workspaces use of their limits, and refuses what exceeds them (`core/usage-limits.ts`). */
import type { LimitedHolder, LimitHolder, LimitName } from '../core/usage-limits.ts';
import type { UsageReport } from '../core/records/usage.ts';

/** What is left of a limit. `remaining` is a lower bound, since other isolates return what they do not use. */
export type LimitStatus = LimitHolder & { limit: LimitName; max: number; remaining: number; resetsInMs: number };

/** `resetsAt`: milliseconds since the epoch; null for limits without a period. */
export type LimitUse = LimitHolder & { limit: LimitName; max: number; used: number; resetsAt: number | null };

/** What a call of a model may use, before it is known. */
export type CallEstimate = { tokens: number; cost: number };

export type Reservation = {
  /**
   * The call has ended. Only the first call counts. `unknown`: the estimate counts, of budgets too, since no report will have its cost.
   * `isReported`: whether a report will have it; default true, unless it is unknown.
   */
  settle(used: CallEstimate | 'unknown', isReported?: boolean): void;
};

/** All methods return at once, without a request, if `holders` is empty. Refusals are the problem `rate_limited`. */
export interface Limiter {
  countRequest(workspace: string, holders: readonly LimitedHolder[]): Promise<void>;
  /** What this isolate knows of the limits of requests and tokens, without asking. */
  status(workspace: string, holders: readonly LimitedHolder[]): LimitStatus[];
  /** Reserves tokens and cost for a call of a model. */
  reserveCall(workspace: string, holders: readonly LimitedHolder[], estimate: CallEstimate): Promise<Reservation>;
  /** Reserves the cost of a call of a tool from the budgets among the limits. undefined: there are none. */
  reserveCost(workspace: string, holders: readonly LimitedHolder[], cost: number): Promise<Reservation | undefined>;
  /** Reports the seconds that code has computed. */
  spendSandboxSeconds(workspace: string, holders: readonly LimitedHolder[], seconds: number): void;
  /** Refuses if no seconds are left. */
  requireSandboxSeconds(workspace: string, holders: readonly LimitedHolder[]): Promise<void>;
  /** Counts a turn that is accepted, or continues (`resumes`: it is never refused). */
  startTurn(workspace: string, holders: readonly LimitedHolder[], turn: string, options?: { resumes: boolean }): Promise<void>;
  /** Never throws: a turn whose end is lost stops counting by itself. */
  endTurn(workspace: string, holders: readonly LimitedHolder[], turn: string): Promise<void>;
  /** Refuses if nothing more may be stored. */
  requireStorage(workspace: string, holders: readonly LimitedHolder[]): Promise<void>;
  /** Replaces what a session stores; 0: it is deleted. Never throws: the next report corrects a lost one. */
  reportStorage(workspace: string, holders: readonly LimitedHolder[], session: string, bytes: number): Promise<void>;
  /** Counts the cost of reports, each once, for their holders with budgets. Throws when a counter cannot be reached. */
  charge(workspace: string, reports: readonly UsageReport[]): Promise<void>;
  /** What is used now, by holder and limit. */
  uses(workspace: string, holders: readonly LimitedHolder[]): Promise<LimitUse[]>;
}
