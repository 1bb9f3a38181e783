/**
 * The journal of nested calls (`ports/call-journal.ts`) in the session's tables. In a turn each nested call also has its events in
 * the log. The events have a shortened result; the journal has the whole result until the outermost call has its own.
 */
import { innerIdRange, rootCallId } from '../../../core/toolset/composite-tool.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import { errorResult, type ToolResult } from '../../../core/tools/tool.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import type { CallJournal, InnerCallStart, JournalEntry } from '../../../ports/call-journal.ts';
import type { WaitStore } from '../pending/wait-store.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';
import { innerCallEvent, innerResultEvent } from './inner-events.ts';

/** The part of a turn's run that the journal uses. `append` writes nothing once `isOver` returns true. */
export type TurnWriter = { turn: string; step(): number; append(event: SessionEventBody): void; isSealed(): boolean };

type Found = Omit<JournalEntry, 'result'>;
type Row = Found & { told: number };

const rowOf = 'SELECT call_id AS callId, canonical, fingerprint, attempts, told, finished AS "order" FROM journal WHERE call_id = ?';
const rowsOf = 'SELECT call_id AS callId, canonical, fingerprint, attempts, told, finished AS "order" FROM journal WHERE root = ?';

export class CallJournals {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  readonly #waits: WaitStore;
  /** Whether there may be rows; null until first read. Most sessions have none, and each result would look for them. */
  #any: boolean | null = null;

  constructor(sql: SqlStorage, now: () => number, waits: WaitStore) {
    this.#sql = sql;
    this.#now = now;
    this.#waits = waits;
  }

  /** `writer` is null for direct calls, which have no events in the log. */
  open(writer: TurnWriter | null): CallJournal {
    const turn = writer?.turn ?? null;
    return {
      startedAt: (root) => this.#startedAt(root, turn),
      find: (callId) => this.#find(callId),
      entriesUnder: (root) => this.#sql.exec<Row>(rowsOf, root).toArray(),
      begin: (call) => this.#begin(writer, call),
      markWaiting: (call) => {
        if (writer?.isSealed() === true) return;
        this.#put(turn, call);
        this.#sql.exec('UPDATE journal SET attempts = 0 WHERE call_id = ?', call.callId);
      },
      finish: (call, result, options) => this.#finish(writer, call, result, options),
      verdict: (callId) => this.#waits.verdict(callId),
      given: (callId) => ({ input: this.#waits.given(callId), rounds: this.#waits.get('input', callId)?.round ?? 0 }),
    };
  }

  /** Applies an event of the log. Call it with every event, in the transaction that appends the event. */
  applyEvent(event: SessionEventBody): void {
    if (event.type !== 'tool-result' && event.type !== 'turn-end') return;
    this.#any ??= this.#sql.exec('SELECT root FROM journal_roots LIMIT 1').toArray().length > 0;
    if (!this.#any) return;
    if (event.type === 'tool-result') {
      this.drop(event.callId);
      return;
    }
    for (const { root } of this.#sql.exec<{ root: string }>('SELECT root FROM journal_roots WHERE turn = ?', event.turn).toArray())
      this.drop(root);
  }

  /** Stores the result of a nested call that the client ran. Call it in the transaction that appends `inner-result`. */
  recordClientResult(callId: string, result: ToolResult): void {
    if (this.#row(callId) === null || this.#storeResult(callId, result) !== null) return;
    // Without a result the call would be sent to the client again and again.
    this.#storeResult(
      callId,
      errorResult('limit_reached', 'The result was dropped because the results of this call exceed the size limit. Request less data.'),
      0,
    );
  }

  /** Deletes the journal of an outermost call once it has its result. */
  drop(root: string): void {
    if (!this.has(root)) return;
    const [from, before] = innerIdRange(root);
    this.#sql.exec('DELETE FROM journal_results WHERE call_id >= ? AND call_id < ?', from, before);
    this.#sql.exec('DELETE FROM journal WHERE root = ?', root);
    this.#sql.exec('DELETE FROM journal_roots WHERE root = ?', root);
  }

  has(root: string): boolean {
    return this.#sql.exec('SELECT root FROM journal_roots WHERE root = ?', root).toArray().length > 0;
  }

  /** Marks the direct call as waiting. When the same call, with this key, is sent again, it resumes from its journal. */
  markWaiting(root: string, key: string): void {
    this.#startedAt(root, null);
    this.#sql.exec('UPDATE journal_roots SET key = ? WHERE root = ?', key, root);
  }

  /** Deletes the journals of interrupted direct calls that cannot be sent again, because they neither waited nor had an idempotency key. Called when the object starts. */
  dropUnrecoverable(): void {
    const unrecoverable =
      'SELECT root FROM journal_roots WHERE turn IS NULL AND key IS NULL AND root NOT IN (SELECT call_id FROM calls WHERE answer IS NULL)';
    for (const { root } of this.#sql.exec<{ root: string }>(unrecoverable).toArray()) this.drop(root);
  }

  /** Returns the id of the waiting call with this key; null when none waits. */
  findWaiting(key: string): string | null {
    // By then everything that the call waited for has expired, and the call is not expected again.
    const before = this.#now() - limits.approvalTtlMs - limits.endedWaitTtlMs;
    const query = 'SELECT root FROM journal_roots WHERE turn IS NULL AND started_at < ?';
    if (wasClockSettled()) for (const { root } of this.#sql.exec<{ root: string }>(query, before).toArray()) this.drop(root);
    const [row] = this.#sql.exec<{ root: string }>('SELECT root FROM journal_roots WHERE key = ?', key).toArray();
    return row?.root ?? null;
  }

  #startedAt(root: string, turn: string | null): number {
    this.#any = true;
    const insert = 'INSERT INTO journal_roots (root, turn, started_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    this.#sql.exec(insert, root, turn, this.#now());
    return this.#sql.exec<{ at: number }>('SELECT started_at AS at FROM journal_roots WHERE root = ?', root).one().at;
  }

  #begin(writer: TurnWriter | null, call: InnerCallStart): void {
    if (writer?.isSealed() === true) throw new Error('this run has ended');
    this.#put(writer?.turn ?? null, call);
    this.#appendCall(writer, call);
    this.#sql.exec('UPDATE journal SET attempts = attempts + 1 WHERE call_id = ?', call.callId);
    // In a direct call an approval is used once. In a turn it is bound to a call that is made once.
    if (writer === null) this.#waits.markUsed(call.callId);
  }

  #finish(
    writer: TurnWriter | null,
    call: InnerCallStart,
    result: ToolResult,
    { durationMs, keep, cost }: Parameters<CallJournal['finish']>[2],
  ): number | null {
    if (writer?.isSealed() === true) throw new Error('this run has ended');
    this.#put(writer?.turn ?? null, call);
    this.#appendCall(writer, call);
    writer?.append(innerResultEvent({ ...call, turn: writer.turn, step: writer.step() }, result, { durationMs, cost }));
    return this.#storeResult(call.callId, keep ? result : null);
  }

  /** Appends the `inner-call` event once, whether the call was started or refused. */
  #appendCall(writer: TurnWriter | null, call: InnerCallStart): void {
    if (this.#row(call.callId)?.told === 1) return;
    this.#sql.exec('UPDATE journal SET told = 1 WHERE call_id = ?', call.callId);
    writer?.append(innerCallEvent({ ...call, turn: writer.turn, step: writer.step() }));
  }

  #put(turn: string | null, { callId, root, canonical, fingerprint }: InnerCallStart): void {
    this.#startedAt(root, turn);
    const insert = `INSERT INTO journal (call_id, root, canonical, fingerprint, attempts, told, bytes) VALUES (?, ?, ?, ?, 0, 0, 0) ON CONFLICT DO NOTHING`;
    this.#sql.exec(insert, callId, root, canonical, fingerprint);
  }

  /** Stores the result and returns its place among the results of the root; null when the journal is full. `counted` overrides its size in bytes. */
  #storeResult(callId: string, result: ToolResult | null, counted?: number): number | null {
    const root = rootCallId(callId);
    const text = result === null ? '' : JSON.stringify(result);
    const bytes = counted ?? utf8Length(text);
    const query = 'SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(max(finished), 0) AS last FROM journal WHERE root = ?';
    const before = this.#sql.exec<{ bytes: number; last: number }>(query, root).one();
    if (before.bytes + bytes > limits.maxJournalBytes) return null;
    const place = before.last + 1;
    this.#sql.exec('UPDATE journal SET finished = ?, bytes = ? WHERE call_id = ?', place, bytes, callId);
    if (text !== '')
      writeChunks(text, (seq, part) =>
        this.#sql.exec('INSERT INTO journal_results (call_id, seq, part) VALUES (?, ?, ?)', callId, seq, part),
      );
    return place;
  }

  #find(callId: string): JournalEntry | null {
    const row = this.#row(callId);
    if (row === null) return null;
    const query = 'SELECT part FROM journal_results WHERE call_id = ? ORDER BY seq';
    const text = row.order === null ? null : readChunks(this.#sql.exec(query, callId));
    // Written by `#storeResult`.
    return { ...row, result: text === null ? null : (JSON.parse(text) as ToolResult) };
  }

  #row(callId: string): Row | null {
    return this.#sql.exec<Row>(rowOf, callId).toArray()[0] ?? null;
  }
}
