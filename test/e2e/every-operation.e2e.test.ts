/**
 * Calls every operation of the OpenAPI document once over the running service; `service.ts` compares each response with the document:
 * status, content type, headers and body.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { createDocumentCheck, type ApiDocument, type DocumentedOperation } from '../http/document-check.ts';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver.ts';
import { eventually } from './eventually.ts';
import type { Answer } from './service.ts';
import { startRecordingUpstream } from './recording-upstream.ts';
import { shareService } from './shared-service.ts';
import { deliver, signStandard } from './webhook-payloads.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Their success needs another service; the stories about signing in and about renamed tools call them in full. */
const answeredWithError = new Set([
  'beginSignIn',
  'endSignIn',
  'authorizeServer',
  'finishSignIn',
  'getClientMetadata',
  'rebindServerTool',
  // `known-hosts.e2e.test.ts` forgets one.
  'forgetKnownHost',
  'startConnect',
  // `responses-socket.e2e.test.ts` opens one.
  'connectResponses',
  'resealWithMasterKey',
  // `passed-files.e2e.test.ts` calls them with a provider that has files, and `batches.e2e.test.ts` those of messages.
  ...['uploadProviderFile', 'getProviderFile', 'deleteProviderFile', 'getProviderFileContent'],
  ...['createBatch', 'getBatch', 'cancelBatch', 'createMessageBatch', 'getMessageBatch'],
  ...['getMessageBatchResults', 'cancelMessageBatch', 'deleteMessageBatch'],
]);
const service = shareService({
  MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*',
  MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787',
  MONIKER_METRICS: 'on',
});
const statuses = new Map<string, number[]>();
let operations: DocumentedOperation[];
let find: (method: string, path: string) => DocumentedOperation | null;
let receiver: CallbackReceiver;
let mcpServer: FakeMcpServer;
const prompts = [{ name: 'review' }];

beforeAll(async () => {
  const document = (await service.call('GET', '/openapi.json')).json as ApiDocument;
  operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  find = createDocumentCheck(document).find;
  receiver = await startCallbackReceiver(secret);
  mcpServer = await listenMcpServer({
    tools: [{ name: 'add', inputSchema: { type: 'object', properties: {} } }],
    prompts,
  });
});
afterAll(async () => {
  receiver.close();
  await mcpServer.close();
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await service.call(method, path, body, headers);
  note(method, path, answer.status);
  return answer;
}

function note(method: string, path: string, status: number): void {
  const id = find(method, path.split('?', 1)[0] ?? path)?.operationId;
  expect(id, `${method} ${path}`).toBeDefined();
  statuses.set(id ?? '', [...(statuses.get(id ?? '') ?? []), status]);
}

/** The operations of one kind of document: create, read, read again unchanged, list, delete. */
async function writeAndRead(path: string, body: object): Promise<void> {
  const created = await call('PUT', path, body);
  expect(created.status, created.text).toBe(201);
  const etag = created.headers.get('etag') ?? '';
  expect((await call('GET', path)).status).toBe(200);
  if (find('GET', path)?.responses['304'] !== undefined)
    expect((await call('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
  expect((await call('PUT', path, body, { 'if-match': '"99"' })).status).toBe(412);
  if (find('PATCH', path) !== null) {
    expect((await call('PATCH', path, {}, { 'if-match': '"99"' })).status).toBe(path.includes('/secrets/') ? 422 : 412);
    const value = path.includes('/secrets/') ? { value: 'another value' } : {};
    expect((await call('PATCH', path, value, { 'content-type': 'application/merge-patch+json' })).status).toBe(200);
  }
  expect((await call('GET', path.slice(0, path.lastIndexOf('/')))).status).toBe(200);
}

async function run(session: string, input: string): Promise<Answer> {
  return await call('POST', `/v1/sessions/${session}/turns`, { input });
}

describe('every operation', () => {
  it('of documents answers as documented', async () => {
    await writeAndRead('/v1/toolsets/desk', {
      tools: [
        { tool: 'builtin.bash', aliases: ['sh'] },
        { tool: 'builtin.write_file', name: 'save', approval: 'always' },
        { tool: 'local.calculate' },
      ],
    });
    await writeAndRead('/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'desk' });
    await writeAndRead('/v1/providers/near', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', models: ['m'] });
    const passing = await startRecordingUpstream();
    await writeAndRead('/v1/providers/passing', { kind: 'openai-compatible', baseUrl: `${passing.url}/v1`, models: ['m'] });
    for (const path of ['embeddings', 'moderations', 'audio/speech', 'images/generations'])
      expect((await call('POST', `/v1/${path}`, { model: 'passing/m', input: 'x' })).status).toBe(200);
    expect((await call('POST', '/v1/rerank', { model: 'passing/m', query: 'x', documents: ['y'] })).status).toBe(200);
    for (const path of ['/v1/files/x', '/v1/files/x/content', '/v1/batches/x']) expect((await call('GET', path)).status).toBe(404);
    for (const path of ['/v1/files', '/v1/batches', '/v1/messages/batches'])
      expect(await call('GET', path)).toMatchObject({ status: 200, json: { data: [], has_more: false } });
    expect((await call('DELETE', '/v1/files/x')).status).toBe(404);
    const messages = '/v1/messages/batches';
    for (const path of [`${messages}/x`, `${messages}/x/results`]) expect((await call('GET', path)).status).toBe(404);
    expect((await call('POST', `${messages}/x/cancel`)).status).toBe(404);
    expect((await call('DELETE', `${messages}/x`)).status).toBe(404);
    expect((await call('POST', messages, { requests: [{ custom_id: 'x', params: { model: 'passing/m' } }] })).status).toBe(422);
    expect((await call('POST', '/v1/batches/x/cancel')).status).toBe(404);
    expect((await call('POST', '/v1/batches', { input_file_id: 'x', endpoint: '/v1/embeddings', completion_window: '24h' })).status).toBe(
      404,
    );
    expect((await call('POST', '/v1/files', {})).status).toBe(415);
    for (const path of ['audio/transcriptions', 'audio/translations', 'images/edits', 'images/variations']) {
      const form = new FormData();
      form.set('model', 'passing/m');
      form.set('file', new Blob(['bytes']), 'file.bin');
      const headers = { authorization: `Bearer ${service.key}` };
      const { status } = await fetch(`${service.url}/v1/${path}`, { method: 'POST', headers, body: form });
      expect(status).toBe(200);
      note('POST', `/v1/${path}`, status);
    }
    passing.close();
    const embedding = await startRecordingUpstream('{"data": [{"index": 0, "embedding": [0.5]}]}');
    await writeAndRead('/v1/providers/embedding', { kind: 'openai-compatible', baseUrl: `${embedding.url}/v1`, models: ['m'] });
    const content = { parts: [{ text: 'x' }] };
    const embeds = { embedContent: { content }, batchEmbedContents: { requests: [{ content }] } };
    for (const [method, body] of Object.entries(embeds))
      expect((await call('POST', `/v1beta/models/embedding%2Fm:${method}`, body)).status).toBe(200);
    embedding.close();
    await writeAndRead('/v1/model-aliases/claude-*', { model: 'rehearsal/default' });
    await call('PUT', '/v1/workspaces/other', {});
    expect((await call('DELETE', '/v1/workspaces/other')).status).toBe(202);
    await writeAndRead('/v1/members/ada', { email: 'ada@example.com', role: 'user' });
    expect((await call('PATCH', '/v1/members/ada', { role: 'editor' })).status).toBe(200);
    await writeAndRead('/v1/workspaces/default', { settings: { retention: { auditDays: 30 } } });
    await writeAndRead('/v1/secrets/TOKEN', { value: 'a value', hosts: ['127.0.0.1'] });
    await writeAndRead('/v1/suites/daily', { select: { agent: 'clerk' }, rules: [{ calls: 'same' }] });
    for (const path of ['versions', 'cases']) expect((await call('GET', `/v1/suites/daily/${path}`)).status).toBe(200);
    expect((await call('DELETE', '/v1/suites/daily')).status).toBe(204);
    await writeAndRead('/v1/webhooks/orders', {
      agent: 'clerk',
      scheme: 'standard',
      secret,
      input: 'An order: {{payload.total}}',
    });
    await writeAndRead('/v1/schedules/morning', { agent: 'clerk', cron: '0 7 * * *', input: 'Good morning.' });
    await writeAndRead('/v1/subscriptions/ends', { url: receiver.url, secret, events: ['turn.completed'] });
    await writeAndRead('/v1/skills/notes', {
      content: '---\nname: notes\ndescription: Writes notes. Use for notes.\n---\nWrite them.\n',
      resources: { 'a/b.txt': 'text' },
    });
    expect((await call('GET', '/v1/skills/notes/resources/a/b.txt')).text).toBe('text');
    const project = { agents: { guide: { model: 'rehearsal/default' } } };
    const planned = await call('PUT', '/v1/projects/site?dryRun=true', project);
    expect(planned.json.created).toEqual(['agents.guide']);
    expect((await call('PUT', '/v1/projects/site', project, { 'if-match': planned.headers.get('etag') ?? '' })).status).toBe(200);
    expect((await call('PUT', '/v1/projects/site', project, { 'if-match': planned.headers.get('etag') ?? '' })).status).toBe(412);
    expect((await call('GET', '/v1/projects')).json.items).toHaveLength(1);
    expect((await call('GET', '/v1/projects/site')).json.documents).toHaveLength(1);
    expect((await call('POST', '/v1/import', project)).json.unchanged).toEqual(['agents.guide']);
    expect((await call('GET', '/v1/export')).json.agents.guide).toEqual({ model: 'rehearsal/default', instructions: '' });
    expect((await call('GET', '/v1/export?format=yaml')).text).toContain('guide:');
    expect((await call('GET', '/moniker.schema.json')).text).toContain('json-schema.org');
    expect((await call('DELETE', '/v1/projects/site?documents=true')).json.removed).toEqual(['agents.guide']);
    await call('PUT', '/v1/policy', { rules: [{ decision: 'deny', tool: 'builtin.delete_file' }] });
    await call('GET', '/v1/policy');
    expect((await call('PATCH', '/v1/policy', { taint: 'ask' })).status).toBe(200);
    expect((await call('GET', '/v1/policy/versions')).json.items).toHaveLength(2);
    expect((await call('GET', '/v1/policy?version=1')).status).toBe(200);
    expect((await call('GET', '/v1/agents/clerk/versions')).status).toBe(200);
    const draft = { model: 'rehearsal/default', toolset: 'desk', tools: [] };
    expect((await call('POST', '/v1/agents/clerk/impact', draft)).json.agent).toBe('clerk');
    expect((await call('POST', '/v1/policy/impact', { rules: [{ decision: 'deny', tool: 'none.tool' }] })).json.warnings).toHaveLength(1);
    await call('POST', '/v1/policy/test', { toolset: 'desk', tool: 'sh', arguments: { command: 'rm x' } });
    expect((await call('DELETE', '/v1/policy')).status).toBe(204);
    expect((await call('GET', '/v1/policy/hosts')).json.items).toEqual([]);
    expect((await call('DELETE', '/v1/policy/hosts/nowhere.example')).status).toBe(404);
  });

  it('of toolsets and tools answers as documented', async () => {
    await call('PUT', '/v1/toolsets/desk', {
      tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.write_file', name: 'save', approval: 'always' }, { tool: 'builtin.read_file' }],
    });
    for (const path of ['versions', 'diff', 'tools', 'tools?provider=anthropic', 'resolve?name=bash', 'resolve?name=nothing_like_it'])
      await call('GET', `/v1/toolsets/desk/${path}`);
    await call('POST', '/v1/toolsets/desk/rollback', { version: 1 });
    await call('POST', '/v1/toolsets/desk/rollback?dryRun=true', { version: 1 });
    await call('POST', '/v1/toolsets/desk/versions/1/retire');
    await call('DELETE', '/v1/toolsets/desk/versions/1/retire');
    expect((await call('POST', '/v1/toolsets/desk/preview', { tools: [{ tool: 'builtin.bash' }] })).json.valid).toBe(true);
    await call('POST', '/v1/toolsets/desk/calls', { name: 'bash', arguments: { command: 'echo hi' } });
    expect((await call('POST', '/v1/toolsets/desk/impact', { tools: [{ tool: 'builtin.bash' }] })).json.valid).toBe(true);
    await call('POST', '/v1/toolsets/desk/calls?dryRun=true', { name: 'bash', arguments: { command: 'echo hi' } });
    await call('POST', '/v1/toolsets/desk/calls', { name: 'nothing', arguments: {} });
    expect((await call('GET', '/v1/toolsets/desk/uses')).json.agents).toEqual([{ name: 'clerk', toolset: 'desk' }]);
    expect((await call('GET', '/v1/toolsets/desk/suggestions')).json.unknown).toEqual([]);
    await call('GET', '/v1/tools?limit=2');
    expect((await call('GET', '/v1/tools?q=read&kind=builtin&server=builtin&fields=summary')).json.items).not.toEqual([]);
    await call('GET', '/v1/tools/builtin.bash');
    await call('PUT', '/v1/tools/builtin.bash/aliases', { aliases: ['console'] });
    await call('GET', '/v1/tools/builtin.bash/aliases');
    await call('DELETE', '/v1/tools/builtin.bash/aliases');
    const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'], href: '/camera' };
    await call('PUT', '/v1/tools/ui.camera', camera);
    const made = await call('PUT', '/v1/tools/made.twice', {
      description: 'Twice a value.',
      parameters: [{ name: 'expression', type: 'string', description: 'The expression.', required: true }],
      implementation: 'return await tools.calculate({ expression: args.expression });',
      uses: ['local.calculate'],
    });
    expect(made.status, made.text).toBe(201);
    await call('GET', '/v1/tools/ui.camera');
    const other = { description: 'Twice.', implementation: 'return 2;' };
    expect((await call('POST', '/v1/tools/made.twice/impact', other)).json.refusedCalls).toBe(0);
    expect((await call('GET', '/v1/tools/made.twice/versions')).status).toBe(200);
    expect((await call('GET', '/v1/tools/made.twice?version=1')).status).toBe(200);
    expect((await call('DELETE', '/v1/tools/ui.camera')).status).toBe(204);
    expect((await call('DELETE', '/v1/tools/made.twice')).status).toBe(204);
  });

  it('of servers answers as documented', async () => {
    const tool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } };
    const eyes = { kind: 'static', updates: 'review', url: 'http://127.0.0.1:9/', tools: [tool] };
    expect((await call('PUT', '/v1/servers/eyes', eyes)).status).toBe(201);
    await call('PUT', '/v1/servers/eyes', { ...eyes, tools: [{ ...tool, description: 'Looks far.' }] });
    expect((await call('PATCH', '/v1/servers/eyes', { trusted: true })).status).toBe(200);
    for (const path of ['', '/eyes', '/eyes/tools', '/eyes/tools/look']) await call('GET', `/v1/servers${path}`);
    expect((await call('GET', '/v1/servers/eyes/tools/look/impact')).json.refusedCalls).toBe(0);
    await call('POST', '/v1/servers/eyes/tools/look/accept');
    for (const decision of ['accept', 'reject'])
      expect((await call('POST', `/v1/servers/eyes/${decision}`, { tools: '*' })).json).toMatchObject({ decided: [], left: [] });
    await call('POST', '/v1/servers/eyes/tools/look/reject', { note: 'Sees too much.' });
    await call('POST', '/v1/servers/eyes/tools/look/undo');
    await call('POST', '/v1/servers/eyes/tools/look/rebind', { to: 'nothing' });
    await call('POST', '/v1/servers/eyes/test');
    await call('PUT', '/v1/servers/far', { kind: 'mcp', url: mcpServer.url });
    expect((await call('POST', '/v1/servers/far/refresh')).status).toBe(200);
    const offer = { kind: 'prompt', name: 'review' };
    expect((await call('GET', '/v1/servers/far/offers')).json.items).toMatchObject([{ ...offer, state: 'ready' }]);
    prompts.push({ name: 'later' });
    expect((await call('POST', '/v1/servers/far/refresh')).status).toBe(200);
    expect((await call('POST', '/v1/servers/far/offers/accept', offer)).status).toBe(409);
    expect((await call('POST', '/v1/servers/far/offers/accept', { kind: 'prompt', name: 'later' })).status).toBe(200);
    expect((await call('POST', '/v1/servers/far/offers/reject', { ...offer, note: 'Not here.' })).status).toBe(200);
    expect((await call('POST', '/v1/servers/far/offers/undo', offer)).status).toBe(200);
    await call('PUT', '/v1/servers/gated', { kind: 'mcp', url: 'http://127.0.0.1:9/mcp', oauth: { grant: 'authorization_code' } });
    await call('POST', '/v1/servers/gated/refresh');
    await call('POST', '/v1/servers/gated/authorize');
    await call('DELETE', '/v1/servers/gated/authorize');
    await call('PATCH', '/v1/servers/gated', { oauth: { grant: 'authorization_code', per: 'user' } });
    expect((await call('GET', '/v1/me/connections')).json.items).toMatchObject([{ server: 'gated', status: 'signed-out' }]);
    expect((await call('POST', '/v1/me/connections/gated')).status).toBe(200);
    expect((await call('DELETE', '/v1/me/connections/gated')).status).toBe(204);
    expect((await call('GET', '/v1/servers/gated/connections')).json.items).toEqual([]);
    expect((await call('DELETE', '/v1/servers/gated/connections/someone')).status).toBe(204);
    // The page is at the public URL, which nothing serves here.
    expect((await call('GET', '/connect/gated')).status).toBe(302);
    await call('POST', '/connect/gated', undefined, { authorization: '' });
    await call('GET', '/oauth/callback?state=unknown', undefined, { authorization: '' });
    await call('GET', '/oauth/client.json');
    expect((await call('DELETE', '/v1/servers/eyes')).status).toBe(204);
  });

  it('of signing in answers as documented', async () => {
    const fromHere = { authorization: '', 'sec-fetch-site': 'same-origin' };
    await call('GET', '/sign-in', undefined, { authorization: '', accept: 'text/html' });
    await call('GET', '/sign-in', undefined, { authorization: '', accept: 'application/json' });
    await call('GET', '/sign-in/unknown', undefined, { authorization: '' });
    await call('GET', '/sign-in/unknown/callback', undefined, { authorization: '' });
    const form = { ...fromHere, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await call('POST', '/sign-in', 'key=wrong', form)).status).toBe(401);
    const signedIn = await call('POST', '/sign-in', `key=${service.key}&to=%2Fconsole`, form);
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/console']);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await call('GET', '/v1/me', undefined, { authorization: '', cookie })).json.id).toBe('root');
    expect((await call('POST', '/sign-out', undefined, { ...fromHere, cookie })).status).toBe(303);
  });

  it('of connecting an MCP client answers as documented', async () => {
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration', '/oauth/jwks.json'])
      expect((await call('GET', path)).status).toBe(200);
    for (const path of ['/mcp', '/mcp/desk', '/mcp/default/desk', '/sse', '/sse/desk', '/sse/default/desk'])
      expect((await call('GET', `/.well-known/oauth-protected-resource${path}`)).status).toBe(200);
    const none = { authorization: '' };
    const fromHere = { ...none, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    const redirect = 'http://127.0.0.1:33418/callback';
    const metadata = { client_name: 'Editor', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
    expect((await call('POST', '/oauth/register', { redirect_uris: ['http://example.com/'] }, none)).status).toBe(400);
    const { json: client } = await call('POST', '/oauth/register', metadata, none);
    const signedIn = await call('POST', '/sign-in', `key=${service.key}`, fromHere);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const verifier = 'v'.repeat(43);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: redirect, resource: `${service.url}/mcp/desk` },
      ...{ code_challenge: Buffer.from(digest).toString('base64url'), code_challenge_method: 'S256' },
    });
    const path = `/oauth/authorize?${query}`;
    expect((await call('GET', path, undefined, none)).status).toBe(303);
    const page = await call('GET', path, undefined, { ...none, cookie });
    const consent = /name="consent" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const decided = await call('POST', path, `decision=allow&consent=${consent}`, { ...fromHere, cookie });
    const code = new URL(decided.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const own = { client_id: client.client_id, grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirect };
    expect((await call('POST', '/oauth/token', 'grant_type=password', fromHere)).status).toBe(400);
    const { json: tokens } = await call('POST', '/oauth/token', new URLSearchParams(own).toString(), fromHere);
    const { json: grants } = await call('GET', '/v1/grants');
    expect(grants.items).toMatchObject([{ user: { id: 'root' }, client: { name: 'Editor' }, scopes: ['tools'] }]);
    const revoked = new URLSearchParams({ client_id: client.client_id, token: tokens.access_token }).toString();
    expect((await call('POST', '/oauth/revoke', revoked, fromHere)).status).toBe(200);
    expect((await call('DELETE', `/v1/grants/${grants.items[0].id}`)).status).toBe(204);
  });

  it('of sessions and approvals answers as documented', async () => {
    const { json: session } = await call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'desk' });
    const path = `/v1/sessions/${session.id}`;
    await call('GET', `${path}/prompts`);
    await run(session.id, '/bash {"command": "echo hi"}');
    const waits = await run(session.id, '/save {"path": "a.txt", "content": "one"}');
    const [{ callId }] = waits.json.pending;
    await call('GET', `${path}/approvals`);
    await call('GET', `${path}/approvals/${callId}`);
    const link = new URL((await call('POST', `${path}/approvals/${callId}/link`)).json.url).pathname;
    await call('GET', link, undefined, { accept: 'application/json' });
    await call('GET', link, undefined, { accept: 'text/html' });
    await call('POST', link, { decision: 'deny' }, { accept: 'application/json' });
    const [again] = (await run(session.id, '/save {"path": "a.txt", "content": "two"}')).json.pending;
    await call('POST', `${path}/approvals/${again.callId}`, { decision: 'approve' });
    await call('POST', `${path}/tool-results`, { results: [{ callId: 'call_unknown', content: 'x' }] });
    await call('POST', `${path}/turns`, { input: 'hello' }, { accept: 'text/event-stream' });
    expect((await call('POST', `${path}/turns`, { input: 'hello' }, { prefer: 'respond-async' })).status).toBe(202);
    await call('POST', `${path}/cancel`);
    for (const part of ['', '/messages', '/files', '/files/a.txt', '/files/none.txt']) await call('GET', path + part);
    await call('PUT', `${path}/files/b.txt`, 'some bytes', { 'content-type': 'application/octet-stream' });
    await call('DELETE', `${path}/files/b.txt`);
    await call('GET', '/v1/sessions?limit=1');
    for (const state of ['pending', 'decided']) await call('GET', `/v1/approvals?state=${state}&limit=2`);
    const events = await fetch(`${service.url}${path}/events`, { headers: { authorization: `Bearer ${service.key}` } });
    note('GET', `${path}/events`, events.status);
    await events.body?.cancel();
    const { json: replay } = await call('POST', '/v1/replays', { cases: [{ session: session.id }] });
    const replayed = `/v1/replays/${replay.id}`;
    for (const part of ['', '/cases', '/cases/1', '/events', '/export']) await call('GET', replayed + part);
    await call('GET', '/v1/replays?limit=1');
    await call('POST', `${replayed}/cancel`);
    expect((await call('DELETE', replayed)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('that a client tool answers, answers as documented', async () => {
    const tools = [{ name: 'ask_me', description: 'Asks.', inputSchema: { type: 'object', properties: {} } }];
    const { json: session } = await call('POST', '/v1/sessions', { model: 'rehearsal/default', tools });
    const { json } = await run(session.id, '/ask_me {}');
    const results = [{ callId: json.pending[0].callId, content: 'yes' }];
    expect((await call('POST', `/v1/sessions/${session.id}/tool-results`, { results })).status).toBe(200);
  });

  it('of chat APIs and models answers as documented', async () => {
    const [model] = (await call('GET', '/v1/models')).json.data;
    await call('GET', `/v1/models/${encodeURIComponent(model.id)}`);
    const messages = [{ role: 'user', content: 'hello' }];
    const session = { 'x-moniker-session': 'new' };
    const chats = [
      ['/v1/chat/completions', { messages }],
      ['/v1/messages', { messages, max_tokens: 100 }],
      ['/v1/responses', { input: 'hello' }],
    ] as const;
    for (const [path, body] of chats) {
      const { json } = await call('POST', path, { model: 'agent/clerk', ...body }, session);
      expect((await call('GET', `${path}/${json.id}`)).status).toBe(200);
      await call('POST', path, { model: 'agent/clerk', ...body, stream: true }, session);
      await call('POST', path, { model: 'nothing/none', ...body });
      await call('POST', path, '{"model":');
      if (path === '/v1/responses') await call('POST', `${path}/${json.id}/cancel`);
    }
    const { json: conversation } = await call('POST', '/v1/conversations', {});
    await call('POST', '/v1/responses', { model: 'agent/clerk', input: 'hello', conversation: conversation.id });
    for (const path of ['', '/items']) expect((await call('GET', `/v1/conversations/${conversation.id}${path}`)).status).toBe(200);
    await call('DELETE', `/v1/conversations/${conversation.id}`);
    for (const path of ['input_tokens', 'compact']) await call('POST', `/v1/responses/${path}`, { model: 'agent/clerk', input: 'hello' });
    await call('GET', '/v1/responses');
    await call('POST', '/v1/messages/count_tokens', { model: 'agent/clerk', messages });
    const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
    await call('GET', '/v1beta/models');
    await call('GET', `/v1beta/models/${encodeURIComponent(model.id)}`);
    for (const method of ['generateContent', 'streamGenerateContent', 'streamGenerateContent?alt=sse', 'countTokens'])
      for (const body of [{ contents }, { contents: [] }, '{"contents":'])
        await call('POST', `/v1beta/models/agent%2Fclerk:${method}`, body);
    const uiMessages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
    for (const body of [{ model: 'agent/clerk', messages: uiMessages }, { model: 'agent/clerk' }, '{"model":'])
      await call('POST', '/v1/ai-sdk/chat', body);
    const run = { threadId: 't', runId: 'r', messages: [{ id: 'm1', role: 'user', content: 'hello' }] };
    for (const body of [run, { ...run, messages: [] }, '{"threadId":']) await call('POST', '/agui/clerk', body);
    await call('POST', '/agui/nobody', run);
  });

  it('of triggers answers as documented', async () => {
    await call('POST', '/v1/webhooks/orders/test', { payload: { total: 3 } });
    // Its callback then waits for its next attempt, and may be sent again.
    receiver.failNext(503, 503, 503, 503);
    const hook = await deliver(service, 'orders', signStandard(secret, { total: 3 }, 'msg_1'));
    note('POST', '/hooks/default/orders', hook.status);
    await eventually('the delivery is completed', async () => {
      const { json } = await call('GET', '/v1/webhooks/orders/deliveries/msg_1');
      return json.status === 'completed' ? json : undefined;
    });
    await call('GET', '/v1/webhooks/orders/deliveries');
    expect((await deliver(service, 'orders', signStandard('whsec_AAAA', { total: 4 }, 'msg_2'))).status).toBe(404);
    const refused = await eventually('the refused request is counted', async () => {
      const { json } = await call('GET', '/v1/deliveries?webhook=orders&from=2020-01-01T00:00:00Z');
      expect(json.items).toMatchObject([{ webhook: 'orders', id: 'msg_1', status: 'completed' }]);
      return json.refused[0];
    });
    expect(refused).toMatchObject({ webhook: 'orders', count: 1 });
    expect((await call('POST', '/v1/webhooks/orders/deliveries/msg_1/replay')).status).toBe(202);
    await call('GET', '/v1/schedules/morning/next');
    await call('POST', '/v1/schedules/morning/next', { draft: { agent: 'demo', interval: '15m', input: 'x' } });
    const { json: begun } = await call('POST', '/v1/schedules/morning/run');
    await call('GET', '/v1/schedules/morning/runs');
    await call('GET', `/v1/schedules/morning/runs/${begun.delivery}`);
    await call('POST', '/v1/subscriptions/ends/test');
    const callback = await eventually('a callback was sent', async () => (await call('GET', '/v1/callbacks')).json.items[0]);
    await call('GET', `/v1/callbacks/${callback.id}`);
    expect((await call('POST', `/v1/callbacks/${callback.id}/retry`)).status).toBe(202);
  });

  it('of MCP, keys, pages and the audit answers as documented', async () => {
    const accept = { accept: 'application/json, text/event-stream' };
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    expect((await call('PUT', '/v1/toolsets/default', { tools: [{ tool: 'builtin.bash' }] })).status).toBe(201);
    for (const path of ['/mcp/desk', '/mcp/default/desk', '/mcp']) {
      const { headers } = await call('POST', path, initialize, accept);
      const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
      await call('POST', path, { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...accept, ...session });
      await call('POST', path, initialize, { accept: 'text/plain' });
      const stream = await fetch(service.url + path, {
        headers: { authorization: `Bearer ${service.key}`, accept: 'text/event-stream', ...session },
      });
      note('GET', path, stream.status);
      await stream.body?.cancel();
      await call('DELETE', path, undefined, session);
    }
    for (const path of ['/sse/desk', '/sse/default/desk', '/sse']) {
      const stream = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}`, accept: 'text/event-stream' } });
      note('GET', path, stream.status);
      const reader = stream.body?.getReader();
      const [, endpoint = ''] = /^data: (.+)$/m.exec(new TextDecoder().decode((await reader?.read())?.value)) ?? [];
      expect((await call('POST', endpoint, initialize)).status).toBe(202);
      await reader?.cancel();
    }
    await call('GET', '/v1/master-key');
    // The service has no previous key.
    await call('POST', '/v1/master-key/reseal');
    expect((await call('POST', '/v1/programs/check', { programs: [] })).json).toEqual({ unwanted: [] });
    expect((await call('GET', '/v1/programs')).json).toEqual({ items: [] });
    expect((await call('GET', '/v1/publications')).json).toMatchObject({ isPart: false, waiting: [], different: [] });
    const { json: key } = await call('POST', '/v1/keys', { name: 'one', scopes: ['chat'] });
    await call('GET', '/v1/keys');
    expect((await call('GET', '/v1/me')).status).toBe(200);
    expect((await call('GET', '/v1/limits')).status).toBe(200);
    expect((await call('DELETE', '/v1/cache')).status).toBe(200);
    await call('GET', `/v1/keys/${key.id}`);
    await call('PATCH', `/v1/keys/${key.id}`, { name: 'two' });
    await call('POST', `/v1/keys/${key.id}/rotate`, { overlapSeconds: 60 });
    await call('DELETE', `/v1/keys/${key.id}?cancel=true`);
    await call('GET', '/v1/audit?limit=3');
    await call('GET', '/v1/audit/verify');
    expect((await call('GET', '/v1/usage?by=day,model')).status).toBe(200);
    expect((await call('GET', '/v1/requests?limit=3')).status).toBe(200);
    const [request] = await vi.waitFor(async () => {
      const { items } = (await service.call('GET', '/v1/requests?limit=1')).json;
      expect(items).not.toEqual([]);
      return items;
    }, waitMs);
    expect((await call('GET', `/v1/requests/${request.id}`)).status).toBe(200);
    for (const path of ['/', '/console', '/console/chat', '/healthz', '/readyz', '/metrics', '/docs', '/assets/pages.css'])
      await call('GET', path);
    const page = await service.call('GET', '/docs');
    const file = /"(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? '';
    await call('GET', file);
    await call('GET', '/openapi.json');
  });

  it('of deletion answers as documented', async () => {
    const paths = [
      'schedules/morning',
      'webhooks/orders',
      'subscriptions/ends',
      'agents/clerk',
      'providers/near',
      'members/ada',
      'model-aliases/claude-*',
      'secrets/TOKEN',
      'skills/notes',
      'toolsets/desk',
    ];
    for (const path of paths) expect([path, (await call('DELETE', `/v1/${path}`)).status]).toEqual([path, 204]);
  });

  it('of backups answers as documented', async () => {
    const archive = await call('GET', '/v1/backup');
    expect(archive.status, archive.text).toBe(200);
    const jsonLines = { 'content-type': 'application/jsonl' };
    const first = archive.text.slice(0, archive.text.indexOf('\n'));
    expect((await call('POST', '/v1/restore', archive.text, jsonLines)).status).toBe(409);
    expect((await call('POST', '/v1/restore?replace=true', first, jsonLines)).json).toMatchObject({ state: 'restoring', nextPart: 1 });
    expect((await call('GET', '/v1/restore')).json.state).toBe('restoring');
    expect((await call('DELETE', '/v1/restore')).json.state).toBe('none');
  });

  it('was called, and succeeded unless it needs another service', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !statuses.has(id))).toEqual([]);
    const failed = ids.filter((id) => !statuses.get(id)?.some((status) => status < 400));
    expect(failed.filter((id) => !answeredWithError.has(id))).toEqual([]);
  });
});
