/** A day of calls in every way: its usage is exactly what the providers counted. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { apis, type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

/** What one reply of each stand-in reports. */
const perReply: Readonly<Record<Wire, Record<string, number>>> = {
  openai: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  'openai-responses': { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 0 },
  anthropic: { inputTokens: 15, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 0 },
  gemini: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  cohere: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 0 },
  text: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
};
const waiting = { timeout: waitMs, interval: 200 };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const price = { input: 2, output: 10, cachedInput: 1 };
const costOfReply = (56 * price.input + 64 * price.cachedInput + 30 * price.output) / 1e6;

describe('the usage of a day', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;
  let keys: Record<'one' | 'two', { id: string; headers: Record<string, string> }>;

  async function made(method: string, path: string, body: object): Promise<Answer> {
    const answer = await service.call(method, path, body);
    expect([200, 201], answer.text).toContain(answer.status);
    return answer;
  }

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await made('PUT', '/v1/providers/my-openai', {
      ...{ kind: 'openai', baseUrl: fakes.urlOf('openai'), apiKey: 'key-of-openai-0123456789', models: [apis.openai.model] },
      ...{ profile: apis.openai.profile, prices: { '*': price } },
    });
    await made('PUT', '/v1/toolsets/counted', { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
    for (const wire of ['openai', 'anthropic', 'gemini'] as const)
      await made('PUT', `/v1/agents/counted-${wire}`, { model: refOf(wire), toolset: 'counted' });
    await made('PUT', '/v1/agents/plain-cohere', { model: refOf('cohere') });
    const create = async (name: string) => {
      const { json } = await made('POST', '/v1/keys', { name, scopes: ['chat'] });
      return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
    };
    keys = { one: await create('one'), two: await create('two') };
  });
  afterAll(() => fakes.close());

  const read = async (query: string, headers?: Record<string, string>) => {
    const answer = await service.call('GET', `/v1/usage?${query}`, undefined, headers);
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  // biome-ignore lint/suspicious/noExplicitAny: rows of many shapes
  const find = (rows: any[], fields: object) => rows.find((row) => Object.entries(fields).every(([name, value]) => row[name] === value));

  it('equals what the providers counted: dialects, streams, turns with tools, failures, parallel requests', async () => {
    const two = {
      say: (_heard: unknown, index: number) =>
        index === 0 ? { calls: [{ name: 'reckon', arguments: { expression: '6*7' } }] } : { text: 'It is 42.' },
    };
    const story = fakes.start('day', { say: () => ({ text: 'Hello there.' }) });
    const hello = `hi ${story.mark}`;
    const chat = (model: string, more: object, headers: Record<string, string>) =>
      service.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: hello }], ...more }, headers);
    const streamed = { stream: true, stream_options: { include_usage: true } };
    const { one, two: second } = keys;
    const answers = [
      await chat(refOf('openai'), {}, one.headers),
      await chat(refOf('openai'), streamed, one.headers),
      // No usage is reported in a stream unless the client requests it.
      await chat(refOf('openai'), { stream: true }, one.headers),
      await chat(refOf('anthropic'), {}, one.headers),
      await chat(refOf('gemini'), { stream: true }, second.headers),
      await chat('agent/plain-cohere', {}, second.headers),
      await service.call('POST', '/v1/responses', { model: refOf('openai-responses'), input: hello }, one.headers),
      await service.call('POST', '/v1/responses', { model: refOf('openai-responses'), input: hello, stream: true }, one.headers),
      ...(await Promise.all(
        [false, true].map((stream) =>
          service.call(
            'POST',
            '/v1/messages',
            { model: refOf('anthropic'), max_tokens: 99, stream, messages: [{ role: 'user', content: hello }] },
            second.headers,
          ),
        ),
      )),
      ...(await Promise.all(Array.from({ length: 50 }, () => chat(refOf('openai'), {}, second.headers)))),
    ];
    for (const { status, text } of answers) expect(status, text).toBe(200);
    const failing = fakes.start('failing', {
      say: () => ({}),
      faults: { 0: async () => Response.json({ error: { message: 'no such model', code: 'model_not_found' } }, { status: 404 }) },
    });
    const messages = [{ role: 'user', content: failing.mark }];
    const refused = await service.call('POST', '/v1/chat/completions', { model: 'my-openai/no-such-model', messages }, one.headers);
    expect(refused.status).toBe(404);

    for (const wire of ['openai', 'anthropic', 'gemini'] as const) {
      const turn = fakes.start(`turn ${wire}`, two);
      const { json: session } = await service.call('POST', '/v1/sessions', { agent: `counted-${wire}` }, one.headers);
      const { json } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: turn.mark }, one.headers);
      expect(json.status, JSON.stringify(json)).toBe('completed');
      expect(turn.understood).toHaveLength(2);
    }
    // A failed try: the provider is asked again, and the turn succeeds.
    const broken = fakes.start('broken', {
      say: () => ({ text: 'At last.' }),
      faults: { 0: async () => new Response('no', { status: 503 }) },
    });
    const { json: session } = await service.call('POST', '/v1/sessions', { model: refOf('openai') }, second.headers);
    await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: broken.mark }, second.headers);

    const replies: Record<string, number> = { openai: 53 + 2 + 1, 'openai-responses': 2, anthropic: 3 + 2, gemini: 1 + 2, cohere: 1 };
    await vi.waitFor(async () => {
      const { items } = await read('by=model');
      for (const [wire, count] of Object.entries(replies)) {
        const row = find(items, { model: refOf(wire as Wire) });
        expect(row?.calls, wire).toBe(count);
        const reported = count - (row?.unreportedCalls ?? 0);
        expect(row?.unreportedCalls, wire).toBe(wire === 'openai' ? 1 : 0);
        for (const [name, tokens] of Object.entries(perReply[wire as Wire])) expect(row?.[name], `${wire} ${name}`).toBe(tokens * reported);
      }
    }, waiting);
    const { items, totals } = await read('by=day,model,key');
    expect(new Set(items.map(({ day }: { day: string }) => day)).size).toBe(1);
    expect(find(items, { key: second.id, model: refOf('openai') })).toMatchObject({ calls: 51, failures: 0, unpricedCalls: 0 });
    expect(find(items, { key: second.id, model: refOf('openai') }).cost).toBeCloseTo(51 * costOfReply, 9);
    expect(find(items, { key: one.id, model: 'my-openai/no-such-model' })).toMatchObject({
      calls: 1,
      failures: 1,
      inputTokens: 0,
      cost: 0,
    });
    // Without a price, the cost is unknown and not 0.
    expect(find(items, { key: one.id, model: refOf('gemini') })).toMatchObject({ calls: 2, cost: null, unpricedCalls: 2 });
    expect(totals.calls).toBe(Object.values(replies).reduce((sum, count) => sum + count, 0) + 1);

    const tools = await read('by=tool,toolset');
    expect(tools.items).toEqual([
      { tool: 'local.calculate', toolset: 'counted', calls: 3, failures: 0, durationMs: expect.any(Number), cost: 0 },
    ]);
    const names = await read('by=requested,tool,via,toolset');
    const named = { requested: 'reckon', tool: 'local.calculate', via: 'wire', toolset: 'counted' };
    expect(names.items).toMatchObject([{ ...named, calls: 3, lastDay: expect.any(String) }]);
    const agents = await read('by=agent');
    expect(find(agents.items, { agent: 'counted-gemini' })).toMatchObject({ calls: 2, outputTokens: 60 });
    expect(find(agents.items, { agent: 'plain-cohere' })).toMatchObject({ calls: 1 });
  });

  it('counts streams of the rehearsal model, which cost nothing', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    for (const stream_options of [{ include_usage: true }, undefined]) {
      const answer = await service.call('POST', '/v1/chat/completions', {
        model: 'rehearsal/default',
        stream: true,
        stream_options,
        messages,
      });
      expect([answer.status, answer.text.includes('[DONE]')]).toEqual([200, true]);
    }
    await vi.waitFor(async () => {
      const { items } = await read('by=model&key=me&model=rehearsal%2Fdefault');
      expect(items[0]).toMatchObject({ calls: 2, unreportedCalls: 1, cost: 0, unpricedCalls: 0 });
      expect(items[0].inputTokens).toBeGreaterThan(0);
    }, waiting);
  });

  it('counts calls of tools without a turn once each: over HTTP, in a session, over MCP, and refused ones', async () => {
    const { json: key } = await made('POST', '/v1/keys', { name: 'caller', scopes: ['tools', 'chat'] });
    const headers = { authorization: `Bearer ${key.key}` };
    const reckon = { name: 'reckon', arguments: { expression: '1+1' } };
    const { json: session } = await service.call('POST', '/v1/sessions', { model: refOf('openai') }, headers);
    await service.call('POST', '/v1/toolsets/counted/calls', reckon, headers);
    await service.call('POST', '/v1/toolsets/counted/calls', { ...reckon, session: session.id }, headers);
    await service.call('POST', '/v1/toolsets/counted/calls', { ...reckon, arguments: { expression: 7 } }, headers);
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...reckon, _meta: envelope } };
    const mcp = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'reckon',
    };
    const answer = await service.call('POST', '/mcp/counted', rpc, { ...headers, ...mcp });
    expect(answer.status, answer.text).toBe(200);
    await vi.waitFor(async () => {
      const { items } = await read('by=tool&key=me', headers);
      expect(items).toEqual([{ tool: 'local.calculate', calls: 4, failures: 1, durationMs: expect.any(Number), cost: 0 }]);
    }, waiting);
    await service.call('POST', '/v1/toolsets/counted/calls', { name: 'Compute', arguments: {} }, headers);
    await vi.waitFor(async () => {
      const { items } = await read('by=requested,tool&key=me', headers);
      expect(items).toMatchObject([
        { requested: 'Compute', tool: null, calls: 1, failures: 1 },
        { requested: 'reckon', tool: 'local.calculate', calls: 4, failures: 1 },
      ]);
    }, waiting);
  });

  it('counts a rewritten stream whose client does not ask for usage, and does not show it', async () => {
    const story = fakes.start('rewritten', { say: () => ({ text: 'Hello.' }) });
    const tools = [{ type: 'function', function: { name: 'own', parameters: { type: 'object', properties: {} } } }];
    const body = { model: `alike-openai/${apis.openai.model}`, stream: true, tools, messages: [{ role: 'user', content: story.mark }] };
    const answer = await service.call('POST', '/v1/chat/completions', body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).not.toContain('prompt_tokens');
    await vi.waitFor(async () => {
      const { items } = await read('by=model&provider=alike-openai');
      expect(items[0]).toMatchObject({ calls: 1, inputTokens: 120, outputTokens: 30, unreportedCalls: 0 });
    }, waiting);
  });

  it('logs each request and turn, also without tools, with its request id', async () => {
    const story = fakes.start('logged', { say: () => ({ text: 'Hello.' }) });
    const headers = { ...keys.one.headers, 'x-request-id': 'my-own-id' };
    const body = { model: refOf('openai'), messages: [{ role: 'user', content: story.mark }] };
    expect((await service.call('POST', '/v1/chat/completions', body, headers)).status).toBe(200);
    expect((await service.call('POST', '/v1/chat/completions', body, headers)).status).toBe(200);
    const { json: session } = await service.call('POST', '/v1/sessions', { model: refOf('openai') }, keys.one.headers);
    const { json: turn } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: story.mark }, keys.one.headers);
    await vi.waitFor(async () => {
      // A repeated id of the client does not hide a request.
      const { json } = await service.call('GET', '/v1/requests?requestId=my-own-id');
      expect(json.items).toHaveLength(2);
      expect(json.items[0]).toMatchObject({
        ...{
          kind: 'request',
          keyId: keys.one.id,
          dialect: 'openai-chat',
          model: refOf('openai'),
          provider: 'my-openai',
          status: 'completed',
        },
        ...{ modelCalls: 1, usage: { inputTokens: 120, outputTokens: 30 }, code: null },
      });
      const { json: row } = await service.call('GET', `/v1/requests/${turn.turn}`);
      expect(row).toMatchObject({
        kind: 'turn',
        session: session.id,
        status: 'completed',
        modelCalls: 1,
        toolCalls: 0,
        usage: { inputTokens: 120 },
      });
      expect((await service.call('GET', '/v1/requests/my-own-id', undefined, keys.one.headers)).json.requestId).toBe('my-own-id');
      expect((await service.call('GET', '/v1/requests/my-own-id', undefined, keys.two.headers)).status).toBe(404);
    }, waiting);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { json } = await service.call('GET', `/v1/requests?limit=7&key=${keys.one.id}${next}`);
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor;
    } while (cursor !== null);
    const { json: whole } = await service.call('GET', '/v1/requests?limit=200&key=me', undefined, keys.one.headers);
    expect(seen).toEqual(whole.items.map(({ id }: { id: string }) => id));
    const times = whole.items.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('logs bodies only while the workspace asks for them, for their key', async () => {
    const story = fakes.start('bodies', { say: () => ({ text: 'A reply to log.' }) });
    const body = { model: refOf('openai'), messages: [{ role: 'user', content: `to be logged ${story.mark}` }] };
    const send = async (requestId: string, path: string, more: object) => {
      const headers = { ...keys.one.headers, 'x-request-id': requestId };
      expect((await service.call('POST', path, { ...body, ...more }, headers)).status).toBe(200);
    };
    const logged = async (requestId: string, headers = keys.one.headers) =>
      await service.call('GET', `/v1/requests/${requestId}`, undefined, headers);
    await send('not-logged', '/v1/chat/completions', {});
    await made('PUT', '/v1/workspaces/default', { settings: { requestLog: { bodies: true } } });
    await send('whole', '/v1/chat/completions', {});
    await send('stream', '/v1/chat/completions', { stream: true });
    await send('translated', '/v1/chat/completions', { model: refOf('anthropic'), stream: true });
    await vi.waitFor(async () => {
      for (const requestId of ['whole', 'stream', 'translated']) {
        const { status, json, text } = await logged(requestId);
        expect(status, text).toBe(200);
        expect(json.bodies.truncated).toBe(false);
        expect(json.bodies.request).toContain(`to be logged ${story.mark}`);
        expect(json.bodies.response, requestId).toContain(requestId === 'whole' ? 'A reply to log.' : 'data: [DONE]');
      }
      expect((await logged('not-logged')).json.bodies).toBeNull();
    }, waiting);
    expect((await logged('whole', keys.two.headers)).status).toBe(404);
    expect((await service.call('GET', '/v1/requests?limit=200')).text).not.toContain('to be logged');
    await made('PUT', '/v1/workspaces/default', { settings: {} });
    await send('off-again', '/v1/chat/completions', {});
    await vi.waitFor(async () => expect((await logged('off-again')).json.bodies).toBeNull(), waiting);
  });

  it('pages through groups without repeating or skipping one', async () => {
    const { items } = await read('by=model,key&limit=200');
    const paged: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: unknown[]; nextCursor: string | null } = await read(
        `by=model,key&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      paged.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(paged).toEqual(items);
  });

  it('shows a key only itself', async () => {
    const { items } = await read('by=key', keys.two.headers);
    expect(items.map(({ key }: { key: string }) => key)).toEqual([keys.two.id]);
    const other = await service.call('GET', `/v1/usage?key=${keys.one.id}`, undefined, keys.two.headers);
    expect([other.status, other.json.code]).toEqual([403, 'forbidden']);
    expect((await service.call('GET', `/v1/requests?key=${keys.one.id}`, undefined, keys.two.headers)).status).toBe(403);
  });

  it.each([
    ['by=colour', 'by'],
    ['by=__proto__', 'by'],
    ['by=day,day', 'by'],
    ['by=tool,model', 'by'],
    ['by=requested,provider', 'by'],
    ['by=tool&model=a%2Fb', 'model'],
    ['tool=local.calculate', 'tool'],
    ['from=2026-02-01&to=2026-01-01', 'to'],
    ['from=2024-01-01&to=2026-01-01', 'from'],
    ['from=2026-02-30', 'from'],
    ['cursor=WyJyZXF1ZXN0cyIsIlsxLFwiYVwiXSJd', 'cursor'],
    ['cursor=nonsense', 'cursor'],
    ['limit=0', 'limit'],
  ])('refuses %s, naming %s', async (query, path) => {
    const { status, json } = await service.call('GET', `/v1/usage?${query}`);
    expect([status, json.issues?.[0]?.path]).toEqual([422, path]);
  });

  it('refuses a cursor of groups by other dimensions, and one of usage in the request log', async () => {
    const { nextCursor } = await read('by=model&limit=1');
    expect(nextCursor).not.toBeNull();
    expect((await service.call('GET', `/v1/usage?by=key&cursor=${nextCursor}`)).status).toBe(422);
    expect((await service.call('GET', `/v1/requests?cursor=${nextCursor}`)).status).toBe(422);
  });
});
