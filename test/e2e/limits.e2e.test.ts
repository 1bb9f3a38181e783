/** Limits and budgets over HTTP: every entry point counts, streams cannot hide their usage, and budgets survive a killed service. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { apis, type FakeProviders, startFakeProviders } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const waiting = { timeout: waitMs, interval: 200 };
/** A reply of the stand-in costs 120 × 10,000 + 30 × 10,000 per million: 1.5. */
const price = { input: 10_000, output: 10_000, cachedInput: 10_000 };
const model = `costly/${apis.openai.model}`;

describe('a service with limits', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;
  let mark: string;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    mark = fakes.start('limits', { say: () => ({ text: 'Hello there.' }) }).mark;
    await service.call('PUT', '/v1/providers/costly', {
      ...{ kind: 'openai', baseUrl: fakes.urlOf('openai'), apiKey: 'key-of-openai-0123456789', models: [apis.openai.model] },
      ...{ profile: apis.openai.profile, prices: { '*': price } },
    });
    await service.call('PUT', '/v1/toolsets/counted', { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
  });
  afterAll(() => fakes.close());

  const keyWith = async (limits: object) => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'limited', scopes: ['chat', 'tools'], limits });
    return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
  };
  const chat = (headers: Record<string, string>, more: object = {}) =>
    service.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: `hi ${mark}` }], ...more }, headers);
  const usedOf = async (of: string, name: string) => {
    const { json } = await service.call('GET', `/v1/limits?of=${of}&name=${name}`);
    return Object.fromEntries(json.items.map(({ limit, used }: { limit: string; used: number }) => [limit, used]));
  };

  it('refuses the next request when a budget is used, also after the service was killed', async () => {
    const { id, headers } = await keyWith({ dailyCost: 4, monthlyCost: 100 });
    const statuses = [];
    for (let sent = 0; sent < 4; sent += 1) {
      statuses.push((await chat(headers)).status);
      await vi.waitFor(async () => expect((await usedOf('key', id)).dailyCost).toBeCloseTo(Math.min(sent + 1, 3) * 1.5), waiting);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await service.restart();
    const refused = await chat(headers);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.json.error).toMatchObject({ code: 'rate_limited' });
    expect(await usedOf('key', id)).toEqual({ dailyCost: 4.5, monthlyCost: 4.5 });
    const own = await service.call('GET', '/v1/limits', undefined, headers);
    expect(own.json.items.map(({ limit, max }: { limit: string; max: number }) => [limit, max])).toEqual([
      ['dailyCost', 4],
      ['monthlyCost', 100],
    ]);
    expect((await service.call('GET', '/v1/me', undefined, headers)).json.usageLimits).toEqual({ dailyCost: 4, monthlyCost: 100 });
  });

  it('counts a stream whose client did not ask for its usage, and shows the client no usage', async () => {
    const { id, headers } = await keyWith({ dailyCost: 100 });
    const answer = await chat(headers, { stream: true });
    expect(answer.text).toContain('Hello');
    expect(answer.text).not.toContain('prompt_tokens');
    await vi.waitFor(async () => expect((await usedOf('key', id)).dailyCost).toBeCloseTo(1.5), waiting);
  });

  it('counts turns for the key, the agent and the workspace, and refuses what one of them has no more of', async () => {
    await service.call('PUT', '/v1/agents/costly', { model, toolset: 'counted', limits: { dailyCost: 3, requestsPerMinute: 1_000 } });
    await service.call('PATCH', '/v1/workspaces/default', { settings: { limits: { monthlyCost: 1_000 } } });
    const { id, headers } = await keyWith({ dailyCost: 100 });
    const before = (await usedOf('workspace', 'default')).monthlyCost ?? 0;
    const turn = () => chat(headers, { model: 'agent/costly' });
    for (let sent = 1; sent <= 2; sent += 1) {
      const answer = await turn();
      expect(answer.status, answer.text).toBe(200);
      await vi.waitFor(async () => expect((await usedOf('agent', 'costly')).dailyCost).toBeCloseTo(sent * 1.5), waiting);
    }
    const refused = await turn();
    expect(refused.status).toBe(429);
    expect(refused.json.error.message).toContain('dailyCost of the agent \\"costly\\"'.replaceAll('\\', ''));
    expect((await usedOf('key', id)).dailyCost).toBeCloseTo(3);
    expect((await usedOf('workspace', 'default')).monthlyCost).toBeCloseTo(before + 3);
    // The root key counts for the workspace, too.
    expect((await chat({})).status).toBe(200);
    await vi.waitFor(async () => expect((await usedOf('workspace', 'default')).monthlyCost).toBeCloseTo(before + 4.5), waiting);
    await service.call('PATCH', '/v1/workspaces/default', { settings: { limits: null } });
  });

  it('counts requests of every API, and a chat without sessions, with turns and over MCP alike', async () => {
    const { headers } = await keyWith({ requestsPerMinute: 500 });
    const left = (answer: { headers: Headers }) => Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    const first = left(await service.call('GET', '/v1/models', undefined, headers));
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping', params: {} };
    const requests = [
      () => chat(headers),
      () => chat(headers, { toolset: 'counted' }),
      () =>
        service.call(
          'POST',
          '/v1/messages/count_tokens',
          { model: 'rehearsal/default', messages: [{ role: 'user', content: 'hi' }] },
          headers,
        ),
      () => service.call('POST', '/mcp/counted', ping, { ...headers, accept: 'application/json, text/event-stream' }),
      () => service.call('POST', '/v1/toolsets/counted/calls', { name: 'reckon', arguments: { expression: '1+1' } }, headers),
      () => service.call('GET', '/v1/unknown', undefined, headers),
    ];
    const after: number[] = [];
    for (const request of requests) after.push(left(await request()));
    const minuteChanged = after.some((value) => value > first);
    // An unknown path has no key.
    if (!minuteChanged) expect(after.slice(0, 5)).toEqual([1, 2, 3, 4, 5].map((n) => first - n));
  });

  it('lets so many turns run at a time, and the next one when one has ended', async () => {
    const { headers } = await keyWith({ concurrentTurns: 1 });
    const create = async () =>
      (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'counted' }, headers)).json.id;
    const [one, two] = [await create(), await create()];
    const slow = { input: 'hi' };
    const first = service.call('POST', `/v1/sessions/${one}/turns`, slow, { ...headers, prefer: 'respond-async' });
    expect((await first).status).toBe(202);
    // When the first has ended, the second is admitted.
    await vi.waitFor(async () => {
      const answer = await service.call('POST', `/v1/sessions/${two}/turns`, slow, headers);
      if (answer.status === 429) expect(answer.json).toMatchObject({ code: 'rate_limited', limit: 'concurrentTurns', of: 'key', max: 1 });
      expect(answer.status).toBe(200);
    }, waiting);
  });

  it('asks so many questions of a key at a time, and says what it did not ask', async () => {
    const { id, headers } = await keyWith({ pendingQuestions: 2 });
    await service.call('PUT', '/v1/toolsets/asking', { tools: [{ tool: 'builtin.write_file', name: 'save', approval: 'always' }] });
    const ask = async (own: Record<string, string>) => {
      const session = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' }, own);
      const input = '/save {"path": "a.txt", "content": "one"}';
      return { session: session.json.id, turn: (await service.call('POST', `/v1/sessions/${session.json.id}/turns`, { input }, own)).json };
    };
    const asked = [await ask(headers), await ask(headers), await ask(headers)];
    expect(asked.map(({ turn }) => turn.status)).toEqual(['waiting', 'waiting', 'completed']);
    expect(asked[2]?.turn.text).toContain('This key');
    expect(await usedOf('key', id)).toEqual({ pendingQuestions: 2 });
    expect((await ask((await keyWith({})).headers)).turn.status).toBe('waiting');
    const direct = await service.call(
      'POST',
      '/v1/toolsets/asking/calls',
      { name: 'save', arguments: { path: 'b.txt', content: 'two' }, session: asked[2]?.session },
      headers,
    );
    expect([direct.status, direct.json]).toMatchObject([429, { limit: 'pendingQuestions', of: 'key', name: id, max: 2, used: 2 }]);
    const callId = asked[0]?.turn.pending[0].callId;
    await service.call('POST', `/v1/sessions/${asked[0]?.session}/approvals/${callId}`, { decision: 'deny' });
    await vi.waitFor(async () => expect(await usedOf('key', id)).toEqual({ pendingQuestions: 1 }), waiting);
    expect((await ask(headers)).turn.status).toBe('waiting');
  });

  it('waits with the turn of a webhook until a limit allows it, and loses nothing', async () => {
    await service.call('PUT', '/v1/agents/rare', { model: 'rehearsal/default', limits: { requestsPerMinute: 1 } });
    await service.call('PUT', '/v1/webhooks/rare', {
      agent: 'rare',
      scheme: 'bearer',
      bearer: { header: 'x-token' },
      secret: 'a-secret-of-the-webhook',
      input: 'event {{id}}',
      session: 'one-{{id}}',
    });
    const send = (id: string) =>
      fetch(`${service.url}/hooks/default/rare`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-token': 'a-secret-of-the-webhook' },
        body: JSON.stringify({ id }),
      });
    expect((await send('a')).status).toBe(202);
    expect((await send('b')).status).toBe(202);
    const statuses = async () => {
      const { json } = await service.call('GET', '/v1/webhooks/rare/deliveries');
      return json.items.map(({ status }: { status: string }) => status).sort();
    };
    await vi.waitFor(async () => expect(await statuses()).toContain('completed'), waiting);
    expect((await statuses()).every((status: string) => ['completed', 'pending', 'running'].includes(status))).toBe(true);
  });

  it('refuses files and turns when sessions store too much, until something is deleted', async () => {
    const { id, headers } = await keyWith({ storageBytes: 1_000 });
    const create = async () => (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' }, headers)).json.id as string;
    const [one, two] = [await create(), await create()];
    const bytes = { ...headers, 'content-type': 'application/octet-stream' };
    const write = (session: string, name: string) => service.call('PUT', `/v1/sessions/${session}/files/${name}`, 'x'.repeat(600), bytes);
    expect((await write(one, 'a.txt')).status).toBe(201);
    expect((await write(two, 'b.txt')).status).toBe(201);
    const refused = await write(two, 'c.txt');
    expect(refused.json).toMatchObject({ code: 'rate_limited', limit: 'storageBytes', max: 1_000, used: 1_200 });
    expect((await service.call('POST', `/v1/sessions/${one}/turns`, { input: 'hi' }, headers)).status).toBe(429);
    await service.call('DELETE', `/v1/sessions/${two}/files/b.txt`, undefined, headers);
    expect((await write(two, 'c.txt')).status).toBe(201);
    await service.call('DELETE', `/v1/sessions/${two}`, undefined, headers);
    await vi.waitFor(async () => expect((await usedOf('key', id)).storageBytes).toBe(600), waiting);
  });

  it('counts the seconds that code computes', async () => {
    const { id, headers } = await keyWith({ sandboxSecondsPerMinute: 0.05 });
    const loop = 'let n = 0; for (let i = 0; i < 100000; i++) n += i; return n;';
    await service.call('PUT', '/v1/tools/made.loops', { description: 'Loops.', parameters: [], implementation: loop, uses: [] });
    await service.call('PUT', '/v1/toolsets/loops', { tools: [{ tool: 'made.loops', name: 'loops' }] });
    const answers: { isError: boolean; content: { text: string }[] }[] = [];
    const run = async () => {
      const { json } = await service.call('POST', '/v1/toolsets/loops/calls', { name: 'loops', arguments: {} }, headers);
      answers.push(json);
      return json.content[0].text as string;
    };
    await vi.waitFor(async () => expect(await run()).toContain('sandboxSecondsPerMinute'), waiting);
    expect(answers[0], JSON.stringify(answers[0])).toMatchObject({ isError: false });
    expect((await usedOf('key', id)).sandboxSecondsPerMinute).toBeGreaterThanOrEqual(0);
  });

  it.each([
    { requestsPerMinute: 0 },
    { requestsPerMinute: 1.5 },
    { dailyCost: -1 },
    { dailyCost: '5' },
    { concurrentTurns: 1e9 },
    { perYear: 1 },
    { monthlyCost: Number.MAX_VALUE },
  ])('rejects the limits %j', async (limits) => {
    const answer = await service.call('POST', '/v1/keys', { name: 'x', scopes: ['chat'], limits });
    expect(answer.status).toBe(422);
    expect(answer.json.issues[0].path).toMatch(/^limits/);
  });
});
