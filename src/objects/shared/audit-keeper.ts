/** The scheduled work of an audit log: signs its newest row, and deletes old rows. */
import type { LogHead } from '../../ports/audit-log.ts';
import { type DueJob, dueJob } from './due-job.ts';
import { type SignedLog, signedThrough, signHead } from './audit-chain.ts';
import { type RetentionNeeds, sweepDue, sweepLog } from './audit-retention.ts';

/** A row is signed at most this long after it was stored. */
const signAfterMs = 60_000;

/** `report`: receives each new head. */
export function createAuditKeeper(log: SignedLog, retention: RetentionNeeds, report: (head: LogHead) => Promise<void>): DueJob {
  const { sql } = log;
  const signDue = (): number | null => {
    const query = 'SELECT at FROM audit_log WHERE number > ? ORDER BY number LIMIT 1';
    const oldest = sql.exec<{ at: number }>(query, signedThrough(log)).toArray()[0];
    if (oldest === undefined) return null;
    // A row whose time is ahead comes from a wrong clock.
    return oldest.at > log.now() ? log.now() : oldest.at + signAfterMs;
  };
  let reported = 0;
  const run = async (): Promise<void> => {
    const due = signDue();
    if (due !== null && due <= log.now()) await signHead(log);
    const sweep = sweepDue(log);
    if (retention.isFull() || (sweep !== null && sweep <= log.now())) await sweepLog(log, retention);
    const query = 'SELECT number, at, hash FROM audit_heads ORDER BY number DESC LIMIT 1';
    const head = sql.exec<LogHead>(query).toArray()[0];
    if (head === undefined || head.number <= reported) return;
    await report(head);
    reported = head.number;
  };
  return dueJob({
    nextDue() {
      const dues = [signDue(), sweepDue(log)].filter((due) => due !== null);
      return dues.length === 0 ? null : Math.min(...dues);
    },
    run,
  });
}
