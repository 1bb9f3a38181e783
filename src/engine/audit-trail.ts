/**
 * The audit rows of a call without a session, those of the calls beneath it included: each is on its way the moment that its call has ended, and
 * all are written before the outermost is answered. One that waits for the row of each call beneath would wait as often as it calls.
 */
import type { AuditRow } from '../core/audit.ts';
import type { CallScope } from './tool-call.ts';

export type AuditTrail = {
  audit: CallScope['audit'];
  /** All are written; throws what went wrong with the first that is not. */
  written(): Promise<void>;
};

export function createAuditTrail(write: (rows: AuditRow[]) => Promise<void>): AuditTrail {
  const writing: Promise<void>[] = [];
  return {
    audit(row) {
      const written = write([{ ...row, sequence: null }]);
      // Whoever waits for all of them hears of it.
      written.catch(() => undefined);
      writing.push(written);
    },
    async written() {
      await Promise.all(writing);
    },
  };
}
