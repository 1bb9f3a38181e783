import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchMachineClock, type ClockWatch } from '../../../src/local/launch/clock-watch.ts';

const day = 24 * 3_600_000;
let folder = '';
let now = { wall: Date.UTC(2026, 0, 1), uptime: 5_000_000 };
let log: string[] = [];
let returns = 0;
const watches: ClockWatch[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-clock-'));
  [log, returns] = [[], 0];
});
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close();
  rmSync(folder, { recursive: true });
});

function open(): ClockWatch {
  const watch = watchMachineClock(folder, { onLog: (line) => log.push(line), wentBack: () => (returns += 1), now: () => now });
  watches.push(watch);
  return watch;
}

it('reports a jump once, also after a restart of the service, and the return of the clock', () => {
  const watch = open();
  expect(watch.doubt()).toBeNull();
  now = { ...now, wall: now.wall + 365 * day };
  expect(watch.doubt()).toContain('ahead by 365 days');
  expect(watch.doubt()).toContain('24 hours');
  watch.close();
  const other = open();
  expect(other.doubt()).toContain('ahead by 365 days');
  expect(log).toHaveLength(1);
  expect(returns).toBe(0);
  now = { ...now, wall: now.wall - 365 * day };
  expect(other.doubt()).toBeNull();
  expect(returns).toBe(1);
  expect(log.at(-1)).toContain('trusted again');
});

it('notices a clock that was set back by less than a doubt, since alarms were set by it', () => {
  const watch = open();
  watch.doubt();
  now = { wall: now.wall - 12_000, uptime: now.uptime };
  expect(watch.doubt()).toBeNull();
  expect(returns).toBe(1);
});

it.each(['', '{"mark":{"wall":"x"}}', '[]'])('starts anew with a damaged file: %s', (text) => {
  writeFileSync(join(folder, 'clock'), text);
  expect(open().doubt()).toBeNull();
});
