/**
 * Refreshes stale tool lists in the background when tools are listed (`refresh-server.ts`), as calls do, so that added and removed tools
 * show up even if no tool of that server is called. Each isolate checks a server once per `limits.minRefreshIntervalMs` and reads few at a
 * time, since a toolset may have tools of a hundred servers. The listing request never waits.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import type { ServerRefresh } from './refresh-server.ts';

/** Servers with expired listings that one request refreshes. */
export const maxServersReadAtOnce = 4;

export type StaleServerDeps = {
  clock: Clock;
  log: Logger;
  /** Throws `not_found` for a removed server. */
  server(workspace: string, name: string): Promise<ServerAccess>;
  refreshIfStale: ServerRefresh['refreshIfStale'];
  background(work: Promise<unknown>): void;
};

/** Starts a background refresh of those servers whose lists are stale. */
export type RefreshStaleServers = (workspace: string, servers: readonly string[]) => void;

/** One per isolate. */
export function createStaleServerRefresh(parts: StaleServerDeps): RefreshStaleServers {
  const nextCheckAt = new Map<string, number>();
  return (workspace, servers) => {
    const now = parts.clock.now();
    const due = servers.filter((name) => (nextCheckAt.get(`${workspace}:${name}`) ?? 0) <= now);
    if (due.length === 0) return;
    if (nextCheckAt.size + due.length > limits.maxCachedNames) nextCheckAt.clear();
    for (const name of due) nextCheckAt.set(`${workspace}:${name}`, now + limits.minRefreshIntervalMs);
    const fewAtOnce = createConcurrencyLimit(maxServersReadAtOnce);
    parts.background(Promise.all(due.map((name) => fewAtOnce(() => checkServer(parts, workspace, name)))));
  };
}

async function checkServer({ log, server, refreshIfStale }: StaleServerDeps, workspace: string, name: string): Promise<void> {
  try {
    let reading: Promise<unknown> | null = null;
    refreshIfStale(workspace, await server(workspace, name), (work) => {
      reading = work;
    });
    await reading;
  } catch (error) {
    // Toolsets retain the tools of a removed server. Other errors are reported to the next caller of the server.
    if (!(error instanceof Problem && error.code === 'not_found'))
      log.error('checking a server for a stale tool list failed', { workspace, server: name, cause: String(error) });
  }
}

/** Wraps the directory: reading a toolset starts the refresh of its stale servers. */
export function withStaleServerRefresh(directory: Directory, refreshStale: RefreshStaleServers): Directory {
  return {
    ...directory,
    async toolset(workspace, name, version) {
      const compiled = await directory.toolset(workspace, name, version);
      refreshStale(workspace, serversOf(compiled.names));
      return compiled;
    },
  };
}

/** The servers of a toolset that list tools (MCP and OpenAPI). Cached per table of names. */
const serversOf = memoizeByObject((names: AliasMap): readonly string[] => {
  const found = names.edition.tools.flatMap(({ kind, server }) => (kind === 'mcp' || kind === 'openapi' ? [server] : []));
  return [...new Set(found)];
});
