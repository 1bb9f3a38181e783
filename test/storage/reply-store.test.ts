import { expect, it } from 'vitest';
import type { Principal } from '../../src/core/people/principal.ts';
import { createReplyStore } from '../../src/storage/reply-store.ts';
import { randomIds } from '../../src/platform/ids.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';

const owner: Principal = { workspace: 'default', keyId: 'key_1', scopes: ['chat'] };

function opened({ fails = false, timers = true } = {}) {
  const values = new Map<string, string>();
  const work: Promise<unknown>[] = [];
  const clock = fakeClock();
  const log = keptLog();
  const put = async (key: string, text: string): Promise<void> => {
    if (fails) throw new Error('full');
    values.set(key, text);
  };
  // Only what the store uses.
  const kv = { put, get: async (key: string) => values.get(key) ?? null } as unknown as KVNamespace;
  const sessions = { get: () => expect.fail('no session is read') };
  const ownClock = timers ? clock : { ...clock, sleep: () => new Promise<void>(() => undefined) };
  const deps = { kv, sessions, log, clock: ownClock, ids: randomIds, background: (one: Promise<unknown>) => void work.push(one) };
  const store = createReplyStore(deps);
  const settle = async (): Promise<void> => {
    await clock.advance(10);
    await Promise.all(work);
  };
  return { values, clock, log, settle, store, again: createReplyStore(deps) };
}

it('stores the plain replies of a moment in one value, each for its key', async () => {
  const { values, settle, store, again } = opened();
  const other = { ...owner, keyId: 'key_2' };
  const [first, second] = [store(owner).nextId(), store(other).nextId()];
  expect(first).toMatch(/^cmpl_[0-9a-z]{32}$/);
  expect(first).not.toBe(second);
  store(owner).put(first, 'one');
  store(other).put(second, 'two');
  expect(await store(owner).get(first)).toBe('one');
  await settle();
  expect(values.size).toBe(1);
  for (const read of [store, again]) {
    expect(await read(owner).get(first)).toBe('one');
    expect(await read(other).get(second)).toBe('two');
    expect(await read(other).get(first)).toBeNull();
    expect(await read({ ...owner, workspace: 'team' }).get(first)).toBeNull();
  }
});

it('stores a reply alone whose id was not issued just before', async () => {
  const { values, settle, store } = opened();
  const id = store(owner).nextId();
  await settle();
  expect(values.size).toBe(0);
  store(owner).put(id, 'late');
  store(owner).put('msg_of_a_provider', 'theirs');
  await settle();
  expect(values.size).toBe(2);
  expect(await store(owner).get(id)).toBe('late');
  expect(await store(owner).get('msg_of_a_provider')).toBe('theirs');
});

it('writes a batch whose request was ended by the runtime with the next one', async () => {
  const { values, store, clock } = opened({ timers: false });
  const id = store(owner).nextId();
  store(owner).put(id, 'kept');
  await clock.advance(2_000);
  expect(values.size).toBe(0);
  store(owner).nextId();
  await expect.poll(() => values.size).toBe(1);
  expect(await store(owner).get(id)).toBe('kept');
});

it('logs what KV does not store, and the conversation continues', async () => {
  const { store, settle, log } = opened({ fails: true });
  const id = store(owner).nextId();
  store(owner).put(id, 'lost');
  await settle();
  expect(log.lines.some(({ message }) => message === 'replies could not be stored')).toBe(true);
  expect(await store(owner).get(id)).toBeNull();
});
