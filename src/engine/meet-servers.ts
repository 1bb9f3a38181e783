/**
 * Whoever lists tools meets their servers, as whoever calls one does: what a server listed too long ago is read again behind them
 * (`refresh-server.ts`), so that a tool comes or goes although nobody calls it. A server is looked at once in
 * `limits.minRefreshIntervalMs` by an isolate, and few are read at once: a toolset may have tools of a hundred. Nobody waits.
 */
import type { AliasMap } from '../core/alias-map.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { Directory } from '../ports/catalog.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { ServerRefresh } from './refresh-server.ts';

export type MeetingParts = {
  clock: Clock;
  log: Logger;
  /** Throws `not_found` of one that is gone. */
  server(workspace: string, name: string): Promise<ServerAccess>;
  refreshIfStale: ServerRefresh['refreshIfStale'];
  background(work: Promise<unknown>): void;
};

export type MeetServers = (workspace: string, servers: readonly string[]) => void;

/** One for an isolate. */
export function createMeetServers(parts: MeetingParts): MeetServers {
  const lookAgainAt = new Map<string, number>();
  return (workspace, servers) => {
    const now = parts.clock.now();
    const due = servers.filter((name) => (lookAgainAt.get(`${workspace}:${name}`) ?? 0) <= now);
    if (due.length === 0) return;
    if (lookAgainAt.size + due.length > limits.maxCachedNames) lookAgainAt.clear();
    for (const name of due) lookAgainAt.set(`${workspace}:${name}`, now + limits.minRefreshIntervalMs);
    const left = due.values();
    const lane = async (): Promise<void> => {
      for (const name of left) await lookAt(parts, workspace, name);
    };
    parts.background(Promise.all(Array.from({ length: Math.min(due.length, limits.maxServersReadAtOnce) }, lane)));
  };
}

async function lookAt({ log, server, refreshIfStale }: MeetingParts, workspace: string, name: string): Promise<void> {
  try {
    let reading: Promise<unknown> | null = null;
    refreshIfStale(workspace, await server(workspace, name), (work) => {
      reading = work;
    });
    await reading;
  } catch (error) {
    // Toolsets keep the tools of a server that is gone; whatever else it is, whoever calls it is told.
    if (!(error instanceof Problem && error.code === 'not_found'))
      log.error('a server could not be looked at', { workspace, server: name, cause: String(error) });
  }
}

/** The directory, with whoever asks it for a toolset meeting its servers. */
export function meetingServers(directory: Directory, meet: MeetServers): Directory {
  return {
    ...directory,
    async toolset(workspace, name, version) {
      const compiled = await directory.toolset(workspace, name, version);
      meet(workspace, serversOf(compiled.names));
      return compiled;
    },
  };
}

/** Of the kinds that are asked what they list; tools that a server does not list count as such. */
function serversOf(names: AliasMap): readonly string[] {
  const known = servers.get(names);
  if (known !== undefined) return known;
  const found = names.edition.tools.flatMap(({ kind, server }) => (kind === 'mcp' || kind === 'openapi' ? [server] : []));
  const made = [...new Set(found)];
  servers.set(names, made);
  return made;
}

const servers = new WeakMap<AliasMap, readonly string[]>();
