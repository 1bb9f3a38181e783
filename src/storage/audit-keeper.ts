/** The scheduled work of an audit log: signs its newest row. */
import type { LogHead } from '../ports/audit-log.ts';
import { type SignedLog, signedThrough, signHead } from './audit-chain.ts';

/** A row is signed at most this long after it was stored. */
const signAfterMs = 60_000;

export type AuditKeeper = {
  /** Milliseconds since the epoch; null: nothing is to be done. */
  nextDue(): number | null;
  runDue(): Promise<void>;
};

/** `report`: receives each new head. */
export function createAuditKeeper(log: SignedLog, report: (head: LogHead) => Promise<void>): AuditKeeper {
  const { sql } = log;
  const signDue = (): number | null => {
    const query = 'SELECT at FROM audit_log WHERE number > ? ORDER BY number LIMIT 1';
    const oldest = sql.exec<{ at: number }>(query, signedThrough(log)).toArray()[0];
    return oldest === undefined ? null : oldest.at + signAfterMs;
  };
  let reported = 0;
  return {
    nextDue: signDue,
    async runDue() {
      const due = signDue();
      if (due !== null && due <= log.now()) await signHead(log);
      const query = 'SELECT number, at, hash FROM audit_heads ORDER BY number DESC LIMIT 1';
      const head = sql.exec<LogHead>(query).toArray()[0];
      if (head === undefined || head.number <= reported) return;
      await report(head);
      reported = head.number;
    },
  };
}
