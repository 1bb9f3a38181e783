/**
 * The policy of toolset entries over the running service: presets that name secrets, approval for a server's tools, and dry runs of both.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { readLog } from './session-log.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const token = 'the-token-of-the-tickets';
let server: ToolServer;

const tools = [
  {
    name: 'tickets',
    description: 'Reads or writes tickets.',
    inputSchema: {
      type: 'object',
      properties: {
        method: { enum: ['get', 'close'] },
        resource_id: { type: 'string' },
        token: { type: 'string' },
        team: { type: 'string' },
      },
      required: ['method', 'resource_id', 'token'],
    },
  },
];
const entry = (arguments_: object, more: object = {}) => ({
  tool: 'desk.tickets',
  name: 'get_ticket',
  aliases: [],
  arguments: arguments_,
  ...more,
});
const rules = { preset: { method: 'get', token: { secret: 'DESK' } }, rename: { id: 'resource_id' } };
const put = (arguments_: object, more: object = {}) =>
  service.call('PUT', '/v1/toolsets/desk', {
    tools: [entry(arguments_), { ...entry(arguments_, more), name: 'get_freely', approval: 'never' }],
  });
const call = async (name: string, args: object, query = '', toolset = 'desk') =>
  (await service.call('POST', `/v1/toolsets/${toolset}/calls${query}`, { name, arguments: args })).json;

beforeAll(async () => {
  server = await listenToolServer(({ arguments: args }) => ({ ticket: { title: 'No light', log: 'x'.repeat(2_000) }, args }));
  expect((await service.call('PUT', '/v1/servers/desk', { kind: 'static', url: server.url, tools })).status).toBe(201);
});
afterAll(() => server.close());

it('a toolset that presets a secret is rejected until the secret exists, bound to its destination', async () => {
  const missing = await put(rules);
  expect([missing.status, missing.json.issues]).toEqual([
    422,
    [0, 1].map((index) => ({ path: `tools[${index}].arguments.preset.token`, message: 'there is no secret "DESK"' })),
  ]);
  await service.call('PUT', '/v1/secrets/DESK', { value: token, hosts: ['elsewhere.example'] });
  expect((await put(rules)).json.issues[0].message).toContain(`it is not bound to the host ${server.host}`);
  expect((await service.call('GET', '/v1/toolsets/desk')).status).toBe(404);
  await service.call('PUT', '/v1/secrets/DESK', { value: token, hosts: [server.host] });
  expect((await put(rules, { result: { pick: ['/ticket/title'] } })).status).toBe(201);
  const wrong = await put({ preset: { ...rules.preset, method: 'burn' } });
  expect(wrong.json.issues[0].path).toBe('tools[0].arguments.preset.method');
  expect((await service.call('GET', '/v1/toolsets/desk')).headers.get('etag')).toBe('"1"');
});

it('a tool of an untrusted server requires approval, a dry run reports it, and `never` waives it', async () => {
  expect(await call('get_ticket', { id: '7' }, '?dryRun=true')).toMatchObject({ canonical: 'desk.tickets', valid: true, verdict: 'ask' });
  expect(await call('get_freely', { id: '7' }, '?dryRun=true')).toMatchObject({ verdict: 'allow' });
  expect(await call('get_ticket', { id: '7' })).toMatchObject({ isError: true, code: 'approval_required' });
  expect(server.calls).toEqual([]);
  const answer = await call('get_freely', { id: '7', method: 'close' });
  expect(answer).toMatchObject({ isError: false, structuredContent: { '/ticket/title': 'No light' } });
  expect(JSON.stringify(answer)).toContain('[Ignored: \\"method\\".');
  expect(server.calls).toMatchObject([{ name: 'tickets', arguments: { method: 'get', resource_id: '7', token } }]);
});

let session = '';

it("an approval shows the request with the secret's name; a remembered decision is not asked for again", async () => {
  session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'desk' })).json.id;
  const waiting = (await service.call('POST', `/v1/sessions/${session}/turns`, { input: '/get_ticket {"id": "8"}' })).json;
  const own = { resource_id: '8', method: 'get', token: { secret: 'DESK' } };
  expect(waiting).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval', canonical: 'desk.tickets', arguments: own }] });
  const { callId } = waiting.pending[0];
  const approved = await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve', remember: true });
  expect(approved.status).toBe(200);
  expect((await service.call('GET', '/v1/policy')).json.rules).toEqual([{ decision: 'allow', kind: 'untrusted', tool: 'desk.tickets' }]);
  await expect.poll(() => server.calls.length).toBe(2);
  expect((await service.call('PUT', '/v1/toolsets/desk-again', { tools: [entry(rules)] })).status).toBe(201);
  const rehearse = async (toolset: string) => (await call('get_ticket', { id: '9' }, '?dryRun=true', toolset)).verdict;
  await expect.poll(() => rehearse('desk-again')).toBe('allow');
  // The call of `get_freely` above returned private content of an untrusted server.
  expect(await rehearse('desk')).toBe('ask');
  expect(server.calls[1]?.arguments).toEqual({ ...own, token });
});

it('the secret’s value is in no event, audit row, approval or log line', async () => {
  const events = JSON.stringify(await readLog(service, session));
  const audit = (await service.call('GET', '/v1/audit')).text;
  expect(events).toContain('{"secret":"DESK"}');
  expect(events).toContain('[secret]');
  expect(audit).toContain('desk.tickets');
  expect([events, audit, service.printed()].join('\n')).not.toContain(token);
  expect(server.refused).toEqual([]);
});
