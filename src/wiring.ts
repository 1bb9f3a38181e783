/** Builds every adapter from the bindings; nothing else does. Routes use `Services`, sessions use `Wiring`. `wire.ts` builds it on Cloudflare. */
import type { AuditRow } from './core/audit.ts';
import { isAllowed } from './core/authority.ts';
import { coversToolset } from './core/guard.ts';
import { limits } from './core/limits.ts';
import { getOrBuild } from './core/memoize.ts';
import { originOf } from './core/origin.ts';
import type { TextRedactor } from './core/redaction/redact-text.ts';
import type { Redaction } from './core/redaction/redaction.ts';
import type { Plan } from './core/turn/plan.ts';
import type { Principal } from './core/principal.ts';
import type { ServerAccess, ServerKind, CompleteServer } from './core/servers/server.ts';
import type { Program } from './core/servers/stdio.ts';
import { connectPageUrl } from './core/servers/user-connection.ts';
import type { RefreshReason } from './core/servers/refresh-state.ts';
import { publicBase, readSettings } from './core/settings.ts';
import { defaultWorkspace } from './core/workspace.ts';
import type { CallDeps } from './engine/call/call-scope.ts';
import { createToolsetEditor } from './engine/configuration/toolset-editor.ts';
import { callOutsideSession, dryRunCall, explainDirectCall, type DirectCall } from './engine/call/direct-call.ts';
import type { RedactionRules } from './engine/call/redact.ts';
import { createComputeMeter } from './engine/call/compute-meter.ts';
import { executorByKind } from './engine/call/executor-by-kind.ts';
import { readTurnNames } from './engine/plan/plan-names.ts';
import { configurationTables } from './engine/mcp/serve-view.ts';
import type { ServedNames } from './engine/mcp/served-names.ts';
import { readPlanSkills } from './engine/plan/plan-skills.ts';
import { planTurn, type PlanRequest } from './engine/plan/plan-turn.ts';
import { createStaleServerRefresh, withStaleServerRefresh } from './engine/servers/refresh-stale-servers.ts';
import { marksIn } from './engine/policy/direct-marks.ts';
import { createServerRefresh } from './engine/servers/refresh-server.ts';
import type { ShareOwner } from './core/limits/fair-share.ts';
import { createPools } from './engine/fair-pool.ts';
import { createAskGuard } from './engine/guard/ask-guard.ts';
import { createToolMaker } from './engine/configuration/tool-maker.ts';
import type { TurnDeps } from './engine/turn/run-turn.ts';
import { testServer } from './engine/servers/test-server.ts';
import { findUnwantedPrograms } from './engine/servers/unwanted-programs.ts';
import { createToolFetch, createUpstreamContexts, refuseOtherOrigins } from './engine/servers/server-fetch.ts';
import { createAttemptLimit } from './engine/attempt-limit.ts';
import { createRefusalCounter } from './engine/triggers/count-refusals.ts';
import { dispatchRun, type TriggeredRun } from './engine/triggers/dispatch-run.ts';
import { createSendCallback } from './engine/triggers/send-callback.ts';
import { createStaticExecutor } from './http-tools/executor.ts';
import { createOpenApiExecutor } from './http-tools/openapi/executor.ts';
import { createMcpExecutor } from './mcp/executor.ts';
import { createLazyUpstream } from './mcp/lazy-client.ts';
import { createSignIns } from './mcp/oauth/sign-in-service.ts';
import type { McpAnswer, McpRequest } from './mcp/server/endpoint.ts';
import type { ServeDeps } from './mcp/server/serve-context.ts';
import { createGuard, refusedUrl } from './net/guard.ts';
import { readBounded } from './net/read-bounded.ts';
import { createProgramNotice, createStdioBridge } from './net/stdio-bridge.ts';
import { createInstanceName, hopHeader, refuseOwnHop, createOutbound, sendThrough } from './net/outbound.ts';
import type { WaitUntil } from './platform/background.ts';
import { createRuntime } from './platform/runtime.ts';
import { createPageFile } from './platform/page-files.ts';
import type { BackupPort } from './ports/backup.ts';
import type { CatalogCaller, Directory } from './ports/catalog.ts';
import type { Grants } from './ports/grants.ts';
import type { MasterKeyPort } from './ports/master-key.ts';
import type { Projects } from './ports/projects.ts';
import type { Sandbox } from './ports/sandbox.ts';
import type { StoredWork, Triggers } from './ports/triggers.ts';
import type { ServerSource } from './ports/upstream.ts';
import type { Workspaces } from './ports/workspaces.ts';
import { type Authorization, createAuthorization } from './oauth/authorization.ts';
import { createModelRequests } from './providers/model-requests.ts';
import { createChatModel } from './providers/chat-model.ts';
import { rehearsalHttp } from './providers/rehearsal/rehearsal.ts';
import { createMadeExecutor } from './sandbox/made-executor.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { openToken, type TokenKind } from './storage/access-token.ts';
import { createAuditKey } from './storage/audit-chain.ts';
import { createAudits } from './storage/audit-client.ts';
import { createBackups } from './storage/backup/backup-client.ts';
import type { Bindings } from './storage/bindings.ts';
import { isActiveWorkspace } from './storage/active-workspace.ts';
import { callCatalog, createCatalogClient, createCatalogs } from './storage/catalog-client.ts';
import { createDirectory } from './storage/directory.ts';
import { createMasterKey } from './storage/master-key.ts';
import { createLazyLimiter } from './storage/lazy-limiter.ts';
import { createMemoryFiles } from './storage/memory-files.ts';
import { type IssuedKeys, rootPrincipal } from './storage/principals.ts';
import { createPeople } from './storage/people.ts';
import { createReadiness } from './storage/readiness.ts';
import { createReplyStore } from './storage/reply-store.ts';
import { createFileSpaces, createMcpSessions, createSessions } from './storage/session-client.ts';
import { createUsageReader, createUsageRecorder, withToolUsage } from './storage/usage-shards.ts';
import {
  createApprovalLinks,
  createJsonSeal,
  createMcpSessionIds,
  createSignInNonce,
  createStateSeal,
  mintSignInState,
  readSignInState,
} from './storage/signed-token.ts';
import { createIdentity } from './sign-in/identity.ts';
import { createCodeExecutor } from './tools/executor.ts';
import { createWorkspaceEraser } from './storage/workspace-eraser.ts';
import { createObjectNotes } from './storage/workspace-objects.ts';
import { codeTools, toolDefinitions } from './tools/registry.ts';

/** The services that routes may use. */
export type Services = Omit<Wiring, SessionService>;
export type ServerAdmin = ReturnType<Services['servers']>;

/** What sessions need to run turns, and MCP sessions to serve requests. */
export type Wiring = ReturnType<typeof createWiring>;

type SessionService =
  | 'serve'
  | 'turnDeps'
  | 'callDeps'
  | 'namesFor'
  | 'skillsFor'
  | 'rules'
  | 'dispatchRun'
  | 'sendCallback'
  | 'programsChanged'
  | 'eraser'
  | 'recordUsage';

/**
 * What differs between runtimes. `background`: keeps work alive after the response; the caller does not wait for it, and it must not fail.
 * `authorization`: in place of the authorization server for MCP clients.
 */
type Deployment = Pick<CallDeps, 'noApprovals'> & { background: WaitUntil; issued?: IssuedKeys; authorization?: Authorization };

export function createWiring(bindings: Bindings, deployment: Deployment) {
  const base = buildBase(bindings, deployment);
  const { background } = deployment;
  const { settings, runtime, catalog, audit, outbound, instance, master, recorder, noteObject } = base;
  const servers = buildServers(base);
  const { directory, signIns } = servers;
  const sandbox: SandboxOf = (owner) => createSandbox(base.pools.machineBytes, owner);
  const callDeps = buildCallDeps(base, servers, sandbox);
  const mcpSessions = createMcpSessions(bindings, { ids: runtime.ids, sessionIds: createMcpSessionIds(base.sealing), noteObject });
  const namingSecret = async (): Promise<string | null> =>
    (await base.cachedDirectory.retiredKeys())[0] ?? settings.masterKey ?? settings.rootKey;
  const sessions = createSessions(bindings, catalog, namingSecret, noteObject);
  const serve: ServeDeps = {
    ...buildServe(base, servers, callDeps),
    ...createFileSpaces(bindings, { sessions, now: runtime.clock.now, noteObject }),
  };
  const keptReplies = createReplyStore({ ...runtime, kv: bindings.KV, sessions, background });
  const model = createChatModel({ http: outbound, rehearsal: rehearsalHttp, ...runtime });
  const plan = (principal: Principal, request: PlanRequest): Promise<Plan> =>
    planTurn({ directory, aliases: settings.aliases, telemetry: runtime.telemetry }, principal, request);
  return {
    settings,
    ...runtime,
    directory,
    /** Returns the catalog for a caller, which is recorded in the audit row of each change. */
    catalog,
    audit,
    /** Writes documents together, as a caller of the catalog. */
    projects: ({ workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>): Projects =>
      createCatalogClient(bindings, { workspace, keyId }, base.cachedDirectory),
    /** The registry of workspaces, for the caller, which its changes are audited with. */
    workspaces: ({ keyId }: Pick<Principal, 'keyId'>): Workspaces =>
      createCatalogClient(bindings, { workspace: defaultWorkspace, keyId }, base.cachedDirectory),
    /** The rotation of the master key, which the Catalog of the first workspace coordinates. */
    masterKey: ({ keyId }: Principal): MasterKeyPort => createCatalogClient(bindings, { workspace: defaultWorkspace, keyId }),
    /** The backup of a workspace, for the key that asks for it, and its restore. */
    backups: ({ workspace, keyId }: Principal): BackupPort =>
      createBackups({ bindings, master: base.sealing, clock: runtime.clock, workspace, auditShards: settings.auditShards }, keyId),
    /** Returns where the taint marks of a key's direct calls are stored. */
    marks: base.marks,
    sessions,
    triggers: (workspace: string): Triggers => createCatalogClient(bindings, workspace),
    /** Starts stored work, for the key that asks for it. */
    storedWork: ({ workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>): StoredWork =>
      createCatalogClient(bindings, { workspace, keyId }),
    /** Checks whether code of made tools compiles. */
    sandbox: sandbox({ workspace: '', keyId: '' }) as Pick<Sandbox, 'check'>,
    /** For `/readyz`. */
    readiness: createReadiness({ ...runtime, settings, catalog, master, kv: bindings.KV }),
    /** The authorization server for MCP clients, and what its consent page is shown for. */
    oauth:
      deployment.authorization ??
      createAuthorization({ outbound, clock: runtime.clock, ids: createJsonSeal(master, 'oauth-client'), ...settings }),
    consents: createJsonSeal(master, 'consent'),
    grants: (caller: CatalogCaller): Grants => createCatalogClient(bindings, caller, base.cachedDirectory),
    /** Returns the workspace of a token of OAuth of one of these kinds; null: it was not issued here. */
    workspaceOfToken: async (text: string, kinds: readonly TokenKind[]): Promise<string | null> => {
      const token = await openToken(master, text);
      return token !== null && kinds.includes(token.kind) ? token.workspace : null;
    },
    /** Imported when a consent page is shown. */
    servedNames: async (principal: Principal, toolset: string): Promise<ServedNames> =>
      await (await import('./engine/mcp/served-names.ts')).readServedNames(serve, principal, toolset),
    /** Who a person is, from the operator's identity providers. */
    identity: createIdentity({
      providers: settings.identityProviders,
      outbound: base.outbound,
      ...runtime,
      seal: createJsonSeal(base.sealing, 'browser-sign-in'),
      nonce: createSignInNonce,
      consumeNonce: (nonce, expiresAt) => catalog(rootPrincipal.workspace).consumeNonce(nonce, expiresAt),
    }),
    /** People who sign in with a browser. */
    people: createPeople({ ...runtime, settings, sealing: base.sealing, catalog }),
    /** Tokens of links that decide one approval (`storage/signed-token.ts`). */
    approvalLinks: createApprovalLinks(master),
    /** Refreshes the tool lists of servers, and tests a server (`engine/servers/refresh-server.ts`, `engine/servers/test-server.ts`). */
    servers: servers.admin,
    /** Returns the keys of those programs of the launcher that are to end. */
    unwantedPrograms: (programs: readonly Program[]): Promise<string[]> =>
      findUnwantedPrograms(
        {
          isActive: (workspace) => isActiveWorkspace(bindings, workspace),
          keys: (workspace, names) => callCatalog(bindings, workspace, 'programKeys', [names]),
        },
        programs,
      ),
    /** Signs people in to servers (OAuth) and provides the tokens. */
    signIns,
    planTurn: plan,
    ...buildDirectCalls(base, directory, callDeps),
    /** Returns a file of the built pages, also as a 304; null if it does not exist. */
    pageFile: createPageFile(bindings.ASSETS),
    /** Serves a request to `/mcp` whose key, origin and body were checked. Imported lazily, as in `mcp/lazy-client.ts`. */
    mcp: async (asked: McpRequest): Promise<McpAnswer> =>
      await (await import('./mcp/server/endpoint.ts')).serveMcp(serve, mcpSessions, asked),
    /** Throws `loop_detected` for a request that this installation sent itself, under any host name. */
    async refuseLoop(headers: Headers): Promise<void> {
      if (instance !== null && headers.has(hopHeader)) refuseOwnHop(headers, await instance());
    },
    /** Requests to providers outside of turns (`providers/model-requests.ts`). */
    ...createModelRequests({
      ...{ ...runtime, directory, outbound, model, kept: keptReplies },
      ...{ usage: recorder, background, redactor, limiter: base.limiter },
    }),
    /** Failed attempts to send events to webhooks. */
    hookAttempts: createAttemptLimit(runtime.clock.now, { perAddress: 600, perTarget: 3_000 }),
    /** Failed attempts to sign in or to get a token of OAuth; by address only, since strangers must not lock everyone out. */
    signInAttempts: createAttemptLimit(runtime.clock.now, { perAddress: 120, perTarget: Number.POSITIVE_INFINITY }),
    refusals: createRefusalCounter({
      ...{ ...runtime, background },
      report: async (workspace, counts) => await createCatalogClient(bindings, workspace).addRefusals(counts),
    }),
    /** Reads the usage of a workspace and its request log. */
    usage: createUsageReader({ bindings }),
    recordUsage: recorder.record,
    limiter: base.limiter,
    pools: base.pools,
    keptReplies,
    serve,
    callDeps,
    turnDeps: (workspace: string): TurnDeps => ({ ...runtime, ...callDeps(workspace), directory, model, limiter: base.limiter }),
    /** `keyId`: the key of the session. */
    namesFor: (workspace: string, planned: Plan, keyId: string) => readTurnNames(directory, workspace, planned, keyId),
    rules: (workspace: string) => directory.rules(workspace),
    /** Returns the bodies of a plan's skills that still exist. */
    skillsFor: (workspace: string, planned: Plan) => readPlanSkills(directory, workspace, planned),
    /** For the Catalog: starts the turn of a delivery. */
    dispatchRun: (run: TriggeredRun): Promise<void> =>
      dispatchRun({ planTurn: plan, sessions, limiter: base.limiter, ids: runtime.ids }, run),
    /** For the Catalog: notifies the launcher that servers, secrets or workspaces were changed. */
    programsChanged: (): Promise<void> =>
      base
        .noticePrograms()
        .catch((error: unknown) =>
          runtime.log.error('the launcher was not notified of a change; it checks its programs regularly', { cause: String(error) }),
        ),
    /** For the Catalog of `default`: erases deleted workspaces. */
    eraser: createWorkspaceEraser({ bindings, sessions, ...settings, log: runtime.log }),
    /** For the Catalog: sends a callback. */
    sendCallback: createSendCallback({ outbound, now: runtime.clock.now }),
  };
}

type Base = ReturnType<typeof buildBase>;

/** Settings, runtime, storage and the outbound client. */
function buildBase(bindings: Bindings, { background, issued, noApprovals }: Deployment) {
  const settings = readSettings(bindings);
  const send = sendThrough(bindings);
  const runtime = createRuntime(settings, (request) => send(request, true), background);
  const instance = settings.masterKey === null ? null : createInstanceName(settings.masterKey);
  const cachedDirectory = createDirectory({ env: bindings, settings, ...runtime, background, issued });
  const catalog = createCatalogs(bindings, cachedDirectory);
  const noteObject = createObjectNotes(bindings, runtime.clock.now);
  const limiter = createLazyLimiter({ bindings, ...runtime, background, noteObject });
  const pools = createPools(runtime.clock);
  const recorder = createUsageRecorder({ bindings, ...runtime, background, pools, charge: limiter.charge });
  return {
    background,
    noApprovals,
    pools,
    recorder,
    limiter,
    noteObject,
    settings,
    runtime,
    instance,
    outbound: createOutbound({ ...settings, telemetry: runtime.telemetry, ...(instance !== null && { instance }) }, send),
    stdio: createStdioBridge(settings, send),
    noticePrograms: createProgramNotice(settings, send),
    cachedDirectory,
    master: createMasterKey(settings.masterKey, settings.previousMasterKey),
    sealing: createAuditKey(settings),
    catalog,
    marks: marksIn(catalog, runtime.clock),
    audit: withToolUsage(createAudits(bindings, settings.auditShards, catalog), recorder),
  };
}

type ServerParts = ReturnType<typeof buildServers>;

/** Sign-ins, connections to servers, and their tool lists, which are refreshed in the background. */
function buildServers({ background, settings, runtime, outbound, stdio, cachedDirectory, master, catalog }: Base) {
  const server = (workspace: string, name: string): Promise<ServerAccess> => cachedDirectory.server(workspace, name);
  const base = publicBase(settings.publicUrl);
  const signIns = createSignIns({
    server,
    contextOf: (workspace, keyId) => ({
      grants: catalog(keyId === undefined ? workspace : { workspace, keyId }),
      send: (request, signal) => outbound(request, { purpose: 'server', signal, onHop: refuseOtherOrigins(request.url) }),
      secret: (name, host) => cachedDirectory.secret(workspace, name, { host }),
      ...runtime,
    }),
    mintState: (state) => mintSignInState(master, state),
    readState: (text) => readSignInState(master, text),
    originRights: (workspace, origin) => catalog(workspace).originRights(origin),
    nonce: createSignInNonce,
    connectUrl: (workspace, name) => (base === null ? null : connectPageUrl(base, workspace, name)),
  });
  const fetchFor = createToolFetch(outbound);
  const upstreamContext = createUpstreamContexts({
    ...{ ...runtime, fetch: fetchFor, tokens: signIns.tokens },
    secret: (workspace, name, host) => cachedDirectory.secret(workspace, name, { ...(host !== undefined && { host }) }),
    document: (workspace, name) => catalog(workspace).serverDocument(name),
    stdio,
  });
  const upstream = createLazyUpstream();
  const openapi: ServerSource = {
    discover: async (read, context) => await (await import('./http-tools/openapi/source.ts')).createOpenApiSource().discover(read, context),
  };
  const sources: Partial<Record<ServerKind, ServerSource>> = { mcp: upstream, openapi };
  const reading = {
    ...{ ...runtime, catalog, sources, directory: cachedDirectory },
    context: (workspace: string, access: ServerAccess, signal: AbortSignal) =>
      upstreamContext(workspace, access, { conversation: 'listing', owner: null }, signal),
  };
  const refresh = createServerRefresh(reading);
  const refreshStale = createStaleServerRefresh({ ...runtime, ...refresh, server, background });
  return {
    ...{ signIns, fetchFor, upstream, upstreamContext, refresh, refreshStale },
    directory: withStaleServerRefresh(cachedDirectory, refreshStale),
    async changed(workspace: string, name: string): Promise<void> {
      const log = (error: unknown): void => runtime.log.debug('a changed server was not refreshed', { server: name, cause: String(error) });
      const work = refresh.refresh(workspace, name, 'changed').catch(log);
      background(work);
      await work;
    },
    admin: (workspace: string) => ({
      refresh: (name: string, reason: RefreshReason, options?: { isNew?: boolean }) => refresh.refresh(workspace, name, reason, options),
      test: (name: string, document?: CompleteServer) => testServer(reading, workspace, name, document),
      /** Refreshes, in the background, the tool lists of these servers that are stale. */
      refreshIfStale: (names: readonly string[]) => refreshStale(workspace, names),
    }),
  };
}

type SandboxOf = (owner: ShareOwner) => Sandbox;

/** What calls of a workspace's tools need. */
function buildCallDeps(
  { background, noApprovals, settings, runtime, outbound, stdio, cachedDirectory, catalog, limiter, pools }: Base,
  servers: ServerParts,
  sandbox: SandboxOf,
): (workspace: string) => CallDeps {
  const { directory, upstream, signIns } = servers;
  const network = createGuard(settings);
  const ask = createAskGuard({
    ...{ outbound, telemetry: runtime.telemetry, now: runtime.clock.now, read: readBounded, questions: pools.guardQuestions },
    secret: (workspace, name, host) => directory.secret(workspace, name, { host }),
  });
  const code = createCodeExecutor(codeTools());
  const build = (workspace: string): CallDeps => {
    const server = async (name: string, tool?: string): Promise<ServerAccess> => {
      const access = await directory.server(workspace, name, tool);
      servers.refresh.refreshIfStale(workspace, access, background);
      return access;
    };
    return {
      ...runtime,
      workspace,
      ...(noApprovals !== undefined && { noApprovals }),
      executor: executorByKind({
        ...{ builtin: code, local: code, static: createStaticExecutor(server) },
        mcp: createMcpExecutor({
          ...runtime,
          server,
          upstream,
          stdio: stdio(workspace),
          changed: (name) => void servers.changed(workspace, name),
        }),
        openapi: createOpenApiExecutor({ server, operation: (tool) => directory.operation(workspace, tool) }),
        made: createMadeExecutor(),
      }),
      enter: (keyId, signal) => pools.calls.wait({ workspace, keyId }, { signal }),
      sandbox: (keyId) => sandbox({ workspace, keyId }),
      toolset: (name) => cachedDirectory.toolset(workspace, name),
      compute: (limited) => createComputeMeter(limiter, workspace, limited),
      server,
      fetch: servers.fetchFor,
      isBlockedUrl: (url) => refusedUrl(network, url),
      guard: { workspace, ask, settings: async () => (await directory.safeguards(workspace)).guard },
      redaction: async (toolset) => await redactionRules((await directory.safeguards(workspace)).redaction, toolset),
      configuration: (keyId) =>
        createToolsetEditor(catalog({ workspace, keyId }), keyId, {
          aliases: settings.aliases,
          refreshIfStale: (names) => servers.refreshStale(workspace, names),
        }),
      maker(keyId, offered) {
        const own = catalog({ workspace, keyId });
        return createToolMaker({
          catalog: own,
          keyId,
          sandbox: sandbox({ workspace, keyId }),
          offered,
          editor: createToolsetEditor(own, keyId),
        });
      },
      egressHosts: async (keyId) => (await catalog(workspace).keyRights(keyId))?.egressHosts,
      tokens: (access, keyId) => signIns.tokens(workspace, access, keyId),
      secret: (name, tool, host) => directory.secret(workspace, name, { tool, ...(host !== undefined && { host }) }),
    };
  };
  const known = new Map<string, CallDeps>();
  return (workspace) => getOrBuild(known, workspace, limits.maxCachedNames, () => build(workspace));
}

const redactor = async (redaction: Redaction): Promise<TextRedactor> =>
  await (await import('./platform/compile-redaction.ts')).compileRedaction(redaction);

/** Returns the rules for calls with a toolset; null if there are none. */
async function redactionRules(redaction: Redaction | null, toolset: string | undefined): Promise<RedactionRules | null> {
  if (redaction === null) return null;
  const redact = await redactor(redaction);
  return { results: redaction.results && coversToolset(redaction, toolset) ? redact : null, logs: redaction.logs ? redact : null };
}

/** Calls without a session: on scratch files, audited before they return. */
function buildDirectCalls({ settings, runtime, marks, audit }: Base, directory: Directory, callDeps: (workspace: string) => CallDeps) {
  const depsFor = ({ workspace }: Principal) => ({
    ...{ directory, ids: runtime.ids, aliases: settings.aliases },
    marks,
    call: callDeps(workspace),
    scratchFiles: () => createMemoryFiles(runtime.clock.now),
    audit: (rows: AuditRow[]) => audit(workspace).append(rows),
  });
  return {
    /** Makes a call. */
    callTool: (principal: Principal, call: DirectCall) =>
      callOutsideSession(depsFor(principal), principal, call, new AbortController().signal),
    /** Resolves, authorizes and checks a call without running it. Also for calls with a session. */
    dryRunCall: (principal: Principal, call: DirectCall) => dryRunCall(depsFor(principal), principal, call),
    /** Evaluates the policy for a call without making it. */
    explainCall: (principal: Principal, asked: Parameters<typeof explainDirectCall>[2]) =>
      explainDirectCall(depsFor(principal), principal, asked),
  };
}

/** Toolsets served over MCP. */
function buildServe(base: Base, servers: ServerParts, callDeps: ServeDeps['callDeps']): Omit<ServeDeps, 'fileSpace' | 'links'> {
  const { background, settings, runtime, sealing, catalog, marks, audit, pools } = base;
  return {
    ...runtime,
    directory: servers.directory,
    aliases: settings.aliases,
    seal: createStateSeal(sealing),
    consumeNonce: (workspace, nonce, expiresAt) => catalog(workspace).consumeNonce(nonce, expiresAt),
    equipment: ({ workspace, keyId }) => catalog(workspace).equipment(keyId),
    configuration: configurationTables(toolDefinitions),
    callDeps,
    openQuestions: pools.openQuestions,
    scratchFiles: () => createMemoryFiles(runtime.clock.now),
    audit: (workspace, rows) => audit(workspace).append(rows),
    marks,
    upstream: servers.upstream,
    upstreamContext: servers.upstreamContext,
    serverChanged: servers.changed,
    background,
    isKeyActive: async (principal) => {
      const rights = await catalog(principal.workspace).originRights(originOf(principal, runtime.clock.now()));
      return rights !== null && isAllowed(rights, { act: 'use-scope', scopes: ['tools'] });
    },
  };
}
