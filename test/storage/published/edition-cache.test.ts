import { describe, expect, it } from 'vitest';
import { createEditionNames } from '../../../src/storage/published/edition-cache.ts';

const edition = { format: 1 as const, workspace: 'default', toolset: 'support', announce: 'none' as const, tools: [] };

/** A cache of 100 bytes of text, and the editions that it loaded. */
function cacheOf(sizes: Readonly<Record<string, number>>) {
  const loaded: string[] = [];
  const load = async (workspace: string, hash: string) => {
    loaded.push(`${workspace}:${hash}`);
    return { edition, bytes: sizes[hash] ?? 1 };
  };
  const names = createEditionNames({ load, aliases: true, maxBytes: 300 });
  const read = async (...hashes: readonly string[]) => {
    for (const hash of hashes) await names('default', { hash, revision: 1, toolset: 'support', version: 1 });
    return loaded.splice(0);
  };
  return { names, loaded, read };
}

describe('editions in memory', () => {
  it('are dropped by weight, the least recently used first, and weigh more than their bytes', async () => {
    const { read } = cacheOf({ a: 40, b: 40, c: 40 });
    expect(await read('a', 'b', 'a', 'c')).toEqual(['default:a', 'default:b', 'default:c']);
    expect(await read('a', 'c', 'b')).toEqual(['default:b']);
  });

  it('keep the newest even when it alone is too heavy', async () => {
    const { read } = cacheOf({ a: 50, huge: 1000 });
    await read('a', 'huge');
    expect(await read('huge', 'a')).toEqual(['default:a']);
    expect(await read('huge')).toEqual(['default:huge']);
  });

  it('are loaded once by concurrent callers, and separately for each workspace', async () => {
    const { names, loaded } = cacheOf({});
    const pointer = { hash: 'a', revision: 1, toolset: 'support', version: 1 };
    const found = await Promise.all([names('t1', pointer), names('t1', pointer), names('t10', pointer)]);
    expect([loaded, found[0] === found[1], found[0] === found[2]]).toEqual([['t1:a', 't10:a'], true, false]);
  });
});
