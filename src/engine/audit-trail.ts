/**
 * The audit rows of a call without a session and of all its nested calls. Intents are durable before they resolve. Outcomes are written in the
 * background while the call continues, and all of them before the outermost call is answered: waiting for each row would cost a nested call
 * one round trip more.
 */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { Logger } from '../ports/runtime.ts';
import type { CallScope } from './tool-call.ts';

export type AuditTrail = {
  begin: NonNullable<CallScope['begin']>;
  audit: CallScope['audit'];
  /**
   * Resolves when all rows are written. Throws `unavailable` when a row is missing and no call had begun. Once a call has begun its caller
   * gets the true answer, and the audit keeps `outcome_unknown`.
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
      // The Catalog keeps one row for each call id, so writing a row twice is harmless.
      const written = write(rows).catch(() => write(rows));
      // `written()` reports it.
      written.catch(() => undefined);
      writing.push(written);
    },
    async written() {
      const failures = (await Promise.allSettled(writing)).flatMap((row) => (row.status === 'rejected' ? [row.reason as unknown] : []));
      const cause = refusal ?? failures[0];
      if (cause === undefined) return;
      if (!hasBegun) throw notAudited(cause);
      if (failures.length > 0) log.error('outcomes of calls are not in the audit', { rows: failures.length, cause: String(cause) });
    },
  };
}

function notAudited(cause: unknown): Problem {
  const detail = 'The audit cannot be written now, so the call had no effect. Send it again.';
  return new Problem('unavailable', detail, { retryAfterMs: limits.defaultRetryAfterMs }, { cause });
}
