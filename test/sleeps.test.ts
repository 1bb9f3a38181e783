/**
 * Tests wait for what they wait for (`wait-for.ts`), not for a time that is long enough on the author's machine. A deadline keeps its
 * timer, to clear it; any other use of time stands here, with its reason.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blankComments } from './source-text.ts';

const sleep = /(?<!\btimer = |\blate = |\bsocket\.)\bsetTimeout\(|from 'node:timers\/promises'|\bscheduler\.wait\(|\bsystemClock\.sleep\(/;

/** File → why it needs real time. */
const allowed: Record<string, string> = {
  'conformance/fixture-tools.ts': 'tools that the suite requires to be slow',
  'console/console-tab.ts': 'a slow stream, to see the page while it arrives',
  'crash/cell.ts': 'an order that another process must have before work continues, without an answer',
  'crash/deliveries.ts': 'an alarm of the runtime that must not ring',
  'crash/runtime.ts': 'polls processes, also without a test runner',
  'crash/scenarios.ts': 'alarms of the runtime that must not ring',
  'e2e/guards.e2e.test.ts': 'a guard slower than its time-out',
  'e2e/hostile-programs.all.e2e.test.ts': 'the pace of requests that measure delays',
  'e2e/hostile-rows.ts': 'servers that respond after a time-out or a cancel',
  'e2e/hostile-servers.all.e2e.test.ts': 'a response that comes too late must not appear',
  'e2e/key-floods.all.e2e.test.ts': 'a slow guard, so that calls wait for each other',
  'e2e/mcp-eras.all.e2e.test.ts': 'a slow tool, and streams whose opening no client sees',
  'e2e/metered-upstream.ts': 'an upstream with a response time',
  'e2e/providers.e2e.test.ts': 'a turn that must still run after its caller left',
  'e2e/reply-cache.e2e.test.ts': 'an upstream whose time a stored reply must not replace',
  'e2e/resilience.all.e2e.test.ts': 'a turn that must still run after its caller left',
  'e2e/schedules.e2e.test.ts': 'schedules of a service that is down for some intervals',
  'e2e/service.ts': 'polls a process, also without a test runner',
  'e2e/slow-upstreams.all.e2e.test.ts': 'nothing may arrive after a time-out',
  'e2e/upstream-faults.ts': 'the events before a fault must have been sent',
  'e2e/webhook-burst.all.e2e.test.ts': 'a sender that obeys Retry-After',
  'e2e/workspace-deletion.all.e2e.test.ts': 'kills at several times of one piece of work',
  'ledger/compare.ts': 'polls the service until it has settled',
  'ledger/ledger-service.ts': 'lets processes be stopped, a disk be full and a clock be wrong for some time',
  'ledger/work.ts': 'works for minutes, with calls that take some time',
  'local/launch/runtime.e2e.test.ts': 'work in the runtime that outlives its object',
  'measure-hold.ts': 'measures how long the thread is held',
  'platform/bounded-redaction.all.test.ts': 'counts the pauses of real work',
  'providers/rehearsal/proxy.test.ts': 'a clock whose short delays are real',
  'storage/catalog-calls.all.workers.test.ts': 'background work of the service must have ended',
  'tools/bash.test.ts': 'a change while a script of the real interpreter runs',
  'tools/shell-compute.long.test.ts': 'a script that is cancelled while it computes',
  'tools/shell-tools.test.ts': 'a tool slower than the time-out of its script',
};

/** The two tests of rules have them as examples. */
const isCode = (path: string): boolean => path.endsWith('.ts') && !/^((clients|fixtures)\/|sleeps\.test|architecture\.test)/.test(path);

it('Tests wait for conditions, except those with a reason', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(isCode);
  const sleeping = files.filter((path) => sleep.test(blankComments(readFileSync(join(import.meta.dirname, path), 'utf8'))));
  expect(sleeping.sort()).toEqual(Object.keys(allowed).sort());
});

it.each([
  ['await new Promise((resolve) => setTimeout(resolve, 50));', true],
  ['setTimeout(() => stop.abort(), 500);', true],
  ["import { setTimeout as sleep } from 'node:timers/promises';", true],
  ['await systemClock.sleep(50);', true],
  ["const timer = setTimeout(() => reject(new Error('no response in time')), 60_000);", false],
])('The check knows a sleep from a deadline: %s', (line, isSleep) => {
  expect(sleep.test(line)).toBe(isSleep);
});
