import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { createEditionCache } from '../../../src/storage/published/edition-cache.ts';

const names = buildAliasMap({ format: 1, workspace: 'default', toolset: 'support', announce: 'none', tools: [] }, { aliases: true });

describe('editions in memory', () => {
  it('are dropped by weight, the least recently used first', () => {
    const cache = createEditionCache({ maxBytes: 100, weight: 1 });
    cache.set('default', 'a', names, 40);
    cache.set('default', 'b', names, 40);
    expect(cache.get('default', 'a')).toBe(names);
    cache.set('default', 'c', names, 40);
    expect(['a', 'b', 'c'].map((hash) => cache.get('default', hash) !== undefined)).toEqual([true, false, true]);
  });

  it('are counted once when they are set twice, and weigh more than their bytes', () => {
    const cache = createEditionCache({ maxBytes: 100, weight: 2 });
    for (let round = 0; round < 10; round++) cache.set('default', 'a', names, 20);
    cache.set('default', 'b', names, 30);
    expect(cache.get('default', 'a')).toBe(names);
    cache.set('default', 'c', names, 1);
    expect(cache.get('default', 'b')).toBeUndefined();
  });

  it('keep the newest even when it alone is too heavy', () => {
    const cache = createEditionCache({ maxBytes: 100, weight: 1 });
    cache.set('default', 'a', names, 50);
    cache.set('default', 'huge', names, 1000);
    expect([cache.get('default', 'a'), cache.get('default', 'huge')]).toEqual([undefined, names]);
  });

  it('of one workspace are separate from those of another', () => {
    const cache = createEditionCache({ maxBytes: 100, weight: 1 });
    cache.set('t1', 'a', names, 1);
    expect(cache.get('t10', 'a')).toBeUndefined();
  });
});
