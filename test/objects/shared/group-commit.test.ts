/** Items that are stored together: those that arrive during a commit, and the effect of a failed commit on others. */
import { expect, it } from 'vitest';
import { createGroupCommit } from '../../../src/objects/shared/group-commit.ts';
import { otherTasks } from '../../wait-for.ts';

/** A disk whose commits end on command. It refuses the item `bad`. */
function disk() {
  const groups: (readonly string[])[] = [];
  const commits: PromiseWithResolvers<void>[] = [];
  let isBroken = false;
  const store = createGroupCommit<string, string>({
    store: (items) => {
      if (isBroken) throw new Error('the disk is full');
      groups.push(items);
      return items.map((item) =>
        item === 'bad' ? { status: 'rejected', reason: new Error('refused') } : { status: 'fulfilled', value: item },
      );
    },
    sync: () => {
      const commit = Promise.withResolvers<void>();
      commits.push(commit);
      return commit.promise;
    },
  });
  return { groups, commits, store, setBroken: (value: boolean) => (isBroken = value) };
}

it('stores items that arrive during a commit together, and confirms them when they are on disk', async () => {
  const { groups, commits, store } = disk();
  const first = store('1');
  await otherTasks();
  const others = Promise.all([store('2'), store('3'), store('4')]);
  await otherTasks();
  expect(groups).toEqual([['1']]);
  commits[0]?.resolve();
  expect(await first).toBe('1');
  await otherTasks();
  expect(groups).toEqual([['1'], ['2', '3', '4']]);
  expect(commits).toHaveLength(2);
  commits[1]?.resolve();
  expect(await others).toEqual(['2', '3', '4']);
});

it('refuses an item without the others of its group', async () => {
  const { commits, store } = disk();
  const all = Promise.allSettled([store('1'), store('bad')]);
  await otherTasks();
  commits[0]?.resolve();
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

it('stores a large number in several transactions', async () => {
  const { groups, commits, store } = disk();
  const all = Promise.all(Array.from({ length: 100 }, (_, index) => store(String(index))));
  for (let commit = 0; commit < 2; commit += 1) {
    await otherTasks();
    commits[commit]?.resolve();
  }
  expect(await all).toHaveLength(100);
  expect(groups.map(({ length }) => length)).toEqual([64, 36]);
});

it('fails a group that cannot be stored for its own callers only', async () => {
  const { groups, commits, store, setBroken } = disk();
  setBroken(true);
  await expect(Promise.all([store('1'), store('2')])).rejects.toThrow('the disk is full');
  setBroken(false);
  const lost = store('3');
  await otherTasks();
  commits[0]?.reject(new Error('the commit was lost'));
  await expect(lost).rejects.toThrow('the commit was lost');
  const kept = store('4');
  await otherTasks();
  commits[1]?.resolve();
  expect(await kept).toBe('4');
  expect(groups).toEqual([['3'], ['4']]);
});
