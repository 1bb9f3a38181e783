/**
 * What the launcher runs for a server with a `command`. The Worker sends it with each request, and the Catalog builds it again to find programs
 * that run something else. `launched-settings.ts` says which members of the document it has.
 */
import { canonicalJson, sha256HexSync } from '../hash.ts';
import { hiddenValues } from '../secrets/hidden-values.ts';
import { secretHostOf } from '../secrets/secret.ts';
import { allAskableInput } from '../tools/mcp-input.ts';
import type { McpServer, ServerAccess } from './server.ts';
import type { Command, StdioRun } from './stdio.ts';

/** Throws as `secret`, which returns the value of a secret that is bound to the host. */
export async function buildRun(
  { name, version, url, mcp }: Pick<ServerAccess, 'name' | 'version' | 'url' | 'mcp'>,
  { command, args = [], env = {}, cwd, instances = 'session' }: Command,
  secret: (name: string, host: string) => Promise<string>,
): Promise<Omit<StdioRun, 'workspace'>> {
  // Credentials in plain text are not logged, either.
  const hidden = [...hiddenValues('server', { args, env }).values()].filter((value) => typeof value === 'string');
  const filled = async (value: string | { secret: string }): Promise<string> => {
    if (typeof value === 'string') return value;
    const text = await secret(value.secret, secretHostOf(url));
    hidden.push(text);
    return text;
  };
  return {
    ...{ server: name, version, command, hidden },
    args: await Promise.all(args.map(filled)),
    env: Object.fromEntries(await Promise.all(Object.entries(env).map(async ([name, value]) => [name, await filled(value)] as const))),
    ...(cwd !== undefined && { cwd }),
    capabilities: declaredCapabilities(mcp),
    roots: mcp?.roots ?? [],
    instances,
  };
}

/** Sessions share the process, or it starts before its session: it is not known yet what their clients support. */
function declaredCapabilities({ sampling, roots = [] }: Pick<McpServer, 'sampling' | 'roots'> = {}): StdioRun['capabilities'] {
  const { elicitation } = allAskableInput;
  return { elicitation, ...(sampling === true && { sampling: {} }), ...(roots.length > 0 && { roots: {} }) };
}

/** Returns what identifies a program, as text. */
export function programText({ version: _version, hidden: _hidden, ...program }: StdioRun): string {
  return canonicalJson(program);
}

/** Returns the key of a program: runs with an equal one share it. Only the launcher and its Worker have the token, and a run has secrets. */
export function programKey(run: StdioRun, token: string): string {
  return sha256HexSync(new TextEncoder().encode(`${token}\n${programText(run)}`));
}
