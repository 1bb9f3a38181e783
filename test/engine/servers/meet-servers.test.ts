import { beforeEach, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import { createStaleServerRefresh } from '../../../src/engine/servers/refresh-stale-servers.ts';
import { accessTo } from '../../mcp/client/context.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';
import { maxServersReadAtOnce } from '../../../src/engine/servers/refresh-stale-servers.ts';

function parts() {
  const [clock, log] = [fakeClock(), keptLog()];
  const background: Promise<unknown>[] = [];
  const looked: string[] = [];
  const ends: (() => void)[] = [];
  const read: string[] = [];
  const meet = createStaleServerRefresh({
    clock,
    log,
    async server(workspace, name) {
      looked.push(`${workspace}:${name}`);
      if (name === 'gone') throw new Problem('not_found', 'There is no server "gone".');
      if (name === 'broken') throw new Error('no answer');
      return accessTo('https://mcp.example.com/mcp', { name });
    },
    refreshIfStale(_workspace, { name }, behind) {
      if (name.startsWith('fresh')) return;
      read.push(name);
      behind(new Promise<void>((resolve) => ends.push(resolve)));
    },
    background: (work) => void background.push(work),
  });
  return { meet, clock, log, background, looked, read, ends };
}

let p: ReturnType<typeof parts>;
beforeEach(() => {
  p = parts();
});
const settled = async () => {
  for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
};
const names = (count: number, prefix = 'server') => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

it('checks a server once per interval, however often it is listed, and separately for each workspace', async () => {
  for (let times = 0; times < 100; times += 1) p.meet('one', ['fresh']);
  p.meet('two', ['fresh']);
  await settled();
  expect([p.looked, p.background.length]).toEqual([['one:fresh', 'two:fresh'], 2]);
  await p.clock.advance(limits.minRefreshIntervalMs);
  p.meet('one', ['fresh']);
  await settled();
  expect(p.looked).toEqual(['one:fresh', 'two:fresh', 'one:fresh']);
});

it('reads a few of a hundred stale servers at a time, and all of them in the end', async () => {
  p.meet('one', names(100));
  await settled();
  expect(p.read).toHaveLength(maxServersReadAtOnce);
  while (p.ends.length > 0) {
    p.ends.pop()?.();
    await settled();
  }
  expect(p.read).toEqual(names(100));
  await Promise.all(p.background);
});

it('fails no request: a removed server is ignored, other errors are logged, and the others are still checked', async () => {
  p.meet('one', ['gone', 'broken', 'fresh', ...names(8, 'fresh')]);
  await Promise.all(p.background);
  expect(p.looked).toHaveLength(11);
  expect(p.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});
