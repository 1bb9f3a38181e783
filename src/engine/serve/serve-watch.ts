/**
 * Hearing of changes while an MCP client listens: the toolset's edition (and at `/mcp` what is equipped) is looked at every few seconds, and
 * its servers are listened to for their lists and the resources that the client named. Ends by itself after
 * `limits.mcpStreamMs`, and within `limits.principalTtlMs` of the end of its key (DESIGN §9); nothing of it outlives its listener.
 */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { ownerOf, shownUri, type ServedOffers } from './serve-offers.ts';
import { readOffers, servedServers, type OfferDeps } from './serve-resources.ts';
import { readView, type ServedView, type ServeTarget, type ViewDeps } from './serve-view.ts';

export type Change = { kind: 'tools' } | { kind: 'prompts' } | { kind: 'resources' } | { kind: 'resource'; uri: string };

export type WatchDeps = OfferDeps &
  ViewDeps & {
    clock: Clock;
    log: Logger;
    /** False: the key was revoked, has expired, or may not use tools any more. */
    isInForce(principal: Principal): Promise<boolean>;
  };

export type Watched = {
  principal: Principal;
  target: ServeTarget;
  view: ServedView;
  conversation: string;
  /** Whether anybody wants to hear that a list is another one, of tools, prompts or resources: it is the servers that say so. */
  lists: boolean;
  /** As the client names them; read again where they may become others. */
  uris(): readonly string[];
};

export async function watchServed(deps: WatchDeps, watched: Watched, tell: (change: Change) => void, signal: AbortSignal): Promise<void> {
  const end = new AbortController();
  const stop = (): void => end.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const disarm = deps.clock.after(limits.mcpStreamMs, () => end.abort(new Error('the stream is over')));
  if (signal.aborted) stop();
  try {
    await Promise.all([
      watchView(deps, watched, tell, end.signal),
      hearServers(deps, watched, tell, end.signal),
      watchKey(deps, watched.principal, end),
    ]);
  } catch (error) {
    if (!end.signal.aborted) deps.log.error('changes are not watched any more', { cause: String(error) });
  } finally {
    disarm();
    signal.removeEventListener('abort', stop);
    end.abort(new Error('the watch is over'));
  }
}

async function watchKey(deps: WatchDeps, principal: Principal, end: AbortController): Promise<void> {
  for (;;) {
    try {
      await deps.clock.sleep(limits.mcpKeyCheckMs, end.signal);
      if (await deps.isInForce(principal)) continue;
      deps.log.info('a listener is let go: its key is not in force any more', { keyId: principal.keyId });
      return end.abort(new Error('the key is not in force any more'));
    } catch (error) {
      // Nobody listens any more.
      if (end.signal.aborted) return;
      deps.log.debug('a key could not be looked at', { cause: String(error) });
    }
  }
}

/** What the list is made from: another text is another list. */
export function viewMark({ pointer, mode }: ServedView): string {
  return JSON.stringify([pointer?.hash ?? null, pointer?.version ?? null, mode]);
}

async function watchView(
  deps: WatchDeps,
  { principal, target, view }: Watched,
  tell: (change: Change) => void,
  signal: AbortSignal,
): Promise<void> {
  let known = viewMark(view);
  for (;;) {
    try {
      await deps.clock.sleep(limits.mcpWatchIntervalMs, signal);
    } catch {
      // Aborted: nobody listens any more.
      return;
    }
    const mark = await markNow(deps, principal, target);
    if (mark === null || mark === known || signal.aborted) continue;
    known = mark;
    tell({ kind: 'tools' });
    // Other servers may stand behind it now.
    tell({ kind: 'prompts' });
    tell({ kind: 'resources' });
  }
}

/** null: it cannot be said now. A toolset that is gone is told to who asks for its list. */
async function markNow(deps: WatchDeps, principal: Principal, target: ServeTarget): Promise<string | null> {
  try {
    return viewMark(await readView(deps, principal, target));
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error.code;
    deps.log.debug('a toolset could not be looked at', { cause: String(error) });
    return null;
  }
}

async function hearServers(deps: WatchDeps, watched: Watched, tell: (change: Change) => void, signal: AbortSignal): Promise<void> {
  const wanted = watched.uris();
  if (!watched.lists && wanted.length === 0) return;
  const offers = await readOffers(deps, watched.principal.workspace, watched.view);
  const servers = servedServers(watched.view).slice(0, limits.maxMcpListenedServers);
  await Promise.all(servers.map((server) => hearServer(deps, watched, offers, server, tell, signal)));
}

async function hearServer(
  deps: WatchDeps,
  watched: Watched,
  offers: ServedOffers,
  name: string,
  tell: (change: Change) => void,
  signal: AbortSignal,
): Promise<void> {
  const { principal, conversation } = watched;
  while (!signal.aborted) {
    try {
      const server = await deps.directory.server(principal.workspace, name);
      const shown = new Map(watched.uris().flatMap((uri) => ownUri(offers, name, uri)));
      const context = deps.upstreamContext(principal.workspace, server, conversation, signal);
      await deps.upstream.listen(server, [...shown.keys()], hooksFor(deps, watched, offers, name, shown, tell), context);
    } catch (error) {
      if (!signal.aborted) deps.log.debug('a server is not listened to', { server: name, cause: String(error) });
    }
    try {
      await deps.clock.sleep(limits.mcpListenRetryMs, signal);
    } catch {
      // Aborted: nobody listens any more.
      return;
    }
  }
}

function ownUri(offers: ServedOffers, server: string, uri: string): [own: string, uri: string][] {
  const owner = ownerOf(offers, uri);
  return owner?.server === server ? [[owner.own, uri]] : [];
}

function hooksFor(
  deps: WatchDeps,
  { principal }: Watched,
  offers: ServedOffers,
  server: string,
  shown: ReadonlyMap<string, string>,
  tell: (change: Change) => void,
) {
  return {
    changed(list: 'tools' | 'prompts' | 'resources'): void {
      // Its definitions are read anew, and taken or held; a new edition is what the client is told of.
      deps.serverChanged(principal.workspace, server);
      if (list !== 'tools') tell({ kind: list });
    },
    updated: (own: string): void => tell({ kind: 'resource', uri: shown.get(own) ?? shownUri(offers, server, own) }),
  };
}
