/** Every door says that nothing can be stored, in the format of its clients, and that the service stops; reads go on. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { HostReport } from '../../src/core/host-report.ts';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { createHost } from '../../src/engine/host.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { bodyOf, createChatHarness, createHarness, type Harness } from './harness.ts';

const healthy: HostReport = { disk: { freeBytes: 5e9, totalBytes: 1e10, fault: null }, files: null, stopping: 'no' };
const withFault = (fault: HostReport['disk']['fault']): HostReport => ({ ...healthy, disk: { ...healthy.disk, fault } });
const messages = [{ role: 'user', content: 'x' }];
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: {} } };
const mcp = { accept: 'application/json, text/event-stream' };

/** `word`: what the error of the format names. */
const writes: [what: string, method: string, path: string, body: unknown, word: RegExp, headers?: Record<string, string>][] = [
  ['a document', 'PUT', '/v1/toolsets/demo', { tools: [] }, /"code":"insufficient_storage"/],
  ['a change', 'PATCH', '/v1/agents/helper', { instructions: 'x' }, /"code":"insufficient_storage"/],
  ['a key', 'POST', '/v1/keys', { name: 'k', scopes: ['chat'] }, /"code":"insufficient_storage"/],
  ['a session', 'POST', '/v1/sessions', { agent: 'helper' }, /"code":"insufficient_storage"/],
  ['a turn', 'POST', `/v1/sessions/${'ab'.repeat(32)}/turns`, { input: 'x' }, /"code":"insufficient_storage"/],
  ['a direct call', 'POST', '/v1/toolsets/demo/calls', { name: 'bash', arguments: { command: 'ls' } }, /"code":"insufficient_storage"/],
  ['an event of a webhook', 'POST', '/hooks/default/triage', { a: 1 }, /"code":"insufficient_storage"/],
  [
    'Chat Completions',
    'POST',
    '/v1/chat/completions',
    { model: 'agent/helper', messages },
    /"error":\{"message":"The disk.*"insufficient_storage"/,
  ],
  ['Responses', 'POST', '/v1/responses', { model: 'agent/helper', input: 'x' }, /"error":\{"message":"The disk.*"insufficient_storage"/],
  [
    'Messages',
    'POST',
    '/v1/messages',
    { model: 'agent/helper', messages, max_tokens: 9 },
    /"type":"error".*"error_code":"insufficient_storage"/,
  ],
  [
    'Gemini',
    'POST',
    '/v1beta/models/agent/helper:generateContent',
    { contents: [{ parts: [{ text: 'x' }] }] },
    /"reason":"insufficient_storage"/,
  ],
  ['a call of MCP', 'POST', '/mcp/demo', call, /"jsonrpc":"2.0".*"code":"insufficient_storage"/, mcp],
];
const reads: [what: string, method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
  ['a list', 'GET', '/v1/toolsets'],
  ['models', 'GET', '/v1/models'],
  ['a preview', 'POST', '/v1/toolsets/demo/preview', { tools: [] }],
  ['a test of the policy', 'POST', '/v1/policy/test', { tool: 'builtin.bash', arguments: { command: 'ls' } }],
  ['tools of MCP', 'POST', '/mcp/demo', { jsonrpc: '2.0', id: 1, method: 'ping' }, mcp],
];

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
});

describe('while the disk is full', () => {
  beforeEach(() => h.services.host.report(withFault('full')));

  it.each(writes)('%s is refused with 507 and its word, and a time to try again', async (_what, method, path, body, word, headers) => {
    const answer = await h.send(method, path, body, headers);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('retry-after')], text).toEqual([507, '30']);
    expect(text).toMatch(word);
    expect(text).toContain('nothing more is stored until there is room again');
  });

  it.each(reads)('%s can be read', async (_what, method, path, body, headers) => {
    expect((await h.send(method, path, body, headers)).status).not.toBe(507);
  });

  it('what is stored can be deleted, unless the disk cannot be written', async () => {
    h.services.host.report(withFault('read-only'));
    expect((await h.send('DELETE', '/v1/agents/plain')).status).toBe(507);
    h.services.host.report(withFault('full'));
    expect((await h.send('DELETE', '/v1/agents/plain')).status).toBe(204);
  });

  it('a key that is not valid is told so first', async () => {
    expect((await h.send('PUT', '/v1/toolsets/demo', {}, { authorization: 'Bearer no' })).status).toBe(401);
  });
});

describe('while the service stops', () => {
  beforeEach(() => h.services.host.report({ ...healthy, stopping: 'draining' }));

  it.each(writes)('%s is refused with 503 and a time to try again', async (_what, method, path, body, _word, headers) => {
    const answer = await h.send(method, path, body, headers);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('retry-after')], text).toEqual([503, '5']);
    expect(text).toContain('The service is being stopped');
  });

  it('reads are served, and /readyz is 503, so that a load balancer sends nothing more', async () => {
    expect((await h.send('GET', '/v1/toolsets')).status).toBe(200);
    expect((await h.send('GET', '/healthz')).status).toBe(200);
    expect((await h.send('GET', '/readyz')).status).toBe(503);
  });
});

it('refuses work of keys above nine tenths of the open files, but not that of the root key', async () => {
  const key = await h.key({ scopes: ['chat'] });
  h.services.host.report({ ...healthy, files: { open: 950, limit: 1_000 } });
  expect((await h.send('GET', '/v1/me', undefined, key)).status).toBe(503);
  expect((await h.send('GET', '/v1/toolsets')).status).toBe(200);
});

it('explains an internal error by the disk, which the runtime hides, also to the sender of a webhook', async () => {
  const host = createHost({ clock: fakeClock(), ask: async () => withFault('failing') });
  host.report(healthy);
  const broken = () => Promise.reject(new Error('internal error; reference = abc'));
  const failing = createHarness({}, { host, workspaceOfToken: broken, sessions: { create: broken } as never });
  const answer = await failing.send('POST', '/v1/sessions', { model: 'rehearsal/default' });
  expect([answer.status, (await bodyOf(answer)).reason]).toEqual([507, 'failing']);
});

describe('POST /v1/host', () => {
  const token = 'token-of-the-launcher';
  const launcher = { MONIKER_LAUNCHER_TOKEN: token, MONIKER_STDIO_URL: 'http://127.0.0.1:9/' };

  it('takes the reports of the launcher only, with its token', async () => {
    const own = createHarness(launcher);
    for (const headers of [{}, { [launcherHeader]: 'other' }])
      expect((await own.send('POST', '/v1/host', { ...healthy, stopping: 'draining' }, headers)).status).toBe(403);
    expect(own.services.host.last()).toBeNull();
    const release = own.services.host.hold();
    const taken = await own.send('POST', '/v1/host', { ...healthy, stopping: 'draining' }, { [launcherHeader]: token });
    expect([taken.status, await bodyOf(taken)]).toEqual([200, { busy: 1 }]);
    release();
    const again = await own.send('POST', '/v1/host', { ...healthy, stopping: 'draining' }, { [launcherHeader]: token });
    expect(await bodyOf(again)).toEqual({ busy: 0 });
  });

  it('is refused without a launcher', async () => {
    expect((await h.send('POST', '/v1/host', healthy, { [launcherHeader]: token })).status).toBe(403);
  });
});
