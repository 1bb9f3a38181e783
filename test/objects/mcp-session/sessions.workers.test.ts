import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Scope } from '../../../src/core/people/principal.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { objectName } from '../../../src/storage/keys.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { mcpSessionIdleMs } from '../../../src/objects/mcp-session/session-meta.ts';
import { maxMcpSessionEvents } from '../../../src/objects/mcp-session/event-store.ts';
import { waitFor } from '../../wait-for.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { catalog } = wire(bindings);
const rootKey = 'root-key-of-the-tests-0123456789abcdef';
const worker = exports.default as unknown as { fetch(request: Request): Promise<Response> };

const send = (path: string, init: RequestInit = {}, key = rootKey): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  return worker.fetch(new Request(`https://moniker.test${path}`, { ...init, headers }));
};

beforeAll(async () => {
  const tools = [
    { tool: 'builtin.bash', aliases: ['shell', 'terminal'] },
    { tool: 'builtin.delete_file', approval: 'always' },
  ];
  await catalog('default').put('toolset', 'first', { tools });
  await catalog('default').put('toolset', 'second', { tools: [{ tool: 'local.calculate' }] });
});

async function keyWith(scopes: Scope[]): Promise<string> {
  return (await catalog('default').createKey({ name: 'test', scopes })).key;
}

/** The SDK's client for the 2025 versions; `prepare` sets handlers that must exist before it connects. */
async function connect(
  path: string,
  options: { key?: string; capabilities?: ClientOptions['capabilities']; prepare?(client: Client): void } = {},
) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: options.capabilities ?? {} });
  options.prepare?.(client);
  const transport = new StreamableHTTPClientTransport(new URL(`https://moniker.test${path}`), {
    fetch: (url, init) => send(String(url).slice('https://moniker.test'.length), init, options.key),
  });
  await client.connect(transport);
  return { client, transport, id: transport.sessionId ?? '' };
}

const stubOf = async (id: string) =>
  bindings.MCP_SESSION.get(bindings.MCP_SESSION.idFromName(await objectName('default', 'mcp-session', id.split('.')[0] ?? '')));

/** Text of the requests in flight in the session's object. */
const stored = async (id: string): Promise<string> =>
  await runInDurableObject(await stubOf(id), (_instance, { storage }) => {
    if (storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'under_way'").toArray().length === 0) return '';
    return JSON.stringify(storage.sql.exec('SELECT * FROM under_way').toArray());
  });

const rpc = (path: string, body: unknown, headers: Record<string, string> = {}, key?: string) =>
  send(
    path,
    {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    },
    key,
  );

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('a session of an MCP client', () => {
  it('ends with its calls in flight when its key is revoked with `cancel`', async () => {
    const { key, record } = await catalog('default').createKey({ name: 'leaked', scopes: ['tools'] });
    const { client, id } = await connect('/mcp/first', { key });
    const call = client.callTool({ name: 'shell', arguments: { command: 'sleep 25' } }).catch((error: unknown) => error);
    await waitFor(async () => expect(await stored(id)).toContain('tools/call'));
    await catalog('default').revokeKey(record.id, { cancel: true });
    await waitFor(async () => expect(await stored(id)).toBe(''));
    await client.close();
    expect(await call).toBeInstanceOf(Error);
  });

  it('lists and calls tools by their aliases with the SDK, and ends on DELETE', async () => {
    const { client, transport, id } = await connect('/mcp/first');
    expect(id).toMatch(/^mcp_[a-z0-9]{32}\.[\w-]{43}$/);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shell', 'delete_file']);
    const result = await client.callTool({ name: 'terminal', arguments: { command: 'echo $((6*7))' } });
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('42') }]);
    await client.ping();
    await transport.terminateSession();
    expect((await rpc('/mcp/first', { jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': id })).status).toBe(404);
    await client.close();
  });

  it('continues after its object was evicted, with the state that the client had set', async () => {
    const { client, id } = await connect('/mcp/first');
    await evictDurableObject(await stubOf(id));
    expect((await client.listTools()).tools).toHaveLength(2);
    expect(await client.callTool({ name: 'shell', arguments: { command: 'echo again' } })).toMatchObject({ isError: false });
    await client.close();
  });

  it('is listed what its address says, also after its object was evicted, and runs code over the tools', async () => {
    const { client, id } = await connect('/mcp/first?tools=code');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['run_code']);
    await evictDurableObject(await stubOf(id));
    const code = 'const { output } = await tools.terminal({ command: "echo $((6*7))" }); return Number(output) + 1';
    expect(await client.callTool({ name: 'run_code', arguments: { code } })).toMatchObject({ content: [{ type: 'text', text: '43' }] });
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await rpc('/mcp/first', list, { 'mcp-session-id': id })).status).toBe(404);
    await client.close();
  });

  it('is unknown to another key, at another endpoint, and under an id that was never issued', async () => {
    const { client, id } = await connect('/mcp/first');
    const other = await keyWith(['tools']);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const tampered = `${id.slice(0, -2)}${id.endsWith('AA') ? 'BB' : 'AA'}`;
    const answers = await Promise.all([
      rpc('/mcp/first', list, { 'mcp-session-id': id }, other),
      rpc('/mcp/second', list, { 'mcp-session-id': id }),
      rpc('/mcp', list, { 'mcp-session-id': id }),
      rpc('/mcp/first', list, { 'mcp-session-id': tampered }),
      rpc('/mcp/first', list, { 'mcp-session-id': 'x'.repeat(5_000) }),
      send('/mcp/first', { method: 'DELETE', headers: { 'mcp-session-id': id } }, other),
      send('/mcp/first', { headers: { 'mcp-session-id': id, accept: 'text/event-stream' } }, other),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } });
    }
    expect((await client.listTools()).tools).toHaveLength(2);
    await client.close();
  });
});

describe('an approval during a call in a session', () => {
  const asking = (answer: Record<string, unknown>, asked: unknown[]) => ({
    capabilities: { elicitation: { form: {} } },
    prepare: (client: Client) =>
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params);
        return answer as never;
      }),
  });

  it('is an elicitation if the key may approve; accepting runs the call', async () => {
    const asked: unknown[] = [];
    const { client } = await connect('/mcp/first', asking({ action: 'accept', content: { approve: true } }, asked));
    const result = await client.callTool({ name: 'delete_file', arguments: { path: 'notes.txt' } });
    expect(asked).toEqual([expect.objectContaining({ message: expect.stringContaining('builtin.delete_file') })]);
    // It ran: there was nothing to delete.
    expect(result._meta?.code).toBe('tool_error');
    await client.close();
  });

  it.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { approve: false } }])(
    'is denied by: %j',
    async (answer) => {
      const { client } = await connect('/mcp/first', asking(answer, []));
      const result = await client.callTool({ name: 'delete_file', arguments: { path: 'notes.txt' } });
      expect(result).toMatchObject({ isError: true, _meta: { code: 'denied' } });
      await client.close();
    },
  );

  it('is not requested without the scope, or from a client without elicitation', async () => {
    const asked: unknown[] = [];
    const yes = asking({ action: 'accept', content: { approve: true } }, asked);
    for (const options of [{ key: await keyWith(['tools']), ...yes }, {}]) {
      const { client } = await connect('/mcp/first', options);
      const result = await client.callTool({ name: 'delete_file', arguments: { path: 'notes.txt' } });
      expect(result).toMatchObject({ isError: true, _meta: { code: 'approval_required' } });
      await client.close();
    }
    expect(asked).toEqual([]);
  });
});

describe('the stream of a session', () => {
  it('notifies at once when a call has equipped another toolset', async () => {
    const changes: unknown[] = [];
    const { client } = await connect('/mcp', {
      prepare: (client) => client.setNotificationHandler('notifications/tools/list_changed', (change) => void changes.push(change)),
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('equip-toolset');
    await client.callTool({ name: 'equip-toolset', arguments: { name: 'second' } });
    await waitFor(() => expect(changes.length).toBeGreaterThan(0));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['calculate', 'enter-configuration-mode']);
    await client.callTool({ name: 'enter-configuration-mode', arguments: {} });
    await client.close();
  });

  it('does not need the object of the session', async () => {
    await catalog('default').put('toolset', 'changing', { tools: [{ tool: 'builtin.bash' }] });
    const changes: unknown[] = [];
    const { client, id } = await connect('/mcp/changing', {
      prepare: (client) => client.setNotificationHandler('notifications/tools/list_changed', (change) => void changes.push(change)),
    });
    await client.ping();
    await evictDurableObject(await stubOf(id));
    await catalog('default').put('toolset', 'changing', { tools: [{ tool: 'local.calculate' }] });
    await waitFor(() => expect(changes.length).toBeGreaterThan(0));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['calculate']);
    await client.close();
  });

  it.each([
    ['a list', { method: 'tools/list' }],
    ['a call', { method: 'tools/call', params: { name: 'shell', arguments: { command: 'echo 1' } } }],
  ])('continues after the last received event of %s', async (_what, request) => {
    const begun = await rpc('/mcp/first', initialize);
    const id = begun.headers.get('mcp-session-id') ?? '';
    await begun.text();
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
    const answer = await rpc('/mcp/first', { jsonrpc: '2.0', id: 7, ...request }, headers);
    const text = await answer.text();
    const [first = '', last = ''] = text.match(/(?<=^id: )\S+/gm) ?? [];
    const again = await send('/mcp/first', { headers: { ...headers, accept: 'text/event-stream', 'last-event-id': first } });
    expect(again.status).toBe(200);
    const message = text.slice(text.indexOf('event: message'));
    expect(await again.text()).toBe(message);
    const rest = await send('/mcp/first', { headers: { ...headers, accept: 'text/event-stream', 'last-event-id': last } });
    expect([rest.status, await rest.text()]).toEqual([200, '']);
    const json = await send('/mcp/first', { headers: { ...headers, accept: 'application/json', 'last-event-id': first } });
    expect(json.status).toBe(406);
    const unknown = await send('/mcp/first', { headers: { ...headers, accept: 'text/event-stream', 'last-event-id': '999999' } });
    expect(unknown.status).toBe(400);
  });
});

describe('the response to a request that is answered at once', () => {
  const call = (name: string, args: object) => ({ method: 'tools/call', params: { name, arguments: args } });
  // The SDK's transport answers batches.
  it.each<[string, object]>([
    ['a list', { method: 'tools/list' }],
    ['an unknown page of a list', { method: 'tools/list', params: { cursor: 'abc' } }],
    ['a call', call('shell', { command: 'echo 1' })],
    [
      'a call with a progress token',
      { ...call('shell', { command: 'echo 1' }), params: { ...call('shell', { command: 'echo 1' }).params, _meta: { progressToken: 1 } } },
    ],
    ['a call with invalid arguments', call('shell', { command: 5 })],
    ['a call of an unknown tool', call('nothing', {})],
    ['a call without a name', { method: 'tools/call', params: {} }],
    ['a call that requires approval', call('delete_file', { path: 'a' })],
    ['an unknown method', { method: 'nothing' }],
    ['a ping', { method: 'ping' }],
  ])('has the form of a stream: %s', async (_what, request) => {
    const begun = await rpc('/mcp/first', initialize);
    await begun.text();
    const id = begun.headers.get('mcp-session-id') ?? '';
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version };
      const answers = [];
      for (const body of [{ jsonrpc: '2.0', id: 5, ...request }, [{ jsonrpc: '2.0', id: 5, ...request }]]) {
        const answer = await rpc('/mcp/first', body, headers);
        const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = Object.fromEntries(answer.headers);
        const text = (await answer.text()).replaceAll(/^id: .+/gm, 'id: …').replaceAll(/"durationMs":\d+/g, '');
        answers.push({ status: answer.status, headers: rest, text });
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.text).toContain('"id":5');
    }
  });

  it('is refused as by the transport', async () => {
    const begun = await rpc('/mcp/first', initialize);
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' };
    const statuses = [];
    for (const [headers, body] of [
      [{ accept: 'application/json' }, list],
      [{ 'mcp-protocol-version': '1999-01-01' }, list],
      [{}, { ...list, jsonrpc: '1.0' }],
      [{}, { ...list, more: 1 }],
      [{}, { ...list, id: 1.5 }],
      [{}, { ...list, params: [] }],
      [{}, { ...list, params: { _meta: { progressToken: {} } } }],
      [{}, initialize],
      [{}, list],
    ] as [Record<string, string>, object][])
      statuses.push((await rpc('/mcp/first', body, { ...session, ...headers })).status);
    expect(statuses).toEqual([406, 400, 400, 400, 400, 400, 400, 400, 200]);
  });
});

describe('an unused session', () => {
  it('deletes itself when it expires, and not before', async () => {
    const { client, id } = await connect('/mcp/first');
    await client.listTools();
    await client.close();
    const stub = await stubOf(id);
    const rows = () =>
      runInDurableObject(stub, (_, state) => [...state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'events'")].length);
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(1);
    await runInDurableObject(
      stub,
      (_, state) => void state.storage.sql.exec('UPDATE meta SET seen_at = ?', Date.now() - mcpSessionIdleMs - 1),
    );
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(0);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await rpc('/mcp/first', list, { 'mcp-session-id': id })).status).toBe(404);
    // The request did not create it again.
    expect(await rows()).toBe(0);
  });
});

describe('the limits of a session', () => {
  const open = async () => {
    const begun = await rpc('/mcp/first', initialize);
    await begun.text();
    return { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
  };

  it('refuses requests over the limit of requests in flight, and serves the next one', async () => {
    const headers = await open();
    const batch = Array.from({ length: limits.maxMcpRequestsInFlight + 1 }, (_, id) => ({
      jsonrpc: '2.0',
      id: id + 10,
      method: 'tools/list',
    }));
    const refused = await rpc('/mcp/first', batch, headers);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
    expect(await (await rpc('/mcp/first', batch.slice(1), headers)).text()).toContain('"id":74');
    expect(await (await rpc('/mcp/first', batch.slice(0, 1), headers)).text()).toContain('"tools"');
  });

  it('stores the newest messages only', async () => {
    const headers = await open();
    for (let round = 0; round < 20; round += 1) {
      const batch = Array.from({ length: 60 }, (_, id) => ({ jsonrpc: '2.0', id: `${round}-${id}`, method: 'ping' }));
      await (await rpc('/mcp/first', batch, headers)).text();
    }
    const kept = await runInDurableObject(await stubOf(headers['mcp-session-id']), (_, state) =>
      state.storage.sql.exec<{ count: number }>('SELECT count(*) AS count FROM events').one(),
    );
    expect(kept.count).toBeLessThanOrEqual(maxMcpSessionEvents);
    expect(kept.count).toBeGreaterThan(0.9 * maxMcpSessionEvents - 1);
  });

  it('accepts one listening stream, and another one once that is closed', async () => {
    const headers = { ...(await open()), accept: 'text/event-stream' };
    const first = await send('/mcp/first', { headers });
    expect(first.headers.get('x-accel-buffering')).toBe('no');
    expect((await send('/mcp/first', { headers })).status).toBe(409);
    await first.body?.cancel();
    await waitFor(async () => {
      const again = await send('/mcp/first', { headers });
      await again.body?.cancel();
      expect(again.status).toBe(200);
    });
  });

  const waiting = async (headers: Record<string, string>, id: unknown) => {
    const call = { name: 'delete_file', arguments: { path: `${id}.txt` } };
    return await rpc('/mcp/first', { jsonrpc: '2.0', id, method: 'tools/call', params: call }, headers);
  };
  const openAsking = async () => {
    const capable = { ...initialize, params: { ...initialize.params, capabilities: { elicitation: {} } } };
    const begun = await rpc('/mcp/first', capable);
    await begun.text();
    return { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
  };
  const cancel = (headers: Record<string, string>, requestId: unknown) =>
    rpc('/mcp/first', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, headers);

  it('ends the stream of a cancelled request without a response, any number of times', async () => {
    const headers = await openAsking();
    for (let id = 10; id < 10 + limits.maxMcpRequestsInFlight + 1; id += 1) {
      const open = await waiting(headers, id);
      expect(open.status).toBe(200);
      expect((await cancel(headers, id)).status).toBe(202);
      const said = await open.text();
      expect(said).not.toContain('"result"');
      expect(said).not.toContain(`"id":${id},"error"`);
    }
    expect(await (await rpc('/mcp/first', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)).text()).toContain('"tools"');
  });

  it('drops one cancelled request of a batch and answers the others on its stream', async () => {
    const headers = { ...(await openAsking()), 'mcp-protocol-version': '2025-03-26' };
    const call = { name: 'delete_file', arguments: { path: 'x.txt' } };
    const batch = [
      { jsonrpc: '2.0', id: 21, method: 'tools/call', params: call },
      { jsonrpc: '2.0', id: 22, method: 'tools/list' },
    ];
    const open = await rpc('/mcp/first', batch, headers);
    expect((await cancel(headers, 21)).status).toBe(202);
    const said = await open.text();
    expect(said).toContain('"id":22');
    expect(said).not.toMatch(/"id":21/);
  });

  it('refuses an id that another request in flight has, in any order', async () => {
    const headers = await openAsking();
    const first = await waiting(headers, 'same');
    const second = await waiting(headers, 'same');
    expect([second.status, await second.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ code: -32600 }) }),
    ]);
    const list = { jsonrpc: '2.0', id: 31, method: 'tools/list' };
    expect((await rpc('/mcp/first', [list, list], headers)).status).toBe(400);
    await cancel(headers, 'same');
    await first.text();
    const again = await waiting(headers, 'same');
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });
});
