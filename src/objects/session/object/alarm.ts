/**
 * Handles the alarm of a session: runs each job whose timer is due. Each timer is set again before its job runs,
 * so that a process that dies in the middle is woken again. Every job is idempotent.
 */
import { failpoint } from '../../../core/failpoint.ts';
import { limits } from '../../../core/limits/limits.ts';
import { isClockSettled } from '../../../platform/settled-clock.ts';
import type { Logger } from '../../../ports/runtime.ts';
import { once } from '../../../core/memoize.ts';
import type { Approval } from '../pending/wait.ts';
import type { DecisionAuditContext } from '../pending/decide.ts';
import { expireInput } from '../pending/submit-input.ts';
import type { OpenSession } from './open-session.ts';
import type { TimerKind } from './timers.ts';

/** Most turns wait for no approval. */
export const loadDecisions = once(() => import('../pending/decide.ts'));

/** Most objects are of no replay. */
export const loadReplays = once(() => import('../replay/call-replay.ts'));

export type AlarmContext = {
  openSession: OpenSession;
  session: string;
  now(): number;
  log: Logger;
  /** Returns true when the session's key was revoked with `cancel`. */
  isCancelled(): Promise<boolean>;
  continueReplay(): Promise<void>;
  /** Deletes the session. */
  destroy(): Promise<void>;
};

/** When each job is retried if it failed or its process died. */
const againMs: Readonly<Record<TimerKind, number>> = {
  turn: limits.turnAlarmMs,
  audit: limits.auditRetryMs,
  notice: limits.noticeRetryMs,
  usage: limits.noticeRetryMs,
  summary: limits.noticeRetryMs,
  approval: limits.auditRetryMs,
  expire: limits.turnTimeoutMs,
  replay: limits.turnAlarmMs,
  erase: limits.auditRetryMs,
};

/** They wait while the clock is in doubt: what they end cannot be had back. */
const endsByAge: ReadonlySet<TimerKind> = new Set(['approval', 'expire']);

export async function runAlarm(context: AlarmContext): Promise<void> {
  const { openSession, now, log, session } = context;
  openSession.timers.markFired();
  const due = openSession.timers.due(now());
  for (const kind of due) openSession.timers.set(kind, now() + againMs[kind]);
  openSession.timers.arm();
  await failpoint('alarm-mid');
  for (const kind of due) {
    try {
      if (endsByAge.has(kind) && !(await isClockSettled())) continue;
      if ((await handleTimer(context, kind)) === 'destroyed') return;
    } catch (error) {
      log.error('a timer job failed', { session, kind, error: String(error) });
    }
  }
}

async function handleTimer(context: AlarmContext, kind: TimerKind): Promise<'destroyed' | 'done'> {
  const { openSession, destroy } = context;
  const { audit, notices, usage, summary } = openSession;
  switch (kind) {
    case 'turn':
      openSession.runner.recordTimeSpent();
      openSession.runner.recover();
      openSession.runner.startNext();
      if (openSession.runner.active && (await context.isCancelled())) openSession.runner.cancelAll();
      // The lists show a turn that takes longer as running.
      summary.noteStart();
      await summary.outbox.flush();
      return 'done';
    case 'audit':
    case 'notice':
    case 'usage':
    case 'summary':
      await { audit, notice: notices, usage, summary }[kind].outbox.flush();
      return 'done';
    case 'approval':
      await expireWaits(context);
      await audit.outbox.flush();
      return 'done';
    case 'expire':
      // A session with a running turn or an open question is not deleted.
      if (openSession.runner.active || openSession.replay.run !== null || openSession.waits.nextExpiry() !== null) return 'done';
      await destroy();
      return 'destroyed';
    case 'replay':
      await context.continueReplay();
      return 'done';
    case 'erase':
      await destroy();
      return 'destroyed';
    default:
      return kind satisfies never;
  }
}

/** Denies the approvals and declines the requests for input that have expired. */
export async function expireWaits(context: DecisionAuditContext): Promise<void> {
  const { openSession } = context;
  for (const wait of openSession.waits.expired()) await (wait.kind === 'approval' ? expire(context, wait) : expireInput(openSession, wait));
  openSession.runner.setExpiryTimer();
}

async function expire(context: DecisionAuditContext, approval: Approval): Promise<void> {
  const { expireApproval } = await loadDecisions();
  await expireApproval(context, approval);
}
