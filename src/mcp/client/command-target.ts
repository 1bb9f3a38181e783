/** Where messages to an MCP server go that is a command: to the launcher's bridge, with the command and its secrets. */
import { limits } from '../../core/limits.ts';
import { secretHostOf } from '../../core/policy/secret.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { type Command, noLauncher } from '../../core/servers/stdio.ts';
import type { UpstreamContext } from '../../ports/upstream.ts';

/** The start of the command must be reported before the caller's own timeout. */
const startShare = 0.8;

export type Target = { url: URL; headers: Headers; fetch(request: Request): Promise<Response> };

/** `capabilities`: declared to the process, which all sessions share. Throws `not_configured` without a launcher, and errors of secrets. */
export async function commandTarget(
  server: ServerAccess,
  { command, args = [], env = {}, cwd }: Command,
  context: UpstreamContext,
  capabilities: Record<string, unknown>,
): Promise<Target> {
  const { stdio } = context;
  if (stdio == null)
    throw new Problem('not_configured', `The server ${server.name} cannot be called. ${noLauncher}`, { server: server.name });
  const hidden: string[] = [];
  const filled = async (value: string | { secret: string }): Promise<string> => {
    if (typeof value === 'string') return value;
    const secret = await context.secret(value.secret, secretHostOf(server.url));
    hidden.push(secret);
    return secret;
  };
  const run = {
    ...{ server: server.name, version: server.version, command, capabilities, hidden },
    args: await Promise.all(args.map(filled)),
    env: Object.fromEntries(await Promise.all(Object.entries(env).map(async ([name, value]) => [name, await filled(value)] as const))),
    ...(cwd !== undefined && { cwd }),
    roots: server.mcp?.roots ?? [],
    startMs: Math.round((server.timeoutMs ?? limits.toolTimeoutMs) * startShare),
  };
  return { url: new URL(stdio.url), headers: new Headers(), fetch: (request) => stdio.fetch(request, run) };
}
