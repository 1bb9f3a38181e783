/**
 * Deletes the rows of an audit log that are older than the workspace keeps them, after it exported them to R2 where a bucket is bound. The
 * last deleted row becomes a signed checkpoint, from which the chain stays provable. A log that is full loses its oldest rows early in the
 * same way, so that calls do not fail. Rows that are not as they were written are evidence: they and all later ones are kept. A run that was
 * interrupted is repeated: an export has the same name again, and the deletion is one transaction.
 */
import { limits } from '../../core/limits/limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { isClockSettled } from '../../platform/settled-clock.ts';
import { checkLog, insertHead, macOfHead, type SignedLog } from './audit-chain.ts';
import type { StoredRow } from './audit-log.ts';

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
/** The clock is followed by at most this much per run, so that a clock that is far ahead for a short time deletes little. */
const maxClockStepMs = 2 * dayMs;
const rowsPerBatch = 2_000;
const maxBatchesPerRun = 5;
const maxFaultLength = 300;

const fullFault = 'the log is full, so its oldest rows were deleted early; keep rows for fewer days, or use more logs';

export type RetentionNeeds = {
  /** How many days rows are kept. */
  days(): Promise<number>;
  transact(work: () => void): void;
  /** Where rows are exported to before they are deleted; null: nowhere. */
  bucket: Pick<R2Bucket, 'put'> | null;
  /** Whether the oldest rows must be deleted before their time. */
  isFull(): boolean;
  logFault(cause: string): void;
};

type State = { swept_at: number | null; sweep_due: number | null };

/** Returns when `sweepLog` is due; null: the log is empty. */
export function sweepDue({ sql, now }: SignedLog): number | null {
  const oldest = sql.exec<{ at: number }>('SELECT at FROM audit_log ORDER BY number LIMIT 1').toArray()[0];
  if (oldest === undefined) return null;
  const due = sql.exec<State>('SELECT swept_at, sweep_due FROM audit_state').one().sweep_due ?? oldest.at + dayMs;
  // A time that is further ahead than any run sets it comes from a wrong clock.
  return due > now() + dayMs ? now() : due;
}

/** Deletes what is too old. Never throws: what cannot be exported or is broken stays, is logged, and is retried. */
export async function sweepLog(log: SignedLog, needs: RetentionNeeds): Promise<void> {
  const { sql } = log;
  const now = log.now();
  const { swept_at: sweptAt } = sql.exec<State>('SELECT swept_at, sweep_due FROM audit_state').one();
  const setState = 'UPDATE audit_state SET swept_at = ?, sweep_due = ?, fault = ?';
  // The first run only remembers the time.
  const time = sweptAt === null ? now : Math.min(now, sweptAt + maxClockStepMs);
  // Stored first, so that a run that fails or dies is repeated later.
  sql.exec('UPDATE audit_state SET sweep_due = ?', now + hourMs);
  if (!(await isClockSettled())) return;
  try {
    const wasFull = needs.isFull();
    const before = sweptAt === null ? Number.NEGATIVE_INFINITY : time - (await needs.days()) * dayMs;
    const isUnfinished = await expire(log, needs, before);
    // After a run of a full log, its fault is reported until the next day.
    const hasMore = wasFull ? needs.isFull() : isUnfinished;
    const isBehind = sweptAt === null || time < now;
    const due = hasMore ? now : isBehind && !wasFull ? now + hourMs : now + dayMs;
    sql.exec(setState, hasMore ? sweptAt : time, due, wasFull ? fullFault : null);
    if (wasFull) needs.logFault(fullFault);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    sql.exec(setState, sweptAt, now + hourMs, fault.slice(0, maxFaultLength));
    needs.logFault(fault);
  }
}

/** Returns true if more rows are left than one run deletes. */
async function expire(log: SignedLog, needs: RetentionNeeds, before: number): Promise<boolean> {
  for (let batch = 0; batch < maxBatchesPerRun; batch += 1) {
    if ((await expireBatch(log, needs, before)) < rowsPerBatch) return false;
  }
  return true;
}

async function expireBatch(log: SignedLog, { bucket, transact, isFull }: RetentionNeeds, before: number): Promise<number> {
  const { sql } = log;
  const query = 'SELECT number, at, call, entry, hash FROM audit_log ORDER BY number LIMIT ?';
  const oldest = sql.exec<StoredRow & { hash: string }>(query, rowsPerBatch).toArray();
  const end = isFull() ? -1 : oldest.findIndex(({ at }) => at >= before);
  const rows = end === -1 ? oldest : oldest.slice(0, end);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const { fault } = await checkLog(log, { limit: rows.length });
  if (fault !== null) throw new Error(`row ${log.name}.${fault.number} is broken (${fault.reason}); it and later rows are kept`);
  const mac = await macOfHead(log, last, true);
  if (bucket !== null) {
    const head = { number: last.number, at: last.at, hash: last.hash, mac };
    const lines = [...rows.map((row) => toLine(log.name, row)), JSON.stringify({ log: log.name, head })];
    await exportLines(bucket, exportName(log.workspace, log.name, first), lines);
  }
  transact(() => {
    sql.exec('DELETE FROM audit_log WHERE number <= ?', last.number);
    sql.exec('DELETE FROM audit_heads WHERE number < ?', last.number);
    insertHead(log, last, { isCheckpoint: true, mac });
  });
  return rows.length;
}

/** Writes one object. Throws if the bucket does not confirm it in time. */
async function exportLines(bucket: Pick<R2Bucket, 'put'>, name: string, lines: readonly string[]): Promise<void> {
  const put = bucket.put(name, `${lines.join('\n')}\n`, { httpMetadata: { contentType: 'application/x-ndjson' } });
  await withTimeout(systemClock, put, limits.exportTimeoutMs, () => {
    throw new Error('the export was not stored in time');
  });
}

/** The same for the same first row, so that a repeated export replaces the interrupted one. */
function exportName(workspace: string, log: string, { number, at }: { number: number; at: number }): string {
  return `audit/${workspace}/${log}/${new Date(at).toISOString().slice(0, 10)}-${String(number).padStart(12, '0')}.ndjson`;
}

function toLine(log: string, { entry, ...row }: StoredRow & { hash: string }): string {
  // `entry` is JSON, unchanged, because the hash is of its text.
  return `{"log":${JSON.stringify(log)},${JSON.stringify(row).slice(1, -1)},"entry":${entry}}`;
}
