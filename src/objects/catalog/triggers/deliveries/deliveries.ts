/**
 * The deliveries of a workspace: stored once by trigger and id, replayed on request, and followed to the end of their turns.
 * `run-queue.ts` and `dispatcher.ts` send them to their sessions; `delivery-list.ts` shows them.
 */
import { Problem, quoted } from '../../../../core/problem.ts';
import { type Delivery, type DeliveryStatus, isSettled } from '../../../../core/triggers/delivery.ts';
import type { Trigger, TurnTrigger } from '../../../../core/turn/turn-trigger.ts';
import type { TurnNotice } from '../../../../core/triggers/callbacks/turn-notice.ts';
import type { AcceptedDelivery, DeliveryVerdict, NewDelivery, Triggers } from '../../../../ports/triggers.ts';
import { createGroupCommit } from '../../../shared/group-commit.ts';
import type { CatalogContext } from '../../context.ts';
import { documentNotFound } from '../../documents/documents.ts';
import { isDroppedDelivery } from '../../records/dropped-work.ts';
import { changeBacklog, checkBacklog } from './backlog.ts';
import { setDeliveryStatus, queueRun } from './run-queue.ts';
import {
  deliveryRow,
  eraseDelivery,
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

/**
 * Returns `Triggers.acceptDelivery`. `arrived`: called for each new delivery, together with the transaction that stores it. Deliveries that
 * arrive at the same time are collected here and not by the isolate that receives the requests: there, a request would wait for a promise of
 * another request, and on a busy thread workerd tells it of the end many seconds late.
 */
export function createDeliveryAcceptance(
  context: CatalogContext,
  { sync, arrived }: { sync(): Promise<void>; arrived(): void },
): Triggers['acceptDelivery'] {
  const acceptOne = (delivery: NewDelivery): PromiseSettledResult<AcceptedDelivery> => {
    // One that cannot be stored does not affect the others.
    try {
      return { status: 'fulfilled', value: acceptDelivery(context, delivery) };
    } catch (reason) {
      return { status: 'rejected', reason };
    }
  };
  const store = (deliveries: readonly NewDelivery[]): PromiseSettledResult<AcceptedDelivery>[] => {
    const outcomes = context.record(() => deliveries.map(acceptOne));
    for (const outcome of outcomes) if (outcome.status === 'fulfilled' && !outcome.value.isRepeat) arrived();
    return outcomes;
  };
  return createGroupCommit({ store, sync });
}

/** Synchronous, so that the caller can rely on the stored delivery. */
export function acceptDelivery(context: CatalogContext, delivery: NewDelivery): AcceptedDelivery {
  const { sql } = context;
  const { trigger, id, verdict } = delivery;
  const { isDeleted, known, isBusy } = readPlace(sql, delivery);
  // An isolate may have the webhook cached a little longer.
  if (isDeleted === 1) throw documentNotFound(trigger.kind, trigger.name);
  const row = known === null ? null : stored(sql, known);
  // Of an earlier trigger of the name.
  const isLeft = row !== null && isDroppedDelivery(row);
  if (row !== null && !isLeft) {
    // The turn's id was made for this request, which lost the response of its first call.
    if (verdict.become === 'run' && row.turn === verdict.turn) return toAcceptedDelivery(row, false);
    sql.exec('UPDATE deliveries SET repeats = repeats + 1 WHERE number = ?', row.number);
    return toAcceptedDelivery(row, true);
  }
  if (verdict.become === 'run') checkBacklog(context, trigger);
  return context.record(() => {
    if (isLeft) eraseDelivery(sql, row.number);
    const bytes = insert(context, delivery, isBusy === 1);
    sweepExcessDeliveries(context, trigger);
    sweepWeight(context, bytes);
    const { session, turn } = verdict.become === 'run' ? verdict : notRun;
    const reason = verdict.become === 'run' ? null : verdict.reason;
    return { id, status: verdict.become === 'run' ? 'pending' : verdict.become, reason, session, turn, run: 1, isRepeat: false };
  });
}

type Place = { isDeleted: number; known: number | null; isBusy: number };

/**
 * Reads in one statement, since each one takes and releases the lock of the file: whether the trigger is deleted, the number of this
 * delivery if it is stored, and whether its session has a pending one.
 */
function readPlace(sql: SqlStorage, { trigger: { kind, name }, id, verdict }: NewDelivery): Place {
  const query = `SELECT EXISTS (SELECT 1 FROM documents WHERE kind = ?1 AND name = ?2 AND deleted = 1) AS isDeleted,
    (SELECT number FROM deliveries WHERE kind = ?1 AND name = ?2 AND id = ?3) AS known,
    EXISTS (SELECT 1 FROM deliveries WHERE status = 'pending' AND session = ?4) AS isBusy`;
  return sql.exec<Place>(query, kind, name, id, verdict.become === 'run' ? verdict.session : null).one();
}

const notRun = { agent: null, session: null, turn: null };

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

/**
 * Stores the delivery as its verdict leaves it: one write of its row, which has ten indexes, and one of each text. `isBusy`: its session has
 * a pending one, which is due first. Returns the bytes of its texts.
 */
function insert(context: CatalogContext, { trigger, id, event, payload, verdict }: NewDelivery, isBusy: boolean): number {
  const { sql } = context;
  const now = context.now();
  const isRun = verdict.become === 'run';
  const { agent, session, turn } = isRun ? verdict : notRun;
  const held = isHeld(context, trigger, verdict);
  const encoder = new TextEncoder();
  const [payloadBytes, inputBytes] = [encoder.encode(payload?.text ?? ''), encoder.encode(isRun ? verdict.rendered.input : '')];
  const bytes = payloadBytes.byteLength + inputBytes.byteLength;
  const columns = {
    ...{ kind: trigger.kind, name: trigger.name, id, event },
    ...{ status: isRun ? 'pending' : verdict.become, reason: isRun ? null : verdict.reason },
    ...{ agent, session, session_key: isRun ? verdict.rendered.sessionKey : null, turn, run: 1, repeats: 0 },
    ...{ warnings: JSON.stringify(isRun ? verdict.rendered.warnings : verdict.warnings) },
    ...{ is_json: payload?.isJson === true ? 1 : 0, headers: payload === null ? null : JSON.stringify(payload.headers) },
    ...{ bytes, received_at: now, run_at: now, ended_at: isRun ? null : now, attempts: 0 },
    ...{ due_at: isRun && !isBusy && !held ? now : null, held: held ? 1 : 0 },
  };
  const names = Object.keys(columns);
  const statement = `INSERT INTO deliveries (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) RETURNING number`;
  const { number } = sql.exec<{ number: number }>(statement, ...Object.values(columns)).one();
  if (payload !== null) writePart(sql, number, 'payload', payloadBytes);
  if (isRun) {
    writePart(sql, number, 'input', inputBytes);
    changeBacklog(context, trigger, 1, bytes);
  }
  return bytes;
}

function isHeld(context: CatalogContext, trigger: Trigger, verdict: DeliveryVerdict): boolean {
  if (verdict.become !== 'run' || verdict.isQueued !== true) return false;
  return isDeliveryInProgress(context, trigger) || heldCount(context, trigger) > 0;
}

function applyVerdict(context: CatalogContext, trigger: Trigger, number: number, verdict: DeliveryVerdict): void {
  if (verdict.become === 'run') {
    queueRun(context, { ...verdict, number, held: isHeld(context, trigger, verdict) });
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
