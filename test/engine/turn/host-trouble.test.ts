/** Turns while the service stops, or while nothing can be stored. */
import { expect, it } from 'vitest';
import type { HostReport } from '../../../src/core/host-report.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { createHost } from '../../../src/engine/host.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { callEvents, definitions, finish, results, run, say, start, toolset } from '../one-turn.ts';

const healthy: HostReport = { disk: { freeBytes: 1e9, totalBytes: 1e10, fault: null }, files: null, stopping: 'no' };
const newHost = () => createHost({ clock: fakeClock(), ask: null });
const twoCalls = [...callEvents(0, 'shell', { command: 'a' }), ...callEvents(1, 'shell', { command: 'b' }), finish('tool-calls')];

it('lets a call that has begun end and stores its result, asks the model nothing more, and is not counted as busy then', async () => {
  const host = newHost();
  const { promise, resolve } = Promise.withResolvers<void>();
  const ran: unknown[] = [];
  const turn = await start(
    [twoCalls, say('never asked')],
    async ({ command }) => {
      ran.push(command);
      await promise;
      return textResult('paid');
    },
    {},
    [],
    null,
    { definitions, toolset, host },
  );
  await expect.poll(() => ran).toEqual(['a', 'b']);
  host.report({ ...healthy, stopping: 'draining' });
  expect(host.busy()).toBeGreaterThan(0);
  resolve();
  await expect.poll(() => host.busy()).toBe(0);
  expect(results(turn.events).map(({ isError }) => isError)).toEqual([false, false]);
  expect(turn.requests).toHaveLength(1);
  turn.abort.abort();
  expect(await turn.done).toBe('aborted');
});

it('begins no further call of a step once the service stops: they are made at the next start', async () => {
  const host = newHost();
  const count = limits.maxParallelCalls + 2;
  const many = Array.from({ length: count }, (_, index) => callEvents(index, 'shell', { command: String(index) })).flat();
  const turn = await start(
    [[...many, finish('tool-calls')]],
    () => {
      host.report({ ...healthy, stopping: 'draining' });
      return textResult('done');
    },
    {},
    [],
    null,
    { definitions, toolset, host },
  );
  await expect.poll(() => turn.requests.length > 0 && host.busy() === 0 && results(turn.events).length > 0).toBe(true);
  expect(results(turn.events).length).toBeLessThan(count);
  expect(results(turn.events).every(({ isError }) => !isError)).toBe(true);
  turn.abort.abort();
  await turn.done;
});

it('a turn whose last step has ended still ends while the service stops', async () => {
  const host = newHost();
  const turn = await start([], () => textResult(''), {}, [], null, {
    definitions,
    toolset,
    host,
    model: {
      async *stream() {
        host.report({ ...healthy, stopping: 'draining' });
        yield say('bye');
      },
    },
  });
  expect(await turn.done).toBe('ended');
  expect(turn.events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
});

it('fails with the word of the disk before a call is made whose outcome could not be stored', async () => {
  const host = newHost();
  const ran: unknown[] = [];
  const model = {
    async *stream() {
      host.report({ ...healthy, disk: { ...healthy.disk, fault: 'full' } });
      yield twoCalls;
    },
  };
  const execute = ({ command }: Record<string, unknown>) => {
    ran.push(command);
    return textResult('');
  };
  await expect(run([], execute, {}, [], null, { definitions, toolset, host, model })).rejects.toMatchObject({
    code: 'insufficient_storage',
  });
  expect(ran).toEqual([]);
});
