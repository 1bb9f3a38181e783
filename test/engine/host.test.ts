/** What the launcher's reports change: what may be stored or begin, what a stop waits for, and the end of what is still open. */
import { expect, it } from 'vitest';
import type { HostReport } from '../../src/core/host-report.ts';
import { createHost } from '../../src/engine/host.ts';
import { fakeClock } from '../fakes/runtime.ts';

const healthy: HostReport = { disk: { freeBytes: 1e9, totalBytes: 1e10, fault: null }, files: null, stopping: 'no' };
const withFault = (fault: HostReport['disk']['fault']): HostReport => ({ ...healthy, disk: { ...healthy.disk, fault } });
const never = new Promise<never>(() => undefined);

it.each([
  ['full', true],
  ['read-only', false],
  ['failing', false],
] as const)('refuses what stores something while the disk is %s, and begins no stored work', (fault, allowsDeletion) => {
  const host = createHost({ clock: fakeClock(), ask: null });
  expect(() => host.requireStorage()).not.toThrow();
  host.report(withFault(fault));
  const refusal = expect.objectContaining({ code: 'insufficient_storage', status: 507, extra: { reason: fault, retryAfterMs: 30_000 } });
  expect(() => host.requireStorage()).toThrow(refusal);
  if (allowsDeletion) expect(() => host.requireStorage({ deletes: true })).not.toThrow();
  else expect(() => host.requireStorage({ deletes: true })).toThrow(refusal);
  expect(host.mayStart()).toBe(false);
  host.report(healthy);
  expect(host.mayStart()).toBe(true);
});

it('refuses new work above nine tenths of the open files', () => {
  const host = createHost({ clock: fakeClock(), ask: null });
  host.report({ ...healthy, files: { open: 900, limit: 1_000 } });
  expect(() => host.requireFiles()).not.toThrow();
  host.report({ ...healthy, files: { open: 901, limit: 1_000 } });
  expect(() => host.requireFiles()).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

it('asks the launcher before the first write and after an internal error, and works without an answer', async () => {
  let answer: () => Promise<HostReport> = () => Promise.reject(new Error('gone'));
  let asked = 0;
  const ask = (): Promise<HostReport> => {
    asked += 1;
    return answer();
  };
  const host = createHost({ clock: fakeClock(), ask });
  await host.begin();
  expect(await host.explain()).toBeNull();
  answer = async () => withFault('failing');
  expect((await host.explain())?.extra.reason).toBe('failing');
  expect(asked).toBe(3);
  await host.begin();
  expect(asked).toBe(3);
});

it('counts the work in progress, without what the platform has ended unseen', async () => {
  const clock = fakeClock();
  const host = createHost({ clock, ask: null });
  const release = host.hold();
  host.hold();
  expect(host.busy()).toBe(2);
  release();
  release();
  expect(host.busy()).toBe(1);
  await clock.advance(11 * 60_000 + 1);
  expect(host.busy()).toBe(0);
});

it('ends what is still open when the service ends, and nothing before', async () => {
  const host = createHost({ clock: fakeClock(), ask: async () => healthy });
  const over = new AbortController();
  const [waiting, stream, ended] = [host.orEnd(never), host.untilEnd(undefined), host.untilEnd(over.signal)];
  over.abort();
  expect(await ended).toBeNull();
  host.report({ ...healthy, stopping: 'draining' });
  expect(() => host.requireRunning()).toThrow(expect.objectContaining({ code: 'unavailable', extra: { retryAfterMs: 5_000 } }));
  expect(await host.orEnd(Promise.resolve('done'))).toBe('done');
  host.report({ ...healthy, stopping: 'ending' });
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable', detail: expect.stringContaining('check before you repeat it') });
  expect((await stream)?.code).toBe('unavailable');
});
