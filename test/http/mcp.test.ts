import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { bodyOf, createHarness, demo, rootKey, type Harness } from './harness.ts';
import { discardTimeoutMs, requestBodyTimeoutMs } from '../../src/http/json-body.ts';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { createFairPool, createPools } from '../../src/engine/fair-pool.ts';
import { fakeClock } from '../fakes/runtime.ts';

async function withDemo(environment: Record<string, string> = {}, replaced: Parameters<typeof createHarness>[1] = {}): Promise<Harness> {
  const harness = createHarness(environment, replaced);
  await harness.send('PUT', '/v1/toolsets/demo', demo);
  return harness;
}

async function connect(harness: Harness, path: string, mode: 'auto' | 'legacy', key = rootKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`http://moniker.test${path}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: async (url, init) => await harness.app.request(String(url), init),
  });
  await client.connect(transport);
  return client;
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request as a client of revision 2026-07-28 sends it. */
function modern(
  harness: Harness,
  path: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
) {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } };
  const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  const own = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name };
  return harness.send('POST', path, body, { ...own, ...headers });
}

describe('a toolset over MCP, 2026-07-28', () => {
  it('is discovered, listed and called with the SDK by any name that resolves', async () => {
    const client = await connect(await withDemo(), '/mcp/demo', 'auto');
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['shell', 'read_file']);
    expect(tools[0]).toMatchObject({ _meta: { canonical: 'builtin.bash', aliases: ['terminal'] } });
    for (const name of ['shell', 'terminal', 'builtin.bash', 'bash', 'Terminal']) {
      const result = await client.callTool({ name, arguments: { command: 'ls' } });
      expect(result).toMatchObject({
        content: [{ type: 'text', text: 'ran with {"command":"ls"}' }],
        _meta: { canonical: 'builtin.bash' },
      });
    }
  });
});

describe('a toolset over MCP that is listed as other tools', () => {
  it('finds, describes and calls its tools with the SDK', async () => {
    const client = await connect(await withDemo(), '/mcp/demo?tools=search', 'auto');
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['find_tools', 'describe_tool', 'call_tool']);
    const result = await client.callTool({ name: 'call_tool', arguments: { name: 'terminal', arguments: { command: 'ls' } } });
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'ran with {"command":"ls"}' }],
      _meta: { requested: 'terminal', canonical: 'builtin.bash', via: 'alias' },
    });
    const described = await client.callTool({ name: 'describe_tool', arguments: { name: 'terminal' } });
    expect(described).toMatchObject({ isError: false, content: [{ text: expect.stringContaining('"name":"shell"') }] });
  });

  it('is what the address says, at a version too, and refuses what it does not know', async () => {
    const h = await withDemo();
    const names = async (path: string) =>
      (await bodyOf(await modern(h, path, 'tools/list'))).result.tools.map(({ name }: { name: string }) => name);
    expect(await names('/mcp/demo?tools=code')).toEqual(['run_code']);
    expect(await names('/mcp/default/demo@1?tools=search')).toContain('call_tool');
    for (const path of ['/mcp/demo?tools=none', '/mcp?tools=search', '/mcp/demo?tools=search&tools=code', '/mcp/demo?mode=search']) {
      const refused = await modern(h, path, 'tools/list');
      expect(refused.status).toBe(422);
      expect(await bodyOf(refused)).toMatchObject({
        error: { data: { code: 'invalid_request', issues: [{ path: expect.stringMatching(/^(tools|mode|)$/) }] } },
      });
    }
  });
});

describe('a request to /mcp', () => {
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

  it('requires a key with the scope, and reports errors as JSON-RPC', async () => {
    const h = await withDemo();
    const none = await modern(h, '/mcp/demo', 'tools/list', {}, { authorization: undefined });
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect(await bodyOf(none)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000, data: { code: 'unauthenticated' } } });
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, await h.key({ scopes: ['chat'] }))).status).toBe(403);
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, await h.key({ scopes: ['tools'], toolsets: ['other'] }))).status).toBe(403);
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, await h.key({ scopes: ['tools'], toolsets: ['demo'] }))).status).toBe(200);
  });

  it('names an existing toolset or a version of it, with @ encoded or not', async () => {
    const h = await withDemo();
    const gone = await modern(h, '/mcp/nothing', 'tools/list');
    expect(gone.status).toBe(404);
    expect(await bodyOf(gone)).toMatchObject({ error: { data: { code: 'not_found' } } });
    for (const path of ['/mcp/demo@1', '/mcp/demo%401']) {
      const answer = await modern(h, path, 'tools/list');
      expect(answer.headers.get('x-moniker-edition')).toBe('demo@1.1');
      expect((await bodyOf(answer)).result.tools).toHaveLength(2);
    }
    expect((await modern(h, '/mcp/demo@7', 'tools/list')).status).toBe(404);
    expect((await modern(h, '/mcp/Demo', 'tools/list')).status).toBe(404);
  });

  it.each([
    ['a foreign origin', { origin: 'https://evil.example' }, 403],
    ['no origin in particular', { origin: 'null' }, 403],
    ['its own origin', { origin: 'https://moniker.example' }, 200],
    ['the origin that the request was sent to', { origin: 'http://localhost' }, 403],
    ['an origin of the operator’s list', { origin: 'https://app.example' }, 200],
    ['no origin', {}, 200],
  ])('is checked by origin when deployed: %s', async (_what, headers, status) => {
    const h = await withDemo({ MONIKER_ALLOWED_ORIGINS: 'https://app.example', MONIKER_PUBLIC_URL: 'https://moniker.example' });
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, headers)).status).toBe(status);
  });

  it.each([
    ['another page of this machine', { origin: 'http://localhost:6274' }, 200],
    ['a foreign page', { origin: 'https://evil.example' }, 403],
    ['a foreign name that leads here', { host: 'evil.example:8787' }, 403],
    ['a foreign name that leads here, with its page', { host: 'evil.example', origin: 'http://evil.example' }, 403],
    ['the name of this machine', { host: 'localhost:8787' }, 200],
    ['its address', { host: '[::1]:8787' }, 200],
    ['what is no name', { host: 'a b' }, 400],
  ])('is checked by origin and host on a loopback address: %s', async (_what, headers, status) => {
    const h = await withDemo({ MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, headers)).status).toBe(status);
  });

  it('is readable by allowed pages, with the headers of MCP', async () => {
    const h = await withDemo({ MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
    const origin = 'http://localhost:6274';
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, mcp-protocol-version',
    };
    const preflight = await h.send('OPTIONS', '/mcp/demo', undefined, asked);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, mcp-protocol-version');
    const answer = await modern(h, '/mcp/demo', 'tools/list', {}, { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
    const foreign = await modern(h, '/mcp/demo', 'tools/list', {}, { origin: 'https://evil.example' });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    expect((await h.send('GET', '/v1/toolsets', undefined, { origin })).headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['no JSON', 'not json', 400, -32700],
    ['nothing', '', 400, -32700],
    ['more than a megabyte', `"${'a'.repeat(1024 * 1024)}"`, 413, -32600],
    ['a pit of brackets', '['.repeat(100_000), 400, -32700],
    ['a message without a method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['a number', '7', 400, -32600],
  ])('is rejected if it is %s', async (_what, body, status, code) => {
    const h = await withDemo();
    const answer = await h.send('POST', '/mcp/demo', body, {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
    expect(answer.status).toBe(status);
    expect(await bodyOf(answer)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });

  it('times out if its body does not arrive', async () => {
    const h = await withDemo();
    vi.useFakeTimers();
    try {
      const headers = {
        authorization: `Bearer ${rootKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const begun = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"jsonrpc"')) });
      const slow = { method: 'POST', headers, body: begun, duplex: 'half' };
      const answering = h.app.request('/mcp/demo', slow);
      await vi.advanceTimersByTimeAsync(requestBodyTimeoutMs + discardTimeoutMs);
      const answer = await answering;
      expect(answer.status).toBe(400);
      expect(await bodyOf(answer)).toMatchObject({
        error: { code: -32700, message: expect.stringContaining('was not received completely') },
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('accepts no other content type or method', async () => {
    const h = await withDemo();
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, { 'content-type': 'text/plain' })).status).toBe(415);
    for (const method of ['PUT', 'PATCH']) {
      const answer = await h.send(method, '/mcp/demo', {});
      expect(answer.status).toBe(405);
      expect(await bodyOf(answer)).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
    }
    // Without a session there is no stream to open, and no session to end.
    expect((await h.send('GET', '/mcp/demo', undefined, { accept: 'text/event-stream' })).status).toBe(405);
    expect((await h.send('DELETE', '/mcp/demo')).status).toBe(405);
  });

  it('accepts batches of the 2025 eras without a session, within limits', async () => {
    const h = await withDemo();
    const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
    const headers = { accept: 'application/json, text/event-stream' };
    const both = await h.send('POST', '/mcp/demo', [list(1), list(2)], headers);
    expect(both.status).toBe(200);
    expect((await both.text()).match(/"id":[12]/g)?.sort()).toEqual(['"id":1', '"id":2']);
    expect(
      (
        await h.send(
          'POST',
          '/mcp/demo',
          Array.from({ length: 5_000 }, (_, id) => list(id)),
          headers,
        )
      ).status,
    ).toBe(400);
    const mixed = await h.send('POST', '/mcp/demo', [{ ...list(1), params: { _meta: envelope } }, list(2)], headers);
    expect(mixed.status).toBe(400);
    expect(
      (await h.send('POST', '/mcp/demo', [{ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }, list(2)], headers)).status,
    ).toBe(400);
  });

  it('gets specific errors for an unknown tool, an invalid cursor and an unknown method', async () => {
    const h = await withDemo();
    const unknown = await bodyOf(await modern(h, '/mcp/demo', 'tools/call', { name: 'shel', arguments: {} }));
    expect(unknown.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('shell'),
      data: { code: 'unknown_tool', requested: 'shel' },
    });
    for (const cursor of ['garbage', '!!', 'W10', 'WyJ0b29scyIsIiIsMV0', 'a'.repeat(5_000), btoa('["tools","x",1e99]')]) {
      expect((await bodyOf(await modern(h, '/mcp/demo', 'tools/list', { cursor }))).error, cursor).toMatchObject({ code: -32602 });
    }
    expect((await bodyOf(await modern(h, '/mcp/demo', 'no/such'))).error).toMatchObject({ code: -32601 });
    // Rejected calls count as calls.
    expect((await h.catalog.audit({ limit: 10 })).items).toMatchObject([{ requested: 'shel', verdict: 'refused', code: 'unknown_tool' }]);
  });

  it('gets errors of a call as results', async () => {
    const { result } = await bodyOf(
      await modern(await withDemo(), '/mcp/demo', 'tools/call', { name: 'shell', arguments: { command: 7 } }),
    );
    expect(result).toMatchObject({
      isError: true,
      _meta: { code: 'invalid_arguments', issues: [{ path: 'command' }] },
    });
  });
});

describe('a call that requires approval, 2026-07-28', () => {
  const canElicit = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };

  async function asking() {
    const h = createHarness();
    await h.send('PUT', '/v1/toolsets/demo', {
      tools: [
        { tool: 'builtin.bash', approval: 'always', aliases: ['shell'] },
        { tool: 'builtin.read_file', approval: 'always' },
      ],
    });
    const call = async (params: Record<string, unknown> = {}, headers: Record<string, string | undefined> = {}, path = '/mcp/demo') => {
      const all = { name: 'shell', arguments: { command: 'ls' }, ...params, _meta: canElicit };
      const own = {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': String(all.name),
      };
      return await bodyOf(await h.send('POST', path, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: all }, { ...own, ...headers }));
    };
    const { result } = await call();
    return { h, call, asked: result };
  }
  const yes = { approval: { action: 'accept', content: { approve: true } } };

  it('returns the complete question, runs once when approved, and not again', async () => {
    const { call, asked, h } = await asking();
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        approval: { method: 'elicitation/create', params: { mode: 'form', message: expect.stringContaining('{"command":"ls"}') } },
      },
    });
    expect((await h.catalog.audit({ limit: 10 })).items).toEqual([]);
    const again = { inputResponses: yes, requestState: asked.requestState };
    expect((await call(again)).result).toMatchObject({ isError: false, content: [{ text: 'ran with {"command":"ls"}' }] });
    expect((await call(again)).error).toMatchObject({ code: -32602, data: { reason: 'invalid_request_state' } });
    expect((await h.catalog.audit({ limit: 10 })).items).toMatchObject([{ canonical: 'builtin.bash', verdict: 'ran' }]);
  });

  it.each([
    ['a no', { approval: { action: 'decline' } }],
    ['nothing', {}],
    ['a yes to something else', { other: { action: 'accept', content: { approve: true } } }],
    ['a yes that is none', { approval: { action: 'accept', content: { approve: 'true' } } }],
  ])('does not run with %s', async (_what, inputResponses) => {
    const { call, asked } = await asking();
    expect((await call({ inputResponses, requestState: asked.requestState })).result).toMatchObject({
      isError: true,
      _meta: { code: 'denied' },
    });
  });

  it('accepts the decision only for this call: key, toolset, tool, arguments, time and signature', async () => {
    const { call, asked, h } = await asking();
    await h.send('PUT', '/v1/toolsets/other', { tools: [{ tool: 'builtin.bash', approval: 'always', aliases: ['shell'] }] });
    const requestState: string = asked.requestState;
    const [payload = '', mac = ''] = requestState.split('.');
    const forged = btoa(atob(payload.replaceAll('-', '+').replaceAll('_', '/')).replace('"rounds":0', '"rounds":9')).replace(/=+$/, '');
    const again = { inputResponses: yes, requestState };
    const refused = [
      await call({ ...again, arguments: { command: 'rm -rf /' } }),
      await call({ ...again, name: 'read_file', arguments: { path: 'ls' } }),
      await call(again, await h.key({ scopes: ['tools', 'approve'] })),
      await call(again, {}, '/mcp/other'),
      await call({ ...again, requestState: `${payload}.${mac.slice(0, -2)}AA` }),
      await call({ ...again, requestState: `${forged}.${mac}` }),
      await call({ ...again, requestState: payload }),
      await call({ ...again, requestState: 'x'.repeat(100_000) }),
      await call({ ...again, requestState: '.' }),
    ];
    for (const { error } of refused) expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_request_state' } });
    // Another name of the tool makes the same call.
    expect((await call({ ...again, name: 'bash' })).result).toMatchObject({ isError: false });
    const late = await call();
    await h.clock.advance(11 * 60_000);
    expect((await call({ inputResponses: yes, requestState: late.result.requestState })).error).toMatchObject({ code: -32602 });
  });

  it('is approval_required for a key that may not approve, and for a client without elicitation', async () => {
    const { h, call } = await asking();
    expect((await call({}, await h.key({ scopes: ['tools'] }))).result).toMatchObject({
      isError: true,
      _meta: { code: 'approval_required' },
    });
    const silent = await bodyOf(await modern(h, '/mcp/demo', 'tools/call', { name: 'shell', arguments: { command: 'ls' } }));
    expect(silent.result).toMatchObject({ isError: true, _meta: { code: 'approval_required' } });
  });
});

describe('/mcp', () => {
  const names = async (h: Harness, headers: Record<string, string> = {}) =>
    (await bodyOf(await modern(h, '/mcp', 'tools/list', {}, headers))).result.tools.map(({ name }: { name: string }) => name);

  it('lists the configuration tools until a toolset is equipped, then its tools, and rejects others', async () => {
    const h = await withDemo();
    expect(await names(h)).toEqual(expect.arrayContaining(['build-toolset', 'equip-toolset', 'list-available-tools']));
    await h.catalog.setEquipment('root', { toolset: 'demo', mode: 'normal' });
    expect(await names(h)).toEqual(['shell', 'read_file', 'enter-configuration-mode']);
    const call = async (name: string) => await bodyOf(await modern(h, '/mcp', 'tools/call', { name, arguments: { command: 'ls' } }));
    expect((await call('terminal')).result).toMatchObject({ isError: false });
    for (const name of ['build-toolset', 'search', 'docs.search', 'roll_dice'])
      expect((await call(name)).error).toMatchObject({ code: -32602 });
    const toEnter = expect.stringMatching(/configuration mode: call enter-configuration-mode first/);
    expect((await call('build-toolset')).error).toMatchObject({ message: toEnter, data: { code: 'unknown_tool' } });
    await h.catalog.setEquipment('root', { mode: 'configuration' });
    const toLeave = expect.stringMatching(/Call exit-configuration-mode to get the tools of demo/);
    expect((await call('terminal')).error).toMatchObject({ code: -32602, message: toLeave });
    await h.send('DELETE', '/v1/toolsets/demo');
    expect(await names(h)).toContain('build-toolset');
  });

  it('has no configuration tools for a key that may not write toolsets', async () => {
    const h = await withDemo();
    const made = await h.catalog.createKey({ name: 'phone', scopes: ['tools'] });
    const key = { authorization: `Bearer ${made.key}` };
    expect(await names(h, key)).toEqual([]);
    const instructions = async () => (await bodyOf(await modern(h, '/mcp', 'server/discover', {}, key))).result.instructions;
    expect(await instructions()).toMatch(/No toolset is equipped.*scope "toolsets"/);
    await h.catalog.setEquipment(made.record.id, { toolset: 'demo', mode: 'normal' });
    expect(await names(h, key)).toEqual(['shell', 'read_file']);
    expect((await instructions()) ?? '').not.toContain('configuration');
  });
});

describe('a client that listens, 2026-07-28', () => {
  it('receives changes of the toolset until it disconnects', async () => {
    const h = await withDemo();
    const answer = await modern(h, '/mcp/demo', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async () => (await reader?.read())?.value ?? '';
    expect(await read()).toContain('subscriptions/acknowledged');
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', aliases: ['run'] }] });
    await h.clock.advance(5_000);
    expect(await read()).toContain('notifications/tools/list_changed');
    await h.clock.advance(11 * 60_000);
    let rest = '';
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) rest += next.value;
    expect(rest).toContain('"resultType":"complete"');
  });

  it('is rejected while its key has too many open streams, and another key is not', async () => {
    const perKey = 20;
    const clock = fakeClock();
    const pools = { ...createPools(clock), streams: createFairPool({ ...poolBounds.streams, perKey }, clock) };
    const h = await withDemo({}, { pools, clock });
    const [key, other] = [await h.key({ scopes: ['tools'] }), await h.key({ scopes: ['tools'] })];
    const listen = (who: typeof key) => modern(h, '/mcp/demo', 'subscriptions/listen', { notifications: { toolsListChanged: true } }, who);
    const answers: Response[] = [];
    for (let count = 0; count < perKey; count += 1) answers.push(await listen(key));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const refused = await listen(key);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(limits.mcpListenRetryMs / 1000)]);
    expect(await bodyOf(refused)).toMatchObject({ error: { data: { code: 'rate_limited' } } });
    // Other requests are served.
    expect((await modern(h, '/mcp/demo', 'tools/list', {}, key)).status).toBe(200);
    expect((await listen(other)).status).toBe(200);
    await answers[0]?.body?.cancel();
    await clock.advance(1_000);
    expect((await listen(key)).status).toBe(200);
    expect((await listen(key)).status).toBe(429);
    // They end with their time limit.
    await clock.advance(limits.mcpStreamMs);
    await h.clock.advance(limits.mcpStreamMs);
    expect((await listen(key)).status).toBe(200);
  });
});
