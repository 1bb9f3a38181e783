/**
 * Reads what servers list, under a claim of the Catalog, which only one reader has at a time; in the request that asks for it or in the
 * background. The Catalog decides what to store (`objects/catalog/servers/server-refresh.ts`). Testing a server without storing anything is
 * `test-server.ts`.
 */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess, ServerKind } from '../../core/servers/server.ts';
import type { ListingReport } from '../../core/servers/server-tool.ts';
import type { RefreshReason } from '../../core/servers/refresh-state.ts';
import type { Discovery } from '../../core/servers/server-state.ts';
import type { CatalogPort, RefreshClaim, RefreshFailure } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ServerSource, ServerTokens, SignInOffer, UpstreamContext } from '../../ports/upstream.ts';
import { abandoned, joinWork, withTimeout } from '../timeout.ts';
import { withRedactedTokens, createRedactor, redactProblem } from '../call/redact.ts';

export type ReadDeps = {
  clock: Clock;
  log: Logger;
  /** By kind of server; an absent kind cannot be read here. */
  sources: Partial<Record<ServerKind, ServerSource>>;
  context(workspace: string, server: ServerAccess, signal: AbortSignal): UpstreamContext;
  /** For a server without tokens: finds out whether a user can sign in. null, or absent: none may. */
  offer?(workspace: string, server: ServerAccess): ServerTokens | null;
};
export type RefreshDeps = ReadDeps & {
  catalog(workspace: string): Pick<CatalogPort, 'claimRefresh' | 'takeDiscovery' | 'takeFailure' | 'refreshServer'>;
};

/** `fault`: why a call of the server failed, redacted; its health shows it, even if the server can be listed. */
export type RefreshOptions = { isNew?: boolean; fault?: string };

export type ServerRefresh = {
  /**
   * Returns null if another reader holds the claim or has just read the server; for reason `asked`, throws `rate_limited` instead. Concurrent
   * calls in this isolate share the result, unless the server's document was written since (`isNew`). Throws why reading failed.
   */
  refresh(workspace: string, server: string, reason: RefreshReason, options?: RefreshOptions): Promise<ListingReport | null>;
  /** Refreshes a stale list in the background: `background` keeps the work alive. */
  refreshIfStale(workspace: string, server: ServerAccess, background: (work: Promise<unknown>) => void): void;
};

/** One per isolate. */
export function createServerRefresh(deps: RefreshDeps): ServerRefresh {
  const inFlight = new Map<string, { work: Promise<ListingReport | null>; since: number }>();
  /** When a refused claim may be requested again, by key. */
  const retryAt = new Map<string, number>();

  const delay = (key: string, ms: number): void => {
    if (retryAt.size >= limits.maxCachedNames) retryAt.clear();
    retryAt.set(key, deps.clock.now() + ms);
  };
  /** A request that reads may have ended without a trace. */
  const isReading = (key: string): boolean =>
    deps.clock.now() - (inFlight.get(key)?.since ?? Number.NEGATIVE_INFINITY) < limits.refreshClaimMs;
  const mustWait = (key: string): boolean => (retryAt.get(key) ?? 0) > deps.clock.now();

  const claimAndRead = async (workspace: string, name: string, reason: RefreshReason, fault?: string): Promise<ListingReport | null> => {
    const catalog = deps.catalog(workspace);
    const answer = await catalog.claimRefresh(name, reason, fault);
    if (!answer.claimed) {
      if (reason !== 'asked') delay(keyOf(workspace, name, reason), answer.retryAfterMs);
      else throw new Problem('rate_limited', `The server "${name}" is already being read.`, { retryAfterMs: answer.retryAfterMs });
      return null;
    }
    if (answer.server.kind === 'static') return await catalog.refreshServer(name);
    return await readAndStore(deps, workspace, answer.server, answer.claim);
  };

  const refresh: ServerRefresh['refresh'] = async (workspace, name, reason, { isNew = false, fault } = {}) => {
    const key = keyOf(workspace, name, reason);
    if (reason !== 'asked' && mustWait(key)) return null;
    const before = isNew ? undefined : inFlight.get(key);
    if (before !== undefined) {
      const answer = await joinWork(deps.clock, before.work, limits.refreshClaimMs);
      // Without a claim, or if the reading request was cancelled, a reader with reason `asked` tries itself.
      if (answer !== null && answer !== abandoned) return answer;
      if (answer === abandoned && inFlight.get(key) === before) inFlight.delete(key);
      return reason === 'asked' ? await refresh(workspace, name, reason) : null;
    }
    const work = claimAndRead(workspace, name, reason, fault).finally(() => {
      if (inFlight.get(key)?.work === work) inFlight.delete(key);
    });
    inFlight.set(key, { work, since: deps.clock.now() });
    return await work;
  };

  return {
    refresh,
    refreshIfStale(workspace, { name, staleAt }, background) {
      const key = keyOf(workspace, name, 'stale');
      if (staleAt === null || staleAt > deps.clock.now() || isReading(key) || mustWait(key)) return;
      inFlight.delete(key);
      const work = refresh(workspace, name, 'stale').catch((error: unknown) => {
        // The server's health records what went wrong; the delay spares the Catalog.
        delay(key, limits.minRefreshIntervalMs);
        if (!(error instanceof Problem)) deps.log.error('reading a server failed', { workspace, server: name, cause: String(error) });
      });
      background(work);
    },
  };
}

/**
 * Refreshes because of a changed list do not share a reading that began before the change; the Catalog is notified even during such a
 * reading, so that the server is read once more.
 */
function keyOf(workspace: string, server: string, reason: RefreshReason): string {
  return reason === 'changed' ? `${workspace}:${server}:changed` : `${workspace}:${server}`;
}

async function readAndStore(deps: RefreshDeps, workspace: string, server: ServerAccess, claim: RefreshClaim): Promise<ListingReport> {
  const { name } = server;
  let read: Discovery;
  try {
    read = await discoverServer(deps, workspace, server);
  } catch (error) {
    await noteFailure(deps, workspace, name, claim, error);
    throw asServerState(name, error);
  }
  try {
    return await deps.catalog(workspace).takeDiscovery(name, claim, read);
  } catch (error) {
    // The server was rewritten, read by another reader, or removed meanwhile: the result is dropped, and the server is not at fault.
    if (error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')) throw error;
    await noteFailure(deps, workspace, name, claim, error);
    throw error;
  }
}

/** Stores the failure in the server's health, which also releases the claim. */
async function noteFailure(deps: RefreshDeps, workspace: string, server: string, claim: RefreshClaim, error: unknown): Promise<void> {
  const { catalog, log } = deps;
  if (!(error instanceof Problem)) log.error('reading a server failed', { workspace, server, cause: String(error) });
  const failure = toFailure(error);
  log.info('a server could not be read', { workspace, server, status: failure.status, reason: failure.reason });
  await catalog(workspace).takeFailure(server, claim, failure);
}

/** Turns `not_found` and `forbidden` of a secret into `conflict`: the server itself exists, and the caller may read it. */
function asServerState(server: string, error: unknown): unknown {
  if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'forbidden')) return error;
  return new Problem('conflict', `The server "${server}" cannot be read. ${error.detail}`, error.extra, { cause: error });
}

/** Returns everything the server lists. Ends after `limits.discoveryTimeoutMs`, whatever the source does. */
export async function discoverServer(
  { clock, sources, context, offer: offerOf }: ReadDeps,
  workspace: string,
  server: ServerAccess,
  change: Partial<UpstreamContext> = {},
): Promise<Discovery> {
  const source = sources[server.kind];
  if (source === undefined)
    throw new Problem('not_configured', `This installation of Moniker cannot read servers of kind "${server.kind}".`);
  const abort = new AbortController();
  const redactor = createRedactor({ clock });
  let offer: SignInOffer | undefined;
  const work = async (): Promise<Discovery> => {
    const outside = { ...context(workspace, server, abort.signal), ...change };
    const secret: UpstreamContext['secret'] = async (name, host) => redactor.addSecret(await outside.secret(name, host));
    // A server may repeat what it was sent; that must not reach definitions, health or the log.
    const known = outside.tokens ?? offerOf?.(workspace, server) ?? null;
    const tokens = known !== null && { tokens: withRedactedTokens(known, redactor) };
    const asking = source.discover(server, { ...outside, secret, ...tokens, log: redactor.log(outside.log) });
    const found = await asking.finally(() => {
      offer = known?.signInOffer?.();
    });
    return await redactor.content(found, `The list of "${server.name}"`);
  };
  try {
    return await withTimeout(clock, work(), limits.discoveryTimeoutMs, () => {
      const seconds = limits.discoveryTimeoutMs / 1000;
      throw new Problem('upstream_timeout', `"${server.name}" did not return its list within ${seconds} s.`, { retryable: true });
    });
  } catch (error) {
    throw redactProblem(withSignIn(server, error, offer), redactor);
  } finally {
    // Aborts whatever is still running.
    abort.abort(new Error('the server has been read'));
  }
}

/** Adds how to sign in at the server that refused the listing. */
function withSignIn({ mcp }: ServerAccess, error: unknown, offer: SignInOffer | undefined): unknown {
  if (!(error instanceof Problem) || error.extra.unauthorized !== true) return error;
  const { isOffered: signIn = mcp?.oauth?.grant === 'authorization_code', text } = offer ?? {};
  const detail = text === undefined ? error.detail : signIn ? text : `${error.detail} ${text}`;
  return new Problem(error.code, detail, { ...error.extra, ...(signIn && { signIn }) }, { cause: error });
}

/** For the server's health. An internal error says nothing about the server, but it was not read. */
export function toFailure(error: unknown): RefreshFailure {
  if (!(error instanceof Problem))
    return { status: 'failing', reason: 'It could not be read because of an internal error. See the log of this installation.' };
  const { unauthorized, upstreamStatus, signIn } = error.extra;
  const isUnauthorized = unauthorized === true || upstreamStatus === 401 || upstreamStatus === 403;
  return { status: isUnauthorized ? 'unauthorized' : 'failing', reason: error.detail, ...(signIn === true && { signIn }) };
}
