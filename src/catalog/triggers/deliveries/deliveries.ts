/**
 * The deliveries of a workspace: stored once by trigger and id, replayed on request, and followed to the end of their turns.
 * `run-queue.ts` and `dispatcher.ts` send them to their sessions; `delivery-list.ts` shows them.
 */
import { Problem, quoted } from '../../../core/problem.ts';
import { type Delivery, type DeliveryStatus, isSettled, type Trigger, type TurnTrigger } from '../../../core/triggers/delivery.ts';
import type { TurnNotice } from '../../../core/triggers/callbacks/turn-notice.ts';
import type { AcceptedDelivery, DeliveryVerdict, NewDelivery } from '../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { requireNotDeleted } from '../../records/erasure.ts';
import { checkBacklog } from './backlog.ts';
import { setDeliveryStatus, queueRun } from './run-queue.ts';
import {
  deliveryRow,
  findDelivery,
  heldCount,
  isDeliveryInProgress,
  requireDelivery,
  toAcceptedDelivery,
  toDelivery,
  writePart,
} from './delivery-rows.ts';
import { sweepExcessDeliveries, sweepWeight } from './delivery-sweep.ts';
import type { DeliveryRow } from './delivery-rows.ts';

/** Synchronous, so that the caller can rely on the stored delivery. */
export function acceptDelivery(context: CatalogContext, delivery: NewDelivery): AcceptedDelivery {
  const { sql } = context;
  const { trigger, id, verdict } = delivery;
  // An isolate may have the webhook cached a little longer.
  requireNotDeleted(context, trigger);
  const known = findDelivery(sql, trigger, id);
  if (known !== null) {
    sql.exec('UPDATE deliveries SET repeats = repeats + 1 WHERE number = ?', known.number);
    return toAcceptedDelivery(known, true);
  }
  if (verdict.become === 'run') checkBacklog(context, trigger);
  return context.record(() => {
    const number = insert(context, delivery);
    applyVerdict(context, trigger, number, verdict);
    sweepExcessDeliveries(context, trigger);
    const accepted = stored(sql, number);
    sweepWeight(context, accepted.bytes);
    return toAcceptedDelivery(accepted, false);
  });
}

/** Throws `conflict` while it is in progress. */
export function replayDelivery(context: CatalogContext, trigger: Trigger, id: string, verdict: DeliveryVerdict): AcceptedDelivery {
  const { sql } = context;
  const { number, status } = requireDelivery(sql, trigger, id);
  if (!isSettled(status))
    throw new Problem(
      'conflict',
      `The delivery ${quoted(id)} is still ${status}. Wait until it has ended, or cancel its turn, then replay it.`,
    );
  if (verdict.become === 'run') checkBacklog(context, trigger);
  return context.record(() => {
    sql.exec('UPDATE deliveries SET run = run + 1, agent = NULL, session = NULL, session_key = NULL, turn = NULL WHERE number = ?', number);
    applyVerdict(context, trigger, number, verdict);
    return toAcceptedDelivery(stored(sql, number), false);
  });
}

/**
 * Updates the status of a turn's delivery and returns its number. A notice about an earlier run, or after its end, has no effect: returns
 * null.
 */
export function followTurn(context: CatalogContext, trigger: TurnTrigger, notice: TurnNotice): number | null {
  return context.record(() => {
    const row = findDelivery(context.sql, trigger, trigger.delivery);
    if (row === null || row.run !== trigger.run || row.turn !== notice.turn || isSettled(row.status)) return null;
    setDeliveryStatus(context, row, statusOf[notice.status], reasonOf(notice));
    return row.number;
  });
}

const statusOf: Readonly<Record<TurnNotice['status'], DeliveryStatus>> = {
  completed: 'completed',
  failed: 'failed',
  // The turn has ended without its intended result.
  interrupted: 'failed',
  cancelled: 'cancelled',
  waiting: 'waiting',
  running: 'running',
};

function reasonOf({ status, reason, problem }: TurnNotice): string | null {
  // The turn reached a limit: the user may want to raise it.
  if (status === 'completed' && reason !== 'stop') return `Its turn ended early: ${reason}.`;
  if (status !== 'failed' && status !== 'interrupted') return null;
  return typeof problem?.detail === 'string' ? problem.detail : reason;
}

/** Returns the newest delivery of each schedule that was not skipped, by name; none for a schedule without one. */
export function lastRunsOf({ sql }: CatalogContext, schedules: readonly string[]): Map<string, Delivery> {
  const query = `SELECT deliveries.* FROM json_each(?) AS schedule JOIN deliveries ON deliveries.number = (
    SELECT max((SELECT max(run.number) FROM deliveries AS run
      WHERE run.kind = 'schedule' AND run.name = schedule.value AND run.status = wanted.value)) FROM json_each(?) AS wanted)`;
  const rows = sql.exec<DeliveryRow>(query, JSON.stringify(schedules), JSON.stringify(runStatuses)).toArray();
  return new Map(rows.map((row) => [row.name, toDelivery(row)]));
}

/** One index lookup per status: a schedule may have skipped ten thousand runs since. */
const runStatuses: readonly DeliveryStatus[] = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'];

function insert({ sql, now }: CatalogContext, { trigger, id, event, payload }: NewDelivery): number {
  const statement = `INSERT INTO deliveries
      (kind, name, id, event, status, run, repeats, warnings, is_json, headers, bytes, received_at, run_at, attempts, held)
    VALUES (?, ?, ?, ?, 'ignored', 1, 0, '[]', ?, ?, 0, ?, ?, 0, 0) RETURNING number`;
  const content = [payload?.isJson === true ? 1 : 0, payload === null ? null : JSON.stringify(payload.headers)];
  const { number } = sql.exec<{ number: number }>(statement, trigger.kind, trigger.name, id, event, ...content, now(), now()).one();
  if (payload === null) return number;
  const bytes = writePart(sql, number, 'payload', payload.text);
  sql.exec('UPDATE deliveries SET bytes = ? WHERE number = ?', bytes, number);
  return number;
}

function applyVerdict(context: CatalogContext, trigger: Trigger, number: number, verdict: DeliveryVerdict): void {
  if (verdict.become === 'run') {
    const held = verdict.isQueued === true && (isDeliveryInProgress(context, trigger) || heldCount(context, trigger) > 0);
    queueRun(context, { ...verdict, number, held });
    return;
  }
  const { become, reason, warnings } = verdict;
  const statement = 'UPDATE deliveries SET status = ?, reason = ?, warnings = ?, ended_at = ?, due_at = NULL WHERE number = ?';
  context.sql.exec(statement, become, reason, JSON.stringify(warnings), context.now(), number);
}

/** Returns the row that was just written. */
function stored(sql: SqlStorage, number: number): DeliveryRow {
  const row = deliveryRow(sql, number);
  if (row === null) throw new Error(`delivery ${number} is missing right after it was stored`);
  return row;
}
