/** Every route that changes the configuration adds an audit row with key, change and time, without secret values. */
import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/core/records/audit.ts';
import { Toolset } from '../../../../src/core/toolset/toolset.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { bodyOf } from '../../../http/harness.ts';
import { objectName } from '../../../../src/storage/keys.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { send } from '../real-service.ts';
import { takeErrors } from '../../../service-errors.ts';

const canary = 'canary-7f3a-never-in-the-audit';
const headers: Record<string, string> = {};
let keyId = '';

const changes = async (): Promise<AuditChange[]> => (await bodyOf(await send('GET', '/v1/audit?kind=change&limit=100'))).items;
const text = { type: 'string' };
const tool = (description: string) => ({
  name: 'find',
  description,
  inputSchema: { type: 'object', properties: { query: text } },
});
const facts = (description: string) => ({
  kind: 'static',
  updates: 'review',
  url: 'https://facts.example.com/call',
  tools: [tool(description)],
});
const made = { description: 'Adds.', parameters: [], implementation: 'return 1;' };
const webhook = { agent: 'helper', scheme: 'github', secret: `${canary}-0123456789abcdef`, session: 's', input: 'go' };

type Row = [operation: string, method: string, path: string, body: unknown, expected: Partial<AuditChange> | null];
/** In order: later rows depend on earlier ones. null: nothing changed, so no row. */
const rows: Row[] = [
  ['putSecret', 'PUT', '/v1/secrets/token', { value: canary, hosts: ['api.example.com'] }, { action: 'create', resource: 'secret' }],
  ['putSecret', 'PUT', '/v1/secrets/token', { value: `${canary}2`, hosts: ['api.example.com'] }, { action: 'update', resource: 'secret' }],
  [
    'putProvider',
    'PUT',
    '/v1/providers/p',
    { kind: 'openai', baseUrl: 'https://p.example.com/v1', apiKey: canary },
    { action: 'create', resource: 'provider' },
  ],
  ['putModelAlias', 'PUT', '/v1/model-aliases/small', { model: 'p/small' }, { action: 'create', resource: 'model-alias' }],
  ['deleteModelAlias', 'DELETE', '/v1/model-aliases/small', undefined, { action: 'delete', resource: 'model-alias' }],
  ['putMember', 'PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'user' }, { action: 'create', resource: 'member' }],
  ['deleteMember', 'DELETE', '/v1/members/ada', undefined, { action: 'delete', resource: 'member' }],
  ['putServer', 'PUT', '/v1/servers/facts', facts('Finds.'), { action: 'create', resource: 'server' }],
  ['putServer', 'PUT', '/v1/servers/facts', facts('Finds more.'), { action: 'update', resource: 'server', version: 2 }],
  [
    'acceptServerTool',
    'POST',
    '/v1/servers/facts/tools/find/accept',
    {},
    { action: 'accept', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'undoServerToolDecision',
    'POST',
    '/v1/servers/facts/tools/find/undo',
    {},
    { action: 'undo', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'acceptServerTools',
    'POST',
    '/v1/servers/facts/accept',
    { tools: ['find'] },
    { action: 'accept', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'undoServerToolDecision',
    'POST',
    '/v1/servers/facts/tools/find/undo',
    {},
    { action: 'undo', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'rejectServerTools',
    'POST',
    '/v1/servers/facts/reject',
    { tools: ['find'] },
    { action: 'reject', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'undoServerToolDecision',
    'POST',
    '/v1/servers/facts/tools/find/undo',
    {},
    { action: 'undo', resource: 'server-tool', name: 'facts.find' },
  ],
  [
    'rejectServerTool',
    'POST',
    '/v1/servers/facts/tools/find/reject',
    { note: 'No.' },
    { action: 'reject', resource: 'server-tool', name: 'facts.find' },
  ],
  ['refreshServer', 'POST', '/v1/servers/facts/refresh', undefined, null],
  ['putPolicy', 'PUT', '/v1/policy', { rules: [{ decision: 'ask', tool: 'builtin.bash' }] }, { action: 'create', resource: 'policy' }],
  [
    'putToolset',
    'PUT',
    '/v1/toolsets/audited',
    { tools: [{ tool: 'builtin.bash' }] },
    { action: 'create', resource: 'toolset', version: 1 },
  ],
  [
    'putToolset',
    'PUT',
    '/v1/toolsets/audited',
    { tools: [{ tool: 'builtin.read_file' }] },
    { action: 'update', resource: 'toolset', version: 2 },
  ],
  ['putToolset', 'PUT', '/v1/toolsets/audited', { tools: [{ tool: 'builtin.read_file' }] }, null],
  ['putToolset', 'PUT', '/v1/toolsets/audited?dryRun=true', { tools: [{ tool: 'builtin.bash' }] }, null],
  ['rollBackToolset', 'POST', '/v1/toolsets/audited/rollback', { version: 1 }, { action: 'update', resource: 'toolset', version: 3 }],
  [
    'retireToolsetVersion',
    'POST',
    '/v1/toolsets/audited/versions/1/retire',
    undefined,
    { action: 'retire', resource: 'toolset', name: 'audited', version: 1 },
  ],
  [
    'restoreToolsetVersion',
    'DELETE',
    '/v1/toolsets/audited/versions/1/retire',
    undefined,
    { action: 'undo', resource: 'toolset', name: 'audited', version: 1 },
  ],
  [
    'putToolset',
    'PUT',
    '/v1/toolsets/audited',
    { tools: [{ tool: 'builtin.read_file' }], revoke: true },
    { action: 'update', resource: 'toolset', version: 4 },
  ],
  [
    'putToolset',
    'PUT',
    '/v1/toolsets/audited',
    { tools: [{ tool: 'builtin.read_file' }], revoked: [] },
    { action: 'update', resource: 'toolset', version: 5 },
  ],
  ['putToolAliases', 'PUT', '/v1/tools/builtin.bash/aliases', { aliases: ['sh'] }, { action: 'create', resource: 'tool-aliases' }],
  ['deleteToolAliases', 'DELETE', '/v1/tools/builtin.bash/aliases', undefined, { action: 'delete', resource: 'tool-aliases' }],
  ['putTool', 'PUT', '/v1/tools/made.sum', made, { action: 'create', resource: 'made-tool', name: 'made.sum' }],
  [
    'putTool',
    'PUT',
    '/v1/tools/ui.page',
    { label: 'Page', description: 'A page.', category: 'x', triggers: ['page'] },
    { action: 'create', resource: 'ui-tool' },
  ],
  ['deleteTool', 'DELETE', '/v1/tools/made.sum', undefined, { action: 'delete', resource: 'made-tool' }],
  ['deleteTool', 'DELETE', '/v1/tools/ui.page', undefined, { action: 'delete', resource: 'ui-tool' }],
  ['putAgent', 'PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: 'Help.' }, { action: 'create', resource: 'agent' }],
  ['putSuite', 'PUT', '/v1/suites/daily', { select: {}, rules: [{ calls: 'same' }] }, { action: 'create', resource: 'suite' }],
  ['deleteSuite', 'DELETE', '/v1/suites/daily', undefined, { action: 'delete', resource: 'suite' }],
  [
    'putSkill',
    'PUT',
    '/v1/skills/greet',
    { content: '---\nname: greet\ndescription: Greets.\n---\nSay hello.' },
    { action: 'create', resource: 'skill' },
  ],
  ['putWebhook', 'PUT', '/v1/webhooks/hook', webhook, { action: 'create', resource: 'webhook' }],
  [
    'putSchedule',
    'PUT',
    '/v1/schedules/daily',
    { agent: 'helper', input: 'go', interval: '1d', paused: true },
    { action: 'create', resource: 'schedule' },
  ],
  [
    'putSubscription',
    'PUT',
    '/v1/subscriptions/ops',
    { url: 'https://ops.example.com/', secret: `whsec_${btoa(canary)}` },
    { action: 'create', resource: 'subscription' },
  ],
  ['deleteSubscription', 'DELETE', '/v1/subscriptions/ops', undefined, { action: 'delete', resource: 'subscription' }],
  ['deleteSchedule', 'DELETE', '/v1/schedules/daily', undefined, { action: 'delete', resource: 'schedule' }],
  ['deleteWebhook', 'DELETE', '/v1/webhooks/hook', undefined, { action: 'delete', resource: 'webhook' }],
  ['deleteSkill', 'DELETE', '/v1/skills/greet', undefined, { action: 'delete', resource: 'skill' }],
  ['deleteAgent', 'DELETE', '/v1/agents/helper', undefined, { action: 'delete', resource: 'agent' }],
  ['deleteToolset', 'DELETE', '/v1/toolsets/audited', undefined, { action: 'delete', resource: 'toolset' }],
  ['deletePolicy', 'DELETE', '/v1/policy', undefined, { action: 'delete', resource: 'policy' }],
  ['deleteServer', 'DELETE', '/v1/servers/facts', undefined, { action: 'delete', resource: 'server' }],
  ['deleteProvider', 'DELETE', '/v1/providers/p', undefined, { action: 'delete', resource: 'provider' }],
  ['deleteSecret', 'DELETE', '/v1/secrets/token', undefined, { action: 'delete', resource: 'secret' }],
  ['createKey', 'POST', '/v1/keys', { name: 'second', scopes: ['chat'] }, { action: 'create', resource: 'key' }],
  ['eraseCache', 'DELETE', '/v1/cache', undefined, { action: 'erase', resource: 'cache', name: 'all' }],
  ['eraseCache', 'DELETE', '/v1/cache?toolset=audited', undefined, { action: 'erase', resource: 'cache', name: 'toolset/audited' }],
];

/** Routes that do not change the configuration, or are tested below or with their feature. */
const others = new Set(
  `createSession deleteSession startReplay cancelReplay deleteReplay createTurn cancelTurn writeFile deleteFile sendToolResults decideApproval mintApprovalLink decideByLink signInWithRootKey signOut
  callTool previewToolset getToolsetImpact getAgentImpact getToolImpact getPolicyImpact testPolicy forgetKnownHost reportHost createChatCompletion createResponse cancelResponse countResponseInputTokens compactResponse createConversation updateConversation addConversationItems deleteConversation deleteResponse createMessage createUiMessage runAgUi countMessageTokens generateContent streamGenerateContent countGeminiTokens embedContent batchEmbedContents testServer checkPrograms testWebhook previewScheduleTimes testSubscription
  replayDelivery runSchedule retryCallback receiveDelivery sendMcp endMcp sendEquippedMcp endEquippedMcp sendWorkspaceMcp endWorkspaceMcp
  sendSse sendEquippedSse sendWorkspaceSse
  uploadProviderFile deleteProviderFile createBatch cancelBatch createMessageBatch cancelMessageBatch deleteMessageBatch createEmbeddings createRerank createModeration createSpeech createImage createTranscription createTranslation editImage createImageVariation
  acceptServerOffer rejectServerOffer undoServerOfferDecision restoreWorkspace abandonRestore putProject deleteProject importFile
  registerClient redeemToken revokeToken decideConsent endGrant signInWithRootKey signOut
  revokeKey rotateKey resealWithMasterKey putWorkspace deleteWorkspace rebindServerTool authorizeServer forgetServerAuthorization finishSignIn
  connectServer startConnect disconnectServer removeServerConnection`.split(/\s+/),
);

describe('the audit of changes', () => {
  beforeAll(async () => {
    const created = await bodyOf(await send('POST', '/v1/keys', { name: 'auditor', scopes: ['admin', 'toolsets', 'tools'] }));
    headers.authorization = `Bearer ${created.key}`;
    keyId = created.id;
  });

  it.each(rows)('records %s (%s %s)', async (_operation, method, path, body, expected) => {
    const before = await changes();
    const answer = await send(method, path, body, headers);
    expect(answer.status, await answer.clone().text()).toBeLessThan(300);
    const after = await changes();
    const added = after.filter((row) => !before.some((known) => JSON.stringify(known) === JSON.stringify(row)));
    expect(added).toMatchObject(expected === null ? [] : [{ kind: 'change', keyId, ...expected }]);
    expect(JSON.stringify(after)).not.toContain(canary);
  });

  it('records the change, the rotation and the revocation of a key, without its secrets', async () => {
    const { id, key } = await bodyOf(await send('POST', '/v1/keys', { name: 'third', scopes: ['chat'] }));
    await send('PATCH', `/v1/keys/${id}`, { name: 'fourth' });
    const rotated = await bodyOf(await send('POST', `/v1/keys/${id}/rotate`));
    for (let times = 0; times < 2; times += 1) await send('DELETE', `/v1/keys/${id}`);
    const own = (await changes()).filter(({ name }) => name === id);
    expect(own).toMatchObject([
      { action: 'revoke', keyId: 'root' },
      { action: 'rotate', keyId: 'root' },
      { action: 'update', keyId: 'root' },
      { action: 'create', keyId: 'root' },
    ]);
    for (const secret of [key, rotated.key]) expect(JSON.stringify(own)).not.toContain(secret);
  });

  it('records the deletion of a session once, also when it is repeated', async () => {
    const { id } = await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default' }, headers));
    expect((await send('DELETE', `/v1/sessions/${id}`)).status).toBe(204);
    expect((await send('DELETE', `/v1/sessions/${id}`)).status).toBe(404);
    expect((await changes()).filter(({ name }) => name === id)).toMatchObject([{ action: 'delete', resource: 'session', keyId: 'root' }]);
  });

  it('records a change of the settings of the workspace, which only the root key can make', async () => {
    expect((await send('PUT', '/v1/workspaces/default', { settings: {} })).status).toBe(201);
    expect((await changes())[0]).toMatchObject({ keyId: 'root', action: 'create', resource: 'workspace' });
    expect((await send('PATCH', '/v1/workspaces/default', { settings: { retention: { auditDays: 31 } } })).status).toBe(200);
    expect((await changes())[0]).toMatchObject({ keyId: 'root', action: 'update', resource: 'workspace' });
  });

  it('stores neither the change nor its row if the row cannot be written', async () => {
    const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
    const sql = (query: string) => runInDurableObject(object, (_instance, { storage }) => void storage.sql.exec(query));
    await sql("CREATE TRIGGER unaudited BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit is full'); END");
    try {
      for (const [path, body] of [
        ['/v1/secrets/late', { value: canary, hosts: ['api.example.com'] }],
        ['/v1/agents/late', { model: 'rehearsal/default', instructions: 'Help.' }],
      ] as const)
        expect((await send('PUT', path, body)).status).toBe(500);
      expect((await send('POST', '/v1/keys', { name: 'late', scopes: ['chat'] })).status).toBe(500);
    } finally {
      await sql('DROP TRIGGER unaudited');
    }
    expect(takeErrors()).toMatchObject(Array(3).fill({ message: 'request failed', cause: expect.stringContaining('the audit is full') }));
    for (const path of ['/v1/secrets/late', '/v1/agents/late']) expect((await send('GET', path)).status).toBe(404);
    expect((await bodyOf(await send('GET', '/v1/keys?limit=100'))).items.filter(({ name }: { name: string }) => name === 'late')).toEqual(
      [],
    );
  });

  it('records the changes of configuration tools under their key', async () => {
    const desk = wire(testEnv).callDeps('default').configuration?.(keyId);
    await desk?.write('by-tool', Toolset.parse({ name: 'by-tool', tools: [{ tool: 'builtin.bash' }] }), null);
    await desk?.rename('by-tool', 'renamed', 1);
    expect((await changes()).slice(0, 3)).toMatchObject([
      { keyId, action: 'delete', resource: 'toolset', name: 'by-tool' },
      { keyId, action: 'create', resource: 'toolset', name: 'renamed' },
      { keyId, action: 'create', resource: 'toolset', name: 'by-tool' },
    ]);
  });

  it('covers every writing operation of the OpenAPI document', async () => {
    const { paths } = await bodyOf(await send('GET', '/openapi.json'));
    const operations = Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      ['put', 'post', 'delete'].flatMap((method) => path[method]?.operationId ?? []),
    );
    const covered = new Set([...rows.map(([operation]) => operation), ...others]);
    expect(operations.filter((operation) => !covered.has(operation))).toEqual([]);
    const keyless = new Set(['finishSignIn']);
    expect([...covered].filter((operation) => !operations.includes(operation) && !keyless.has(operation))).toEqual([]);
  });
});
