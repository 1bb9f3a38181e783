/**
 * Reading what servers list: with leave of the Catalog, which gives it to one at a time, over the source of their kind, in the request
 * that wants it or behind one. The Catalog decides what becomes of what was read (`catalog/server-refresh.ts`). Trying a server without
 * storing anything is `test-server.ts`.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ListingReport, ServerAccess, ServerKind } from '../core/servers/server.ts';
import type { RefreshReason } from '../core/servers/server-life.ts';
import type { Discovery } from '../core/servers/server-state.ts';
import type { Catalog, ReadLeave, RefreshFailure } from '../ports/catalog.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { ServerSource, UpstreamContext } from '../ports/upstream.ts';
import { keptTokens } from './kept-tokens.ts';
import { createRedactor, withoutSecrets } from './redact.ts';

export type ReadDeps = {
  clock: Clock;
  log: Logger;
  /** By kind of server; one that is absent cannot be read here. */
  sources: Partial<Record<ServerKind, ServerSource>>;
  context(workspace: string, server: ServerAccess, signal: AbortSignal): UpstreamContext;
};
export type RefreshDeps = ReadDeps & {
  catalog(workspace: string): Pick<Catalog, 'claimRefresh' | 'takeDiscovery' | 'takeFailure' | 'refreshServer'>;
};

export type ServerRefresh = {
  /**
   * null: not now, somebody else does or has just done it; where a person asked, that is `rate_limited`. Whoever comes while this isolate reads
   * it gets the same answer, unless what there is to read was written since (`isNew`). Throws what the server could not be read for.
   */
  refresh(workspace: string, server: string, reason: RefreshReason, options?: { isNew?: boolean }): Promise<ListingReport | null>;
  /** Behind whoever has met it, who does not wait: `background` keeps what it is given alive. */
  refreshIfStale(workspace: string, server: ServerAccess, background: (work: Promise<unknown>) => void): void;
};

/** One for an isolate. */
export function createServerRefresh(deps: RefreshDeps): ServerRefresh {
  const underWay = new Map<string, Promise<ListingReport | null>>();
  /** When to ask for leave again, where it was refused. */
  const waits = new Map<string, number>();

  const wait = (key: string, ms: number): void => {
    if (waits.size >= limits.maxCachedNames) waits.clear();
    waits.set(key, deps.clock.now() + ms);
  };
  const mustWait = (key: string): boolean => (waits.get(key) ?? 0) > deps.clock.now();

  const claimAndRead = async (workspace: string, name: string, reason: RefreshReason): Promise<ListingReport | null> => {
    const catalog = deps.catalog(workspace);
    const claim = await catalog.claimRefresh(name, reason);
    if (!claim.claimed) {
      if (reason !== 'asked') wait(keyOf(workspace, name, reason), claim.retryAfterMs);
      else throw new Problem('rate_limited', `The server "${name}" is being read just now.`, { retryAfterMs: claim.retryAfterMs });
      return null;
    }
    if (claim.server.kind === 'static') return await catalog.refreshServer(name);
    return await readAndStore(deps, workspace, claim.server, claim.leave);
  };

  const refresh: ServerRefresh['refresh'] = async (workspace, name, reason, { isNew = false } = {}) => {
    const key = keyOf(workspace, name, reason);
    if (reason !== 'asked' && mustWait(key)) return null;
    const before = isNew ? undefined : underWay.get(key);
    if (before !== undefined) {
      const answer = await patiently(deps.clock, before);
      // It was given no leave, or the request that it belonged to is gone: who asked for it does it.
      if (answer !== null && answer !== abandoned) return answer;
      if (answer === abandoned && underWay.get(key) === before) underWay.delete(key);
      return reason === 'asked' ? await refresh(workspace, name, reason) : null;
    }
    const work = claimAndRead(workspace, name, reason).finally(() => {
      if (underWay.get(key) === work) underWay.delete(key);
    });
    underWay.set(key, work);
    return await work;
  };

  return {
    refresh,
    refreshIfStale(workspace, { name, staleAt }, background) {
      const key = keyOf(workspace, name, 'stale');
      if (staleAt === null || staleAt > deps.clock.now() || underWay.has(key) || mustWait(key)) return;
      const work = refresh(workspace, name, 'stale').catch((error: unknown) => {
        // What the server did wrong is in its health; not to ask again at once, whatever it was, is for the Catalog's sake.
        wait(key, limits.minRefreshIntervalMs);
        if (!(error instanceof Problem)) deps.log.error('a server could not be read', { workspace, server: name, cause: String(error) });
      });
      background(work);
    },
  };
}

/**
 * Whoever says that its list has changed is never answered with what was read before that; the Catalog hears of it even while somebody
 * reads, so that it is read once more.
 */
function keyOf(workspace: string, server: string, reason: RefreshReason): string {
  return reason === 'changed' ? `${workspace}:${server}:changed` : `${workspace}:${server}`;
}

const abandoned = Symbol('abandoned');

/** A request that ends may take what it was doing with it, and nobody says so. */
function patiently<T>(clock: Clock, work: Promise<T>): Promise<T | typeof abandoned> {
  return new Promise((resolve, reject) => {
    const disarm = clock.after(limits.refreshLeaseMs, () => resolve(abandoned));
    work.finally(disarm).then(resolve, reject);
  });
}

async function readAndStore(deps: RefreshDeps, workspace: string, server: ServerAccess, leave: ReadLeave): Promise<ListingReport> {
  const { name } = server;
  let read: Discovery;
  try {
    read = await readServer(deps, workspace, server);
  } catch (error) {
    await noteFailure(deps, workspace, name, leave, error);
    throw toldOf(name, error);
  }
  try {
    return await deps.catalog(workspace).takeDiscovery(name, leave, read);
  } catch (error) {
    // It was written anew, read by somebody else, or removed, while it was read: what was read is of no use, and no fault of the server.
    if (error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')) throw error;
    await noteFailure(deps, workspace, name, leave, error);
    throw error;
  }
}

/** Gives the leave back as well. */
async function noteFailure(deps: RefreshDeps, workspace: string, server: string, leave: ReadLeave, error: unknown): Promise<void> {
  const { catalog, log } = deps;
  if (!(error instanceof Problem)) log.error('a server could not be read', { workspace, server, cause: String(error) });
  const failure = toFailure(error);
  log.info('a server was not read', { workspace, server, status: failure.status, reason: failure.reason });
  await catalog(workspace).takeFailure(server, leave, failure);
}

/** A secret that is not there, or bound elsewhere, is how things stand: whoever wants the server read may, and the server exists. */
function toldOf(server: string, error: unknown): unknown {
  if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'forbidden')) return error;
  return new Problem('conflict', `The server "${server}" cannot be read. ${error.detail}`, error.extra, { cause: error });
}

/** Everything it lists, in `limits.discoveryTimeoutMs`, whatever the source does. */
export function readServer(
  { clock, sources, context }: ReadDeps,
  workspace: string,
  server: ServerAccess,
  change: Partial<UpstreamContext> = {},
): Promise<Discovery> {
  const source = sources[server.kind];
  if (source === undefined) throw new Problem('not_configured', `This Moniker cannot read servers of kind "${server.kind}".`);
  const abort = new AbortController();
  const redactor = createRedactor();
  return new Promise((resolve, reject) => {
    const seconds = limits.discoveryTimeoutMs / 1000;
    const late = new Problem('upstream_timeout', `"${server.name}" did not tell what it lists within ${seconds} s.`, { retryable: true });
    const disarm = clock.after(limits.discoveryTimeoutMs, () => {
      reject(late);
      abort.abort(late);
    });
    const work = async (): Promise<Discovery> => {
      const outside = { ...context(workspace, server, abort.signal), ...change };
      const secret: UpstreamContext['secret'] = async (name, host) => redactor.keep(await outside.secret(name, host));
      // A server that tells what it was sent does not get it into definitions, health or the log.
      const tokens = outside.tokens && { tokens: keptTokens(outside.tokens, redactor) };
      return redactor.data(await source.discover(server, { ...outside, secret, ...tokens, log: redactor.log(outside.log) }));
    };
    work()
      .finally(() => {
        disarm();
        // Ends whatever was left running.
        abort.abort(new Error('the server has been read'));
      })
      .then(resolve, (error: unknown) => reject(withoutSecrets(error, redactor)));
  });
}

/** For the server's health. What went wrong on our side is no word on the server, but it was not read. */
export function toFailure(error: unknown): RefreshFailure {
  if (!(error instanceof Problem))
    return { status: 'failing', reason: 'It could not be read for a fault of this Moniker, which is in its log.' };
  const { unauthorized, upstreamStatus } = error.extra;
  const isUnauthorized = unauthorized === true || upstreamStatus === 401 || upstreamStatus === 403;
  return { status: isUnauthorized ? 'unauthorized' : 'failing', reason: error.detail };
}
