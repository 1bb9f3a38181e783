/** Where messages to an MCP server go that is a command: to the launcher's bridge, with the command and its secrets. */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { type Command, noLauncher } from '../../core/servers/stdio.ts';
import { buildRun } from '../../core/servers/stdio-run.ts';
import type { UpstreamContext } from '../../ports/upstream.ts';

export type Target = { url: URL; headers: Headers; fetch(request: Request): Promise<Response> };

/** The start of the command must be reported before the caller's own timeout. */
const startShare = 0.8;

/** Throws `not_configured` without a launcher, and errors of secrets. */
export async function commandTarget(
  server: ServerAccess,
  command: Command,
  { stdio, secret, conversation, owner }: UpstreamContext,
  isListening: boolean,
): Promise<Target> {
  if (stdio == null)
    throw new Problem('not_configured', `The server ${server.name} cannot be called. ${noLauncher}`, { server: server.name });
  const run = await buildRun(server, command, secret);
  const { timeoutMs = limits.serverTimeoutMs } = server;
  const caller = {
    owner: owner === undefined || run.instances === 'shared' ? null : run.instances === 'key' ? owner : conversation,
    ...{ conversation, isListening },
    startMs: Math.round((owner === undefined ? Math.min(timeoutMs, limits.discoveryTimeoutMs) : timeoutMs) * startShare),
  };
  return { url: new URL(stdio.url), headers: new Headers(), fetch: (request) => stdio.fetch(request, { ...run, ...caller }) };
}
