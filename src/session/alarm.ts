/**
 * What a session does when its alarm rings: whatever the `timers` table says is due. Each is set again before anything is
 * done, so that a process that dies in the middle is woken once more; doing it twice changes nothing.
 */
import { crashPoint } from '../core/crash-point.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../ports/runtime.ts';
import { expireApprovals } from './decide.ts';
import { expireInputs } from './give-input.ts';
import type { Room } from './room.ts';
import type { TimerKind } from './timers.ts';

export type AlarmDoor = {
  room: Room;
  session: string;
  now(): number;
  log: Logger;
  /** True when nothing is left to hand over. */
  flushAudit(): Promise<boolean>;
  /** True when the Catalog knows all that it is to be told of turns. */
  flushNotices(): Promise<boolean>;
  /** True when the key of the session was revoked with `cancel`. */
  isCancelled(): Promise<boolean>;
  /** Deletes the session. */
  leave(): Promise<void>;
};

/** When it is tried again, if it could not be done or was not heard of. */
const againMs: Readonly<Record<TimerKind, number>> = {
  turn: limits.turnAlarmMs,
  audit: limits.auditRetryMs,
  notice: limits.noticeRetryMs,
  approval: limits.auditRetryMs,
  expire: limits.turnTimeoutMs,
  erase: limits.auditRetryMs,
};

export async function ring(door: AlarmDoor): Promise<void> {
  const { room, now, log, session } = door;
  room.timers.rang();
  const due = room.timers.due(now());
  for (const kind of due) room.timers.set(kind, now() + againMs[kind]);
  room.timers.arm();
  await crashPoint('alarm-mid');
  for (const kind of due) {
    try {
      if ((await tend(door, kind)) === 'left') return;
    } catch (error) {
      log.error('a timer could not be tended', { session, kind, error: String(error) });
    }
  }
}

async function tend(door: AlarmDoor, kind: TimerKind): Promise<'left' | 'done'> {
  const { room, flushAudit, flushNotices, leave } = door;
  switch (kind) {
    case 'turn':
      room.runner.tick();
      room.runner.recover();
      room.runner.pump();
      if (room.runner.active && (await door.isCancelled())) room.runner.cancelAll();
      return 'done';
    case 'audit':
      if (await flushAudit()) room.timers.clear('audit');
      return 'done';
    case 'notice':
      if (await flushNotices()) room.timers.clear('notice');
      return 'done';
    case 'approval':
      await expireApprovals(door);
      await expireInputs(room);
      await flushAudit();
      return 'done';
    case 'expire':
      // Nobody who is still asked, and no turn that still runs, loses its session.
      if (room.runner.active || room.approvals.pendingCount() + room.inputs.pendingCount() > 0) return 'done';
      await leave();
      return 'left';
    case 'erase':
      await leave();
      return 'left';
    default:
      return kind satisfies never;
  }
}
