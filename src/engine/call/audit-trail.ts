/**
 * The audit rows of a call without a session and of all its nested calls. Intents are durable before `begin` resolves. Outcomes are written
 * in the background while the call continues; all are written before the response to the outermost call, which saves each nested call
 * one round trip.
 */
import type { AuditRow } from '../../core/audit.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { CallScope } from './tool-call.ts';

export type AuditTrail = {
  begin: NonNullable<CallScope['begin']>;
  audit: CallScope['audit'];
  /**
   * Resolves when all rows are written. Throws `unavailable` when a row is missing and no call had started. Once a call has started, its
   * caller gets the result, and the audit retains `outcome_unknown`.
   */
  written(): Promise<void>;
};

export function createAuditTrail(write: (rows: AuditRow[]) => Promise<void>, log: Logger): AuditTrail {
  const writing: Promise<void>[] = [];
  let hasBegun = false;
  let refusal: unknown;
  return {
    async begin(row) {
      try {
        await write([{ ...row, sequence: null }]);
        hasBegun = true;
      } catch (error) {
        refusal = error;
        throw error;
      }
    },
    audit(row) {
      const rows = [{ ...row, sequence: null }];
      // The Catalog stores one row per call id, so writing a row twice is safe.
      const written = write(rows).catch(() => write(rows));
      // `written()` reports the failure.
      written.catch(() => undefined);
      writing.push(written);
    },
    async written() {
      const failures = (await Promise.allSettled(writing)).flatMap((row) => (row.status === 'rejected' ? [row.reason as unknown] : []));
      const cause = refusal ?? failures[0];
      if (cause === undefined) return;
      if (!hasBegun) throw notAudited(cause);
      if (failures.length > 0)
        log.error('outcomes of calls could not be written to the audit', { rows: failures.length, cause: String(cause) });
    },
  };
}

function notAudited(cause: unknown): Problem {
  const detail = 'The audit cannot be written at the moment, so the call had no effect. Retry it later.';
  return new Problem('unavailable', detail, { retryAfterMs: limits.defaultRetryAfterMs }, { cause });
}
