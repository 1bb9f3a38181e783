import { describe, expect, it } from 'vitest';
import { decideCache, readCacheHeader } from '../../../../src/core/model/cache/cache-decision.ts';
import type { CachePolicy } from '../../../../src/core/model/cache/cache-policy.ts';

const decide = (header: string | undefined, alias?: CachePolicy, key?: CachePolicy) => decideCache(readCacheHeader(header), { alias, key });
const own = { scope: 'key', isRefresh: false };

describe('what decides whether a reply is cached', () => {
  it('is nothing unless an alias, a key or a request asks for it', () => {
    expect(decide(undefined)).toBeNull();
    expect(decide(undefined, false)).toBeNull();
    expect(decide('refresh')).toEqual({ bypass: 'no-ttl' });
    expect(decide('ttl=600')).toEqual({ ...own, ttl: 600 });
    expect(decide(undefined, { ttl: 600 })).toEqual({ ...own, ttl: 600 });
    expect(decide(undefined, undefined, { ttl: 600 })).toEqual({ ...own, ttl: 600 });
  });

  it('is the alias or the key that forbids it, before the request', () => {
    expect(decide('ttl=600', false, { ttl: 600 })).toEqual({ bypass: 'alias' });
    expect(decide('ttl=600', { ttl: 600 }, false)).toEqual({ bypass: 'key' });
    expect(decide('no-store', { ttl: 600 })).toEqual({ bypass: 'request' });
  });

  it('is the shortest time and the narrowest scope', () => {
    expect(decide('ttl=900', { ttl: 600, scope: 'workspace' })).toEqual({ ttl: 600, scope: 'workspace', isRefresh: false });
    expect(decide('ttl=60, refresh', { ttl: 600, scope: 'workspace' })).toEqual({ ttl: 60, scope: 'workspace', isRefresh: true });
    expect(decide(undefined, { ttl: 600, scope: 'workspace' }, { ttl: 300 })).toEqual({ ...own, ttl: 300 });
    expect(decide(undefined, { ttl: 600 }, { ttl: 900, scope: 'workspace' })).toEqual({ ...own, ttl: 600 });
  });

  it.each(['', 'ttl', 'ttl=', 'ttl=59', 'ttl=2592001', 'ttl=1e3', 'ttl=600; refresh', 'only-if-cached', `ttl=${'9'.repeat(400)}`])(
    'is never the header %j, which is refused',
    (header) => {
      expect(() => readCacheHeader(header)).toThrow('x-moniker-cache');
    },
  );
});
