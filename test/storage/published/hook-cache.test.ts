import { describe, expect, it } from 'vitest';
import type { CompiledHook } from '../../../src/core/triggers/compiled-hook.ts';
import type { SealedHook } from '../../../src/storage/published-values.ts';
import { createHookCache, type HookSource } from '../../../src/storage/published/hook-cache.ts';
import { fakeClock } from '../../fakes/runtime.ts';

const ttlMs = 5_000;

/** What is stored by name, with every load and compilation counted. */
function make(maxEntries = 10) {
  const clock = fakeClock();
  const stored = new Map<string, SealedHook>();
  const loads: string[] = [];
  const compiled: number[] = [];
  const cache = createHookCache({ maxEntries, now: clock.now });
  const source = (name: string): HookSource => ({
    load: async (_known, recheck) => {
      loads.push(recheck === undefined ? name : `${name} ${recheck}`);
      const value = stored.get(name) ?? null;
      return { value, ttlMs: value === null ? 0 : ttlMs };
    },
    // The cache uses only the version.
    compile: async ({ version }) => {
      compiled.push(version);
      return { version } as CompiledHook;
    },
  });
  const write = (name: string, version: number) => stored.set(name, { webhook: {}, version, sealed: '' } as unknown as SealedHook);
  return {
    clock,
    cache,
    loads,
    compiled,
    write,
    stored,
    source,
    read: (name: string, since?: number) => cache.read(name, source(name), since),
  };
}

describe('webhooks in memory', () => {
  it('are read again when they expire, and compiled again only after a write', async () => {
    const { clock, loads, compiled, write, read } = make();
    write('a', 1);
    const first = await read('a');
    await clock.advance(ttlMs - 1);
    expect(await read('a')).toBe(first);
    expect(loads).toHaveLength(1);
    await clock.advance(1);
    expect(await read('a')).toBe(first);
    expect([loads.length, compiled]).toEqual([2, [1]]);
    write('a', 2);
    await clock.advance(ttlMs);
    expect((await read('a'))?.version).toBe(2);
    expect(compiled).toEqual([1, 2]);
  });

  it('are read again each time when the newest one is required, which says whether they were just read', async () => {
    const { clock, loads, write, read } = make();
    write('a', 1);
    await read('a');
    await clock.advance(10);
    write('a', 2);
    for (let again = 0; again < 2; again += 1) expect((await read('a', clock.now()))?.version).toBe(2);
    expect(loads).toEqual(['a', 'a cached', 'a fresh']);
  });

  it('that do not exist are looked up each time, and evict nothing', async () => {
    const { loads, write, read } = make(2);
    write('a', 1);
    await read('a');
    for (let tried = 0; tried < 50; tried += 1) expect(await read(`no-${tried % 5}`)).toBeNull();
    expect(loads).toHaveLength(51);
    await read('a');
    expect(loads).toHaveLength(51);
  });

  it('that were removed are gone with the next read', async () => {
    const { clock, stored, write, read } = make();
    write('a', 1);
    await read('a');
    stored.delete('a');
    await clock.advance(ttlMs);
    expect(await read('a')).toBeNull();
  });

  it('are loaded once for concurrent requests', async () => {
    const { loads, compiled, write, read } = make();
    write('a', 1);
    await Promise.all(Array.from({ length: 20 }, () => read('a')));
    await Promise.all(Array.from({ length: 20 }, () => read('nobody')));
    expect([loads, compiled]).toEqual([['a', 'nobody'], [1]]);
  });

  it('that are invalidated while they load are not cached', async () => {
    const { cache, loads, write, source, read } = make();
    write('a', 1);
    const slow = cache.read('a', source('a'));
    cache.invalidate('a');
    await slow;
    await read('a');
    expect(loads).toHaveLength(2);
  });

  it('leave nothing behind when the load fails, and the next request loads again', async () => {
    const { cache, write, read } = make();
    write('a', 1);
    const failing: HookSource = { load: () => Promise.reject(new Error('down')), compile: () => Promise.reject(new Error('unused')) };
    await expect(cache.read('a', failing)).rejects.toThrow('down');
    expect((await read('a'))?.version).toBe(1);
  });

  it('are limited in number, keeping the newest', async () => {
    const { loads, write, read } = make(2);
    for (const name of ['a', 'b', 'c']) {
      write(name, 1);
      await read(name);
    }
    await read('c');
    await read('b');
    expect(loads).toEqual(['a', 'b', 'c']);
    await read('a');
    expect(loads).toEqual(['a', 'b', 'c', 'a']);
  });
});
