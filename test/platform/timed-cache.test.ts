import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { createTimedCache } from '../../src/platform/timed-cache.ts';

function make(maxEntries = 10) {
  let now = 0;
  const cache = createTimedCache<string>({ maxEntries, now: () => now });
  const advance = (ms: number): void => {
    now += ms;
  };
  return { cache, advance };
}

const gives =
  (value: string, ttlMs = 100) =>
  async () => ({ value, ttlMs });

describe('isolate memory', () => {
  it('caches a value for its TTL, to the millisecond', async () => {
    const { cache, advance } = make();
    await cache.load('a', gives('one'));
    advance(99);
    expect(cache.read('a')).toBe('one');
    advance(1);
    expect(cache.read('a')).toBeUndefined();
    expect(await cache.load('a', gives('two'))).toBe('two');
  });

  it('counts the TTL from the start of the load, so that a slow value is not cached for longer', async () => {
    const { cache, advance } = make();
    let answer: (loaded: { value: string; ttlMs: number }) => void = () => {};
    const slow = cache.load('a', () => new Promise((resolve) => (answer = resolve)));
    advance(60);
    answer({ value: 'one', ttlMs: 100 });
    expect(await slow).toBe('one');
    advance(39);
    expect(cache.read('a')).toBe('one');
    advance(1);
    expect(cache.read('a')).toBeUndefined();
  });

  it('loads once for concurrent requests', async () => {
    const { cache } = make();
    let loads = 0;
    const loader = async () => ({ value: `load ${++loads}`, ttlMs: 100 });
    expect(await Promise.all([cache.load('a', loader), cache.load('a', loader), cache.load('a', loader)])).toEqual([
      'load 1',
      'load 1',
      'load 1',
    ]);
  });

  it('caches no failure, which only reaches the waiting callers', async () => {
    const { cache } = make();
    const fails = async (): Promise<never> => {
      throw new Error('down');
    };
    const both = await Promise.allSettled([cache.load('a', fails), cache.load('a', fails)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await cache.load('a', gives('up'))).toBe('up');
  });

  it('loads itself when the request that was loading is gone', async () => {
    vi.useFakeTimers();
    try {
      const { cache } = make();
      void cache.load('a', () => new Promise(() => undefined));
      const follower = cache.load('a', gives('mine'));
      await vi.advanceTimersByTimeAsync(limits.catalogTimeoutMs);
      expect(await follower).toBe('mine');
      expect(cache.read('a')).toBe('mine');
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not cache what was invalidated while it loaded', async () => {
    const { cache } = make();
    let finish: (value: string) => void = () => {};
    const slow = cache.load('a', () => new Promise((resolve) => (finish = (value) => resolve({ value, ttlMs: 100 }))));
    cache.invalidate('a');
    expect(await cache.load('a', gives('new'))).toBe('new');
    finish('old');
    expect(await slow).toBe('old');
    expect(cache.read('a')).toBe('new');
    cache.invalidateWhere((key, value) => key === 'a' && value === 'new');
    expect(cache.read('a')).toBeUndefined();
  });

  it('is limited: the oldest is dropped first', async () => {
    const { cache } = make(3);
    for (const key of ['a', 'b', 'c', 'd']) await cache.load(key, gives(key));
    expect(['a', 'b', 'c', 'd'].map((key) => cache.read(key))).toEqual([undefined, 'b', 'c', 'd']);
  });
});

describe('a load of a request that ended', () => {
  const ended = new Error('This promise was created by a request that has since ended, so it can never settle.');

  it('is started again by the next request, once for concurrent ones, and cached', async () => {
    const { cache } = make();
    // The runtime rejects what other requests wait for, and calls no handler of the ended request.
    // biome-ignore lint/suspicious/noThenProperty: only a thenable behaves so.
    const pending = { then: (_: unknown, reject: (error: Error) => void) => reject(ended) };
    // biome-ignore lint/suspicious/noThenProperty: as above.
    void cache.load('a', (() => ({ then: () => pending })) as never);
    let loads = 0;
    const load = async () => {
      loads += 1;
      return { value: 'one', ttlMs: 100 };
    };
    expect(await Promise.all([cache.load('a', load), cache.load('a', load), cache.load('a', load)])).toEqual(['one', 'one', 'one']);
    expect(loads).toBe(1);
    expect(cache.read('a')).toBe('one');
  });
});
