/**
 * Deletes data without a trace: what a deleted trigger received or sent, what a deleted session contained, and sealed values that were
 * replaced. SQLite keeps the bytes of deleted rows in its pages, and the runtime allows neither `secure_delete` nor a checkpoint, so texts
 * are overwritten in place before deletion. The write-ahead log contains earlier pages until the file is closed (`requestClose`).
 */
import type { CallbackTarget } from '../../../core/triggers/callbacks/callback.ts';
import type { Trigger } from '../../../core/turn/turn-trigger.ts';
import { requestClose } from './close-database.ts';
import { cancelNotBegun, deliveriesToErase } from './dropped-work.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, dueTime } from '../../shared/due-job.ts';
import { documentNotFound } from '../documents/documents.ts';
import { dropBacklog } from '../triggers/deliveries/backlog.ts';
import { eraseCallback, redactCallback } from '../triggers/callbacks/callback-rows.ts';
import { eraseDelivery, erasePayload } from '../triggers/deliveries/delivery-rows.ts';

/** Rows of a deleted trigger that are erased in one transaction. */
const maxErasedRows = 2_000;

/**
 * Call in the transaction that removes the document of a trigger or subscription. From then on, nothing of it is sent or started; its rows
 * are deleted in batches, the first one immediately. Deliveries that had not begun stay in the lists, without their texts.
 */
export function eraseTarget(context: CatalogContext, { kind, name }: Trigger | CallbackTarget): void {
  const { sql } = context;
  const newest = (query: string): number => sql.exec<{ newest: number | null }>(query, kind, name).one().newest ?? 0;
  const delivery = newest('SELECT max(number) AS newest FROM deliveries WHERE kind = ? AND name = ?');
  const callback = newest('SELECT max(number) AS newest FROM callbacks WHERE kind = ? AND name = ?');
  requestClose(sql);
  if (kind === 'webhook') sql.exec('DELETE FROM refused_deliveries WHERE webhook = ?', name);
  if (delivery === 0 && callback === 0) return;
  cancelNotBegun(context, { kind, name });
  sql.exec('UPDATE callbacks SET due_at = NULL WHERE kind = ? AND name = ? AND due_at IS NOT NULL', kind, name);
  const statement = 'INSERT OR REPLACE INTO erasures (kind, name, delivery, callback, due_at) VALUES (?, ?, ?, ?, ?)';
  sql.exec(statement, kind, name, delivery, callback, context.now());
  eraseBatch(context, { kind, name, delivery, callback });
}

/** Throws `not_found` for a deleted trigger, whose rows may not all be erased yet. */
export function requireNotDeleted({ sql }: Pick<CatalogContext, 'sql'>, { kind, name }: Trigger): void {
  const query = 'SELECT 1 FROM documents WHERE kind = ? AND name = ? AND deleted = 1';
  if (sql.exec(query, kind, name).toArray().length > 0) throw documentNotFound(kind, name);
}

/** Call in the transaction that removes a session from the index. A pending callback then reports only that the turn ended. */
export function eraseSession(context: CatalogContext, session: string): void {
  const { sql } = context;
  const deliveries = "SELECT number FROM deliveries WHERE session = ? AND status <> 'pending' AND bytes > 0";
  for (const { number } of sql.exec<{ number: number }>(deliveries, session).toArray()) erasePayload(sql, number);
  const callbacks = 'SELECT number, status FROM callbacks WHERE session = ?';
  const rows = sql.exec<{ number: number; status: string }>(callbacks, session).toArray();
  for (const { number, status } of rows) redactCallback(sql, number, { isPending: status === 'pending' });
  if (rows.length > 0) requestClose(sql);
}

/** Erases the rows of a removed trigger or subscription. */
export function createErasures(context: CatalogContext): DueJob {
  const { sql } = context;
  return {
    nextDue: () => dueTime(sql, 'SELECT min(due_at) AS due FROM erasures'),
    runDue: async () => {
      const due = sql.exec<Erasure>('SELECT * FROM erasures WHERE due_at <= ? LIMIT 1', context.now()).toArray()[0];
      if (due !== undefined) context.record(() => eraseBatch(context, due));
    },
  };
}

type Erasure = { kind: string; name: string; delivery: number; callback: number };

function eraseBatch(context: CatalogContext, { kind, name, delivery, callback }: Erasure): void {
  const { sql } = context;
  const deliveries = sql.exec<{ number: number; isDropped: number }>(deliveriesToErase, kind, name, delivery, maxErasedRows).toArray();
  const ofTarget = 'SELECT number FROM callbacks WHERE kind = ? AND name = ? AND number <= ? LIMIT ?';
  const callbacks = sql.exec<{ number: number }>(ofTarget, kind, name, callback, maxErasedRows).toArray();
  for (const { number, isDropped } of deliveries) (isDropped === 1 ? erasePayload : eraseDelivery)(sql, number);
  for (const { number } of callbacks) eraseCallback(sql, number);
  dropBacklog(context);
  if (deliveries.length === maxErasedRows || callbacks.length === maxErasedRows) return;
  sql.exec('DELETE FROM erasures WHERE kind = ? AND name = ?', kind, name);
  requestClose(sql);
}
