/** Sessions of a command: each MCP session, each session of a chat and each key without a session has a process of its own. */
import type { Client } from '@modelcontextprotocol/client';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { eventually } from './eventually.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const script = join(root, 'test/local/stdio/fake-server.mjs');
const dataDir = makeDataDir();
let service: RunningService;
let proof: Record<string, string>;
const clients: Client[] = [];

beforeAll(async () => {
  service = await startService(dataDir);
  const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
  proof = { [launcherHeader]: token };
  await putServer({});
  const tools = ['remember', 'ask', 'identity', 'log', 'roots'].map((name) => ({ tool: `fake.${name}` }));
  await service.call('PUT', '/v1/toolsets/local', { tools });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await service.stop();
  removeDataDir(dataDir);
});

async function putServer(more: Record<string, unknown>): Promise<void> {
  const document = { kind: 'mcp', command: process.execPath, args: [script], trusted: true, roots: 'client', ...more };
  const { json } = await service.call('PUT', '/v1/servers/fake', document, proof);
  expect(json.health).toMatchObject({ status: 'ok' });
}

/** A client of a user, which answers questions with its name. */
async function user(name: string, logs: unknown[] = [], key = service.key): Promise<Client> {
  const client = await connectClient(`${service.url}/mcp/local`, key, 'legacy', { elicitation: { form: {} }, roots: {} }, (one) => {
    one.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name } }));
    one.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file:///${name}` }] }));
    one.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params.data));
  });
  clients.push(client);
  return client;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> =>
  textOf((await client.callTool({ name, arguments: args })) as { content: { type: string }[] });

const remember = async (client: Client, thought: string): Promise<string[]> => JSON.parse(await call(client, 'remember', { thought }));
const programs = async (): Promise<{ owner: string | null; state: string }[]> => (await service.call('GET', '/v1/programs')).json.items;

it('keeps the thoughts, questions, roots and logs of two clients apart, also at the same time', async () => {
  const [aliceLogs, bobLogs]: unknown[][] = [[], []];
  const [alice, bob] = [await user('Alice', aliceLogs), await user('Bob', bobLogs)];
  expect([await remember(alice, 'a1'), await remember(bob, 'b1'), await remember(alice, 'a2')]).toEqual([['a1'], ['b1'], ['a1', 'a2']]);
  const rounds = Array.from({ length: 5 }, () =>
    Promise.all([call(alice, 'ask'), call(bob, 'ask'), call(alice, 'roots'), call(bob, 'roots')]),
  );
  for (const [toAlice, toBob, ofAlice, ofBob] of await Promise.all(rounds)) {
    expect([toAlice, toBob].map((answer) => JSON.parse(answer).content?.name)).toEqual(['Alice', 'Bob']);
    expect([ofAlice, ofBob].map((answer) => JSON.parse(answer).roots?.[0].uri)).toEqual(['file:///Alice', 'file:///Bob']);
  }
  await Promise.all([call(alice, 'log', { line: 'for Alice' }), call(bob, 'log', { line: 'for Bob' })]);
  expect([aliceLogs, bobLogs]).toEqual([['for Alice'], ['for Bob']]);
});

it('keeps those of a session when the process of another one is killed', async () => {
  const [alice, bob] = [await user('Alice'), await user('Bob')];
  await remember(bob, 'b1');
  const { pid } = JSON.parse(await call(alice, 'identity'));
  process.kill(pid, 'SIGKILL');
  expect(await remember(bob, 'b2')).toEqual(['b1', 'b2']);
  await eventually('her next process starts', async () =>
    (await call(alice, 'remember', { thought: 'a1' })) === '["a1"]' ? true : undefined,
  );
});

it('gives each session of a chat its own, and lists the processes', async () => {
  const chat = async (): Promise<(thought: string) => Promise<string>> => {
    const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'local' });
    return async (thought) => {
      const turn = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: `/remember {"thought": "${thought}"}` });
      return turn.text;
    };
  };
  const [one, two] = [await chat(), await chat()];
  await one('c1');
  expect(await two('d1')).toContain('[\\"d1\\"]');
  expect(await one('c2')).toContain('[\\"c1\\",\\"c2\\"]');
  const owners = (await programs()).map(({ owner }) => owner);
  expect(new Set(owners).size).toBe(owners.length);
  // Without the signatures of MCP sessions.
  expect(owners.join()).not.toContain('.');
  expect(owners.filter((owner) => owner !== null).length).toBeGreaterThanOrEqual(2);
  await eventually('the spare process is ready', async () =>
    (await programs()).some(({ owner, state }) => owner === null && state === 'ready') ? true : undefined,
  );
});

it('ends the process of an MCP session and of a session of a chat when it is deleted, and no other one', async () => {
  const [one, two] = [await user('Alice'), await user('Bob')];
  await remember(one, 'a1');
  await remember(two, 'b1');
  const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'local' });
  await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: '/remember {"thought": "c1"}' });
  const [first, second] = [one, two].map((client) => String(client.transport?.sessionId).split('.', 1)[0]);
  const owners = async (): Promise<(string | null)[]> => (await programs()).map(({ owner }) => owner);
  expect(await owners()).toEqual(expect.arrayContaining([first, second, json.id]));
  const headers = { authorization: `Bearer ${service.key}`, 'mcp-session-id': String(one.transport?.sessionId) };
  expect((await fetch(`${service.url}/mcp/local`, { method: 'DELETE', headers })).ok).toBe(true);
  await eventually('the process of the MCP session has ended', async () => ((await owners()).includes(first ?? null) ? undefined : true));
  expect((await service.call('DELETE', `/v1/sessions/${json.id}`)).status).toBe(204);
  await eventually('the process of the chat has ended', async () => ((await owners()).includes(json.id) ? undefined : true));
  expect(await remember(two, 'b2')).toEqual(['b1', 'b2']);
});

it('gives each key without a session its own, or one for all its sessions, or one for everybody', async () => {
  const { key } = (await service.call('POST', '/v1/keys', { name: 'bob', scopes: ['tools'] })).json;
  const direct = async (thought: string, as = service.key): Promise<string[]> => {
    const body = { name: 'remember', arguments: { thought } };
    const { json } = await service.call('POST', '/v1/toolsets/local/calls', body, { authorization: `Bearer ${as}` });
    return JSON.parse(json.content[0].text);
  };
  expect([await direct('a1'), await direct('b1', key), await direct('a2')]).toEqual([['a1'], ['b1'], ['a1', 'a2']]);
  await putServer({ instances: 'key' });
  const [one, two, bob] = [await user('Alice'), await user('Alice'), await user('Bob', [], key)];
  await remember(one, 'a1');
  expect([await remember(two, 'a2'), await direct('a3'), await remember(bob, 'b1')]).toEqual([['a1', 'a2'], ['a1', 'a2', 'a3'], ['b1']]);
  await putServer({ instances: 'shared' });
  await remember(one, 'a1');
  expect(await remember(bob, 'b1')).toEqual(['a1', 'b1']);
  expect((await service.call('GET', '/v1/servers/fake')).json).toMatchObject({ instances: 'shared' });
  await eventually('one process runs', async () => ((await programs()).length === 1 ? true : undefined));
});
