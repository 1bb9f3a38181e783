/** Where messages to an MCP server go that is a command: to the launcher's bridge, with the command and its secrets. */
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { type Command, noLauncher } from '../../core/servers/stdio.ts';
import { buildRun } from '../../core/servers/stdio-run.ts';
import type { UpstreamContext } from '../../ports/upstream.ts';

export type Target = { url: URL; headers: Headers; fetch(request: Request): Promise<Response> };

/** Throws `not_configured` without a launcher, and errors of secrets. */
export async function commandTarget(server: ServerAccess, command: Command, { stdio, secret }: UpstreamContext): Promise<Target> {
  if (stdio == null)
    throw new Problem('not_configured', `The server ${server.name} cannot be called. ${noLauncher}`, { server: server.name });
  const run = await buildRun(server, command, secret);
  return { url: new URL(stdio.url), headers: new Headers(), fetch: (request) => stdio.fetch(request, run) };
}
