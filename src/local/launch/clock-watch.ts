/**
 * Watches the clock of this machine (`core/limits/clock-doubt.ts`), since workerd has no other one. The file `clock` in the data folder has
 * what was seen last, so that a restart does not trust a clock that jumped before or meanwhile.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { type ClockMark, type ClockState, describeDoubt, followClock } from '../../core/limits/clock-doubt.ts';
import { replaceFile } from './own-file.ts';

/** A clock that is ahead for a moment is noticed. */
const lookMs = 2_000;
const writeMs = 60_000;
/** The service then sets again what it set while the clock was ahead. */
const stepBackMs = 1_000;

export type ClockWatch = {
  /** What is wrong with the clock now; null: nothing. */
  doubt(): string | null;
  close(): void;
};

type ClockParts = {
  onLog(line: string): void;
  /** Called when the clock was set back. */
  wentBack(): void;
  /** Given by tests. */
  now?(): ClockMark;
};

/** Linux counts the time that a machine sleeps as uptime. */
const machineNow = (): ClockMark => ({ wall: Date.now(), uptime: Math.round(uptime() * 1_000) });

export function watchMachineClock(dataDir: string, { onLog, wentBack, now = machineNow }: ClockParts): ClockWatch {
  const file = join(dataDir, 'clock');
  let state = readState(file);
  let seen: ClockMark | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const write = (at: ClockMark): void => {
    try {
      replaceFile(file, `${JSON.stringify(state)}\n`, { mode: 0o600 });
      writtenAt = at.uptime;
    } catch {
      // No space: it is written at the next look.
    }
  };
  const look = (): string | null => {
    const at = now();
    const before = state?.doubt ?? null;
    state = followClock(state, at);
    const { doubt } = state;
    if (doubt !== null && doubt !== before) onLog(`warning: ${describeDoubt(doubt, at.uptime)}`);
    if (doubt === null && before !== null) onLog('The clock of this machine is trusted again: what is old is deleted.');
    if (doubt !== before || at.uptime - writtenAt >= writeMs) write(at);
    if (seen !== null && at.wall - seen.wall - (at.uptime - seen.uptime) < -stepBackMs) wentBack();
    seen = at;
    return doubt === null ? null : describeDoubt(doubt, at.uptime);
  };
  look();
  const timer = setInterval(look, lookMs);
  timer.unref();
  return {
    doubt: look,
    close: () => {
      clearInterval(timer);
      write(now());
    },
  };
}

/** Null if there is none, or it is damaged: as on the first start. */
function readState(file: string): ClockState | null {
  try {
    const { mark, doubt } = recordOf(tryParse(readFileSync(file, 'utf8')));
    if (!areNumbers(mark, 'wall', 'uptime')) return null;
    // Written above.
    return { mark: mark as ClockMark, doubt: areNumbers(doubt, 'stepMs', 'since', 'lastsMs') ? (doubt as ClockState['doubt']) : null };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // fs errors carry a code
    throw error;
  }
}

function areNumbers(value: unknown, ...members: string[]): boolean {
  return isRecord(value) && members.every((member) => Number.isFinite(value[member]));
}
