/**
 * Every operation of the API with every id of one workspace and a key of another one: the response is that for an id that does not exist,
 * nothing of the other workspace is in it, and nothing there changes. A new operation fails here until it has a row.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { Scope } from '../../src/core/people/principal.ts';
import { readText, send } from '../objects/catalog/real-service.ts';
import { testEnv } from '../storage/workspace.ts';
import { takeErrors } from '../service-errors.ts';
import { waitUntil } from '../wait-for.ts';
import { readSettings } from '../../src/core/people/settings.ts';
import { createAuditKey } from '../../src/objects/shared/audit-chain.ts';
import { createCatalogClient } from '../../src/objects/catalog/client/catalog-client.ts';
import { createRootProof } from '../../src/storage/keys/root-proof.ts';
import { rootUser } from '../../src/core/people/person.ts';
import { callback, challengeOf, publicUrl, verifier } from './oauth-client.ts';

type Json = Record<string, unknown>;
type Headers = Record<string, string>;
/** `text: false`: the response has new ids or times, so only its status is compared. */
type Row = { body?: unknown; query?: string; headers?: Headers; text?: false };
type Ids = Record<
  | 'session'
  | 'replay'
  | 'completion'
  | 'response'
  | 'conversation'
  | 'message'
  | 'call'
  | 'delivery'
  | 'run'
  | 'callback'
  | 'request'
  | 'key'
  | 'mcp'
  | 'grant',
  string
> & {
  /** Of all documents. */
  name: string;
  workspace: string;
};

const canary = 'text-that-only-alpha-has';
const model = 'rehearsal/default';
const never = { 'if-match': '"999"' };
const hello = [{ role: 'user', content: 'Hello' }];
const agUiHello = [{ id: 'm1', role: 'user', content: 'Hello' }];
const geminiHello = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const uiHello = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
const mcpHeaders = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const inside = (workspace: string): Headers => ({ 'x-moniker-workspace': workspace });
const jsonOf = async (response: Response): Promise<Json> => (await response.json()) as Json;

const put = (body: unknown): Row => ({ body, headers: never });
const plain: Row = {};
const withModel = (name: string): Row => ({ body: { model: `agent/${name}`, input: 'x', prompt: 'x' } });
const form = (name: string): Row => ({ body: `model=agent/${name}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
const mcp = ({ mcp: session }: Ids, body?: object): Row => ({ body, headers: { ...mcpHeaders, 'mcp-session-id': session } });
/** Of a connection that nobody has opened. */
const sse: Row = { body: listTools, query: `sessionId=${'0'.repeat(32)}` };
const documentRows = (noun: string, body: unknown): Record<string, (ids: Ids) => Row> => ({
  [`get${noun}`]: () => plain,
  [`put${noun}`]: () => put(body),
  [`patch${noun}`]: () => put({}),
  [`delete${noun}`]: () => ({ headers: never }),
});
const same = (names: string): Record<string, (ids: Ids) => Row> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, () => plain]));

const rows: Readonly<Record<string, (ids: Ids) => Row | Row[]>> = {
  // Without an id, or with ids of the path alone.
  ...same(`listToolsets listToolsetVersions diffToolset listToolsetUses getToolsetSuggestions listToolsetTools listToolVersions listTools getTool deleteTool
    getToolAliases deleteToolAliases listServers forgetServerAuthorization connectServer disconnectServer listMyConnections
    listServerConnections removeServerConnection listServerOffers listServerTools getServerTool getServerToolImpact refreshServer listProviders listSecrets listPolicyVersions
    getPolicy listModels getModel listGeminiModels getGeminiModel listModelAliases listAgents listAgentVersions listSuites listSuiteVersions listSuiteCases listSkills getSkillResource getKey revokeKey
    getMe listWorkspaces getWorkspace deleteWorkspace listProjects getProject deleteProject exportProject listWebhooks listAllDeliveries
    listDeliveries getDelivery replayDelivery listSchedules listScheduleTimes runSchedule listScheduleRuns getScheduleRun listSubscriptions
    testSubscription listCallbacks getCallback retryCallback listSessions getSession deleteSession listMessages listFiles readFile deleteFile
    followEvents cancelTurn listReplays getReplay deleteReplay listReplayCases getReplayCase followReplay exportReplay cancelReplay listInbox listApprovals getApproval mintApprovalLink getChatCompletion connectResponses getResponse cancelResponse getConversation deleteConversation listConversationItems getMessage
    listMembers listGrants endGrant getToolsetResource getWorkspaceToolsetResource getToolsetSseResource getWorkspaceSseResource listSessionPrompts listAudit verifyAudit getUsage listRequests getRequest readBackup getRestore abandonRestore getMetrics getMasterKey resealWithMasterKey
    listPrograms checkPublications checkPrograms openSse openWorkspaceSse openEquippedSse`),
  ...documentRows('Toolset', { tools: [{ tool: 'builtin.bash' }] }),
  ...documentRows('Server', { kind: 'static', url: 'https://a.example', tools: [] }),
  ...documentRows('Provider', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' }),
  ...documentRows('Secret', { value: 'v', hosts: ['a.example'] }),
  ...documentRows('ModelAlias', { model }),
  ...documentRows('Agent', { model }),
  ...documentRows('Suite', { select: {} }),
  getSkill: () => plain,
  putSkill: () => put({ content: '---\nname: aurora\ndescription: A.\n---\nB.\n' }),
  deleteSkill: () => ({ headers: never }),
  ...documentRows('Member', { email: 'one@example.com', role: 'user' }),
  ...documentRows('Webhook', { agent: 'a', scheme: 'github', secret: 's', input: 'i' }),
  ...documentRows('Schedule', { agent: 'a', interval: '1h', input: 'i' }),
  ...documentRows('Subscription', { url: 'https://a.example', secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }),
  rollBackToolset: () => put({ version: 1 }),
  retireToolsetVersion: () => plain,
  restoreToolsetVersion: () => plain,
  getPolicyImpact: () => ({ body: { rules: [] } }),
  getToolsetImpact: ({ name }) => ({ body: { tools: [{ tool: `made.${name}` }] } }),
  getAgentImpact: ({ name }) => ({ body: { model, toolset: name } }),
  getToolImpact: () => ({ body: { description: 'D', implementation: 'return 1' } }),
  previewToolset: ({ name }) => ({ body: { tools: [{ tool: `made.${name}` }] } }),
  resolveToolName: () => ({ query: 'name=shell' }),
  callTool: ({ name, session }) => [
    { body: { name: 'shell', arguments: {} } },
    { body: { name: 'shell', arguments: {}, session } },
    { body: { name: `made.${name}`, arguments: {} }, query: 'dryRun=true' },
  ],
  putTool: () => put({ description: 'D', implementation: 'return 1' }),
  putToolAliases: () => put({ aliases: [] }),
  authorizeServer: () => ({ body: {} }),
  acceptServerTool: () => ({ body: {} }),
  acceptServerTools: () => ({ body: { tools: '*' } }),
  rejectServerTools: () => ({ body: { tools: '*' } }),
  rejectServerTool: () => ({ body: {} }),
  undoServerToolDecision: () => ({ body: {} }),
  acceptServerOffer: () => ({ body: { kind: 'prompt', name: 'p' } }),
  rejectServerOffer: () => ({ body: { kind: 'prompt', name: 'p' } }),
  undoServerOfferDecision: () => ({ body: { kind: 'prompt', name: 'p' } }),
  rebindServerTool: () => ({ body: { to: 'other' } }),
  testServer: () => ({ body: {} }),
  testPolicy: ({ name, key }) => [
    { body: { tool: `made.${name}`, arguments: {} } },
    { body: { tool: 'builtin.bash', arguments: {}, toolset: name } },
    { body: { tool: 'builtin.bash', arguments: {}, agent: name } },
    { body: { tool: 'builtin.bash', arguments: {}, key } },
  ],
  putPolicy: () => put({ rules: [] }),
  patchPolicy: () => put({}),
  deletePolicy: () => ({ headers: never }),
  listKnownHosts: () => plain,
  forgetKnownHost: () => plain,
  ...same('eraseCache listProviderFiles getProviderFile getProviderFileContent deleteProviderFile listBatches getBatch cancelBatch'),
  ...same('listMessageBatches getMessageBatch getMessageBatchResults cancelMessageBatch deleteMessageBatch'),
  createMessageBatch: ({ name }) => ({ body: { requests: [{ custom_id: 'x', params: { model: name } }] } }),
  uploadProviderFile: ({ name }) => form(name),
  createBatch: () => ({ body: { input_file_id: 'file-x', endpoint: '/v1/embeddings', completion_window: '24h' } }),
  createEmbeddings: ({ name }) => withModel(name),
  createRerank: ({ name }) => withModel(name),
  createModeration: ({ name }) => withModel(name),
  createSpeech: ({ name }) => withModel(name),
  createImage: ({ name }) => withModel(name),
  createTranscription: ({ name }) => form(name),
  createTranslation: ({ name }) => form(name),
  editImage: ({ name }) => form(name),
  createImageVariation: ({ name }) => form(name),
  createKey: ({ name }) => ({ body: { name: 'one', scopes: ['chat'], toolsets: [name] }, text: false }),
  listLimits: () => ({ text: false }),
  // Lists what `createKey` created.
  listKeys: () => ({ text: false }),
  patchKey: () => ({ body: { name: 'two' } }),
  rotateKey: () => ({ body: {} }),
  putWorkspace: () => ({ body: {} }),
  patchWorkspace: () => ({ body: {} }),
  // The response has a hash of the plan.
  putProject: () => ({ body: {}, headers: { 'if-match': `"${'0'.repeat(32)}"` }, text: false }),
  importFile: ({ name }) => ({ body: { agents: { made: { model, toolset: name } } }, query: 'dryRun=true' }),
  testWebhook: () => ({ body: { payload: {} } }),
  receiveDelivery: () => ({ body: { action: 'opened' }, headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } }),
  previewScheduleTimes: ({ name }) => ({ body: { draft: { agent: name, interval: '15m', input: 'x' } }, text: false }),
  createSession: ({ name }) => [{ body: { agent: name } }, { body: { model, toolset: name } }],
  startReplay: ({ session, request, name }) => [
    { body: { cases: [{ session, turn: 'turn_1' }] }, text: false },
    { body: { cases: [{ request }] }, text: false },
    { body: { cases: [{ session }], with: { agent: name } } },
    { body: { suite: name } },
  ],
  writeFile: () => ({ body: 'text', headers: { 'content-type': 'text/plain' } }),
  createTurn: () => ({ body: { input: 'Hello' } }),
  sendToolResults: ({ call }) => ({ body: { callId: call, content: 'x' } }),
  decideApproval: () => ({ body: { decision: 'approve' } }),
  createChatCompletion: ({ name, session }): Row[] => [
    { body: { model: `agent/${name}`, messages: hello } },
    { body: { model, messages: hello }, headers: { 'x-moniker-toolset': name } },
    { body: { model, messages: hello }, headers: { 'x-moniker-session': session }, text: false },
  ],
  createResponse: ({ name, response, conversation }) => [
    { body: { model: `agent/${name}`, input: 'Hello' } },
    { body: { model, input: 'Hello', previous_response_id: response } },
    { body: { model, input: 'Hello', conversation } },
  ],
  createMessage: ({ name }) => ({ body: { model: `agent/${name}`, messages: hello, max_tokens: 9 } }),
  generateContent: ({ name }) => [{ body: geminiHello }, { body: { ...geminiHello, toolset: name } }],
  streamGenerateContent: () => ({ body: geminiHello }),
  countGeminiTokens: () => ({ body: geminiHello }),
  embedContent: () => ({ body: { content: { parts: [{ text: 'x' }] } } }),
  batchEmbedContents: () => ({ body: { requests: [{ content: { parts: [{ text: 'x' }] } }] } }),
  createUiMessage: ({ name }) => ({ body: { model: `agent/${name}`, messages: uiHello } }),
  runAgUi: () => ({ body: { threadId: 't', runId: 'r', messages: agUiHello } }),
  countResponseInputTokens: ({ name }) => ({ body: { model: `agent/${name}`, input: 'Hello' } }),
  compactResponse: ({ name, response }) => [
    { body: { model: `agent/${name}`, input: 'Hello' } },
    { body: { model, previous_response_id: response } },
  ],
  countMessageTokens: ({ name }) => ({ body: { model: `agent/${name}`, messages: hello } }),
  sendMcp: (ids) => [mcp(ids, listTools), { body: listTools, headers: mcpHeaders }],
  listenMcp: (ids) => mcp(ids),
  endMcp: (ids) => mcp(ids),
  sendWorkspaceMcp: (ids) => mcp(ids, listTools),
  listenWorkspaceMcp: (ids) => mcp(ids),
  endWorkspaceMcp: (ids) => mcp(ids),
  sendEquippedMcp: (ids) => mcp(ids, listTools),
  sendSse: () => sse,
  sendWorkspaceSse: () => sse,
  sendEquippedSse: () => sse,
  listenEquippedMcp: (ids) => mcp(ids),
  endEquippedMcp: (ids) => mcp(ids),
  restoreWorkspace: () => ({ body: '{}' }),
};

/** They take no id of a workspace, or a token that is itself the right. */
const withoutId = new Set(
  `createConversation getHealth getReadiness getOpenApi getProjectSchema getDocs getStartPage getConsole getConsolePage getPagesCss getPageFile showApproval
  decideByLink finishSignIn getClientMetadata showConnect startConnect showSignIn signInWithRootKey signOut beginSignIn endSignIn
  decideConsent getAuthorizationServer getMcpResource getSseResource getOpenIdConfiguration getSigningKeys redeemToken registerClient revokeToken showConsent`.split(
    /\s+/,
  ),
);

type Operation = { operationId: string; method: string; path: string };
let operations: Operation[] = [];
let alpha: Ids;
let alphaKey: Headers;

/** A workspace with one of everything. */
async function fill(): Promise<void> {
  await send('PUT', '/v1/workspaces/alpha', { settings: { requestLog: { bodies: true } } });
  const { key, id } = await jsonOf(await send('POST', '/v1/keys', { name: canary, scopes: Scope.options }, inside('alpha')));
  alphaKey = { authorization: `Bearer ${String(key)}` };
  const call = async (method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Json> => {
    const response = await send(method, path, body, { ...alphaKey, ...headers });
    const text = await readText(response);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Json) : {};
  };
  const name = 'aurora';
  await call('PUT', `/v1/secrets/${name}`, { value: canary, hosts: ['api.example.com'] });
  await call('PUT', `/v1/providers/${name}`, { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', apiKey: canary });
  await call('PUT', `/v1/model-aliases/${name}`, { model, description: canary });
  await call('PUT', `/v1/servers/${name}`, {
    ...{ kind: 'static', url: 'https://a.example' },
    tools: [{ name: 'lookup', description: canary, inputSchema: { type: 'object' } }],
  });
  await call('PUT', `/v1/tools/made.${name}`, { description: canary, implementation: 'return 1' });
  const tools = [{ tool: 'builtin.bash', aliases: ['shell'], approval: 'always' }, { tool: `made.${name}` }];
  await call('PUT', `/v1/toolsets/${name}`, { description: canary, tools });
  await call('PUT', `/v1/skills/${name}`, { content: `---\nname: ${name}\ndescription: ${canary}\n---\nBody.\n` });
  await call('PUT', `/v1/agents/${name}`, { model, instructions: canary, toolset: name });
  await call('PUT', `/v1/suites/${name}`, { description: canary, select: { agent: name } });
  await call('PUT', `/v1/webhooks/${name}`, { agent: name, scheme: 'github', secret: canary, input: canary });
  await call('PUT', `/v1/schedules/${name}`, { agent: name, interval: '1h', input: canary });
  const secret = `whsec_${btoa(canary)}`;
  await call('PUT', `/v1/subscriptions/${name}`, { url: 'https://127.0.0.1:1/', secret });
  await call('PUT', `/v1/members/${name}`, { email: `${canary}@example.com`, role: 'editor' });
  await call('PUT', `/v1/projects/${name}`, { secrets: {} }).catch(() => ({}));
  const session = String((await call('POST', '/v1/sessions', { agent: name })).id);
  await call('PUT', `/v1/sessions/${session}/files/notes.txt`, canary, { 'content-type': 'text/plain' });
  await call('POST', `/v1/sessions/${session}/turns`, { input: `/shell {"command": "echo ${canary}"}` });
  const replay = String((await call('POST', '/v1/replays', { cases: [{ session, turn: 'turn_1' }] })).id);
  await waitUntil(async () => {
    const { items } = await call('GET', '/v1/replays');
    return (items as Json[]).some(({ status }) => status !== 'running') ? items : null;
  });
  const waits = await waitUntil(async () => {
    const { items } = await call('GET', `/v1/sessions/${session}/approvals`);
    return (items as { callId: string }[]).length > 0 ? (items as { callId: string }[]) : null;
  });
  const chat = { model: `agent/${name}`, messages: [{ role: 'user', content: canary }] };
  const completion = String((await call('POST', '/v1/chat/completions', { ...chat, store: true })).id);
  const response = String((await call('POST', '/v1/responses', { model: `agent/${name}`, input: canary, store: true })).id);
  const conversation = String((await call('POST', '/v1/conversations', {})).id);
  const message = String((await call('POST', '/v1/messages', { ...chat, max_tokens: 9 })).id);
  await call('POST', `/v1/schedules/${name}/run`);
  const event = JSON.stringify({ text: canary });
  const signature = {
    'x-hub-signature-256': `sha256=${await hmacOf(canary, event)}`,
    'x-github-delivery': 'delivery-of-alpha',
    'x-github-event': 'push',
  };
  await call('POST', `/hooks/alpha/${name}`, event, { ...signature, authorization: '' });
  await call('POST', `/v1/subscriptions/${name}/test`).catch(() => ({}));
  const first = async (path: string, field: string): Promise<string> =>
    String(((await call('GET', path)).items as Json[])[0]?.[field] ?? 'none');
  const begun = await send('POST', `/mcp/${name}`, initialize, { ...alphaKey, ...mcpHeaders });
  await readText(begun);
  const request = await waitUntil(async () => {
    const found = await first('/v1/requests', 'id');
    return found === 'none' ? null : found;
  });
  alpha = {
    ...{
      name,
      workspace: 'alpha',
      session,
      replay,
      completion,
      response,
      conversation,
      message,
      request,
      key: String(id),
      call: waits[0]?.callId ?? '',
    },
    run: await first(`/v1/schedules/${name}/runs`, 'id'),
    delivery: await first('/v1/deliveries', 'id'),
    callback: await first('/v1/callbacks', 'id'),
    mcp: begun.headers.get('mcp-session-id') ?? '',
    grant: await connectClient(name).then(() => first('/v1/grants', 'id')),
  };
}

/** What `/oauth/authorize` and `/oauth/token` do when a person connects an MCP client. */
async function connectClient(toolset: string): Promise<void> {
  const grants = createCatalogClient(testEnv, 'alpha');
  const client = { clientId: 'client-of-alpha', clientName: canary, redirectUris: [callback], tokenEndpointAuthMethod: 'none' };
  const common = { issuer: publicUrl, client };
  const settings = readSettings(testEnv);
  const rootProof = await createRootProof(createAuditKey(settings), settings).current();
  const request = { redirectUri: callback, state: 's', codeChallenge: await challengeOf(verifier), scopes: ['tools'] as const };
  const resource = `${publicUrl}/mcp/${toolset}`;
  const { redirectTo } = await grants.grantAccess({ id: rootUser.id, name: canary }, { ...common, ...request, resource }, rootProof);
  const code = new URL(redirectTo).searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    client_id: client.clientId,
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    resource,
  };
  expect(await grants.redeemToken({ ...common, authorization: null, form: Object.entries(form) })).toMatchObject({ status: 200 });
}

async function hmacOf(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, encoder.encode(text))).toString('hex');
}

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: canary, version: '1' } },
};

/** Ids of the same form that exist nowhere. */
function unknownIds(ids: Ids): Ids {
  const session = testEnv.SESSION.newUniqueId().toString();
  const fresh = (text: string): string =>
    /[0-9a-f]{64}/.test(text) ? text.replaceAll(/[0-9a-f]{64}/g, session) : text.replaceAll(/[0-9a-zA-Z]{6}$/g, 'zzzzz0');
  const all = Object.fromEntries(Object.entries(ids).map(([kind, id]) => [kind, fresh(id)])) as Ids;
  return { ...all, name: 'nobody', workspace: 'nowhere' };
}

/** The id in place of `{…}` of a path. */
function idAt(path: string, parameter: string, ids: Ids): string {
  if (parameter === 'id')
    return path.includes('/sessions')
      ? ids.session
      : path.includes('completions')
        ? ids.completion
        : path.includes('responses')
          ? ids.response
          : path.includes('conversations')
            ? ids.conversation
            : ids.message;
  const others: Record<string, string> = {
    ...{
      callId: ids.call,
      replay: ids.replay,
      number: '1',
      delivery: ids.delivery,
      run: ids.run,
      callback: ids.callback,
      request: ids.request,
      key: ids.key,
      grant: ids.grant,
    },
    ...{ path: 'notes.txt', canonical: `made.${ids.name}`, tool: 'lookup', model: `agent/${ids.name}`, workspace: ids.workspace },
  };
  return others[parameter] ?? ids.name;
}

async function ask(
  { method, path }: Operation,
  { body, query, headers = {} }: Row,
  ids: Ids,
  key: Headers,
): Promise<{ status: number; text: string }> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => idAt(path, parameter, ids));
  const response = await send(method.toUpperCase(), query === undefined ? filled : `${filled}?${query}`, body, { ...key, ...headers });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true && method === 'get') {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await readText(response) };
}

/** The text without the ids of the request, and without what is new in each response. */
function withoutIds(text: string, ids: Ids): string {
  return Object.values(ids)
    .filter((id) => id !== '')
    .sort((one, other) => other.length - one.length)
    .reduce((rest, id) => rest.replaceAll(id, '<id>'), text)
    .replaceAll(/\b(?:req|chatcmpl|resp|msg|call|turn)[_-]\w+/g, '<new>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

const lists =
  `/v1/export /v1/grants /v1/members /v1/toolsets /v1/keys /v1/sessions /v1/replays /v1/deliveries /v1/callbacks /v1/approvals /v1/projects /v1/audit?kind=change`.split(
    ' ',
  );

/**
 * What the workspace contains. Not compared: the time of the last use of a key, and the count of deliveries refused for their
 * signature, which anyone may send to the public address and which is written up to some seconds later.
 */
async function snapshot(): Promise<string[]> {
  const read = async (path: string): Promise<string> => `${path} ${await readText(await send('GET', path, undefined, alphaKey))}`;
  const all = [...lists, `/v1/sessions/${alpha.session}/messages`, `/v1/sessions/${alpha.session}/files/notes.txt`];
  return (await Promise.all(all.map(read))).map((text) => text.replaceAll(/"lastUsedAt":"[^"]*"|"refused":\[[^\]]*\]/g, ''));
}

export function describeIsolation(scopeSets: readonly (readonly Scope[])[]): void {
  beforeAll(async () => {
    await fill();
    await send('PUT', '/v1/workspaces/beta', {});
    const { paths } = (await (await send('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ operationId, method, path })),
    );
  }, 60_000);

  it('has a row for every operation', () => {
    expect([...Object.keys(rows), ...withoutId].sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
  });

  it('has an id of everything that exists', async () => {
    expect(Object.entries(alpha).filter(([, id]) => id === '' || id === 'none')).toEqual([]);
    const read = operations.filter(({ operationId }) =>
      /^get(?:Session|Replay|Delivery|ScheduleRun|Callback|Request|Key|Approval|ChatCompletion|Response|Message)$/.test(operationId),
    );
    const statuses = await Promise.all(
      read.map(async (operation) => [operation.operationId, (await ask(operation, plain, alpha, alphaKey)).status]),
    );
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
    expect(statuses).toHaveLength(11);
  });

  describe.each(scopeSets.map((scopes) => ({ scopes })))('a key of another workspace with $scopes', ({ scopes }) => {
    it('gets the response of an unknown id from every operation, and changes nothing', async () => {
      const { key } = await jsonOf(await send('POST', '/v1/keys', { name: 'b', scopes }, inside('beta')));
      const beta = { authorization: `Bearer ${String(key)}` };
      const before = await snapshot();
      const unknown = unknownIds(alpha);
      const faults: unknown[] = [];
      for (const operation of operations) {
        const row = rows[operation.operationId];
        if (row === undefined) continue;
        const [there, gone] = [[row(alpha)].flat(), [row(unknown)].flat()];
        for (const [index, given] of there.entries()) {
          const one = await ask(operation, given, alpha, beta);
          const other = await ask(operation, gone[index] ?? given, unknown, beta);
          const isSame =
            one.status === other.status && (given.text === false || withoutIds(one.text, alpha) === withoutIds(other.text, unknown));
          // Two operations require a setting before anything else.
          const isFault = one.status >= 500 && !one.text.includes('MONIKER_PUBLIC_URL');
          if (!isSame || isFault || one.text.includes(canary)) faults.push([operation.operationId, index, one, other]);
        }
      }
      expect(faults).toEqual([]);
      expect(new Set(takeErrors().map(({ code }) => code))).toEqual(new Set(['not_configured']));
      expect(await snapshot()).toEqual(before);
    }, 120_000);
  });
}
