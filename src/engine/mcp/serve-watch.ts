/**
 * Watches for changes while an MCP client listens: polls the toolset's edition (and at `/mcp` the equipment) every few seconds, and listens
 * to its servers for changed lists and for the resources that the client named. Ends after `limits.mcpStreamMs`, and within
 * `limits.principalTtlMs` after its key is revoked (contract §9); nothing continues after its listener is gone.
 */
import { backoffMs } from '../../core/limits/backoff.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import { readServedOffers, servedServers } from './read-offers.ts';
import { shownUri } from './serve-offers.ts';
import { upstreamCallerOf, maySubscribe, type OfferDeps } from './serve-resources.ts';
import { readView, type ServedView, type ServeTarget, type ViewDeps } from './serve-view.ts';
import { abortAfter, type TimedAbort } from '../timeout.ts';
import { type OpenReports, openReports } from './open-reports.ts';

/** Poll interval for clients that listen for changes. */
export const mcpWatchIntervalMs = 4_000;
/** Check interval of the key of a stream, so that the stream ends within `principalTtlMs` of its revocation. */
const mcpKeyCheckMs = 20_000;
/**
 * Waits before listening again to a server whose stream has ended: short after a stream that lasted, as that of a command whose process now
 * belongs to another session; longer while the server refuses streams.
 */
const relistening = { firstMs: 500, maxMs: limits.mcpListenRetryMs };
/** Servers whose changes one stream receives: each is a connection. */
const maxMcpListenedServers = 10;

export type ServedChange = { kind: 'tools' } | { kind: 'prompts' } | { kind: 'resources' } | { kind: 'resource'; uri: string };

export type WatchDeps = OfferDeps &
  ViewDeps & {
    clock: Clock;
    log: Logger;
    /** Returns false if the key was revoked, has expired, or may no longer use tools. */
    isKeyActive(principal: Principal): Promise<boolean>;
  };

export type WatchedView = {
  principal: Principal;
  target: ServeTarget;
  view: ServedView;
  conversation: string;
  /** Whether the client wants list changes (tools, prompts, resources), which the servers report. */
  lists: boolean;
  /** The resources of whose changes the client is notified, as they were authorized. */
  subscriptions: readonly ResourceSubscription[];
  /** What servers report outside of a call; absent: the client has no stream for it. */
  reports?: OpenReports;
};

export async function watchServed(
  deps: WatchDeps,
  watched: WatchedView,
  notify: (change: ServedChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const end = abortAfter(deps.clock, limits.mcpStreamMs, () => new Error('the stream has reached its time limit'), signal);
  try {
    await Promise.all([
      watchView(deps, watched, notify, end.signal),
      listenToServers(deps, watched, notify, end.signal),
      watchKey(deps, watched.principal, end),
    ]);
  } catch (error) {
    if (!end.signal.aborted) deps.log.error('watching for changes failed', { cause: String(error) });
  } finally {
    end.abort(new Error('the watch has ended'));
  }
}

async function watchKey(deps: WatchDeps, principal: Principal, end: TimedAbort): Promise<void> {
  for (;;) {
    try {
      await deps.clock.sleep(mcpKeyCheckMs, end.signal);
      if (await deps.isKeyActive(principal)) continue;
      deps.log.info('a listening stream was closed: its key is no longer valid', { keyId: principal.keyId });
      return end.abort(new Error('the key is no longer valid'));
    } catch (error) {
      // The listener is gone.
      if (end.signal.aborted) return;
      deps.log.debug('checking a key failed', { cause: String(error) });
    }
  }
}

/** Identifies the version of what is listed: if it changes, the list has changed. */
export function viewVersion({ pointer, mode }: ServedView): string {
  return JSON.stringify([pointer?.hash ?? null, pointer?.version ?? null, mode]);
}

async function watchView(
  deps: WatchDeps,
  { principal, target, view }: WatchedView,
  notify: (change: ServedChange) => void,
  signal: AbortSignal,
): Promise<void> {
  let known = viewVersion(view);
  for (;;) {
    try {
      await deps.clock.sleep(mcpWatchIntervalMs, signal);
    } catch {
      // Aborted: the listener is gone.
      return;
    }
    const mark = await markNow(deps, principal, target);
    if (mark === null || mark === known || signal.aborted) continue;
    known = mark;
    notify({ kind: 'tools' });
    // The new edition may have other servers.
    notify({ kind: 'prompts' });
    notify({ kind: 'resources' });
  }
}

/** Returns null if the view cannot be read now. A removed toolset is reported when its list is requested. */
async function markNow(deps: WatchDeps, principal: Principal, target: ServeTarget): Promise<string | null> {
  try {
    return viewVersion(await readView(deps, principal, target));
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error.code;
    deps.log.debug('reading a toolset failed', { cause: String(error) });
    return null;
  }
}

async function listenToServers(
  deps: WatchDeps,
  watched: WatchedView,
  notify: (change: ServedChange) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!watched.lists && watched.subscriptions.length === 0) return;
  const servers = servedServers(watched.view).slice(0, maxMcpListenedServers);
  await Promise.all(servers.map((server) => listenToServer(deps, watched, server, notify, signal)));
}

async function listenToServer(
  deps: WatchDeps,
  watched: WatchedView,
  name: string,
  notify: (change: ServedChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const { principal } = watched;
  let failures = 0;
  while (!signal.aborted) {
    const openedAt = deps.clock.now();
    try {
      const server = await deps.directory.server(principal.workspace, name);
      const own = await allowedAt(deps, watched, name);
      const context = deps.upstreamContext(principal.workspace, server, upstreamCallerOf(watched), signal);
      const reports = await openReports(deps, watched, context);
      await deps.upstream.listen(
        server,
        [...own.keys()],
        { ...hooksFor(deps, watched, name, own, notify), ...reports.hooks },
        reports.context,
      );
    } catch (error) {
      if (!signal.aborted) deps.log.debug('listening to a server failed', { server: name, cause: String(error) });
    }
    failures = deps.clock.now() - openedAt < limits.mcpListenRetryMs ? failures + 1 : 1;
    try {
      await deps.clock.sleep(backoffMs(relistening, failures), signal);
    } catch {
      // Aborted: the listener is gone.
      return;
    }
  }
}

/** Returns the subscriptions at a server that are still allowed, by its own URIs. */
async function allowedAt(deps: WatchDeps, watched: WatchedView, name: string): Promise<Map<string, ResourceSubscription>> {
  const there = watched.subscriptions.filter(({ server }) => server === name);
  const allowed = await Promise.all(there.map((subscription) => maySubscribe(deps, watched, subscription)));
  return new Map(there.filter((_subscription, index) => allowed[index]).map((subscription) => [subscription.own, subscription]));
}

function hooksFor(
  deps: WatchDeps,
  watched: WatchedView,
  server: string,
  subscriptions: ReadonlyMap<string, ResourceSubscription>,
  notify: (change: ServedChange) => void,
) {
  return {
    onListChanged(list: 'tools' | 'prompts' | 'resources'): void {
      // The definitions are refreshed and accepted or held; a new edition is then reported to the client.
      const refreshed = deps.serverChanged(watched.principal.workspace, server);
      // A client that is notified reads the list at once, so the new one must be there.
      if (list !== 'tools') void refreshed.then(() => notify({ kind: list }));
    },
    onResourceUpdated(own: string): void {
      const subscription = subscriptions.get(own) ?? [...subscriptions.values()].find((one) => own.startsWith(one.own));
      if (subscription === undefined) {
        deps.log.debug('a server reported a resource without a subscription', { server });
        return;
      }
      // The rules, or what the toolset offers, may have changed since.
      updatedUri(deps, watched, subscription, own).then(
        (uri) => uri !== null && notify({ kind: 'resource', uri }),
        (error: unknown) => deps.log.error('a changed resource could not be reported', { server, cause: String(error) }),
      );
    },
  };
}

/**
 * Returns the URI of a changed resource for the client; null if it may not be notified any more. MCP: the URI "might be a sub-resource of the
 * one that the client actually subscribed to".
 */
async function updatedUri(deps: WatchDeps, watched: WatchedView, subscription: ResourceSubscription, own: string): Promise<string | null> {
  if (!(await maySubscribe(deps, watched, subscription))) return null;
  if (own === subscription.own) return subscription.uri;
  return shownUri(await readServedOffers(deps, watched.principal.workspace, watched.view), subscription.server, own);
}
