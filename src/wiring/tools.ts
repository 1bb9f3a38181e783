/** What calls of a workspace's tools need: executors, the sandbox, policy and redaction. */
import { coversToolset } from '../core/policy/guard.ts';
import type { ShareOwner } from '../core/limits/fair-share.ts';
import { limits } from '../core/limits/limits.ts';
import { getOrBuild, once } from '../core/memoize.ts';
import type { TextRedactor } from '../core/redaction/redact-text.ts';
import type { Redaction } from '../core/redaction/redaction.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { CallDeps } from '../engine/call/call-scope.ts';
import { createComputeMeter } from '../engine/call/compute-meter.ts';
import { executorByKind } from '../engine/call/executor-by-kind.ts';
import type { RedactionRules } from '../engine/call/redact.ts';
import { createToolsetEditor } from '../engine/configuration/toolset-editor.ts';
import { createAskGuard } from '../engine/guard/ask-guard.ts';
import { createOpenApiExecutor, createStaticExecutor } from '../http-tools/executor.ts';
import { createMcpExecutor } from '../mcp/executor.ts';
import { createGuard, refusedUrl } from '../net/guard.ts';
import { readBounded } from '../net/read-bounded.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import { createMadeExecutor } from '../sandbox/made-executor.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createCodeExecutor } from '../tools/executor.ts';
import { codeTools } from '../tools/registry.ts';
import type { ObjectParts } from './objects.ts';
import type { RuntimeParts } from './runtime.ts';
import type { ServerParts } from './servers.ts';

export type ToolParts = ReturnType<typeof buildTools>;

export function buildTools(parts: RuntimeParts & ObjectParts & ServerParts) {
  const known = new Map<string, CallDeps>();
  const sandboxOf = (owner: ShareOwner): Sandbox => createSandbox(parts.pools.machineBytes, owner);
  const build = callDepsBuilder(parts, sandboxOf);
  return {
    /** Checks whether code of made tools compiles. */
    sandbox: sandboxOf({ workspace: '', keyId: '' }) as Pick<Sandbox, 'check'>,
    callDeps: (workspace: string): CallDeps => getOrBuild(known, workspace, limits.maxCachedNames, () => build(workspace)),
  };
}

function callDepsBuilder(
  parts: RuntimeParts & ObjectParts & ServerParts,
  sandbox: (owner: ShareOwner) => Sandbox,
): (workspace: string) => CallDeps {
  const { runtime, background, noApprovals, settings, outbound, stdio, cachedDirectory, directory, catalog, limiter, pools, upstream } =
    parts;
  const network = createGuard(settings);
  const ask = createAskGuard({
    ...{ outbound, telemetry: runtime.telemetry, now: runtime.clock.now, read: readBounded, questions: pools.guardQuestions },
    secret: (workspace, name, host) => directory.secret(workspace, name, { host }),
  });
  const code = createCodeExecutor(codeTools());
  return (workspace) => {
    const server = async (name: string, tool?: string): Promise<ServerAccess> => {
      const access = await directory.server(workspace, name, tool);
      parts.refreshIfStale(workspace, access, background);
      return access;
    };
    return {
      ...runtime,
      workspace,
      host: parts.host,
      ...(noApprovals !== undefined && { noApprovals }),
      executor: executorByKind({
        ...{ builtin: code, local: code, static: createStaticExecutor(server) },
        mcp: createMcpExecutor({
          ...runtime,
          server,
          upstream,
          stdio: stdio(workspace),
          changed: (name) => void parts.serverChanged(workspace, name),
        }),
        openapi: createOpenApiExecutor({ server, operation: (tool) => directory.operation(workspace, tool) }),
        made: createMadeExecutor(),
      }),
      enter: (keyId, signal) => pools.calls.wait({ workspace, keyId }, { signal }),
      sandbox: (keyId) => sandbox({ workspace, keyId }),
      toolset: (name) => cachedDirectory.toolset(workspace, name),
      reserveCost: (limited, cost) => limiter.reserveCost(workspace, limited, cost),
      compute: (limited) => createComputeMeter(limiter, workspace, limited),
      server,
      serverFailed: (name, fault) => void parts.serverChanged(workspace, name, fault),
      fetch: parts.fetchFor,
      isBlockedUrl: (url) => refusedUrl(network, url),
      guard: { workspace, ask, settings: async () => (await directory.safeguards(workspace)).guard },
      // Not part of the eager start: few tools have their results stored.
      storedResults: once(async () =>
        (await import('../storage/stored-results.ts')).createStoredResults({ ...runtime, kv: parts.kv, background }, workspace),
      ),
      redaction: async (toolset) => await redactionRules((await directory.safeguards(workspace)).redaction, toolset),
      configuration: (keyId) =>
        createToolsetEditor(catalog({ workspace, keyId }), keyId, {
          aliases: settings.aliases,
          past: { usage: parts.usage, workspace, now: runtime.clock.now },
          refreshIfStale: (names) => parts.refreshStale(workspace, names),
        }),
      maker(keyId, offered) {
        const own = catalog({ workspace, keyId });
        const maker = { catalog: own, keyId, sandbox: sandbox({ workspace, keyId }), offered, editor: createToolsetEditor(own, keyId) };
        return {
          // Not part of the eager start: few turns make tools.
          prepare: async (request) => await (await import('../engine/configuration/tool-maker.ts')).createToolMaker(maker).prepare(request),
        };
      },
      egressHosts: async (keyId) => (await catalog(workspace).keyRights(keyId))?.egressHosts,
      tokens: (access, keyId) => parts.signIns.tokens(workspace, access, keyId),
      secret: (name, tool, host) => directory.secret(workspace, name, { tool, ...(host !== undefined && { host }) }),
    };
  };
}

export const redactor = async (redaction: Redaction): Promise<TextRedactor> =>
  await (await import('../platform/compile-redaction.ts')).compileRedaction(redaction);

/** Returns the rules for calls with a toolset; null if there are none. */
async function redactionRules(redaction: Redaction | null, toolset: string | undefined): Promise<RedactionRules | null> {
  if (redaction === null) return null;
  const redact = await redactor(redaction);
  return { results: redaction.results && coversToolset(redaction, toolset) ? redact : null, logs: redaction.logs ? redact : null };
}
