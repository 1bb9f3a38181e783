import { beforeEach, expect, it } from 'vitest';
import { createCachedReplies } from '../../src/storage/cached-replies.ts';
import { createStoredResults } from '../../src/storage/stored-results.ts';
import { textResult } from '../../src/core/tools/tool.ts';

/** KV as one location sees it. `stale`: deletes are not seen yet. */
function kvOf() {
  const values = new Map<string, string>();
  let stale = false;
  return {
    setStale: () => (stale = true),
    kv: {
      get: async (key: string) => values.get(key) ?? null,
      put: async (key: string, value: string) => void values.set(key, value),
      delete: async (key: string) => void (stale || values.delete(key)),
      list: async ({ prefix, limit }: { prefix: string; limit: number }) => {
        const found = [...values.keys()].filter((key) => key.startsWith(prefix));
        return { keys: found.slice(0, limit).map((name) => ({ name })), list_complete: found.length <= limit };
      },
    } as unknown as KVNamespace,
  };
}

function open() {
  const { kv, setStale } = kvOf();
  let now = 1_000_000;
  const writing: Promise<unknown>[] = [];
  const log = { info: () => undefined, error: (message: string) => expect.unreachable(message) };
  const clock = { now: () => now, after: () => () => undefined };
  const deps = { kv, clock, background: (work: Promise<unknown>) => void writing.push(work), log } as never;
  const replies = createCachedReplies(deps);
  const results = createStoredResults(deps, 'default');
  return {
    setStale,
    erase: async (of: { key?: string; toolset?: string } = {}) => {
      now += 1;
      const done = await replies.erase('default', of);
      now += 1;
      return done;
    },
    putReply: async (keyId: string) => {
      replies.put('default', `${keyId}:h`, { at: now, keyId, headers: {}, body: '{}', usage: null, kept: [] }, 600);
      await Promise.all(writing);
    },
    putResult: async (toolset: string, keyId: string, hash = keyId) => {
      results.put(toolset, hash, { at: now, keyId, result: textResult('x') }, 600);
      await Promise.all(writing);
    },
    hasReply: async (keyId: string) => (await replies.get('default', `${keyId}:h`)) !== null,
    hasResult: async (toolset: string, hash: string) => (await results.get(toolset, hash)) !== null,
  };
}

let store: ReturnType<typeof open>;
beforeEach(async () => {
  store = open();
  await store.putReply('k1');
  await store.putReply('k2');
  for (const toolset of ['a', 'ab']) for (const key of ['k1', 'k2']) await store.putResult(toolset, key);
});

const left = async () => ({
  replies: [await store.hasReply('k1'), await store.hasReply('k2')],
  results: await Promise.all(['a:k1', 'a:k2', 'ab:k1', 'ab:k2'].map((one) => store.hasResult(...(one.split(':') as [string, string])))),
});

it.each([false, true])('erases the results of a toolset, and of no other (deletes not seen: %s)', async (isStale) => {
  if (isStale) store.setStale();
  expect(await store.erase({ toolset: 'a' })).toEqual({ erased: 2, isDone: true });
  expect(await left()).toEqual({ replies: [true, true], results: [false, false, true, true] });
  await store.putResult('a', 'k1');
  expect(await store.hasResult('a', 'k1')).toBe(true);
});

it.each([false, true])('erases what a key got, results included (deletes not seen: %s)', async (isStale) => {
  if (isStale) store.setStale();
  await store.erase({ key: 'k1' });
  expect(await left()).toEqual({ replies: [false, true], results: [false, true, false, true] });
});

it.each([false, true])('erases replies and results of the whole workspace (deletes not seen: %s)', async (isStale) => {
  if (isStale) store.setStale();
  expect(await store.erase()).toEqual({ erased: 6, isDone: true });
  expect(await left()).toEqual({ replies: [false, false], results: [false, false, false, false] });
});

it('says that more is left, which is not used any more', async () => {
  for (let index = 0; index < 450; index += 1) await store.putResult('a', 'k3', `h${index}`);
  expect(await store.erase({ toolset: 'a' })).toEqual({ erased: 400, isDone: false });
  expect(await store.hasResult('a', 'h449')).toBe(false);
  expect(await store.erase({ toolset: 'a' })).toEqual({ erased: 52, isDone: true });
});

it('erases everything when more toolsets were erased than it can remember', async () => {
  for (let index = 0; index < 500; index += 1) await store.erase({ toolset: `t${index}` });
  expect((await left()).results).toEqual([true, true, true, true]);
  await store.erase({ toolset: 'last' });
  expect(await left()).toEqual({ replies: [false, false], results: [false, false, false, false] });
});

it('remembers no mark of a name that objects have', async () => {
  await store.putResult('constructor', '__proto__');
  expect(await store.hasResult('constructor', '__proto__')).toBe(true);
});
