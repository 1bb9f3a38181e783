/** The app over fakes: a workspace in memory, real planning and resolving, sessions that echo. */
import type { Principal } from '../../src/core/people/principal.ts';
import { readSettings } from '../../src/core/people/settings.ts';
import { nameForTurns } from '../../src/core/model/route.ts';
import type { ServerAccess, ServerKind } from '../../src/core/servers/server.ts';
import { textResult, type ToolDefinition } from '../../src/core/tools/tool.ts';
import { marksIn } from '../../src/engine/policy/direct-marks.ts';
import { callOutsideSession, dryRunCall, explainDirectCall } from '../../src/engine/call/direct-call.ts';
import { createStaleServerRefresh, withStaleServerRefresh } from '../../src/engine/servers/refresh-stale-servers.ts';
import { planTurn } from '../../src/engine/plan/plan-turn.ts';
import { expandPrompt, listPrompts } from '../../src/engine/mcp/session-prompts.ts';
import { createServerRefresh } from '../../src/engine/servers/refresh-server.ts';
import { listGiven, testServer } from '../../src/engine/servers/test-server.ts';
import { createApp } from '../../src/http/app.ts';
import { createIdentity } from '../../src/sign-in/identity.ts';
import { createJsonSeal, createSignInNonce, mintApprovalToken, readApprovalToken } from '../../src/storage/keys/signed-token.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { createPeople } from '../../src/storage/published/people.ts';
import { createPools } from '../../src/engine/fair-pool.ts';
import { createHost } from '../../src/engine/host.ts';
import { createAttemptLimit } from '../../src/engine/attempt-limit.ts';
import { createLimiter } from '../../src/objects/limits/client/limit-counters.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import type { ServerSource, UpstreamContext } from '../../src/ports/upstream.ts';
import { serveMcp } from '../../src/mcp/server/endpoint.ts';
import { toolDefinitions } from '../../src/tools/registry.ts';
import type { ProxiedChat } from '../../src/engine/proxy/translate-chat.ts';
import { Problem } from '../../src/core/problem.ts';
import type { WorkspaceRecord, Workspaces } from '../../src/ports/workspaces.ts';
import type { HttpServices } from '../../src/http/services.ts';
import { createNodeCatalog, type NodeCatalog } from '../fakes/node-catalog.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { fakeServeDeps } from '../fakes/serve-deps.ts';
import { createDocumentCheck, type ApiDocument, type DocumentCheck } from './document-check.ts';
import { watched } from '../unread-refusals.ts';
import { v8Syntax } from '../fakes/v8-syntax.ts';
import { countedIds, fakeClock, keptLog } from '../fakes/runtime.ts';
import { memoryReplies } from '../fakes/kept-replies.ts';
import { fakeSessions, type FakeSessions } from '../fakes/sessions.ts';
import { fakeTriggers, type FakeTriggers } from '../fakes/triggers.ts';
import { statusCounts } from '../../src/core/servers/server-state.ts';

export const rootKey = 'root-key-of-at-least-thirty-two-characters';

const text = { type: 'string' };
const definitions: ToolDefinition[] = [
  toolOf('builtin', 'bash', {
    kind: 'builtin',
    inputSchema: { type: 'object', properties: { command: text }, required: ['command'] },
    aliases: ['shell'],
  }),
  toolOf('builtin', 'read_file', { kind: 'builtin', inputSchema: { type: 'object', properties: { path: text }, required: ['path'] } }),
  toolOf('local', 'roll_dice', { kind: 'local' }),
  toolOf('docs', 'search'),
  toolOf('web', 'search'),
];

/** One app serves all harnesses, because mounting the routes takes longer than most tests. Each request brings the services of its harness. */
const sharedApp = createApp((services: HttpServices) => services);

export type HarnessApp = {
  routes: typeof sharedApp.routes;
  request(path: string, init?: RequestInit): Promise<Response>;
  fetch(request: Request): Promise<Response>;
};

export type Harness = {
  app: HarnessApp;
  services: HttpServices;
  catalog: NodeCatalog;
  sessions: FakeSessions;
  triggers: FakeTriggers;
  log: ReturnType<typeof keptLog>;
  clock: ReturnType<typeof fakeClock>;
  /** How servers are listed, by kind; must be set before use. */
  sources: Partial<Record<ServerKind, ServerSource>>;
  /** Background work of requests. */
  background: Promise<unknown>[];
  proxied: { model: string; body: Record<string, unknown>; agent?: ProxiedChat['agent'] }[];
  /** Headers of a new key with these rights. */
  key(rights: Pick<Principal, 'scopes' | 'toolsets' | 'agents' | 'models'>): Promise<Record<string, string>>;
  /** With the root key, unless `headers` contain another. Strings and bytes are sent unchanged, everything else as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Response>;
};

/** `more`: additional tools. */
export function createHarness(
  environment: Record<string, string> = {},
  replaced: Partial<HttpServices> = {},
  more: readonly ToolDefinition[] = [],
): Harness {
  const settings = readSettings({
    MONIKER_ROOT_KEY: rootKey,
    MONIKER_MASTER_KEY: 'a master key of at least 32 characters',
    ...environment,
  });
  const [clock, log, ids, sessions] = [fakeClock(), keptLog(), countedIds(), fakeSessions()];
  const catalog = createNodeCatalog({ definitions: [...definitions, ...more], rootKey, clock });
  const kept = memoryReplies();
  const triggers = fakeTriggers({ sessions, now: clock.now });
  const master = createMasterKey(settings.masterKey);
  const proxied: Harness['proxied'] = [];
  const notFaked = (): never => {
    throw new Error('not faked');
  };
  const unused = () => Promise.reject(new Error('not in these tests'));
  const sources: Harness['sources'] = {};
  const background: Promise<unknown>[] = [];
  const reading = {
    clock,
    log,
    ids,
    directory: catalog.directory,
    catalog: () => catalog,
    sources,
    context: (_workspace: string, { name }: ServerAccess, signal: AbortSignal): UpstreamContext => ({
      fetch: unused,
      secret: (secret, host) => catalog.directory.secret('default', secret, { ...(host !== undefined && { host }) }),
      document: () => catalog.serverDocument(name),
      signal,
      now: clock.now,
      log,
      conversation: 'listing',
    }),
  };
  const refresh = createServerRefresh(reading);
  const meet = createStaleServerRefresh({
    ...{ clock, log, refreshIfStale: refresh.refreshIfStale },
    server: (workspace, name) => catalog.directory.server(workspace, name),
    background: (work) => void background.push(work),
  });
  const directory = withStaleServerRefresh(catalog.directory, meet);
  const direct = {
    call: {
      clock,
      log,
      executor: { isSafe: () => false, execute: async (_tool: unknown, args: object) => textResult(`ran with ${JSON.stringify(args)}`) },
      fetch: unused,
      secret: unused,
    },
    ids,
    directory,
    aliases: settings.aliases,
    scratchFiles: () => createMemoryFiles(clock.now),
    audit: catalog.appendAudit,
    marks: marksIn(() => catalog, clock),
  };
  const served = fakeServeDeps({
    catalog,
    call: direct.call,
    clock,
    ids,
    log,
    master,
    aliases: settings.aliases,
    configuration: toolDefinitions(),
  });
  const serve = { ...served, directory };
  const services: HttpServices = {
    settings,
    clock,
    ids,
    log,
    directory,
    catalog: () => catalog,
    audit: () => catalog.calls,
    sandbox: v8Syntax,
    sessions,
    triggers: () => triggers,
    storedWork: () => triggers,
    // Tested against the real Catalog.
    fetchDocument: unused,
    replays: { create: unused, get: notFaked },
    projects: () => ({ applyDocuments: () => Promise.reject(new Error('not faked')), projects: () => Promise.resolve([]) }),
    masterKey: () => ({ masterKeyState: unused, startReseal: unused, resealSome: unused }),
    prompts: {
      list: async (session) => await listPrompts(serve, session),
      expand: async (session, prompt) => await expandPrompt(serve, session, prompt),
    },
    telemetry: null,
    // No key in these tests has limits.
    limiter: createLimiter({ bindings: { LIMITS: null as never }, clock, log, background: () => undefined }),
    host: createHost({ clock, ask: null }),
    pools: createPools(clock),
    hookAttempts: createAttemptLimit(clock.now, { perAddress: 600, perTarget: 3_000 }),
    signInAttempts: createAttemptLimit(clock.now, { perAddress: 120, perTarget: Number.POSITIVE_INFINITY }),
    refusals: { count: () => undefined, reportDue: () => undefined },
    pageFile: async () => null,
    unwantedPrograms: unused,
    readiness: async () => ({ checks: { storage: 'ok', kv: 'ok', keys: 'ok', disk: 'ok' }, staleToolsets: 0, servers: statusCounts([]) }),
    // Tested against the real Catalog.
    oauth: { register: unused, client: unused, request: unused, declined: unused },
    consents: { seal: unused, open: unused },
    grants: () => ({ grantAccess: unused, redeemToken: unused, grants: unused, endGrant: unused }),
    workspaceOfToken: async () => null,
    servedNames: unused,
    identity: createIdentity({
      providers: settings.identityProviders,
      outbound: unused,
      clock,
      seal: createJsonSeal(master, 'browser-sign-in'),
      nonce: createSignInNonce,
      consumeNonce: (nonce, expiresAt) => catalog.consumeNonce(nonce, expiresAt),
    }),
    people: createPeople({ settings, clock, sealing: master, catalog: () => catalog }),
    approvalLinks: { mint: (link) => mintApprovalToken(master, link), read: (token) => readApprovalToken(master, token) },
    signIns: { begin: unused, finish: unused, forget: unused, status: async () => null, tokens: () => null, offer: () => null },
    servers: (workspace) => ({
      processes: async () => [],
      refresh: (name, reason, how) => refresh.refresh(workspace, name, reason, how),
      test: (name, document) => testServer(reading, workspace, name, document),
      listGiven: (name, document) => listGiven(reading, workspace, name, document),
      refreshIfStale: (names) => meet(workspace, names),
    }),
    planTurn: (principal, request) => planTurn({ directory, aliases: settings.aliases }, principal, request),
    explainCall: (principal, asked) => explainDirectCall(direct, principal, asked),
    dryRunCall: (principal, call) => dryRunCall(direct, principal, call),
    callTool: (principal, call) => callOutsideSession(direct, principal, call, new AbortController().signal),
    sseRelays: { open: unused, send: unused },
    mcp: (asked) =>
      serveMcp(
        serve,
        { send: async (_caller, _target, to) => ('session' in to && to.session !== null ? null : await unused()), listen: unused },
        asked,
      ),
    refuseLoop: async () => undefined,
    proxyChat: async (_principal, { ref, body, agent }) => {
      const model = nameForTurns(ref);
      proxied.push({ model, body, ...(agent !== undefined && { agent }) });
      return Response.json({ id: 'chatcmpl-1', object: 'chat.completion', model });
    },
    reportUnsent: async () => undefined,
    keptReplies: () => kept,
    cachedReplies: async () => ({ get: async () => null, put: () => undefined, erase: async () => ({ erased: 0, isDone: true }) }),
    countTokens: async () => null,
    compactByProvider: async () => null,
    readStoredResponse: async () => null,
    usage: {
      usage: async () => ({ items: [], nextCursor: null, totals: { calls: 0, failures: 0, durationMs: 0 } }),
      requests: async () => ({ items: [], nextCursor: null }),
      request: async () => null,
      withBodies: async () => [],
    },
    workspaces: () => fakeWorkspaces(),
    backups: () => ({ page: unused, restoreState: unused, restore: unused, restoreSession: unused, abandon: unused }),
    passFiles: async (_principal, { of, id }) => Response.json({ of, id, object: of === 'files' ? 'file' : 'batch' }),
    listPassed: async () => ({ data: [], hasMore: false }),
    passRequest: async (_principal, { ref, path }) => Response.json({ ref, path }),
    models: async (workspace) => ({
      listed: (await catalog.directory.providers(workspace)).flatMap(({ name: provider, models }) =>
        models.map((model) => ({ provider, model, created: 0 })),
      ),
      unavailable: [],
      describe: async () => null,
    }),
    ...replaced,
  };
  const app: HarnessApp = {
    routes: sharedApp.routes,
    request: async (path, init) => await sharedApp.request(path, init, services),
    fetch: async (request) => await sharedApp.fetch(request, services),
  };
  return {
    app,
    services,
    catalog,
    sessions,
    triggers,
    log,
    clock,
    sources,
    background,
    proxied,
    async key(rights) {
      const { key } = await catalog.createKey({
        name: 'test',
        ...rights,
        scopes: [...rights.scopes],
        toolsets: rights.toolsets?.slice(),
        agents: rights.agents?.slice(),
      });
      return { authorization: `Bearer ${key}` };
    },
    async send(method, path, body, headers = {}) {
      const all = { authorization: `Bearer ${rootKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
      const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const raw =
        typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : body === undefined ? null : JSON.stringify(body);
      const response = await app.request(path, { method, headers: given, body: raw });
      await compareWithDocument(method, path, response);
      return watched(response, method, path);
    },
  };
}

/** Only `default` exists; the registry is tested against the real Catalog. */
function fakeWorkspaces(): Workspaces {
  const own: WorkspaceRecord = { name: 'default', status: 'active', createdAt: 0 };
  const find = async (name: string): Promise<WorkspaceRecord> => {
    if (name === own.name) return own;
    throw new Problem('not_found', `There is no workspace "${name}".`);
  };
  return {
    registerWorkspace: async (name) => ({ record: await find(name), created: false }),
    workspace: find,
    workspaces: async () => ({ items: [own], nextCursor: null }),
    deleteWorkspace: find,
  };
}

let documentCheck: Promise<DocumentCheck> | undefined;

/** Every response of these tests must be as the OpenAPI document says. */
async function compareWithDocument(method: string, path: string, response: Response): Promise<void> {
  documentCheck ??= readDocument();
  const check = await documentCheck;
  const operation = check.find(method, new URL(path, 'http://localhost').pathname);
  if (operation === null || (response.status === 200 && withFakeContent.has(operation.operationId))) return;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const differences = check.differences(operation, response, isStream ? null : await response.clone().text());
  if (differences.length > 0) throw new Error(`${operation.operationId} differs from the OpenAPI document: ${differences.join('; ')}`);
}

/** Their content comes from fake sessions and providers here; `every-operation.workers.test.ts` has the real ones. */
const withFakeContent = new Set([
  'createChatCompletion',
  'createMessage',
  'createResponse',
  'getChatCompletion',
  'getMessage',
  'getResponse',
  'cancelResponse',
  'deleteResponse',
  'listResponseInputItems',
  'generateContent',
  'streamGenerateContent',
  'createUiMessage',
  'runAgUi',
  ...['createMessageBatch', 'getMessageBatch', 'listMessageBatches', 'cancelMessageBatch', 'deleteMessageBatch'],
]);

async function readDocument(): Promise<DocumentCheck> {
  const { app } = createHarness();
  return createDocumentCheck((await (await app.request('/openapi.json')).json()) as ApiDocument);
}

/** Two tools, one of them under a given name. */
export const demo = { tools: [{ tool: 'builtin.bash', aliases: ['shell', 'terminal'] }, { tool: 'builtin.read_file' }] };

/** With the toolset `demo`, the agent `helper` with it, and the agent `plain` without a toolset. */
export async function createChatHarness(replaced: Partial<HttpServices> = {}): Promise<Harness> {
  const harness = createHarness({}, replaced);
  await harness.send('PUT', '/v1/toolsets/demo', demo);
  await harness.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: 'Help.', toolset: 'demo' });
  await harness.send('PUT', '/v1/agents/plain', { model: 'rehearsal/default', instructions: 'Help.' });
  return harness;
}

/** Returns the parsed JSON body. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes and fail by themselves where one is missing
export async function bodyOf(answer: Response): Promise<any> {
  return await answer.json();
}

/** What a refusal says: its status, its code and the path of its first issue, in the format of its client: `422 invalid_request at tools[0].name`. */
export async function problemIn(answer: Response): Promise<string> {
  const { error, code = error?.code ?? error?.type, issues = [{ path: error?.param ?? '' }] } = await bodyOf(answer);
  const [{ path }] = issues;
  return `${answer.status} ${code}${path === '' ? '' : ` at ${path}`}`;
}
