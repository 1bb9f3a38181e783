/**
 * Calls of the past and other definitions: a server changes a tool, a made tool gets other parameters, an agent loses tools. The impact says
 * which calls that breaks, and a real repeat of the calls agrees.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver.ts';
import { runCommand } from '../cli/run-command.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const waiting = { timeout: waitMs, interval: 200 };
let tools: ToolServer;
let receiver: CallbackReceiver;
beforeAll(async () => {
  tools = await listenToolServer(async ({ name }) => ({ content: [{ type: 'text', text: `ran ${name}` }] }));
  receiver = await startCallbackReceiver(secret);
});
afterAll(() => {
  tools.close();
  receiver.close();
});

const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const answer = await service.call(method, path, body, headers);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
};
const say = async (agent: string, input: string): Promise<{ session: string; isError: boolean }> => {
  const { id: session } = await send('POST', '/v1/sessions', { agent });
  await send('POST', `/v1/sessions/${session}/turns`, { input });
  const { items } = await send('GET', `/v1/sessions/${session}/events?follow=false&limit=200`);
  return { session, isError: items.findLast(({ type }: { type: string }) => type === 'tool-result').isError };
};
const text = { type: 'string' };
const listing = (properties: Record<string, unknown>, required: string[]) => ({
  ...{ kind: 'static', url: tools.url, trusted: true, updates: 'review' },
  tools: [{ name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties, required, additionalProperties: false } }],
});
const nothing = { refusedCalls: 0, refused: [] };

it('says what accepting a held definition would refuse, to administrators and subscribers, with aliases that keep the calls', async () => {
  const before = { path: text, limit: { type: 'integer' } };
  await send('PUT', '/v1/servers/shelf', listing(before, ['path']));
  await send('PUT', '/v1/toolsets/reading', { tools: [{ tool: 'shelf.find', name: 'look', arguments: { rename: { most: 'limit' } } }] });
  await send('PUT', '/v1/agents/reader', { model: 'rehearsal/default', toolset: 'reading' });
  const first = await say('reader', '/look {"path": "a", "most": 3}');
  await say('reader', '/look {"path": "b"}');
  await say('reader', '/look {"wrong": "c"}');
  await send('POST', '/v1/toolsets/reading/calls', { name: 'look', arguments: { path: 'd' } });
  const impactOf = () => send('GET', '/v1/servers/shelf/tools/find/impact');
  await vi.waitFor(
    async () =>
      expect(await impactOf()).toMatchObject({ tool: 'shelf.find', judged: 2, hashed: 1, turns: { read: 3, left: 0 }, ...nothing }),
    waiting,
  );

  await send('PUT', '/v1/subscriptions/changes', { url: receiver.url, secret, events: ['definition.held'] });
  await send('PUT', '/v1/servers/shelf', listing({ file_path: text, limit: { type: 'integer' } }, ['file_path']));
  const impact = await impactOf();
  expect(impact).toMatchObject({ judged: 2, refusedCalls: 2, left: 0 });
  const mends = [{ tool: 'shelf.find', argument: 'file_path', alias: 'path' }];
  expect(impact.refused).toMatchObject([{ toolset: 'reading', tool: 'shelf.find', calls: 2, mends }]);
  expect(impact.refused[0].sessions).toContain(first.session);

  const environment = { MONIKER_URL: service.url, MONIKER_KEY: service.key };
  const { stdout } = await runCommand(['accept', 'shelf', '--impact'], { environment });
  expect(stdout).toContain('shelf.find: would have refused 2 of 2 recorded calls');
  expect(stdout).toContain('Kept by arguments.alias of its entry: path → file_path');
  expect(stdout).toContain('not compared: 1 calls, and the calls of 0 turns');

  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), waiting);
  expect(receiver.received[0]).toMatchObject({ type: 'definition.held', data: { server: 'shelf', more: 0 } });
  const held = receiver.received[0]?.data.tools[0];
  expect(held).toMatchObject({ canonical: 'shelf.find', reason: 'changed', findings: [] });
  const summary = { toolset: 'reading', argument: 'file_path', alias: 'path' };
  expect(held.impact).toEqual({
    ...{ days: 30, judged: 2, refusedCalls: 2, mends: [summary], unjudged: 1, turns: { left: 0, more: false } },
  });
  const { items } = await send('GET', '/v1/callbacks?kind=subscription&name=changes');
  expect(items).toMatchObject([{ type: 'definition.held', session: null, turn: null }]);
  // The same listing again is no news.
  await send('POST', '/v1/servers/shelf/refresh');
  expect((await send('GET', '/v1/callbacks?kind=subscription&name=changes')).items).toHaveLength(1);

  const accepted = await runCommand(['accept', 'shelf', 'find'], { environment });
  expect(accepted.stdout).toMatch(/would have refused 2 of 2 recorded calls[\s\S]*accepted: find/);
  expect(await impactOf()).toMatchObject({ judged: 0, ...nothing });
  expect((await say('reader', '/look {"path": "a", "most": 3}')).isError).toBe(true);
  const kept = { rename: { most: 'limit' }, alias: { path: 'file_path' } };
  await send('PATCH', '/v1/toolsets/reading', { tools: [{ tool: 'shelf.find', name: 'look', arguments: kept }] });
  expect((await say('reader', '/look {"path": "a", "most": 3}')).isError).toBe(false);

  const count = async () => (await impactOf()).judged;
  await vi.waitFor(async () => expect(await count()).toBe(4), waiting);
  await send('DELETE', `/v1/sessions/${first.session}`);
  expect(await count()).toBe(3);
});

it('says which calls of an agent a draft would break, and which tools of its list keep them', async () => {
  const agent = { model: 'rehearsal/default', toolset: 'desk', tools: ['reckon', 'remember'] };
  await send('PUT', '/v1/toolsets/desk', {
    tools: [
      { tool: 'local.calculate', name: 'reckon' },
      { tool: 'builtin.write_file', name: 'remember' },
    ],
  });
  await send('PUT', '/v1/toolsets/other-desk', { tools: [{ tool: 'builtin.bash', name: 'reckon' }] });
  await send('PUT', '/v1/agents/clerk', agent);
  const { session } = await say('clerk', '/reckon {"expression": "6*7"}');
  const impactOf = (draft: object, headers?: Record<string, string>) =>
    send('POST', '/v1/agents/clerk/impact', { ...agent, ...draft }, headers);
  await vi.waitFor(async () => expect((await impactOf({})).same).toEqual({ names: 1, calls: 1 }), waiting);
  expect(await impactOf({})).toMatchObject({ changed: [], arguments: { judged: 1, ...nothing }, mended: null, elsewhere: 0 });

  const narrowed = await impactOf({ tools: ['remember'] });
  expect(narrowed.changed).toMatchObject([{ requested: 'reckon', change: 'gone', calls: 1, sessions: [session], readCalls: 1 }]);
  expect(narrowed.mends).toEqual([{ requested: 'reckon', tool: 'local.calculate' }]);
  expect((await impactOf(narrowed.mended)).changed).toEqual([]);
  expect((await impactOf({ toolset: 'other-desk', tools: undefined })).changed).toMatchObject([
    { requested: 'reckon', change: 'moved', was: 'local.calculate', now: ['builtin.bash'] },
  ]);
  expect((await impactOf({ toolset: 'no-such-toolset' })).changed).toMatchObject([{ change: 'gone', wireName: null }]);
  // An agent without its model, its provider or its price is compared all the same.
  expect((await impactOf({ model: 'no-provider/at-all', limits: { maxCost: 1 } })).changed).toEqual([]);

  const key = await send('POST', '/v1/keys', { name: 'other', scopes: ['toolsets'] });
  expect(await impactOf({ tools: [] }, { authorization: `Bearer ${key.key}` })).toMatchObject({
    changed: [],
    same: { names: 0, calls: 0 },
  });
  const bound = await send('POST', '/v1/keys', { name: 'bound', scopes: ['toolsets'], toolsets: ['desk'] });
  const refused = await service.call('POST', '/v1/agents/clerk/impact', agent, { authorization: `Bearer ${bound.key}` });
  expect(refused.status).toBe(403);

  await send('DELETE', `/v1/sessions/${session}`);
  expect((await impactOf({})).arguments).toMatchObject({ judged: 0, turns: { read: 0, left: 1 } });
});

it('compares the parameters of a made tool with its calls', async () => {
  const parameter = (name: string, type = 'string') => ({ name, type, description: 'What', required: true });
  const made = (...parameters: object[]) => ({
    description: 'Greets.',
    parameters,
    implementation: 'return "Hello " + JSON.stringify(args);',
  });
  await send('PUT', '/v1/tools/made.greet', made(parameter('who')));
  await send('PUT', '/v1/toolsets/polite', { tools: [{ tool: 'made.greet', name: 'greet' }] });
  await send('PUT', '/v1/agents/host', { model: 'rehearsal/default', toolset: 'polite' });
  expect((await say('host', '/greet {"who": "Ada"}')).isError).toBe(false);
  const impactOf = (draft: object, headers?: Record<string, string>) => send('POST', '/v1/tools/made.greet/impact', draft, headers);
  await vi.waitFor(async () => expect(await impactOf(made(parameter('who')))).toMatchObject({ judged: 1, ...nothing }), waiting);

  const renamed = await impactOf(made(parameter('person')));
  expect(renamed.refused).toMatchObject([{ toolset: 'polite', calls: 1, mends: [{ argument: 'person', alias: 'who' }] }]);
  const typed = await impactOf(made(parameter('who', 'number')));
  expect(typed.refused).toMatchObject([{ calls: 1, mends: [], issues: [{ path: 'who' }] }]);
  await send('PUT', '/v1/tools/made.greet', made(parameter('who', 'number')));
  expect((await say('host', '/greet {"who": "Ada"}')).isError).toBe(true);

  const key = await send('POST', '/v1/keys', { name: 'visitor', scopes: ['toolsets'] });
  expect(await impactOf(made(parameter('person')), { authorization: `Bearer ${key.key}` })).toMatchObject({ judged: 0, hashed: 0 });
  const bound = await send('POST', '/v1/keys', { name: 'elsewhere', scopes: ['toolsets'], toolsets: ['desk'] });
  const refused = await service.call('POST', '/v1/tools/made.greet/impact', made(), { authorization: `Bearer ${bound.key}` });
  expect(refused.status).toBe(403);
});
