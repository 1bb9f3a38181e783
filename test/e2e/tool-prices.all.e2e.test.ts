/** Prices of tools: usage, limits of turns, and budgets of keys count them in every way to call a tool, also after a kill. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { endedTurn } from './eventually.ts';
import { shareService } from './shared-service.ts';

const waiting = { timeout: waitMs, interval: 200 };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const schema = { type: 'object', properties: { q: { type: 'string' } } };
const listed = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: schema, annotations: { readOnlyHint: true } });

describe('a service with priced tools', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let plain: ToolServer;
  let mcp: FakeMcpServer;
  let reported: unknown;
  const hanging = Promise.withResolvers<Response>();

  const put = async (path: string, body: object) => {
    const answer = await service.call('PUT', path, body);
    expect([200, 201], answer.text).toContain(answer.status);
    return answer.json;
  };
  beforeAll(async () => {
    plain = await listenToolServer(({ name }) => (name === 'hang' ? hanging.promise : { content: [{ type: 'text', text: name }] }));
    const answer = () => ({ content: [{ type: 'text', text: 'found' }], _meta: { 'moniker/price': reported } });
    mcp = await listenMcpServer({ tools: [{ ...listed('query'), answer }] });
    await put('/v1/servers/plain', {
      kind: 'static',
      url: plain.url,
      trusted: true,
      tools: [listed('one'), listed('two'), listed('hang')],
      price: 0.5,
    });
    await put('/v1/servers/reports', { kind: 'mcp', url: mcp.url, trusted: true, price: { query: 0.25 } });
    await put('/v1/toolsets/paid', {
      tools: [{ tool: 'plain.two', price: 2, approval: 'never' }, { tool: 'plain.*' }, { tool: 'reports.*' }],
    });
  });
  afterAll(async () => {
    hanging.resolve(new Response());
    plain.close();
    await mcp.close();
  });

  const keyWith = async (limits: object = {}) => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'buyer', scopes: ['chat', 'tools'], limits });
    return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
  };
  type Key = Awaited<ReturnType<typeof keyWith>>;
  const call = (key: Key, name: string, more: object = {}) =>
    service.call('POST', '/v1/toolsets/paid/calls', { name, arguments: { q: String(Math.random()) }, ...more }, key.headers);
  const callOverMcp = (key: Key, name: string) => {
    const params = { name, arguments: { q: 'a' }, _meta: envelope };
    const headers = {
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
      'mcp-name': name,
    };
    return service.call('POST', '/mcp/paid', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { ...key.headers, ...headers });
  };
  const usage = async ({ id }: Key, by: string) => (await service.call('GET', `/v1/usage?by=${by}&key=${id}`)).json;
  const usedOf = async ({ id }: Key) => {
    const { json } = await service.call('GET', `/v1/limits?of=key&name=${id}`);
    return Object.fromEntries(json.items.map(({ limit, used }: { limit: string; used: number }) => [limit, used]));
  };
  const turn = async (key: Key, agent: string, input: string) => {
    const { json: session } = await service.call('POST', '/v1/sessions', { agent }, key.headers);
    const { json } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input }, key.headers);
    return { ...json, session: session.id };
  };

  it('keeps prices in documents, and refuses those that are none', async () => {
    const { json: toolset } = await service.call('GET', '/v1/toolsets/paid');
    expect(toolset.tools[0]).toMatchObject({ tool: 'plain.two', price: 2 });
    expect((await service.call('GET', '/v1/servers/reports')).json.price).toEqual({ query: 0.25 });
    for (const price of [-0.01, 1_001, 1e308, 'free', null, { perCall: 1 }]) {
      const { status, json } = await service.call('PUT', '/v1/toolsets/wrong', { tools: [{ tool: 'plain.*', price }] });
      expect([status, json.issues?.[0]?.path], String(price)).toEqual([422, 'tools[0].price']);
    }
    const server = { kind: 'static', url: plain.url, tools: [listed('one')] };
    for (const price of [-1, { one: 1e9 }, [1]])
      expect((await service.call('PUT', '/v1/servers/wrong', { ...server, price })).status, JSON.stringify(price)).toBe(422);
    const { warnings } = await put('/v1/servers/misspelled', { ...server, price: { won: 1, '*': 0 } });
    expect(warnings).toEqual([{ path: 'price', message: '"won" is not listed by the server. Use own names of tools' }]);
    await put('/v1/toolsets/wild', { tools: [{ tool: 'plain.*', price: 0.125 }] });
    const { json: wild } = await service.call('GET', '/v1/toolsets/wild');
    expect(wild.tools.map(({ price }: { price: number }) => price)).toEqual([0.125, 0.125, 0.125]);
    const { json: exported } = await service.call('GET', '/v1/export');
    const text = JSON.stringify(exported);
    for (const kept of ['"price":0.125', '"price":{"query":0.25}', '"price":0.5']) expect(text).toContain(kept);
  });

  it('counts what calls cost over HTTP, in sessions, over MCP and in turns, by each dimension', async () => {
    const key = await keyWith();
    reported = undefined;
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'paid' }, key.headers);
    expect((await call(key, 'one')).json.isError).toBe(false);
    expect((await call(key, 'two', { session: session.id })).json.isError).toBe(false);
    await callOverMcp(key, 'query');
    await put('/v1/agents/buyer', { model: 'rehearsal/default', toolset: 'paid' });
    const { status } = await turn(key, 'buyer', '/one {"q": "1"}\n/one {"q": "1"}\n/two {"q": "2"}');
    expect(status).toBe('completed');
    await vi.waitFor(async () => {
      const { items } = await usage(key, 'tool');
      expect(items.map(({ tool, cost }: { tool: string; cost: number }) => [tool, cost])).toEqual([
        // The two equal calls of the turn were sent once.
        ['plain.one', 1],
        ['plain.two', 4],
        ['reports.query', 0.25],
      ]);
    }, waiting);
    expect((await usage(key, 'day')).totals).toMatchObject({ cost: 5.25, toolCost: 5.25 });
    expect((await usage(key, 'agent')).items).toMatchObject([
      { agent: null, cost: 2.75 },
      { agent: 'buyer', cost: 2.5 },
    ]);
    const { json: logged } = await service.call('GET', `/v1/requests?key=${key.id}`);
    expect(logged.items).toMatchObject([{ kind: 'turn', cost: 2.5, toolCost: 2.5 }]);
    const { json: rows } = await service.call('GET', `/v1/audit?key=${key.id}&verdict=ran`);
    expect(rows.items.map(({ cost }: { cost?: number }) => cost ?? 0).toSorted()).toEqual([0, 0.25, 0.5, 0.5, 2, 2]);
  });

  it('believes a trusted server about the price of a call, within bounds', async () => {
    const key = await keyWith({ dailyCost: 100 });
    for (const price of [0.003, 1e308, -5, '7', 2_000]) {
      reported = price;
      expect((await call(key, 'query')).json.isError).toBe(false);
    }
    await vi.waitFor(async () => expect((await usage(key, 'tool')).totals).toMatchObject({ calls: 5, cost: 1.003 }), waiting);
    await vi.waitFor(async () => expect((await usedOf(key)).dailyCost).toBeCloseTo(1.003), waiting);
    reported = undefined;
  });

  it('counts calls of MCP clients and of sessions for the budget of the key, and refuses them when it is used up', async () => {
    const key = await keyWith({ monthlyCost: 1 });
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'paid' }, key.headers);
    expect((await callOverMcp(key, 'one')).json.result.isError).toBeFalsy();
    expect((await call(key, 'one', { session: session.id })).json.isError).toBe(false);
    await vi.waitFor(async () => expect((await usedOf(key)).monthlyCost).toBeCloseTo(1), waiting);
    const before = plain.calls.length;
    expect((await callOverMcp(key, 'one')).json.result).toMatchObject({ isError: true });
    expect((await call(key, 'one', { session: session.id })).json).toMatchObject({ isError: true, code: 'limit_reached' });
    expect(plain.calls.length).toBe(before);
  });

  it('has a direct call that ended with the process in the audit with its price, and charges it once when it is repeated', async () => {
    await put('/v1/toolsets/slow', { tools: [{ tool: 'plain.hang', name: 'hang', approval: 'never' }] });
    const key = await keyWith({ dailyCost: 100 });
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'slow' }, key.headers);
    const request = (q: string, more: object) => ({ name: 'hang', arguments: { q }, ...more });
    const hang = (q: string, more: object) =>
      service.call('POST', '/v1/toolsets/slow/calls', request(q, more), { ...key.headers, 'idempotency-key': `key-${q}` });
    const cut = [hang('kept', { session: session.id }), hang('lost', {})].map((call) => call.catch(() => null));
    await vi.waitFor(() => expect(plain.calls.filter(({ name }) => name === 'hang')).toHaveLength(2), waiting);
    await service.restart();
    await Promise.all(cut);
    const rows = async () => (await service.call('GET', `/v1/audit?key=${key.id}`)).json.items;
    await vi.waitFor(async () => {
      const unknown = (await rows()).map(({ verdict, cost }: { verdict: string; cost: number }) => [verdict, cost]);
      expect(unknown).toEqual(Array.from({ length: 2 }, () => ['outcome_unknown', 0.5]));
    }, waiting);
    for (let times = 0; times < 2; times += 1)
      expect((await hang('kept', { session: session.id })).json).toMatchObject({ isError: true, code: 'outcome_unknown' });
    await vi.waitFor(async () => expect((await usage(key, 'tool')).totals).toMatchObject({ calls: 1, cost: 0.5 }), waiting);
    await vi.waitFor(async () => expect((await usedOf(key)).dailyCost).toBeCloseTo(0.5), waiting);
    expect(plain.calls.filter(({ name }) => name === 'hang')).toHaveLength(2);
    const [repeated, ...begun] = await rows();
    expect(repeated).toMatchObject({ verdict: 'ran', code: 'outcome_unknown', cost: 0.5 });
    expect(begun.map(({ callId }: { callId: string }) => callId)).toContain(repeated.callId);
  });

  it('ends a turn at `maxCost` of its agent', async () => {
    const key = await keyWith();
    await put('/v1/agents/careful', { model: 'rehearsal/default', toolset: 'paid', limits: { maxCost: 1 } });
    const before = plain.calls.length;
    const steps = Array.from({ length: 6 }, (_, step) => `/one {"q": "${step}"}`).join('\n\n');
    const ended = await turn(key, 'careful', steps);
    expect(ended).toMatchObject({ status: 'completed', reason: 'max_cost' });
    expect(plain.calls.length - before).toBe(2);
  });

  it('refuses calls when the budget of the key is used up, direct ones and those of turns, also after a kill', async () => {
    const key = await keyWith({ dailyCost: 3 });
    await put('/v1/agents/buyer', { model: 'rehearsal/default', toolset: 'paid' });
    const first = await turn(key, 'buyer', '/two {"q": "1"}');
    expect(first.status).toBe('completed');
    await vi.waitFor(async () => expect((await usedOf(key)).dailyCost).toBeCloseTo(2), waiting);
    expect((await call(key, 'two')).json.isError).toBe(false);
    const before = plain.calls.length;
    const refused = await call(key, 'two');
    expect(refused.json).toMatchObject({ isError: true, code: 'limit_reached' });
    expect(refused.json.content[0].text).toContain('Not run: two costs 2 USD. The limit dailyCost of the key');
    await vi.waitFor(async () => expect((await usedOf(key)).dailyCost).toBeCloseTo(4), waiting);
    await service.restart();
    expect((await call(key, 'one')).json).toMatchObject({ code: 'limit_reached' });
    expect(plain.calls.length).toBe(before);
    expect((await usedOf(key)).dailyCost).toBeCloseTo(4);
  });

  describe('with an agent that asks at its limit', () => {
    const steps = (count: number) => Array.from({ length: count }, (_, step) => `/one {"q": "${step}"}`).join('\n\n');
    beforeAll(() => put('/v1/agents/asks', { model: 'rehearsal/default', toolset: 'paid', limits: { maxCost: 1, onLimit: 'ask' } }));
    const pendingOf = async (session: string) => (await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items;
    const decide = (session: string, callId: string, body: object) =>
      service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, body);

    it('waits for an approval, uses the same amount again, and asks again, also after kills', async () => {
      const key = await keyWith();
      const before = plain.calls.length;
      const asked = await turn(key, 'asks', steps(6));
      const reason = 'Used 1 of 1, the maximum cost of a turn of the agent "asks"; an approval lets it continue with 1 more';
      expect(asked).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval', canonical: 'builtin.budget', reason }] });
      expect(plain.calls.length - before).toBe(2);
      await service.restart();
      const [first] = await pendingOf(asked.session);
      expect(first).toMatchObject({ entry: 'budget', state: 'pending', arguments: { used: 1, max: 1, more: 1 } });
      expect(first.canRemember).toBeUndefined();
      const { json: all } = await service.call('GET', '/v1/approvals');
      expect(all.items.map(({ callId }: { callId: string }) => callId)).toContain(first.callId);
      expect((await decide(asked.session, first.callId, { decision: 'approve', remember: true })).status).toBe(422);
      // Two windows: one decision.
      const answers = await Promise.all(['approve', 'approve'].map((decision) => decide(asked.session, first.callId, { decision })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await decide(asked.session, first.callId, { decision: 'deny' })).status).toBe(409);
      const second = await vi.waitFor(async () => {
        const [item] = await pendingOf(asked.session);
        expect(item?.arguments).toEqual({ used: 2, max: 2, more: 1 });
        return item;
      }, waiting);
      expect(plain.calls.length - before).toBe(4);
      await service.restart();
      const { json: link } = await service.call('POST', `/v1/sessions/${asked.session}/approvals/${second.callId}/link`);
      const page = new URL(link.url);
      expect((await service.call('GET', `${page.pathname}${page.search}`)).text).toContain('Used 2 of 2');
      expect((await decide(asked.session, second.callId, { decision: 'approve' })).status).toBe(200);
      const third = await vi.waitFor(async () => {
        const [item] = await pendingOf(asked.session);
        expect(item?.arguments).toEqual({ used: 3, max: 3, more: 1 });
        return item;
      }, waiting);
      expect((await decide(asked.session, third.callId, { decision: 'approve' })).status).toBe(200);
      expect(await endedTurn(service, asked.session)).toMatchObject({ status: 'completed', reason: 'stop' });
      expect(plain.calls.length - before).toBe(6);
    });

    it('ends with `max_cost` when the approval is denied', async () => {
      const key = await keyWith();
      const before = plain.calls.length;
      const asked = await turn(key, 'asks', `/two {"q": "a"}\n/one {"q": "b"}\n\n/one {"q": "c"}`);
      const [{ callId, arguments: used }] = await pendingOf(asked.session);
      expect(used).toEqual({ used: 2.5, max: 1, more: 1 });
      expect((await decide(asked.session, callId, { decision: 'deny' })).status).toBe(200);
      expect(await endedTurn(service, asked.session)).toMatchObject({ status: 'completed', reason: 'max_cost' });
      expect(plain.calls.length - before).toBe(2);
      const { json: rows } = await service.call('GET', '/v1/audit?verdict=denied');
      expect(rows.items).toMatchObject([{ requested: 'budget', canonical: 'builtin.budget', callId }]);
    });

    it('tells a chat client how the turn can continue', async () => {
      const key = await keyWith();
      const body = { model: 'agent/asks', messages: [{ role: 'user', content: steps(4) }] };
      const { json } = await service.call('POST', '/v1/chat/completions', body, { ...key.headers, 'x-moniker-session': 'new' });
      const { content } = json.choices[0].message;
      expect(content).toContain('Waiting for approval of builtin.budget (call budget_turn_');
      expect(content).toContain('Used 1 of 1');
      expect(content).toContain(
        'To let such turns continue without approval, an administrator can raise "maxCost" in the limits of the agent.',
      );
    });
  });
});
