/**
 * Limits the requests of a call to the hosts that its key may reach (`egressHosts`). `execute-call.ts` gives tools no other way to send a
 * request. Servers are also checked before the call, since those that run a command are not reached by `fetch`.
 */
import { hostMatches, secretHostOf } from '../../core/secrets/secret.ts';
import { Problem } from '../../core/problem.ts';
import { contentText, errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { CallDeps } from './call-scope.ts';

type Hosts = readonly string[];

export type EgressLimit = {
  /** The given ones, with a limited `fetch`. */
  deps: CallDeps;
  /** Returns the result of a call whose server the key may not reach; null: it may, or the tool has no server. */
  refusalOf(tool: EditionTool): Promise<ToolResult | null>;
  /** Returns the result of a call, with a note and the code `not_allowed` for an error if one of its requests was refused. */
  report(result: ToolResult): ToolResult;
};

/** `hosts`: when the turn or call was accepted; undefined: all. `keyId`: the caller, whose current hosts apply as well. */
export function limitEgress(given: CallDeps, hosts: Hosts | undefined, keyId: string): EgressLimit {
  if (hosts === undefined) return { deps: given, refusalOf: async () => null, report: (result) => result };
  const refused = new Set<string>();
  let current: Promise<Hosts[]> | undefined;
  const limits = async (): Promise<Hosts[]> => {
    current ??= (given.egressHosts?.(keyId) ?? Promise.resolve(undefined)).then((now) => (now === undefined ? [hosts] : [hosts, now]));
    return await current;
  };
  return {
    deps: {
      ...given,
      isBlockedUrl: (url) => given.isBlockedUrl?.(url) === true || (URL.canParse(url) && refusal([hosts], url) !== null),
      async fetch(request, signal, onHop, purpose) {
        const limited = limitFetch(given.fetch, await limits(), (host) => refused.add(host));
        return await limited(request, signal, onHop, purpose);
      },
    },
    async refusalOf(tool) {
      const host = await given.executor.host?.(tool).catch(ignoreProblem);
      const text = host == null ? null : refusal(await limits(), `https://${host}`);
      return text === null ? null : errorResult('not_allowed', `Not run. ${text}`);
    },
    report(result) {
      if (refused.size === 0) return result;
      const shown = contentText(result.content);
      const missing = [...refused].filter((host) => !shown.includes(host));
      const notes = missing.map((host) => ({ type: 'text' as const, text: `[Not sent. ${notReachable(host)}]` }));
      const noted = { ...result, content: [...result.content, ...notes] };
      return result.isError === true ? { ...noted, code: 'not_allowed' } : noted;
    },
  };
}

/** Throws `forbidden` if the key may not reach the server, which may be a command. */
export function requireReachable(hosts: Hosts | undefined, url: string): void {
  const text = hosts === undefined ? null : refusal([hosts], url);
  if (text !== null) throw new Problem('forbidden', text);
}

/** Throws `forbidden` for a request, or a redirect, to a host that one of the limits does not contain, before anything is sent to it. */
export function limitFetch(send: CallDeps['fetch'], limits: readonly Hosts[], refused: (host: string) => void): CallDeps['fetch'] {
  const check = (url: string): void => {
    const text = refusal(limits, url);
    if (text === null) return;
    refused(new URL(url).host);
    throw new Problem('forbidden', text);
  };
  return async (request, signal, onHop, purpose) => {
    check(request.url);
    const onEachHop = (to: URL, hop: number): void => {
      check(to.href);
      onHop?.(to, hop);
    };
    return await send(request, signal, onEachHop, purpose);
  };
}

/** Returns why the URL may not be reached; null: it may. */
function refusal(limits: readonly Hosts[], url: string): string | null {
  const host = secretHostOf(url);
  const isReachable = limits.every((hosts) => hosts.some((pattern) => hostMatches(pattern, host)));
  return isReachable ? null : notReachable(new URL(url).host);
}

function notReachable(host: string): string {
  return `The key of this call may not reach ${host}. Its \`egressHosts\` do not contain this host, and no other call can reach it with this key.`;
}

/** The executor reports a missing server itself. */
function ignoreProblem(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}
