/** One log of the audit, a hash chain (`objects/shared/audit-log.ts`): how it is read and checked. */
import type { AuditFault, AuditFilter, AuditRow } from '../core/records/audit.ts';

/** `before`: exclusive upper bound of the numbers; absent: from the newest row. */
export type LogRequest = AuditFilter & { before?: number; limit: number };

/** `at`: when the row was stored, milliseconds since the epoch; never decreases within a log. */
export type LogEntry = { number: number; at: number; text: string };

/** Newest first. All rows from `next` on were considered; 0: the whole log. `nextAt`: no unread row was stored later. */
export type LogPage = { entries: LogEntry[]; next: number; nextAt: number };

/** A row and the hash of the log up to and including it. */
export type LogHead = { number: number; at: number; hash: string };

/** `head`: of this log, as the Catalog received it. `after`: the last row that was checked before. */
export type LogCheckRequest = { after?: number; limit: number; head?: LogHead };
export type LogCheck = {
  from: number;
  through: number;
  signed: number;
  /** Why the retention was not followed at the last attempt; null: it was. */
  retentionFault: string | null;
  isDone: boolean;
  fault: Omit<AuditFault, 'id' | 'log'> | null;
};

/** Heads that were signed again after a change of the master key. `next`: the last one that was looked at; null at the end. */
export type RenewedSignatures = { next: number | null; signed: number };

/** One shard, a Durable Object. */
export interface AuditShardPort {
  append(rows: readonly AuditRow[]): Promise<void>;
  read(request: LogRequest): Promise<LogPage>;
  check(request: LogCheckRequest): Promise<LogCheck>;
  /** As `renewHeadSignatures` in `objects/shared/audit-chain.ts`. */
  renewSignatures(after: number): Promise<RenewedSignatures>;
}
