/**
 * Sends due callbacks, with a limited number in total and per target, until they are delivered or a day has passed. The alarm starts
 * attempts and does not wait for them; each is first leased in its row, so that it is retried if the process dies.
 */
import { limits } from '../../../core/limits.ts';
import { Problem } from '../../../core/problem.ts';
import { nextAttemptMs, type CallbackTarget, type CallbackTest } from '../../../core/triggers/callbacks/callback.ts';
import type { CallbackOutcome, SendCallback } from '../../../engine/triggers/send-callback.ts';
import type { CatalogContext, Job } from '../../context.ts';
import { isoTime, requireRow } from '../../documents/documents.ts';
import {
  endCallback,
  leaseCallback,
  newCallbackId,
  nextDueCallback,
  nextCallbackSweep,
  noteAttempt,
  postponeCallback,
  progressOf,
  readBody,
  sweepCallbacks,
} from './callback-rows.ts';
import type { CallbackRow } from './callback-rows.ts';
import { destinationOf } from './callback-targets.ts';

export const maxConcurrentCallbacks = 16;
/** Per target, so that a slow one does not delay the others. */
export const maxConcurrentCallbacksPerTarget = 4;

export type CallbackSenderDeps = {
  send: SendCallback;
  waitUntil(work: Promise<unknown>): void;
  wake(): Promise<void>;
};

export type CallbackSender = Job & {
  /** Call when a callback was stored or must be retried now. */
  kick(): void;
  /** Sends a test message immediately; it is not stored. Throws `not_found`. */
  test(target: CallbackTarget): Promise<CallbackTest>;
};

export function createCallbackSender(context: CatalogContext, deps: CallbackSenderDeps): CallbackSender {
  const { sql } = context;
  const inProgress = new Set<CallbackRow>();
  const isFull = (): boolean => inProgress.size >= maxConcurrentCallbacks;
  const fullTargets = (): CallbackTarget[] => {
    const isSame = (one: CallbackRow) => (other: CallbackRow) => one.kind === other.kind && one.name === other.name;
    const rows = [...inProgress];
    return rows.filter((row) => rows.filter(isSame(row)).length >= maxConcurrentCallbacksPerTarget);
  };

  /** Starts all due attempts within the limits. */
  const pump = (): void => {
    for (;;) {
      const row = isFull() ? null : nextDueCallback(sql, fullTargets());
      if (row === null || row.due_at === null || row.due_at > context.now()) return;
      context.record(() => leaseCallback(sql, row, context.now()));
      const leased = { ...row, attempts: row.attempts + 1 };
      inProgress.add(leased);
      deps.waitUntil(attempt(leased));
    }
  };

  const attempt = async (row: CallbackRow): Promise<void> => {
    const startedAt = context.now();
    try {
      const outcome = await sendOne(context, deps.send, row);
      noteOutcome(context, row, outcome, startedAt);
    } catch (error) {
      // The outcome is not known: the lease expires and it is retried.
      context.log.error('the outcome of a callback attempt could not be stored', {
        id: row.id,
        attempt: row.attempts,
        cause: String(error),
      });
    } finally {
      inProgress.delete(row);
      pump();
      await deps.wake();
    }
  };

  return {
    kick: () => {
      try {
        pump();
      } catch (error) {
        // The caller has already stored its data and must succeed: the alarm does the rest.
        context.log.error('callbacks could not be sent; they will be retried', { cause: String(error) });
      }
      deps.waitUntil(deps.wake());
    },
    test: (target) => sendTest(context, deps.send, target),
    runDue: async () => {
      pump();
      if ((nextCallbackSweep(sql) ?? Number.POSITIVE_INFINITY) <= context.now()) context.record(() => sweepCallbacks(sql, context.now()));
    },
    nextDue: () => {
      const times = [nextCallbackSweep(sql), ...(isFull() ? [] : [nextDueCallback(sql, fullTargets())?.due_at ?? null])];
      // At the limit, a finishing attempt starts the next one; this time is for a process that dies before that.
      if (isFull() || fullTargets().length > 0) times.push(context.now() + limits.callbackLeaseMs);
      const known = times.filter((time) => time !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
  };
}

async function sendOne(context: CatalogContext, send: SendCallback, row: CallbackRow): Promise<CallbackOutcome> {
  const notSent = { delivered: false, status: null, durationMs: 0, retryAfterMs: null };
  const body = readBody(context.sql, row.number);
  if (body === null) return { ...notSent, isFinal: true, error: 'The message body is no longer stored.' };
  try {
    const to = await destinationOf(context, row);
    return 'gone' in to ? { ...notSent, isFinal: true, error: to.gone } : await send({ id: row.id, body, ...to });
  } catch (error) {
    // For example a secret that cannot be opened until the right master key is set.
    if (error instanceof Problem) return { ...notSent, isFinal: false, error: error.detail };
    context.log.error('a callback could not be sent', { id: row.id, attempt: row.attempts, cause: String(error) });
    return { ...notSent, isFinal: false, error: 'Not sent because of an internal error. See the server log.' };
  }
}

async function sendTest(context: CatalogContext, send: SendCallback, target: CallbackTarget): Promise<CallbackTest> {
  requireRow(context.sql, target.kind, target.name);
  const to = await destinationOf(context, target);
  if ('gone' in to) throw new Problem('conflict', to.gone);
  const [id, at] = [newCallbackId(), isoTime(context.now())];
  const body = JSON.stringify({ type: 'test', timestamp: at, data: { target } });
  const { delivered, status, durationMs, error } = await send({ id, body, ...to });
  return { id, delivered, at, status, durationMs, error };
}

function noteOutcome(context: CatalogContext, row: CallbackRow, outcome: CallbackOutcome, startedAt: number): void {
  const { sql } = context;
  const { number, id, attempts, kind, name } = row;
  const { delivered, isFinal, status, durationMs, error } = outcome;
  context.record(() => {
    noteAttempt(sql, number, { attempt: attempts, at: startedAt, status, durationMs, error });
    const now = progressOf(sql, number);
    if (now === null || now.status !== 'pending') return;
    if (delivered) return endCallback(sql, number, 'delivered', context.now());
    // Another attempt has started since and reports its own outcome.
    if (now.attempts !== attempts) return;
    const wait = isFinal ? null : nextAttemptMs(attempts, outcome.retryAfterMs, Math.random());
    if (wait !== null) return postponeCallback(sql, number, context.now() + wait);
    endCallback(sql, number, 'dead', context.now());
    context.log.info('gave up on a callback', { id, target: `${kind} ${name}`, attempts, error });
  });
}
