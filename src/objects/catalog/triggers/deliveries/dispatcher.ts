/**
 * Sends stored deliveries to their sessions: in order for each session, a few at a time, and retried with growing delays. An attempt is
 * recorded with the time of the next one before it is made: if the object dies, the alarm retries it, and an attempt that kills the object
 * is not retried in a loop.
 */
import { noUsage } from '../../../../core/model/chat-event.ts';
import type { Agent } from '../../../../core/turn/agent.ts';
import { failpoint } from '../../../../core/failpoint.ts';
import { limits } from '../../../../core/limits/limits.ts';
import { Problem, type ProblemCode } from '../../../../core/problem.ts';
import { readToolsetReference } from '../../../../core/toolset/toolset.ts';
import type { Trigger } from '../../../../core/turn/turn-trigger.ts';
import type { TurnNotice } from '../../../../core/triggers/callbacks/turn-notice.ts';
import type { TriggeredRun } from '../../../../engine/triggers/dispatch-run.ts';
import { withTimeout } from '../../../../engine/timeout.ts';
import { systemClock } from '../../../../platform/clock.ts';
import type { CatalogContext } from '../../context.ts';
import { type DueJob, DueRows } from '../../../shared/due-job.ts';
import { findRow } from '../../documents/documents.ts';
import { dueRuns, setDeliveryStatus, nextDueRun } from './run-queue.ts';
import { deliveryRow, type DeliveryRow, readPart, requireDelivery } from './delivery-rows.ts';
import { backoffMs, delayOrAsked } from '../../../../core/limits/backoff.ts';

export const maxConcurrentDispatches = 16;
/**
 * Batch window: no further delivery must arrive for this long before the batch is dispatched, so that a burst is accepted first. On
 * a busy thread a shorter window would have no effect.
 */
export const batchWindowMs = 200;
/** Extension of the window per delivery: slower arrivals are not a burst. */
export const batchExtensionPerDeliveryMs = 20;

export type Dispatcher = DueJob & {
  /**
   * Call when a run has ended or was requested manually: due deliveries are dispatched in the background. `moved`: deliveries whose status
   * has changed.
   */
  kick(moved?: readonly number[]): void;
  /**
   * Call when a delivery was stored. A burst is stored before its turns start: on one machine they share a thread with the responses to
   * further deliveries, and senders time out after seconds. So dispatch starts when no delivery has arrived for a moment.
   */
  arrived(): void;
  /** Waits until the delivery is no longer pending, at most `waitMs`. Throws `not_found`. */
  untilTaken(trigger: Trigger, id: string, waitMs: number): Promise<void>;
};

export type DispatcherDeps = {
  dispatch(run: TriggeredRun): Promise<void>;
  /** Called in the transaction in which a delivery fails before its turn started: adds the callbacks. */
  notifyTurn(notice: TurnNotice): void;
  /** Called after that transaction: callbacks are due. */
  callbacksQueued(): void;
  /** Keeps the object alive until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
  /** Sets the alarm again. */
  wake(): Promise<void>;
  /** As for schedules. */
  mayStart?(): boolean;
  /** Whether the alarm is set to a time in the future, and at the latest to this one. It then sets the next one itself. */
  wakesBy(at: number): boolean;
};

export function createDispatcher(context: CatalogContext, deps: DispatcherDeps): Dispatcher {
  const waiters = new Map<number, Set<() => void>>();

  /**
   * The batch window. While it is set, deliveries are only stored: until `at`, which moves with each delivery, and no longer than `latest`.
   */
  let batchWindow: { at: number; latest: number; since: number } | null = null;

  const rows = new DueRows<DeliveryRow>({
    ...{ log: context.log, atOnce: maxConcurrentDispatches, perRun: 'all', waitUntil: deps.waitUntil },
    nextDue: () => nextDueRun(context),
    due: (count) => (deps.mayStart?.() === false ? [] : dueRuns(context, count)),
    id: ({ number }) => number,
    claim: (row) => {
      const attempt = { ...row, attempts: row.attempts + 1 };
      postpone(context, attempt, pauseAfter(attempt.attempts));
      return attempt;
    },
    work: async (row) => {
      await failpoint('delivery-stored-before-dispatch');
      await withTimeout(systemClock, deps.dispatch(toRun(context, row)), limits.dispatchTimeoutMs, late);
      await failpoint('delivery-taken-before-noted');
      noteTaken(context, row);
    },
    failed: (row, error) => noteFailure(context, deps, row, error),
    ended: async ({ number }) => {
      notifyWaiters(number);
      await deps.wake();
    },
  });

  const notifyWaiters = (number: number): void => {
    if (!waiters.has(number) || deliveryRow(context.sql, number)?.status === 'pending') return;
    for (const go of waiters.get(number) ?? []) go();
    waiters.delete(number);
  };

  const kick = (moved: readonly number[] = []): void => {
    rows.start();
    for (const number of moved) notifyWaiters(number);
    deps.waitUntil(deps.wake());
  };

  const arrived = (): void => {
    const now = context.now();
    if (batchWindow === null) {
      const at = now + batchWindowMs;
      batchWindow = { at, latest: at, since: now };
      deps.waitUntil(pumpAfterBatchWindow(batchWindow));
    } else {
      batchWindow.latest = Math.min(batchWindow.latest + batchExtensionPerDeliveryMs, batchWindow.since + limits.maxBatchWindowMs);
      batchWindow.at = Math.min(now + batchWindowMs, batchWindow.latest);
    }
    // Together with the delivery, this stores the alarm that dispatches it if this object dies. In a burst there is one.
    if (!deps.wakesBy(batchWindow.latest)) deps.waitUntil(deps.wake());
  };

  const pumpAfterBatchWindow = async (until: { at: number }): Promise<void> => {
    const left = (): number => until.at - context.now();
    // If the clock is set back, the window must not grow.
    while (left() > 0 && left() <= limits.maxBatchWindowMs) await systemClock.sleep(Math.min(left(), batchWindowMs));
    batchWindow = null;
    rows.start();
    await deps.wake();
  };

  return {
    kick,
    arrived,
    runDue: async () => {
      if (batchWindow === null) rows.start();
    },
    nextDue: () => {
      const due = rows.nextDue();
      return due === null || batchWindow === null ? due : Math.max(due, batchWindow.latest);
    },
    untilTaken: async (trigger, id, waitMs) => {
      const row = requireDelivery(context.sql, trigger, id);
      if (row.status !== 'pending') return;
      // A caller waits for it, so the batch window does not apply.
      if (batchWindow !== null) rows.start();
      const { promise, resolve } = Promise.withResolvers<void>();
      const others = waiters.get(row.number) ?? new Set();
      waiters.set(row.number, others.add(resolve));
      await withTimeout(systemClock, promise, waitMs, () => undefined);
      others.delete(resolve);
      if (others.size === 0) waiters.delete(row.number);
    },
  };
}

function late(): never {
  throw new Problem('upstream_timeout', 'The session did not accept the delivery in time.');
}

function toRun(context: CatalogContext, row: DeliveryRow): TriggeredRun {
  const { kind, name, id, run, agent, session_key: sessionKey, turn } = row;
  if (agent === null || sessionKey === null || turn === null) throw new Problem('internal', 'The delivery has no agent, session or turn.');
  return {
    workspace: context.workspace,
    trigger: { kind, name, delivery: id, run },
    agent,
    sessionKey,
    turn,
    input: readPart(context.sql, row.number, 'input') ?? '',
    isRetry: row.attempts > 1,
  };
}

/** The turn may already have ended: then nothing is recorded. */
function noteTaken(context: CatalogContext, row: DeliveryRow): void {
  if (isStillPending(context, row)) context.record(() => setDeliveryStatus(context, row, 'running', null));
}

function noteFailure(context: CatalogContext, deps: DispatcherDeps, row: DeliveryRow, error: unknown): void {
  const { kind, name, id, attempts } = row;
  if (!isStillPending(context, row)) return;
  const isTooLate = context.now() - row.run_at >= limits.dispatchGiveUpMs;
  const cause = error instanceof Problem ? error : new Problem('internal', 'The session could not be reached.', {}, { cause: error });
  if (!isTooLate && isRetryable(context, row, cause)) {
    context.log.error('a delivery did not reach its session; it will be retried', { kind, name, id, attempts, cause: String(error) });
    const hints = { askedMs: cause.extra.retryAfterMs, maxAskedMs: limits.maxDispatchBackoffMs };
    postpone(context, row, delayOrAsked(pauseAfter(attempts), hints));
    return;
  }
  context.log.error('the turn of a delivery could not start', { kind, name, id, attempts, cause: String(error) });
  context.record(() => {
    setDeliveryStatus(context, row, 'failed', cause.detail);
    const notice = notBegun(context, row, cause);
    if (notice !== null) deps.notifyTurn(notice);
  });
  deps.callbacksQueued();
}

/** A replay is another run; a notice may have arrived meanwhile. */
function isStillPending(context: CatalogContext, row: DeliveryRow): boolean {
  const now = deliveryRow(context.sql, row.number);
  return now !== null && now.status === 'pending' && now.run === row.run;
}

/** Temporary errors. All others are reported at once: waiting does not fix a rejected model, and a replay is one request. */
const retryable: ReadonlySet<ProblemCode> = new Set(['rate_limited', 'internal', 'upstream_error', 'upstream_timeout']);

function isRetryable(context: CatalogContext, { agent }: DeliveryRow, { code }: Problem): boolean {
  return retryable.has(code) || (code === 'not_found' && agent !== null && isJustWritten(context, agent));
}

/** Turns are planned with published documents, which may be older than these tables: a recent write will be visible soon. */
function isJustWritten({ sql, now }: CatalogContext, name: string): boolean {
  const agent = findRow(sql, 'agent', name);
  if (agent === null) return false;
  // Agent bodies are written only by their writer.
  const { toolset: reference } = agent.body as Agent;
  const toolset = reference === undefined ? null : findRow(sql, 'toolset', readToolsetReference(reference).name);
  return Math.max(agent.updatedAt, toolset?.updatedAt ?? 0) > now() - limits.freshReadMs;
}

function pauseAfter(attempts: number): number {
  return backoffMs({ firstMs: limits.dispatchRetryMs, maxMs: limits.maxDispatchBackoffMs }, attempts);
}

function postpone(context: CatalogContext, { number, attempts }: DeliveryRow, pauseMs: number): void {
  context.sql.exec('UPDATE deliveries SET attempts = ?, due_at = ? WHERE number = ?', attempts, context.now() + pauseMs, number);
}

/** The notice comes from no session, so its number is 0, which no session uses. Together with the turn it is unique. */
function notBegun(context: CatalogContext, row: DeliveryRow, problem: Problem): TurnNotice | null {
  const { kind, name, id, run, agent, session, turn } = row;
  if (session === null || turn === null) return null;
  return {
    session,
    sequence: 0,
    type: 'turn.failed',
    turn,
    at: context.now(),
    ...(agent !== null && { agent }),
    trigger: { kind, name, delivery: id, run },
    status: 'failed',
    reason: 'not_started',
    text: '',
    problem: problem.toBody(),
    usage: noUsage,
  };
}
