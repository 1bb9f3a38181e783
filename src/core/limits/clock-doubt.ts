/**
 * Whether the clock of a machine moved as much as time passed. What is old is deleted by the clock, so a clock that jumped decides nothing until
 * it came back, or has kept its new time for long. The launcher measures (`local/launch/clock-watch.ts`).
 */
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Synchronization moves a clock by less. */
const toleranceMs = minuteMs;
/** A machine that was off for longer, as its clock says, may have a wrong one. */
const maxOffMs = dayMs;

/** Milliseconds: `wall` since the epoch, `uptime` since the start of the machine, its sleep included. */
export type ClockMark = { wall: number; uptime: number };

/** `stepMs`: how far the clock is from `mark`, the last time that was trusted. `since`: an uptime. */
export type ClockDoubt = { stepMs: number; since: number; lastsMs: number };
export type ClockState = { mark: ClockMark; doubt: ClockDoubt | null };

/** Returns the state at `now`. `last`: null for the first look at this clock, which is trusted. */
export function followClock(last: ClockState | null, now: ClockMark): ClockState {
  if (last === null) return { mark: now, doubt: null };
  const isRestarted = now.uptime < last.mark.uptime;
  const offMs = now.wall - last.mark.wall;
  if (isRestarted && offMs >= 0 && offMs <= maxOffMs) return { mark: now, doubt: null };
  // As if the machine had been off for no time.
  const mark = isRestarted ? { wall: last.mark.wall, uptime: now.uptime } : last.mark;
  const stepMs = offMs - (now.uptime - mark.uptime);
  if (Math.abs(stepMs) <= toleranceMs) return { mark: now, doubt: null };
  const before = isRestarted ? null : last.doubt;
  const isSame = before !== null && Math.abs(before.stepMs - stepMs) <= toleranceMs;
  // Only of a machine that was not off is it certain that the clock jumped.
  const doubt = isSame ? before : { stepMs, since: now.uptime, lastsMs: isRestarted ? hourMs : dayMs };
  return now.uptime - doubt.since >= doubt.lastsMs ? { mark: now, doubt: null } : { mark, doubt };
}

/** What is said about a doubt: in the log, in `/readyz` and by `moniker doctor`. */
export function describeDoubt({ stepMs, since, lastsMs }: ClockDoubt, uptime: number): string {
  const left = Math.max(minuteMs, since + lastsMs - uptime);
  const way = stepMs > 0 ? 'ahead' : 'back';
  return `The clock of the machine of the service moved ${way} by ${duration(Math.abs(stepMs))}, which no time that passed explains. Nothing is deleted or expired by its age until the clock returns, or for the next ${duration(left)}.`;
}

function duration(ms: number): string {
  const [unit, size] = ms >= 2 * dayMs ? ['day', dayMs] : ms >= 2 * hourMs ? ['hour', hourMs] : (['minute', minuteMs] as const);
  const count = Math.round(ms / Number(size));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
