/**
 * Sends due callbacks, with a limited number in total and per target, until they are delivered or a day has passed. The alarm starts
 * attempts and does not wait for them; each is first claimed in its row, so that it is retried if the process dies.
 */
import { limits } from '../../../../core/limits/limits.ts';
import { getOrBuild } from '../../../../core/memoize.ts';
import { Problem } from '../../../../core/problem.ts';
import { nextAttemptMs, type CallbackTarget, type CallbackTest } from '../../../../core/triggers/callbacks/callback.ts';
import { type HeldImpact, type HeldTool, withHeldImpact } from '../../../../core/triggers/callbacks/held-notice.ts';
import type { CallbackOutcome, SendCallback } from '../../../../engine/triggers/send-callback.ts';
import { isClockSettled, wasClockSettled } from '../../../../platform/settled-clock.ts';
import type { CatalogContext } from '../../context.ts';
import { type DueJob, DueRows } from '../../../shared/due-job.ts';
import { isoTime, requireRow } from '../../documents/documents.ts';
import {
  claimCallback,
  endCallback,
  newCallbackId,
  nextDueCallback,
  nextCallbackSweep,
  noteAttempt,
  postponeCallback,
  progressOf,
  readBody,
  replaceBody,
  sweepCallbacks,
} from './callback-rows.ts';
import type { CallbackRow } from './callback-rows.ts';
import { destinationOf } from './callback-targets.ts';

export const maxConcurrentCallbacks = 16;
/** Per target, so that a slow one does not delay the others. */
export const maxConcurrentCallbacksPerTarget = 4;

/** Returns null if it cannot be computed now. */
export type ImpactOfHeld = (server: string, tool: HeldTool, timestamp: string) => Promise<HeldImpact | null>;
/** A server that changes its definitions all the time causes no more work than this; its other messages have no impact. */
const heldImpactPauseMs = 5 * 60_000;
/** No computation begins later after the first one of the message: with a last one and the attempt it is less than the claim. */
const heldImpactMs = 5_000;

export type CallbackSenderDeps = {
  send: SendCallback;
  impactOfHeld: ImpactOfHeld;
  waitUntil(work: Promise<unknown>): void;
  wake(): Promise<void>;
  /** As for schedules. */
  mayStart?(): boolean;
};

export type CallbackSender = DueJob & {
  /** Call when a callback was stored or must be retried now. */
  kick(): void;
  /** Sends a test message immediately; it is not stored. Throws `not_found`. */
  test(target: CallbackTarget): Promise<CallbackTest>;
};

export function createCallbackSender(context: CatalogContext, deps: CallbackSenderDeps): CallbackSender {
  const { sql } = context;
  const impactOfHeld = sharedImpacts(context, deps.impactOfHeld);
  const fullTargets = (): CallbackTarget[] => {
    const sending = rows.inProgress;
    const isSame = (one: CallbackRow) => (other: CallbackRow) => one.kind === other.kind && one.name === other.name;
    return sending.filter((row) => sending.filter(isSame(row)).length >= maxConcurrentCallbacksPerTarget);
  };
  const rows: DueRows<CallbackRow> = new DueRows({
    ...{ log: context.log, atOnce: maxConcurrentCallbacks, perRun: 'all' as const, waitUntil: deps.waitUntil },
    nextDue: () => (rows.isFull ? null : (nextDueCallback(sql, fullTargets())?.due_at ?? null)),
    // One at a time: it may be the last that its target may have.
    due: () => {
      if (deps.mayStart?.() === false) return [];
      const row = nextDueCallback(sql, fullTargets());
      return row === null || row.due_at === null || row.due_at > context.now() ? [] : [row];
    },
    id: ({ number, attempts }) => `${number} ${attempts}`,
    claim: (row) => {
      context.record(() => claimCallback(sql, row, context.now()));
      return { ...row, attempts: row.attempts + 1 };
    },
    work: async (row) => {
      const startedAt = context.now();
      noteOutcome(context, row, await sendOne(context, { send: deps.send, impactOfHeld }, row), startedAt);
    },
    // The outcome is not known: it is due again at the time that was stored with the claim.
    failed: ({ id, attempts: attempt }, error) =>
      context.log.error('the outcome of a callback attempt could not be stored', { id, attempt, cause: String(error) }),
    ended: deps.wake,
  });

  return {
    kick: () => {
      rows.start();
      deps.waitUntil(deps.wake());
    },
    test: (target) => sendTest(context, deps.send, target),
    runDue: async () => {
      rows.start();
      if ((nextCallbackSweep(sql) ?? Number.POSITIVE_INFINITY) > context.now() || !(await isClockSettled())) return;
      context.record(() => sweepCallbacks(sql, context.now()));
    },
    nextDue: () => {
      const sweepAt = nextCallbackSweep(sql);
      const isHeld = sweepAt !== null && sweepAt <= context.now() && !wasClockSettled();
      const times = [isHeld ? context.now() + limits.sweepIntervalMs : sweepAt, rows.nextDue()];
      // At the limit, a finishing attempt starts the next one; this time is for a process that dies before that.
      if (rows.isFull || fullTargets().length > 0) times.push(context.now() + limits.callbackClaimMs);
      const known = times.filter((time) => time !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
  };
}

async function sendOne(
  context: CatalogContext,
  { send, impactOfHeld }: Pick<CallbackSenderDeps, 'send' | 'impactOfHeld'>,
  row: CallbackRow,
): Promise<CallbackOutcome> {
  const notSent = { delivered: false, status: null, durationMs: 0, retryAfterMs: null };
  if (row.type === 'definition.held') await addImpact(context, impactOfHeld, row);
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

/** Computes once for all receivers of a message. */
function sharedImpacts(context: CatalogContext, impactOfHeld: ImpactOfHeld): ImpactOfHeld {
  const newest = new Map<string, { timestamp: string; at: number; impacts: Map<string, Promise<HeldImpact | null>> }>();
  return async (server, tool, timestamp) => {
    let last = newest.get(server);
    if (last === undefined || (last.timestamp !== timestamp && last.at + heldImpactPauseMs <= context.now())) {
      last = { timestamp, at: context.now(), impacts: new Map() };
      newest.set(server, last);
    }
    if (last.timestamp !== timestamp) return null;
    const begin = last.at + heldImpactMs < context.now() ? async () => null : impactOfHeld;
    return await getOrBuild(last.impacts, tool.name, Number.POSITIVE_INFINITY, () => begin(server, tool, timestamp));
  };
}

/** Before the first attempt. A body that is sent again is the same; if the process died, the message has no impact. */
async function addImpact(context: CatalogContext, impactOfHeld: ImpactOfHeld, { number, attempts }: CallbackRow): Promise<void> {
  const body = readBody(context.sql, number);
  if (body === null) return;
  const whole = await withHeldImpact(body, attempts > 1 ? async () => null : impactOfHeld);
  context.record(() => {
    if (whole !== body && progressOf(context.sql, number)?.status === 'pending') replaceBody(context.sql, number, whole);
  });
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
