/**
 * Every operation of the API with every kind of key: bound to agents, to toolsets, to both, to neither, with each scope. A new operation
 * fails here until it has a row. Impossible conditions (`If-Match: "999"`) keep allowed writes from changing anything.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { Scope } from '../../src/core/people/principal.ts';
import { readText, send } from '../objects/catalog/real-service.ts';
import { sample } from '../selection.ts';

const kinds = ['unbound', 'agents', 'toolsets', 'both'] as const;
type Kind = (typeof kinds)[number];
type Key = { kind: Kind; scope: Scope };

/** `name`: of the toolset, agent or other resource of the request. */
type Request = (name: string) => readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];
/** Whether a key with one of the scopes may access its own resources, and others. */
type Row = { scopes: readonly Scope[]; request: Request; own: (key: Key) => boolean; other: (key: Key) => boolean };

const anyKey = () => true;
const unbound = ({ kind }: Key) => kind === 'unbound';
const writers = ({ kind }: Key) => kind !== 'agents';
/** A key with both bindings can write its toolsets. */
const historians = ({ kind, scope }: Key) => kind === 'unbound' || kind === 'toolsets' || (kind === 'both' && scope !== 'tools');

/** Without the scope `toolsets` a key deletes its own private tools, and gets 404 for every other name. */
const deletesNoShared = (key: Key) => unbound(key) || key.scope === 'chat' || key.scope === 'tools';

const never = { 'if-match': '"999"' };
const model = 'rehearsal/default';
const file = { tool: 'builtin.read_file' };
const bash = { tool: 'builtin.bash' };
const toolOf = (name: string) => (name === 'mine' ? file : bash);
/** A replay of it has one case, which cannot be read. */
const unknownCase = [{ session: '0'.repeat(64), turn: 'turn_1' }];
const hello = [{ role: 'user', content: 'Hello' }];
const agUiHello = [{ id: 'm1', role: 'user', content: 'Hello' }];
const geminiHello = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const uiHello = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];

/** For the whole workspace: bound keys are rejected before any lookup. */
const workspace = (scopes: readonly Scope[], ...[method, path, body, headers]: ReturnType<Request>): Row => ({
  scopes,
  request: (name) => [method, path.replace('{name}', name), body, headers],
  own: unbound,
  other: unbound,
});
const admin = (...request: ReturnType<Request>): Row => workspace(['admin'], ...request);

/** Every key sees its own usage; that of others requires an administrator of the whole workspace. */
const usage = (path: string): Row => ({
  scopes: Scope.options,
  request: (name) => ['GET', `${path}?key=${name === 'mine' ? 'me' : 'another'}`],
  own: anyKey,
  other: ({ kind, scope }) => kind === 'unbound' && scope === 'admin',
});

/** People see their own; a key is no person. */
function grants(method: string, path: string): Row {
  const own = (key: Key) => unbound(key) && key.scope === 'admin';
  return { scopes: ['tools', 'admin'], request: (name) => [method, path.replace('{name}', name)], own, other: own };
}

const rootOnly = (...request: ReturnType<Request>): Row => ({
  scopes: ['admin'],
  request: () => request,
  own: () => false,
  other: () => false,
});

/** Servers that users connect to: unbound keys get 404 for an unknown one, bound keys are rejected before any lookup. */
const connection = (method: string): Row => ({
  scopes: ['chat', 'tools'],
  request: (name) => [method, `/v1/me/connections/${name}`],
  own: unbound,
  other: unbound,
});

const mcpRow = (method: string, path: string): Row => ({
  scopes: ['tools'],
  request: (name) => [
    method,
    path.replace('{name}', name),
    method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } } : undefined,
    { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  ],
  own: anyKey,
  other: path.includes('{name}') ? unbound : anyKey,
});
/** A message goes to a connection of this key, for which the key was checked when it was opened; here there is none. */
const sseRow = (method: string, path: string): Row => ({
  scopes: ['tools'],
  request: (name) => [method, path.replace('{name}', name), method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'ping' } : undefined],
  own: anyKey,
  other: method === 'GET' && path.includes('{name}') ? unbound : anyKey,
});
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const rows: Readonly<Record<string, Row | readonly Row[]>> = {
  listGrants: grants('GET', '/v1/grants'),
  endGrant: grants('DELETE', '/v1/grants/{name}'),
  listKeys: admin('GET', '/v1/keys'),
  getKey: admin('GET', '/v1/keys/{name}'),
  createKey: admin('POST', '/v1/keys', { name: 'new', scopes: ['chat'] }),
  patchKey: admin('PATCH', '/v1/keys/{name}', {}),
  rotateKey: admin('POST', '/v1/keys/{name}/rotate'),
  revokeKey: admin('DELETE', '/v1/keys/{name}'),
  listMyConnections: { scopes: ['chat', 'tools'], request: () => ['GET', '/v1/me/connections'], own: anyKey, other: anyKey },
  connectServer: connection('POST'),
  disconnectServer: connection('DELETE'),
  getMe: { scopes: Scope.options, request: () => ['GET', '/v1/me'], own: anyKey, other: anyKey },
  listLimits: { scopes: Scope.options, request: () => ['GET', '/v1/limits'], own: anyKey, other: anyKey },
  listAudit: admin('GET', '/v1/audit'),
  getUsage: usage('/v1/usage'),
  listRequests: usage('/v1/requests'),
  getRequest: { ...usage('/v1/requests/none'), request: () => ['GET', '/v1/requests/none'], other: anyKey },
  listWorkspaces: rootOnly('GET', '/v1/workspaces'),
  getWorkspace: rootOnly('GET', '/v1/workspaces/default'),
  patchWorkspace: rootOnly('PATCH', '/v1/workspaces/default', {}),
  getMasterKey: rootOnly('GET', '/v1/master-key'),
  resealWithMasterKey: rootOnly('POST', '/v1/master-key/reseal'),
  checkPrograms: rootOnly('POST', '/v1/programs/check', { programs: [] }),
  readBackup: rootOnly('GET', '/v1/backup'),
  getRestore: rootOnly('GET', '/v1/restore'),
  restoreWorkspace: rootOnly('POST', '/v1/restore', '{}'),
  abandonRestore: rootOnly('DELETE', '/v1/restore'),
  deleteWorkspace: rootOnly('DELETE', '/v1/workspaces/nowhere'),
  putWorkspace: rootOnly('PUT', '/v1/workspaces/default', { settings: {} }),
  listProjects: admin('GET', '/v1/projects'),
  getProject: admin('GET', '/v1/projects/{name}'),
  putProject: admin('PUT', '/v1/projects/{name}', {}, { 'if-match': `"${'0'.repeat(32)}"` }),
  deleteProject: admin('DELETE', '/v1/projects/{name}'),
  importFile: [
    {
      scopes: ['toolsets', 'admin'],
      request: (name) => ['POST', '/v1/import?dryRun=true', { toolsets: { [name]: { tools: [toolOf(name)] } } }],
      own: writers,
      other: unbound,
    },
    workspace(['toolsets', 'admin'], 'POST', '/v1/import?dryRun=true', { agents: { made: { model } } }),
    workspace(['admin'], 'POST', '/v1/import?dryRun=true', { secrets: { MADE: { value: 'v', hosts: ['a.example'] } } }),
  ],
  exportProject: admin('GET', '/v1/export'),
  verifyAudit: admin('GET', '/v1/audit/verify'),
  getPolicy: admin('GET', '/v1/policy'),
  listPolicyVersions: admin('GET', '/v1/policy/versions'),
  putPolicy: admin('PUT', '/v1/policy', { rules: [] }, never),
  patchPolicy: admin('PATCH', '/v1/policy', {}, never),
  getMetrics: admin('GET', '/metrics'),
  getPolicyImpact: admin('POST', '/v1/policy/impact', { rules: [] }),
  deletePolicy: admin('DELETE', '/v1/policy', undefined, never),
  listKnownHosts: admin('GET', '/v1/policy/hosts'),
  forgetKnownHost: admin('DELETE', '/v1/policy/hosts/nowhere.example'),
  ...documents('Provider', 'providers', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' }),
  ...documents('Secret', 'secrets', { value: 'v', hosts: ['api.example.com'] }),
  ...documents('Webhook', 'webhooks', { agent: 'other', scheme: 'github', secret: 's', input: 'i' }),
  ...documents('Schedule', 'schedules', { agent: 'other', every: '1h', input: 'i' }),
  ...documents('Subscription', 'subscriptions', { url: 'https://a.example', secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }),
  ...documents('ModelAlias', 'model-aliases', { model: 'rehearsal/default' }, 'ModelAliases'),
  ...documents('Member', 'members', { email: 'ada@example.com', role: 'user' }),
  ...documents('Server', 'servers', { kind: 'static', url: 'https://a.example', tools: [] }),
  testWebhook: admin('POST', '/v1/webhooks/{name}/test', { payload: {} }),
  listDeliveries: admin('GET', '/v1/webhooks/{name}/deliveries'),
  listAllDeliveries: admin('GET', '/v1/deliveries'),
  getDelivery: admin('GET', '/v1/webhooks/{name}/deliveries/d-1'),
  replayDelivery: admin('POST', '/v1/webhooks/{name}/deliveries/d-1/replay'),
  runSchedule: admin('POST', '/v1/schedules/{name}/run'),
  listScheduleTimes: admin('GET', '/v1/schedules/{name}/next'),
  previewScheduleTimes: admin('POST', '/v1/schedules/{name}/next', { draft: { agent: 'demo', interval: '15m', input: 'x' } }),
  listScheduleRuns: admin('GET', '/v1/schedules/{name}/runs'),
  getScheduleRun: admin('GET', '/v1/schedules/{name}/runs/r-1'),
  testSubscription: admin('POST', '/v1/subscriptions/{name}/test'),
  listCallbacks: admin('GET', '/v1/callbacks'),
  getCallback: admin('GET', '/v1/callbacks/{name}'),
  retryCallback: admin('POST', '/v1/callbacks/{name}/retry'),
  listPrograms: admin('GET', '/v1/programs'),
  checkPublications: admin('GET', '/v1/publications'),
  refreshServer: admin('POST', '/v1/servers/{name}/refresh'),
  testServer: admin('POST', '/v1/servers/{name}/test'),
  forgetServerAuthorization: admin('DELETE', '/v1/servers/{name}/authorize'),
  listServerConnections: admin('GET', '/v1/servers/{name}/connections'),
  removeServerConnection: admin('DELETE', '/v1/servers/{name}/connections/k'),
  listServerTools: admin('GET', '/v1/servers/{name}/tools'),
  getServerTool: admin('GET', '/v1/servers/{name}/tools/t'),
  getServerToolImpact: admin('GET', '/v1/servers/{name}/tools/t/impact'),
  acceptServerTool: admin('POST', '/v1/servers/{name}/tools/t/accept'),
  acceptServerTools: admin('POST', '/v1/servers/{name}/accept', { tools: '*' }),
  rejectServerTools: admin('POST', '/v1/servers/{name}/reject', { tools: '*' }),
  rejectServerTool: admin('POST', '/v1/servers/{name}/tools/t/reject'),
  undoServerToolDecision: admin('POST', '/v1/servers/{name}/tools/t/undo'),
  listServerOffers: admin('GET', '/v1/servers/{name}/offers'),
  acceptServerOffer: admin('POST', '/v1/servers/{name}/offers/accept', { kind: 'prompt', name: 'p' }),
  rejectServerOffer: admin('POST', '/v1/servers/{name}/offers/reject', { kind: 'prompt', name: 'p' }),
  undoServerOfferDecision: admin('POST', '/v1/servers/{name}/offers/undo', { kind: 'prompt', name: 'p' }),
  rebindServerTool: admin('POST', '/v1/servers/{name}/tools/t/rebind', { to: 'u' }),
  listSkills: workspace(['toolsets'], 'GET', '/v1/skills'),
  getSkill: workspace(['toolsets'], 'GET', '/v1/skills/{name}'),
  getSkillResource: workspace(['toolsets'], 'GET', '/v1/skills/{name}/resources/a'),
  putSkill: workspace(['toolsets'], 'PUT', '/v1/skills/{name}', { content: '---\nname: mine\ndescription: A.\n---\nB.\n' }, never),
  deleteSkill: workspace(['toolsets'], 'DELETE', '/v1/skills/{name}', undefined, never),
  putToolAliases: workspace(['toolsets'], 'PUT', '/v1/tools/builtin.read_file/aliases', { aliases: [] }, never),
  deleteToolAliases: workspace(['toolsets'], 'DELETE', '/v1/tools/builtin.read_file/aliases', undefined, never),
  deleteTool: {
    scopes: ['chat', 'tools', 'toolsets'],
    request: (name) => ['DELETE', `/v1/tools/made.${name}`, undefined, never],
    own: deletesNoShared,
    other: deletesNoShared,
  },
  putTool: [
    workspace(['toolsets'], 'PUT', '/v1/tools/ui.{name}', { label: 'L', description: 'D', category: 'c', triggers: ['t'] }, never),
    {
      scopes: ['toolsets'],
      request: (name) => ['PUT', `/v1/tools/made.${name}`, { description: 'D', implementation: 'return 1' }, never],
      own: ({ kind }) => kind === 'unbound' || kind === 'toolsets',
      other: ({ kind }) => kind === 'unbound' || kind === 'toolsets',
    },
  ],
  getToolImpact: {
    scopes: ['toolsets'],
    request: (name) => ['POST', `/v1/tools/made.draft_${name}/impact`, { description: 'D', implementation: 'return 1' }],
    own: ({ kind }) => kind === 'unbound' || kind === 'toolsets',
    other: ({ kind }) => kind === 'unbound' || kind === 'toolsets',
  },
  testPolicy: [
    workspace(['tools'], 'POST', '/v1/policy/test', { effect: { kind: 'network', host: 'a.example' } }),
    workspace(['tools'], 'POST', '/v1/policy/test', { tool: 'builtin.bash', arguments: { command: 'ls' } }),
    workspace(['tools'], 'POST', '/v1/policy/test', { tool: 'read_file', arguments: { path: 'a' }, toolset: 'mine', key: 'root' }),
    workspace(['tools'], 'POST', '/v1/policy/test', { tool: 'read_file', arguments: { path: 'a' }, toolset: 'mine', agent: 'other' }),
    {
      scopes: ['tools'],
      request: (name) => ['POST', '/v1/policy/test', { tool: toolOf(name).tool, arguments: { path: 'a', command: 'ls' }, toolset: name }],
      own: anyKey,
      other: unbound,
    },
  ],

  listToolsets: { scopes: ['tools', 'toolsets'], request: () => ['GET', '/v1/toolsets'], own: anyKey, other: anyKey },
  getToolset: { scopes: ['tools', 'toolsets'], request: (name) => ['GET', `/v1/toolsets/${name}`], own: anyKey, other: unbound },
  putToolset: [
    {
      scopes: ['toolsets'],
      request: (name) => ['PUT', `/v1/toolsets/${name}`, { tools: [toolOf(name)] }, never],
      own: writers,
      other: unbound,
    },
    workspace(['toolsets'], 'PUT', '/v1/toolsets/mine', { tools: [file, bash] }, never),
    workspace(['toolsets'], 'PUT', '/v1/toolsets/mine?dryRun=true', { tools: [bash] }, never),
    workspace(['admin'], 'PUT', '/v1/toolsets/mine', { tools: [{ ...file, approval: 'never' }] }, never),
    workspace(['admin'], 'PUT', '/v1/toolsets/mine', { tools: [{ ...file, arguments: { preset: { path: { secret: 'GH' } } } }] }, never),
  ],
  patchToolset: [
    {
      scopes: ['toolsets'],
      request: (name) => ['PATCH', `/v1/toolsets/${name}`, { description: 'D' }, never],
      own: writers,
      other: unbound,
    },
    workspace(['toolsets'], 'PATCH', '/v1/toolsets/mine?dryRun=true', { tools: [bash] }),
    workspace(['admin'], 'PATCH', '/v1/toolsets/mine?dryRun=true', { tools: [{ ...file, approval: 'never' }] }),
  ],
  deleteToolset: {
    scopes: ['toolsets'],
    request: (name) => ['DELETE', `/v1/toolsets/${name}`, undefined, never],
    own: writers,
    other: unbound,
  },
  listToolsetUses: admin('GET', '/v1/toolsets/{name}/uses'),
  listToolsetVersions: {
    scopes: ['tools', 'toolsets'],
    request: (name) => ['GET', `/v1/toolsets/${name}/versions`],
    own: historians,
    other: unbound,
  },
  diffToolset: { scopes: ['tools', 'toolsets'], request: (name) => ['GET', `/v1/toolsets/${name}/diff`], own: unbound, other: unbound },
  retireToolsetVersion: {
    scopes: ['toolsets'],
    request: (name) => ['POST', `/v1/toolsets/${name}/versions/1/retire`],
    own: writers,
    other: unbound,
  },
  restoreToolsetVersion: workspace(['toolsets'], 'DELETE', '/v1/toolsets/{name}/versions/1/retire'),
  // A key that is bound to the toolset has its current version only.
  rollBackToolset: [
    { version: 1, own: unbound },
    { version: 2, own: writers },
  ].map(({ version, own }) => ({
    scopes: ['toolsets'],
    request: (name) => ['POST', `/v1/toolsets/${name}/rollback`, { version }, never],
    own,
    other: unbound,
  })),
  previewToolset: [
    {
      scopes: ['toolsets'],
      request: (name) => ['POST', `/v1/toolsets/${name}/preview`, { tools: [toolOf(name)] }],
      own: writers,
      other: unbound,
    },
    workspace(['toolsets'], 'POST', '/v1/toolsets/mine/preview', { tools: [file, bash] }),
    workspace(['admin'], 'POST', '/v1/toolsets/mine/preview', { tools: [{ ...file, approval: 'never' }] }),
  ],
  getToolsetImpact: [
    {
      scopes: ['toolsets'],
      request: (name) => ['POST', `/v1/toolsets/${name}/impact`, { tools: [toolOf(name)] }],
      own: writers,
      other: unbound,
    },
    workspace(['toolsets'], 'POST', '/v1/toolsets/mine/impact', { tools: [file, bash] }),
  ],
  getToolsetSuggestions: {
    scopes: ['toolsets'],
    request: (name) => ['GET', `/v1/toolsets/${name}/suggestions`],
    own: writers,
    other: unbound,
  },
  listToolsetTools: [
    { scopes: ['tools'], request: (name) => ['GET', `/v1/toolsets/${name}/tools`], own: anyKey, other: unbound },
    {
      scopes: ['tools'],
      request: (name) => ['GET', `/v1/toolsets/${name}/tools?version=1`],
      own: unbound,
      other: unbound,
    },
  ],
  resolveToolName: { scopes: ['tools'], request: (name) => ['GET', `/v1/toolsets/${name}/resolve?name=x`], own: anyKey, other: unbound },
  callTool: [
    { scopes: ['tools'], request: (name) => ['POST', `/v1/toolsets/${name}/calls`, { name: 'x' }], own: anyKey, other: unbound },
    {
      scopes: ['tools'],
      request: (name) => ['POST', `/v1/toolsets/${name}/calls?dryRun=true`, { name: 'x' }],
      own: anyKey,
      other: unbound,
    },
  ],
  sendMcp: mcpRow('POST', '/mcp/{name}'),
  sendWorkspaceMcp: mcpRow('POST', '/mcp/default/{name}'),
  listenMcp: mcpRow('GET', '/mcp/{name}'),
  listenWorkspaceMcp: mcpRow('GET', '/mcp/default/{name}'),
  endMcp: mcpRow('DELETE', '/mcp/{name}'),
  endWorkspaceMcp: mcpRow('DELETE', '/mcp/default/{name}'),
  openSse: sseRow('GET', '/sse/{name}'),
  sendSse: sseRow('POST', '/sse/{name}?sessionId=0123456789abcdef0123456789abcdef'),
  openWorkspaceSse: sseRow('GET', '/sse/default/{name}'),
  sendWorkspaceSse: sseRow('POST', '/sse/default/{name}?sessionId=0123456789abcdef0123456789abcdef'),
  openEquippedSse: sseRow('GET', '/sse'),
  sendEquippedSse: sseRow('POST', '/sse?sessionId=0123456789abcdef0123456789abcdef'),
  sendEquippedMcp: mcpRow('POST', '/mcp'),
  listenEquippedMcp: mcpRow('GET', '/mcp'),
  endEquippedMcp: mcpRow('DELETE', '/mcp'),
  listTools: { scopes: ['tools', 'toolsets'], request: () => ['GET', '/v1/tools'], own: anyKey, other: anyKey },
  getTool: [
    { scopes: ['tools', 'toolsets'], request: (name) => ['GET', `/v1/tools/${toolOf(name).tool}`], own: anyKey, other: unbound },
    workspace(['tools', 'toolsets'], 'GET', '/v1/tools/builtin.read_file?version=1'),
  ],
  listToolVersions: workspace(['tools', 'toolsets'], 'GET', '/v1/tools/builtin.read_file/versions'),
  getToolAliases: {
    scopes: ['tools', 'toolsets'],
    request: (name) => ['GET', `/v1/tools/${toolOf(name).tool}/aliases`],
    own: anyKey,
    other: unbound,
  },

  listAgents: { scopes: ['toolsets'], request: () => ['GET', '/v1/agents'], own: anyKey, other: anyKey },
  getAgent: [
    { scopes: ['toolsets'], request: (name) => ['GET', `/v1/agents/${name}`], own: anyKey, other: unbound },
    workspace(['toolsets'], 'GET', '/v1/agents/{name}?version=1'),
  ],
  getAgentImpact: workspace(['toolsets'], 'POST', '/v1/agents/{name}/impact', { model, toolset: 'mine' }),
  listAgentVersions: workspace(['toolsets'], 'GET', '/v1/agents/{name}/versions'),
  putAgent: [
    workspace(['toolsets'], 'PUT', '/v1/agents/{name}', { model, toolset: 'mine' }, never),
    workspace(['admin'], 'PUT', '/v1/agents/{name}', { model, toolset: 'mine', taint: false }, never),
  ],
  patchAgent: [
    workspace(['toolsets'], 'PATCH', '/v1/agents/{name}', { instructions: 'I' }, never),
    workspace(['admin'], 'PATCH', '/v1/agents/{name}', { taint: false }, never),
  ],
  ...documents('Suite', 'suites', { select: {} }, 'Suites', ['toolsets']),
  listSuiteVersions: workspace(['toolsets'], 'GET', '/v1/suites/{name}/versions'),
  listSuiteCases: workspace(['toolsets'], 'GET', '/v1/suites/{name}/cases'),
  deleteAgent: workspace(['toolsets'], 'DELETE', '/v1/agents/{name}', undefined, never),

  listModels: { scopes: ['chat'], request: () => ['GET', '/v1/models'], own: anyKey, other: anyKey },
  // Resources outside of a key's bindings do not exist for it.
  connectResponses: { scopes: ['chat'], request: () => ['GET', '/v1/responses'], own: anyKey, other: anyKey },
  getModel: { scopes: ['chat'], request: (name) => ['GET', `/v1/models/agent/${name}`], own: anyKey, other: anyKey },
  eraseCache: workspace(['admin'], 'DELETE', '/v1/cache'),
  uploadProviderFile: ofModels('POST', '/v1/files'),
  listProviderFiles: ofModels('GET', '/v1/files'),
  getProviderFile: ofModels('GET', '/v1/files/x'),
  getProviderFileContent: ofModels('GET', '/v1/files/x/content'),
  deleteProviderFile: ofModels('DELETE', '/v1/files/x'),
  createBatch: ofModels('POST', '/v1/batches', { input_file_id: 'x', endpoint: '/v1/embeddings', completion_window: '24h' }),
  listBatches: ofModels('GET', '/v1/batches'),
  getBatch: ofModels('GET', '/v1/batches/x'),
  cancelBatch: ofModels('POST', '/v1/batches/x/cancel'),
  createMessageBatch: ofModels('POST', '/v1/messages/batches', { requests: [{ custom_id: 'x', params: { model: 'x' } }] }),
  listMessageBatches: ofModels('GET', '/v1/messages/batches'),
  getMessageBatch: ofModels('GET', '/v1/messages/batches/x'),
  getMessageBatchResults: ofModels('GET', '/v1/messages/batches/x/results'),
  cancelMessageBatch: ofModels('POST', '/v1/messages/batches/x/cancel'),
  deleteMessageBatch: ofModels('DELETE', '/v1/messages/batches/x'),
  createEmbeddings: passed('/v1/embeddings'),
  createRerank: passed('/v1/rerank'),
  createModeration: passed('/v1/moderations'),
  createSpeech: passed('/v1/audio/speech'),
  createTranscription: passed('/v1/audio/transcriptions'),
  createTranslation: passed('/v1/audio/translations'),
  createImage: passed('/v1/images/generations'),
  editImage: passed('/v1/images/edits'),
  createImageVariation: passed('/v1/images/variations'),
  createChatCompletion: [
    ...chats('/v1/chat/completions', (more) => ({ messages: hello, ...more })),
    { scopes: ['chat'], request: () => ['POST', '/v1/chat/completions', { model, messages: hello }], own: notOfAgents, other: notOfAgents },
  ],
  createResponse: chats('/v1/responses', (more) => ({ input: 'Hello', ...more })),
  createMessage: chats('/v1/messages', (more) => ({ messages: hello, max_tokens: 9, ...more })),
  generateContent: [...geminiChats('generateContent'), onModel('generateContent', geminiHello)],
  streamGenerateContent: geminiChats('streamGenerateContent'),
  listGeminiModels: { scopes: ['chat'], request: () => ['GET', '/v1beta/models'], own: anyKey, other: anyKey },
  getGeminiModel: { scopes: ['chat'], request: (name) => ['GET', `/v1beta/models/agent/${name}`], own: anyKey, other: anyKey },
  countGeminiTokens: {
    scopes: ['chat'],
    request: (name) => ['POST', `/v1beta/models/agent/${name}:countTokens`, geminiHello],
    own: anyKey,
    other: unbound,
  },
  embedContent: onModel('embedContent', { content: { parts: [{ text: 'x' }] } }),
  batchEmbedContents: onModel('batchEmbedContents', { requests: [{ content: { parts: [{ text: 'x' }] } }] }),
  createUiMessage: chats('/v1/ai-sdk/chat', (more) => ({ messages: uiHello, ...more })),
  runAgUi: {
    scopes: ['chat'],
    request: (name) => ['POST', `/agui/${name}`, { threadId: 't', runId: 'r', messages: agUiHello }],
    own: anyKey,
    other: unbound,
  },
  countMessageTokens: {
    scopes: ['chat'],
    request: (name) => ['POST', '/v1/messages/count_tokens', { model: `agent/${name}`, messages: hello }],
    own: anyKey,
    other: unbound,
  },
  countResponseInputTokens: {
    scopes: ['chat'],
    request: (name) => ['POST', '/v1/responses/input_tokens', { model: `agent/${name}`, input: 'Hello' }],
    own: anyKey,
    other: unbound,
  },
  compactResponse: [
    {
      scopes: ['chat'],
      request: (name) => ['POST', '/v1/responses/compact', { model: `agent/${name}`, input: 'Hello' }],
      own: anyKey,
      other: unbound,
    },
    { scopes: ['chat'], request: () => ['POST', '/v1/responses/compact', { model, input: 'Hello' }], own: notOfAgents, other: notOfAgents },
  ],
  createConversation: { scopes: ['chat'], request: () => ['POST', '/v1/conversations', {}], own: anyKey, other: anyKey },
  createSession: [
    { scopes: ['chat'], request: (name) => ['POST', '/v1/sessions', { agent: name }], own: anyKey, other: unbound },
    { scopes: ['chat'], request: (name) => ['POST', '/v1/sessions', { model, toolset: name }], own: notOfAgents, other: unbound },
    { scopes: ['chat'], request: () => ['POST', '/v1/sessions', { model }], own: notOfAgents, other: notOfAgents },
  ],
  listInbox: { scopes: ['approve', 'chat'], request: () => ['GET', '/v1/approvals'], own: anyKey, other: anyKey },
  listSessions: { scopes: ['chat'], request: () => ['GET', '/v1/sessions'], own: anyKey, other: anyKey },
  listReplays: { scopes: ['chat'], request: () => ['GET', '/v1/replays'], own: anyKey, other: anyKey },
  startReplay: [
    {
      scopes: ['chat'],
      request: (name) => ['POST', '/v1/replays', { cases: unknownCase, with: { agent: name } }],
      own: anyKey,
      other: unbound,
    },
    {
      scopes: ['chat'],
      request: (name) => ['POST', '/v1/replays', { cases: unknownCase, with: { toolset: name } }],
      own: anyKey,
      other: unbound,
    },
    {
      scopes: ['chat'],
      request: () => ['POST', '/v1/replays', { cases: unknownCase, with: { model } }],
      own: notOfAgents,
      other: notOfAgents,
    },
    { scopes: ['chat'], request: () => ['POST', '/v1/replays', { suite: 'none' }], own: unbound, other: unbound },
  ],
};

/**
 * A resource of another key: only an unbound administrator can access it. `{session}` and so on are filled in. `isFinal`: not tested with
 * that administrator.
 */
type SessionRow = { scopes: readonly Scope[]; request: ReturnType<Request>; isFinal?: true };
const ofSession = (method: string, path: string, body?: unknown, isFinal?: true): SessionRow => ({
  scopes: path.startsWith('/approvals') ? (method === 'GET' ? ['approve', 'chat'] : ['approve']) : ['chat'],
  request: [method, `/v1/sessions/{session}${path}`, body],
  ...(isFinal && { isFinal }),
});
const ofReplay = (method: string, path: string, isFinal?: true): SessionRow => ({
  scopes: ['chat'],
  request: [method, `/v1/replays/{replay}${path}`],
  ...(isFinal && { isFinal }),
});
const ofAnswer = (method: string, path: string): SessionRow => ({ scopes: ['chat'], request: [method, path] });
const sessionRows: Readonly<Record<string, SessionRow>> = {
  getSession: ofSession('GET', ''),
  listSessionPrompts: ofSession('GET', '/prompts'),
  deleteSession: ofSession('DELETE', '', undefined, true),
  followEvents: ofSession('GET', '/events', undefined, true),
  listMessages: ofSession('GET', '/messages'),
  createTurn: ofSession('POST', '/turns', { input: 'Hello' }),
  cancelTurn: ofSession('POST', '/cancel'),
  sendToolResults: ofSession('POST', '/tool-results', { callId: 'c', content: 'x' }),
  listFiles: ofSession('GET', '/files'),
  readFile: ofSession('GET', '/files/a.txt'),
  writeFile: ofSession('PUT', '/files/a.txt', 'text'),
  deleteFile: ofSession('DELETE', '/files/none.txt'),
  listApprovals: ofSession('GET', '/approvals'),
  getApproval: ofSession('GET', '/approvals/c'),
  decideApproval: ofSession('POST', '/approvals/c', { decision: 'approve' }),
  getReplay: ofReplay('GET', ''),
  listReplayCases: ofReplay('GET', '/cases'),
  getReplayCase: ofReplay('GET', '/cases/1'),
  followReplay: ofReplay('GET', '/events', true),
  exportReplay: ofReplay('GET', '/export'),
  cancelReplay: ofReplay('POST', '/cancel'),
  deleteReplay: ofReplay('DELETE', '', true),
  getChatCompletion: ofAnswer('GET', '/v1/chat/completions/{completion}'),
  getMessage: ofAnswer('GET', '/v1/messages/{message}'),
  getResponse: ofAnswer('GET', '/v1/responses/{response}'),
  cancelResponse: ofAnswer('POST', '/v1/responses/{response}/cancel'),
  getConversation: ofAnswer('GET', '/v1/conversations/{conversation}'),
  listConversationItems: ofAnswer('GET', '/v1/conversations/{conversation}/items'),
  deleteConversation: { ...ofAnswer('DELETE', '/v1/conversations/{conversation}'), isFinal: true },
};

/** Operations without a key, and two that return 503 here, without MONIKER_PUBLIC_URL, before any other check. */
const withoutRow = [
  ...[
    'getHealth',
    'getReadiness',
    'getOpenApi',
    'getProjectSchema',
    'getDocs',
    'getStartPage',
    'getConsole',
    'getConsolePage',
    'getPagesCss',
    'getPageFile',
  ],
  ...['showSignIn', 'signInWithRootKey', 'signOut', 'beginSignIn', 'endSignIn'],
  ...['showApproval', 'decideByLink', 'receiveDelivery', 'finishSignIn', 'getClientMetadata', 'mintApprovalLink', 'authorizeServer'],
  ...['showConnect', 'startConnect'],
  ...['getAuthorizationServer', 'getOpenIdConfiguration', 'getMcpResource', 'getToolsetResource', 'getWorkspaceToolsetResource'],
  ...['getSseResource', 'getToolsetSseResource', 'getWorkspaceSseResource'],
  ...['getSigningKeys', 'registerClient', 'redeemToken', 'revokeToken', 'showConsent', 'decideConsent'],
];

function documents(
  Noun: string,
  plural: string,
  body: object,
  Nouns = `${Noun}s`,
  scopes: readonly Scope[] = ['admin'],
): Record<string, Row> {
  return {
    [`list${Nouns}`]: workspace(scopes, 'GET', `/v1/${plural}`),
    [`get${Noun}`]: workspace(scopes, 'GET', `/v1/${plural}/{name}`),
    [`put${Noun}`]: workspace(scopes, 'PUT', `/v1/${plural}/{name}`, body, never),
    [`patch${Noun}`]: workspace(scopes, 'PATCH', `/v1/${plural}/{name}`, {}, never),
    [`delete${Noun}`]: workspace(scopes, 'DELETE', `/v1/${plural}/{name}`, undefined, never),
  };
}

function passed(path: string): Row {
  return ofModels('POST', path, { model, input: 'x' });
}

function ofModels(...request: ReturnType<Request>): Row {
  return { scopes: ['chat'], request: () => request, own: notOfAgents, other: notOfAgents };
}

function onModel(method: string, body: object): Row {
  return { scopes: ['chat'], request: () => ['POST', `/v1beta/models/${model}:${method}`, body], own: notOfAgents, other: notOfAgents };
}

/** As `chats`, with the model in the path. */
function geminiChats(method: string): Row[] {
  const scopes = ['chat'] as const;
  const path = (agent: string): string => `/v1beta/models/agent/${agent}:${method}`;
  const inBody = (name: string): object => ({ ...geminiHello, toolset: name });
  return [
    { scopes, request: (name) => ['POST', path(name), geminiHello], own: anyKey, other: unbound },
    { scopes, request: (name) => ['POST', path('mine'), inBody(name)], own: anyKey, other: unbound },
    { scopes, request: (name) => ['POST', path('mine'), geminiHello, { 'x-moniker-toolset': name }], own: anyKey, other: unbound },
  ];
}

function notOfAgents({ kind }: Key): boolean {
  return kind === 'unbound' || kind === 'toolsets';
}

/** An agent, and the agent of the key with a toolset in the body or the header. */
function chats(path: string, body: (more: object) => object): Row[] {
  const scopes = ['chat'] as const;
  return [
    { scopes, request: (name) => ['POST', path, body({ model: `agent/${name}` })], own: anyKey, other: unbound },
    { scopes, request: (name) => ['POST', path, body({ model: 'agent/mine', toolset: name })], own: anyKey, other: unbound },
    {
      scopes,
      request: (name) => ['POST', path, body({ model: 'agent/mine' }), { 'x-moniker-toolset': name }],
      own: anyKey,
      other: unbound,
    },
  ];
}

const bindings: Record<Kind, object> = {
  unbound: {},
  agents: { agents: ['mine'] },
  toolsets: { toolsets: ['mine'] },
  both: { agents: ['mine'], toolsets: ['mine'] },
};
const everyKey = kinds.flatMap((kind) => Scope.options.map((scope): Key => ({ kind, scope })));
const keys = sample('kinds of keys', everyKey, (_, index) => index % 3 === 0);
const headersOf = new Map<Key, Record<string, string>>();
const ids: Record<string, string> = {};

beforeAll(async () => {
  for (const tools of [[{ ...file, description: 'Reads.' }], [file]]) await send('PUT', '/v1/toolsets/mine', { tools });
  for (const tools of [[file, bash], [bash]]) await send('PUT', '/v1/toolsets/other', { tools });
  for (const name of ['mine', 'other']) await send('PUT', `/v1/agents/${name}`, { model, toolset: name });
  const idOf = async (path: string, body: object): Promise<string> =>
    ((await (await send('POST', path, { model: 'agent/mine', ...body })).json()) as { id: string }).id;
  ids.session = ((await (await send('POST', '/v1/sessions', { agent: 'mine' })).json()) as { id: string }).id;
  ids.replay = await idOf('/v1/replays', { model: undefined, cases: unknownCase });
  ids.completion = await idOf('/v1/chat/completions', { messages: hello });
  ids.message = await idOf('/v1/messages', { messages: hello, max_tokens: 9 });
  ids.response = await idOf('/v1/responses', { input: 'Hello' });
  ids.conversation = await idOf('/v1/conversations', { model: undefined });
  for (const key of keys) {
    const made = await send('POST', '/v1/keys', { name: 'k', scopes: [key.scope], ...bindings[key.kind] });
    headersOf.set(key, { authorization: `Bearer ${((await made.json()) as { key: string }).key}` });
  }
});

async function ask(key: Key, [method, path, body, headers = {}]: ReturnType<Request>): Promise<{ status: number; text: string }> {
  const answer = await send(method, path, body, { ...headersOf.get(key), ...headers });
  if (method === 'GET' && answer.headers.get('content-type') === 'text/event-stream') {
    // A stream on which nothing may ever be sent.
    await answer.body?.cancel();
    return { status: answer.status, text: '' };
  }
  return { status: answer.status, text: await readText(answer) };
}

const hasScope = ({ scope }: Key, scopes: readonly Scope[]): boolean => scope === 'admin' || scopes.includes(scope);
const all = Object.entries(rows).flatMap(([operation, given]) => [given].flat().map((row) => ({ operation, row: row as Row })));

it('has a row for every operation', async () => {
  const { paths } = (await (await send('GET', '/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(operations.length).toBeGreaterThan(100);
  expect([...Object.keys(rows), ...Object.keys(sessionRows), ...withoutRow].sort()).toEqual(operations.sort());
});

describe.each(keys)('a key of kind $kind with the scope $scope', (key) => {
  it('can access what its scope and bindings allow, and nothing else', async () => {
    const faults: unknown[] = [];
    for (const { operation, row } of all) {
      for (const [name, isAllowed] of [
        ['mine', row.own(key)],
        ['other', row.other(key)],
      ] as const) {
        const expected = hasScope(key, row.scopes) && isAllowed;
        const { status, text } = await ask(key, row.request(name));
        const isThrough = status !== 401 && status !== 403;
        if (isThrough !== expected || status >= 500) faults.push([operation, row.request(name), status, expected, text.slice(0, 300)]);
      }
    }
    expect(faults).toEqual([]);
  });

  it('gets the same error for existing and missing resources', async () => {
    const faults: unknown[] = [];
    for (const { operation, row } of all) {
      if (!hasScope(key, row.scopes) || row.other(key)) continue;
      const [there, gone] = [await ask(key, row.request('other')), await ask(key, row.request('nowhere'))];
      const plain = ({ status, text }: { status: number; text: string }) =>
        `${status} ${text.replaceAll(/other|nowhere/g, 'X').replaceAll(/"(requestId|request_id)":"[^"]*"/g, '')}`;
      if (plain(there) !== plain(gone)) faults.push([operation, plain(there), plain(gone)]);
    }
    expect(faults).toEqual([]);
  });

  it('can access the session of another key only as an unbound administrator', async () => {
    const faults: unknown[] = [];
    const isAdministrator = key.kind === 'unbound' && key.scope === 'admin';
    for (const [operation, { scopes, request, isFinal }] of Object.entries(sessionRows)) {
      if (isAdministrator && isFinal === true) continue;
      const [method, path, body] = request;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? 'missing');
      const { status, text } = await ask(key, [method, filled, body]);
      const isHidden = status === (hasScope(key, scopes) ? 404 : 403);
      const isMissing = status >= 400 && /There is no such (session|replay)/.test(text);
      const isOpen = status < 500 && ![401, 403].includes(status) && !isMissing;
      if (isAdministrator ? !isOpen : !isHidden) faults.push([operation, filled, status, text.slice(0, 200)]);
    }
    expect(faults).toEqual([]);
    if (isAdministrator || !hasScope(key, ['chat'])) return;
    const { items } = JSON.parse((await ask(key, ['GET', '/v1/sessions?limit=100'])).text) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).not.toContain(ids.session);
  });
});
