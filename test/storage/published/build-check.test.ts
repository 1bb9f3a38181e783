import { expect, it } from 'vitest';
import { createBuildCheck } from '../../../src/storage/published/build-check.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

function start(ask: () => Promise<unknown> = async () => 0) {
  const clock = fakeClock();
  const log = keptLog();
  const asked: string[] = [];
  const work: Promise<unknown>[] = [];
  const check = createBuildCheck({
    ...{ clock, log, build: () => 'new', background: (one) => void work.push(one) },
    ask: (workspace) => {
      asked.push(workspace);
      return ask();
    },
  });
  /** Ends what is in the background. */
  const rest = async (): Promise<void> => {
    await clock.advance(1_000);
    await Promise.all(work.splice(0));
  };
  return { clock, log, asked, check, rest };
}

it('asks in the background, once for all toolsets of a workspace', async () => {
  const { asked, check, rest } = start();
  for (let index = 0; index < 100; index += 1) check('one', 'old');
  check('two', undefined);
  expect(asked).toEqual([]);
  await rest();
  expect(asked).toEqual(['one', 'two']);
});

it('never asks about its own build', async () => {
  const { asked, check, rest } = start();
  check('one', 'new');
  await rest();
  expect(asked).toEqual([]);
});

it('asks again after ten minutes, also if the Catalog did not respond, which it logs', async () => {
  const { asked, check, rest, clock, log } = start(() => Promise.reject(new Error('too late')));
  check('one', 'old');
  await rest();
  expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fields: { workspace: 'one', cause: 'Error: too late' } })]);
  check('one', 'old');
  await clock.advance(10 * 60_000);
  check('one', 'old');
  await rest();
  expect(asked).toEqual(['one', 'one']);
});

it('while two builds run at once, asks once about each that it meets', async () => {
  const { asked, check, rest } = start();
  for (let round = 0; round < 50; round += 1) for (const build of ['old', 'new', 'older']) check('one', build);
  await rest();
  expect(asked).toEqual(['one', 'one']);
});
