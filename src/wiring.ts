/** Builds every adapter from the bindings; nothing else does. Routes use `Services`, sessions use `Wiring`. */
import type { AliasMap } from './core/toolset/alias-map.ts';
import { splitModelRef } from './core/agent.ts';
import { limits } from './core/limits.ts';
import { privateToolset } from './core/made/made-toolset.ts';
import type { Plan } from './core/turn/plan.ts';
import type { PolicyAnswer } from './core/policy/explain.ts';
import type { PolicyRule } from './core/policy/rule.ts';
import type { Principal } from './core/principal.ts';
import type { ListingReport, Server, ServerAccess, ServerKind } from './core/servers/server.ts';
import type { RefreshReason } from './core/servers/refresh-state.ts';
import type { ServerTest } from './core/servers/server-state.ts';
import { readSettings, type Settings } from './core/settings.ts';
import type { Skill } from './core/skills/skill.ts';
import type { CallDeps } from './engine/call/call-scope.ts';
import { createToolsetEditor } from './engine/configuration/toolset-editor.ts';
import { callOutsideSession, dryRunCall, explainDirectCall, type DirectCall, type DryRun } from './engine/call/direct-call.ts';
import { executorByKind } from './engine/call/executor-by-kind.ts';
import { mergeMadeTools, turnNames } from './engine/plan/plan-names.ts';
import { configurationTables } from './engine/mcp/serve-view.ts';
import { readPlanSkills } from './engine/plan/plan-skills.ts';
import { planTurn, type PlanRequest } from './engine/plan/plan-turn.ts';
import { createStaleServerRefresh, withStaleServerRefresh } from './engine/servers/refresh-stale-servers.ts';
import { createMarkStore, type MarkStore } from './engine/policy/direct-marks.ts';
import { createServerRefresh } from './engine/servers/refresh-server.ts';
import { createToolMaker } from './engine/configuration/tool-maker.ts';
import type { TurnDeps } from './engine/turn/run-turn.ts';
import { testServer } from './engine/servers/test-server.ts';
import { refuseOtherOrigins, createServerFetch } from './engine/servers/server-fetch.ts';
import { dispatchRun, type TriggeredRun } from './engine/triggers/dispatch-run.ts';
import { createSendCallback, type SendCallback } from './engine/triggers/send-callback.ts';
import { createStaticExecutor } from './http-tools/executor.ts';
import { createOpenApiExecutor } from './http-tools/openapi/executor.ts';
import { createOpenApiSource } from './http-tools/openapi/source.ts';
import { createMcpExecutor } from './mcp/executor.ts';
import { createLazyUpstream } from './mcp/lazy-client.ts';
import { createSignIns, type SignIns } from './mcp/oauth/sign-in-service.ts';
import type { McpAnswer, McpRequest } from './mcp/server/endpoint.ts';
import type { ServeDeps } from './mcp/server/serve-context.ts';
import { createGuard, refusedUrl } from './net/guard.ts';
import { createInstanceName, hopHeader, refuseOwnHop, createOutbound, sendThrough } from './net/outbound.ts';
import { runInBackground } from './platform/background.ts';
import { systemClock } from './platform/clock.ts';
import { randomIds } from './platform/ids.ts';
import { createLog } from './platform/log.ts';
import type { CatalogPort, CatalogCaller, Directory } from './ports/catalog.ts';
import type { Clock, Ids, Logger } from './ports/runtime.ts';
import type { Sandbox } from './ports/sandbox.ts';
import type { SessionCall, Sessions } from './ports/session.ts';
import type { Triggers } from './ports/triggers.ts';
import type { ServerSource, UpstreamContext } from './ports/upstream.ts';
import { countTokens } from './providers/proxy.ts';
import { proxyModelRequest, type ProxiedChat } from './providers/chat-proxy.ts';
import { createChatModel } from './providers/chat-model.ts';
import { rehearsalHttp } from './providers/rehearsal/rehearsal.ts';
import { createMadeExecutor } from './sandbox/made-executor.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { Bindings } from './storage/bindings.ts';
import { createCatalogClient } from './storage/catalog-client.ts';
import { createDirectory } from './storage/directory.ts';
import { createMasterKey } from './storage/master-key.ts';
import { createMcpSessions } from './storage/session-client.ts';
import { createMemoryFiles } from './storage/memory-files.ts';
import { createSessions } from './storage/session-client.ts';
import {
  type ApprovalLinkToken,
  createMcpSessionIds,
  createSignInNonce,
  createStateSeal,
  mintApprovalToken,
  mintSignInState,
  readApprovalToken,
  readSignInState,
} from './storage/signed-token.ts';
import { createCodeExecutor } from './tools/executor.ts';
import { codeTools, toolDefinitions } from './tools/registry.ts';

/** The services that routes may use. */
export type Services = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Logger;
  directory: Directory;
  /** Returns the catalog for a caller, which is recorded in the audit row of each change. */
  catalog(caller: CatalogCaller): CatalogPort;
  sessions: Sessions;
  triggers(workspace: string): Triggers;
  /** Checks whether code of made tools compiles. */
  sandbox: Pick<Sandbox, 'check'>;
  /** Tokens of links that decide one approval (`storage/signed-token.ts`). */
  approvalLinks: { mint(link: ApprovalLinkToken): Promise<string>; read(token: string): Promise<ApprovalLinkToken | null> };
  /** Refreshes the tool lists of servers, and tests a server (`engine/servers/refresh-server.ts`, `engine/servers/test-server.ts`). */
  servers(workspace: string): ServerAdmin;
  /** Signs people in to servers (OAuth) and provides the tokens. */
  signIns: SignIns;
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  /** Makes a call without a session: on scratch files, audited before it returns. */
  callTool(principal: Principal, call: DirectCall): Promise<SessionCall & { callId: string }>;
  /** Resolves, authorizes and checks a call without running it. Also for calls with a session. */
  dryRunCall(principal: Principal, call: DirectCall): Promise<DryRun>;
  /** Evaluates the policy for a call without making it. */
  explainCall(principal: Principal, asked: Parameters<typeof explainDirectCall>[2]): Promise<PolicyAnswer>;
  /** Serves a request to `/mcp` whose key, origin and body were checked. */
  mcp(asked: McpRequest): Promise<McpAnswer>;
  /** Throws `loop_detected` for a request that this installation sent itself, under any host name. */
  refuseLoop(headers: Headers): Promise<void>;
  /** Proxies a chat request. Passes the provider's bytes through where dialect and wire match; canonical frames where the profile requires them or the dialect differs. */
  proxyChat(principal: Principal, request: ProxiedChat): Promise<Response>;
  /** Returns the provider's own token count as it sent it; null when the provider does not count tokens. */
  countTokens(principal: Principal, request: Omit<ProxiedChat, 'signal' | 'agent'>): Promise<Response | null>;
};

/** `refreshStale` refreshes in the background. */
export type ServerAdmin = {
  refresh(server: string, reason: RefreshReason, options?: { isNew?: boolean }): Promise<ListingReport | null>;
  test(server: string, document?: Server): Promise<ServerTest>;
  /** Refreshes the tool lists of these servers that are stale. */
  refreshIfStale(servers: readonly string[]): void;
};

/** What sessions need to run turns, and MCP sessions to serve requests. */
export type Wiring = Services & {
  /** For the Catalog: starts the turn of a delivery, and sends a callback. */
  dispatchRun(run: TriggeredRun): Promise<void>;
  sendCallback: SendCallback;
  serve: ServeDeps;
  turnDeps(workspace: string): TurnDeps;
  callDeps(workspace: string): CallDeps;
  /** `keyId`: the key of the session. */
  namesFor(workspace: string, plan: Plan, keyId: string): Promise<AliasMap | null>;
  rules(workspace: string): Promise<readonly PolicyRule[]>;
  /** Returns the bodies of a plan's skills that still exist. */
  skillsFor(workspace: string, plan: Plan): Promise<readonly Skill[]>;
};

let wired: Wiring | null = null;

/** Returns one instance per isolate, so that the Worker and its objects share the caches. */
export function wire(bindings: Bindings): Wiring {
  wired ??= build(bindings);
  return wired;
}

function build(bindings: Bindings): Wiring {
  const settings = readSettings(bindings);
  const base = { settings, clock: systemClock, ids: randomIds, log: createLog(settings.log) };
  const instance = settings.masterKey === null ? null : createInstanceName(settings.masterKey);
  const guard = createGuard(settings);
  const outbound = createOutbound({ ...settings, ...(instance !== null && { instance }) }, sendThrough(bindings));
  const cachedDirectory = createDirectory({ env: bindings, settings, clock: base.clock, log: base.log });
  const catalogs = new Map<string, CatalogPort>();
  const catalog = (caller: CatalogCaller): CatalogPort => {
    if (typeof caller !== 'string')
      return createCatalogClient(bindings, { workspace: caller.workspace, keyId: caller.keyId }, cachedDirectory);
    const known = catalogs.get(caller) ?? createCatalogClient(bindings, caller, cachedDirectory);
    catalogs.set(caller, known);
    return known;
  };
  const master = createMasterKey(settings.masterKey);
  const signIns = createSignIns({
    server: (workspace, name) => cachedDirectory.server(workspace, name),
    contextOf: (workspace, keyId) => ({
      grants: catalog(keyId === undefined ? workspace : { workspace, keyId }),
      send: (request, signal) => outbound(request, { purpose: 'server', signal, onHop: refuseOtherOrigins(request.url) }),
      secret: (name, host) => cachedDirectory.secret(workspace, name, { host }),
      clock: base.clock,
      log: base.log,
    }),
    mintState: (state) => mintSignInState(master, state),
    readState: (text) => readSignInState(master, text),
    nonce: createSignInNonce,
  });
  const code = createCodeExecutor(codeTools());
  const sandbox = createSandbox();
  const model = createChatModel({ http: outbound, rehearsal: rehearsalHttp, clock: base.clock, log: base.log });
  const fetchFor: CallDeps['fetch'] = (request, signal, onHop, purpose = 'tool') =>
    outbound(request, {
      purpose,
      signal,
      ...(onHop && { onHop }),
      // The caller applies the timeout of the server's document; this is the upper limit.
      ...(purpose === 'server' && { timeoutMs: limits.maxServerCallMs }),
    });
  const upstreamContext = (workspace: string, server: ServerAccess, signal: AbortSignal, conversation: string): UpstreamContext => {
    const tokens = signIns.tokens(workspace, server);
    return {
      fetch: createServerFetch({ fetch: fetchFor }, server.kind === 'mcp' ? null : signal),
      secret: (name, host) => cachedDirectory.secret(workspace, name, { ...(host !== undefined && { host }) }),
      document: () => catalog(workspace).serverDocument(server.name),
      ...(tokens !== null && { tokens }),
      signal,
      now: () => base.clock.now(),
      log: base.log,
      conversation,
    };
  };
  const upstream = createLazyUpstream();
  const sources: Partial<Record<ServerKind, ServerSource>> = { mcp: upstream, openapi: createOpenApiSource() };
  const reading = {
    ...base,
    directory: cachedDirectory,
    catalog,
    sources,
    context: (workspace: string, server: ServerAccess, signal: AbortSignal) => upstreamContext(workspace, server, signal, 'listing'),
  };
  const serverRefresh = createServerRefresh(reading);
  const refreshStale = createStaleServerRefresh({
    ...base,
    server: (workspace, name) => cachedDirectory.server(workspace, name),
    refreshIfStale: serverRefresh.refreshIfStale,
    background: runInBackground,
  });
  const directory = withStaleServerRefresh(cachedDirectory, refreshStale);
  const servers = (workspace: string): ServerAdmin => ({
    refresh: (server, reason, options) => serverRefresh.refresh(workspace, server, reason, options),
    test: (server, document) => testServer(reading, workspace, server, document),
    refreshIfStale: (names) => refreshStale(workspace, names),
  });
  const serverChanged = (workspace: string, server: string): void => {
    const failed = (error: unknown): void =>
      base.log.debug('the tool list of a changed server was not refreshed', { server, cause: String(error) });
    runInBackground(serverRefresh.refresh(workspace, server, 'changed').catch(failed));
  };
  const callDeps = (workspace: string): CallDeps => {
    const server = async (name: string, tool?: string): Promise<ServerAccess> => {
      const access = await directory.server(workspace, name, tool);
      serverRefresh.refreshIfStale(workspace, access, runInBackground);
      return access;
    };
    return {
      clock: base.clock,
      log: base.log,
      executor: executorByKind({
        ...{ builtin: code, local: code, static: createStaticExecutor(server) },
        mcp: createMcpExecutor({ server, upstream, changed: (name) => serverChanged(workspace, name) }),
        openapi: createOpenApiExecutor({ server, operation: (name, tool) => directory.operation(workspace, name, tool) }),
        made: createMadeExecutor(sandbox),
      }),
      sandbox,
      server,
      fetch: fetchFor,
      isBlockedUrl: (url) => refusedUrl(guard, url),
      configuration: (keyId) =>
        createToolsetEditor(catalog({ workspace, keyId }), keyId, {
          aliases: settings.aliases,
          refreshIfStale: (names) => refreshStale(workspace, names),
        }),
      maker: (keyId, offered) =>
        createToolMaker({
          ...{ catalog: catalog({ workspace, keyId }), keyId, sandbox, offered },
          desk: createToolsetEditor(catalog({ workspace, keyId }), keyId),
        }),
      tokens: (access) => signIns.tokens(workspace, access),
      secret: (name, tool, host) => directory.secret(workspace, name, { tool, ...(host !== undefined && { host }) }),
    };
  };
  const marks = ({ workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>, toolset: string | null): MarkStore =>
    createMarkStore(catalog(workspace), keyId, toolset);
  const direct = (workspace: string) => ({
    marks,
    call: callDeps(workspace),
    ids: base.ids,
    directory,
    aliases: settings.aliases,
    scratchFiles: () => createMemoryFiles(base.clock.now),
    audit: (rows: Parameters<CatalogPort['appendAudit']>[0]) => catalog(workspace).appendAudit(rows),
  });
  const sealing = createMasterKey(settings.masterKey ?? settings.rootKey);
  const serve: ServeDeps = {
    ...base,
    directory,
    aliases: settings.aliases,
    seal: createStateSeal(sealing),
    consumeNonce: (workspace, nonce, expiresAt) => catalog(workspace).consumeNonce(nonce, expiresAt),
    equipment: ({ workspace, keyId }) => catalog(workspace).equipment(keyId),
    configuration: configurationTables(toolDefinitions()),
    callDeps,
    scratchFiles: () => createMemoryFiles(base.clock.now),
    audit: (workspace, rows) => catalog(workspace).appendAudit(rows),
    marks,
    upstream,
    upstreamContext: (workspace, server, conversation, signal) => upstreamContext(workspace, server, signal, conversation),
    serverChanged,
    background: runInBackground,
    isKeyActive: ({ workspace, keyId }) => catalog(workspace).isKeyActive(keyId, 'tools'),
  };
  const mcpSessions = createMcpSessions(bindings, base.ids, createMcpSessionIds(sealing));
  const sessions = createSessions(bindings, catalog, settings.masterKey ?? settings.rootKey);
  const plan = (principal: Principal, request: PlanRequest): Promise<Plan> =>
    planTurn({ directory, aliases: settings.aliases }, principal, request);
  return {
    ...base,
    serve,
    // Imported lazily, as in `mcp/lazy-client.ts`.
    mcp: async (asked) => await (await import('./mcp/server/endpoint.ts')).serveMcp(serve, mcpSessions, asked),
    directory,
    catalog,
    sandbox,
    sessions,
    triggers: (workspace) => createCatalogClient(bindings, workspace),
    approvalLinks: { mint: (link) => mintApprovalToken(master, link), read: (token) => readApprovalToken(master, token) },
    servers,
    signIns,
    planTurn: plan,
    dispatchRun: (run) => dispatchRun({ planTurn: plan, sessions }, run),
    sendCallback: createSendCallback({ outbound, now: base.clock.now }),
    callTool: (principal, call) => callOutsideSession(direct(principal.workspace), principal, call, new AbortController().signal),
    explainCall: (principal, asked) => explainDirectCall(direct(principal.workspace), principal, asked),
    dryRunCall: (principal, call) => dryRunCall(direct(principal.workspace), principal, call),
    async refuseLoop(headers) {
      if (instance !== null && headers.has(hopHeader)) refuseOwnHop(headers, await instance());
    },
    proxyChat: (principal, request) => proxyModelRequest({ ...base, directory, outbound, model }, principal, request),
    async countTokens(principal, { ref, ...request }) {
      const { provider, model } = splitModelRef(ref);
      const access = await directory.provider(principal.workspace, provider);
      return await countTokens({ ...request, access, model, http: outbound, clock: base.clock });
    },
    turnDeps: (workspace) => ({ ...base, ...callDeps(workspace), directory, model }),
    callDeps,
    async namesFor(workspace, plan, keyId) {
      const read = async (pointer: Plan['edition']) => (pointer === undefined ? null : (await directory.edition(workspace, pointer)).names);
      // An administrator's turn in another key's session gets neither key's private tools: they would run as the session's key.
      const ownMade = plan.ownMade?.toolset === privateToolset(keyId) ? plan.ownMade : undefined;
      const [names, made, own] = await Promise.all([read(plan.edition), read(plan.made), read(ownMade)]);
      return turnNames(names, plan, mergeMadeTools(made, own));
    },
    rules: (workspace) => directory.rules(workspace),
    skillsFor: (workspace, plan) => readPlanSkills(directory, workspace, plan),
  };
}
