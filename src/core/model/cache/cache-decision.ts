/** What a request, its alias and its key decide together about the cache (`cache-policy.ts`). Loaded only if one of them says something. */
import { invalidRequest } from '../../problem.ts';
import { type CachePolicy, cacheSeconds, cacheTimeMessage } from './cache-policy.ts';

export const cacheHeader = 'x-moniker-cache';

/** What a request asks for. `isRefresh`: a stored reply is not used, but replaced. */
type AskedCache = { ttl?: number; isRefresh: boolean; isOff: boolean };

/** Reads `ttl=600`, `refresh` and `no-store`, separated by commas. Throws `invalid_request` for anything else. */
export function readCacheHeader(text: string | undefined): AskedCache | null {
  if (text === undefined) return null;
  const asked: AskedCache = { isRefresh: false, isOff: false };
  for (const part of text.split(',').map((written) => written.trim().toLowerCase())) {
    const seconds = /^ttl=(\d{1,8})$/.exec(part)?.[1];
    if (part === 'refresh') asked.isRefresh = true;
    else if (part === 'no-store') asked.isOff = true;
    else if (seconds === undefined) throw invalidRequest([{ path: cacheHeader, message: 'must be ttl=<seconds>, refresh or no-store' }]);
    else if (Number(seconds) < cacheSeconds.min || Number(seconds) > cacheSeconds.max)
      throw invalidRequest([{ path: cacheHeader, message: cacheTimeMessage }]);
    else asked.ttl = Number(seconds);
  }
  return asked;
}

/** `bypass`: why a request that asks for the cache does not use it. */
export type DecidedCache = { ttl: number; scope: 'key' | 'workspace'; isRefresh: boolean } | { bypass: string };

/** The alias and the key decide before the request; of several times the shortest holds, of several scopes the narrowest. null: nothing asks for it. */
export function decideCache(
  asked: AskedCache | null,
  set: { alias: CachePolicy | undefined; key: CachePolicy | undefined },
): DecidedCache | null {
  const policies = [set.alias, set.key].filter((policy) => policy !== undefined && policy !== false);
  if (set.alias === false || set.key === false) return asked === null ? null : { bypass: set.key === false ? 'key' : 'alias' };
  if (asked?.isOff === true) return { bypass: 'request' };
  const times = [...policies.map(({ ttl }) => ttl), ...(asked?.ttl === undefined ? [] : [asked.ttl])];
  if (times.length === 0) return asked === null ? null : { bypass: 'no-ttl' };
  const isShared = policies.length > 0 && policies.every(({ scope }) => scope === 'workspace');
  return { ttl: Math.min(...times), scope: isShared ? 'workspace' : 'key', isRefresh: asked?.isRefresh === true };
}
