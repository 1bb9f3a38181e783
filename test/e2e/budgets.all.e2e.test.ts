/** Budgets and lists of models against callers who try to spend more: every way to a model, bursts, and replies whose usage never arrives. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type MeteredUpstream, startMeteredUpstream } from './metered-upstream.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

const waiting = { timeout: waitMs, interval: 200 };
/** A token of output costs 0.001. */
const price = { input: 0, output: 1_000 };
const prices = { priced: price, breaks: price, fails: price, 'other-*': price };
const costOf = (tokens: number) => tokens / 1_000;

type Headers = Record<string, string>;

describe('a service with budgets and lists of models', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let upstream: MeteredUpstream;
  let marks = 0;

  beforeAll(async () => {
    upstream = await startMeteredUpstream();
    for (const [name, kind] of [
      ['metered', 'openai-compatible'],
      ['claude', 'anthropic'],
    ] as const)
      await service.call('PUT', `/v1/providers/${name}`, { kind, baseUrl: upstream.baseUrl, apiKey: 'key-of-metered-0123456789', prices });
    await service.call('PUT', '/v1/toolsets/counted', { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
    for (const model of ['priced', 'unlisted']) {
      await service.call('PUT', `/v1/model-aliases/${model}-alias`, { model: `metered/${model}` });
      const agent = { model: `metered/${model}`, settings: { maxOutputTokens: 700 } };
      await service.call('PUT', `/v1/agents/bare-${model}`, agent);
      await service.call('PUT', `/v1/agents/tools-${model}`, { ...agent, toolset: 'counted' });
      await service.call('PUT', `/v1/agents/falls-${model}`, { ...agent, model: 'metered/fails', fallbacks: [`metered/${model}`] });
      await service.call('PUT', `/v1/agents/alias-${model}`, { ...agent, model: `${model}-alias` });
    }
  });
  afterAll(() => upstream.close());

  const newMark = () => {
    marks += 1;
    return `mark-${marks}-end`;
  };
  const keyWith = async (more: object) => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'limited', scopes: ['chat', 'tools'], ...more });
    return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
  };
  const chat = (headers: Headers, mark: string, more: object = {}) =>
    service.call(
      'POST',
      '/v1/chat/completions',
      { model: 'metered/priced', messages: [{ role: 'user', content: mark }], ...more },
      headers,
    );
  const usedOf = async (name: string) => {
    const { json } = await service.call('GET', `/v1/limits?of=key&name=${name}`);
    return Object.fromEntries(json.items.map(({ limit, used }: { limit: string; used: number }) => [limit, used]));
  };

  /** Every way to call a model: `model` is the name of one of the upstream. */
  const ways: [name: string, (model: string, mark: string, headers: Headers) => Promise<Answer>][] = [
    ['a chat', (model, mark, headers) => chat(headers, mark, { model: `metered/${model}` })],
    ['a chat of three answers', (model, mark, headers) => chat(headers, mark, { model: `metered/${model}`, n: 3, max_tokens: 400 })],
    ['a stream', (model, mark, headers) => chat(headers, mark, { model: `metered/${model}`, stream: true })],
    ['an alias', (model, mark, headers) => chat(headers, mark, { model: `${model}-alias` })],
    ['an agent without tools', (model, mark, headers) => chat(headers, mark, { model: `agent/bare-${model}`, tools: [] })],
    [
      'an agent with tools of the caller',
      (model, mark, headers) =>
        chat(headers, mark, { model: `agent/bare-${model}`, tools: [{ type: 'function', function: { name: 'own', parameters: {} } }] }),
    ],
    ['an agent with tools', (model, mark, headers) => chat(headers, mark, { model: `agent/tools-${model}` })],
    ['a fallback', (model, mark, headers) => chat(headers, mark, { model: `agent/falls-${model}` })],
    ['an alias of an agent', (model, mark, headers) => chat(headers, mark, { model: `agent/alias-${model}` })],
    ['a toolset', (model, mark, headers) => chat(headers, mark, { model: `metered/${model}`, toolset: 'counted' })],
    [
      'a session',
      async (model, mark, headers) => {
        const made = await service.call('POST', '/v1/sessions', { model: `metered/${model}` }, headers);
        return made.status === 201 ? await service.call('POST', `/v1/sessions/${made.json.id}/turns`, { input: mark }, headers) : made;
      },
    ],
    [
      'Responses',
      (model, mark, headers) =>
        service.call('POST', '/v1/responses', { model: `metered/${model}`, input: mark, max_output_tokens: 700 }, headers),
    ],
    [
      'Messages, translated',
      (model, mark, headers) =>
        service.call(
          'POST',
          '/v1/messages',
          { model: `metered/${model}`, max_tokens: 700, messages: [{ role: 'user', content: mark }] },
          headers,
        ),
    ],
    [
      'Messages',
      (model, mark, headers) =>
        service.call(
          'POST',
          '/v1/messages',
          { model: `claude/${model}`, max_tokens: 700, messages: [{ role: 'user', content: mark }] },
          headers,
        ),
    ],
    ['a chat, translated', (model, mark, headers) => chat(headers, mark, { model: `claude/${model}` })],
    ['embeddings', (model, mark, headers) => service.call('POST', '/v1/embeddings', { model: `metered/${model}`, input: mark }, headers)],
    ['moderations', (model, mark, headers) => service.call('POST', '/v1/moderations', { model: `metered/${model}`, input: mark }, headers)],
    [
      'images',
      (model, mark, headers) => service.call('POST', '/v1/images/generations', { model: `metered/${model}`, prompt: mark, n: 2 }, headers),
    ],
    ['speech', (model, mark, headers) => service.call('POST', '/v1/audio/speech', { model: `metered/${model}`, input: mark }, headers)],
    [
      'a transcription',
      async (model, mark, headers) => {
        const body = new FormData();
        body.set('model', `metered/${model}`);
        body.set('prompt', mark);
        body.set('file', new Blob(['sound']), 'a.mp3');
        const answer = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
        const text = await answer.text();
        return { status: answer.status, headers: answer.headers, text, json: null };
      },
    ],
  ];

  it('counts what every way to a model spends', async () => {
    const counted = async ([way, call]: (typeof ways)[number]) => {
      const mark = newMark();
      const { id, headers } = await keyWith({ limits: { dailyCost: 100_000 } });
      const { status, text } = await call('priced', mark, headers);
      const billed = upstream.billed(mark);
      const isCounted = async () => (await usedOf(id)).dailyCost >= costOf(billed.output);
      await vi.waitFor(async () => expect(await isCounted(), way).toBe(true), waiting);
      return [way, status, billed.requests > 0 && billed.output > 0, text.length > 0];
    };
    expect(await Promise.all(ways.map(counted))).toEqual(ways.map(([way]) => [way, 200, true, true]));
  });

  it('refuses a model without a price on every way, before it is called', async () => {
    const refused = async ([way, call]: (typeof ways)[number]) => {
      const mark = newMark();
      const { id, headers } = await keyWith({ limits: { monthlyCost: 100_000 } });
      const { status, text } = await call('unlisted', mark, headers);
      // `fails` has a price and may be called, but the fallback of its agent is part of the plan.
      return [
        way,
        status,
        /monthlyCost of the key/.test(text) && text.includes(id) && text.includes('/unlisted') && text.includes('prices'),
        upstream.billed(mark).requests,
      ];
    };
    expect(await Promise.all(ways.map(refused))).toEqual(ways.map(([way]) => [way, 422, true, 0]));
  });

  it('refuses a model that a list does not have on every way, before it is called', async () => {
    const refused = async ([way, call]: (typeof ways)[number]) => {
      const mark = newMark();
      const { id, headers } = await keyWith({ models: ['metered/fails', 'metered/other-*', 'claude/other-*'] });
      const { status, text } = await call('priced', mark, headers);
      return [way, status, text.includes('/priced') && text.includes(id), upstream.billed(mark).requests];
    };
    expect(await Promise.all(ways.map(refused))).toEqual(ways.map(([way]) => [way, 403, true, 0]));
  });

  it('lists and shows only models that a list has', async () => {
    await service.call('PATCH', '/v1/providers/metered', { models: ['priced', 'other-1', 'other-2'] });
    const { headers } = await keyWith({ models: ['metered/other-*'] });
    const { json } = await service.call('GET', '/v1/models', undefined, headers);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(['metered/other-1', 'metered/other-2']);
    const show = async (model: string) => (await service.call('GET', `/v1/models/${model}`, undefined, headers)).status;
    expect(
      await Promise.all(['metered/other-1', 'metered/priced', 'metered/none', 'priced-alias', 'agent/bare-priced', 'agent/none'].map(show)),
    ).toEqual([200, 403, 403, 403, 403, 404]);
    expect((await service.call('GET', '/v1/me', undefined, headers)).json.models).toEqual(['metered/other-*']);
    const count = { model: 'claude/priced', messages: [{ role: 'user', content: 'hi' }] };
    expect((await service.call('POST', '/v1/messages/count_tokens', count, headers)).status).toBe(403);
  });

  it.each([true, false])('spends at most its budget and one request with 60 parallel requests (stream: %s)', async (stream) => {
    const mark = newMark();
    const { headers } = await keyWith({ limits: { dailyCost: 40 } });
    const answers = await Promise.all(Array.from({ length: 60 }, () => chat(headers, mark, { stream, max_tokens: 39_000 })));
    const { output } = upstream.billed(mark);
    expect(costOf(output)).toBeGreaterThan(0);
    expect(costOf(output)).toBeLessThanOrEqual(40 + 39);
    expect(answers.filter(({ status }) => status === 200).length).toBe(output / 39_000);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json.error).toMatchObject({ code: 'rate_limited' });
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(5);
  });

  it('holds the tokens of a minute in the same way', async () => {
    const mark = newMark();
    const { headers } = await keyWith({ limits: { tokensPerMinute: 5_000 } });
    const before = Math.floor(Date.now() / 60_000);
    await Promise.all(Array.from({ length: 60 }, () => chat(headers, mark, { max_tokens: 2_000 })));
    if (before === Math.floor(Date.now() / 60_000)) expect(upstream.billed(mark).output).toBeLessThanOrEqual(5_000 + 2_000);
  });

  it('lets turns wait for what other calls have reserved', async () => {
    const mark = newMark();
    await service.call('PUT', '/v1/agents/queued', { model: 'metered/priced', toolset: 'counted', settings: { maxOutputTokens: 900 } });
    const { headers } = await keyWith({ limits: { dailyCost: 5 } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => chat(headers, mark, { model: 'agent/queued' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(costOf(upstream.billed(mark).output)).toBeLessThanOrEqual(5 + 0.9);
  });

  it.each(['metered/unlisted', 'metered/Unlisted', 'metered/priced-2', 'metered/priced,unlisted'])(
    'refuses the model %s, which has no price, and takes another case of one that has',
    async (model) => {
      const mark = newMark();
      const { headers } = await keyWith({ limits: { monthlyCost: 40 } });
      const answer = await chat(headers, mark, { model });
      expect(answer.status, answer.text).toBe(422);
      expect(upstream.billed(mark).requests).toBe(0);
      expect((await chat(headers, mark, { model: 'metered/PRICED' })).status).toBe(200);
    },
  );

  it.each([
    ['other models', { models: ['metered/unlisted'] }, 'models'],
    ['a search of the provider', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['a dearer tier', { service_tier: 'priority' }, 'service_tier'],
  ])('refuses a request for %s', async (_what, more, path) => {
    const mark = newMark();
    const { headers } = await keyWith({ limits: { dailyCost: 40 } });
    const answer = await chat(headers, mark, more);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(path)]);
    expect(upstream.billed(mark).requests).toBe(0);
  });

  it('sends the limit that was reserved, however often a body has it', async () => {
    const mark = newMark();
    const { id, headers } = await keyWith({ limits: { dailyCost: 1_000 } });
    const body = `{"model": "metered/priced", "max_tokens": 9000, "messages": [{"role": "user", "content": "${mark}"}], "max_tokens": 2000}`;
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(200);
    expect(upstream.texts(mark)).toEqual([expect.not.stringContaining('9000')]);
    await vi.waitFor(async () => expect((await usedOf(id)).dailyCost).toBeCloseTo(2), waiting);
  });

  it('counts a request whose client disconnects before the reply', async () => {
    const mark = newMark();
    const { id, headers } = await keyWith({ limits: { dailyCost: 100 } });
    const late = new AbortController();
    const sent = fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'metered/priced', messages: [{ role: 'user', content: mark }], max_tokens: 3_000 }),
      signal: late.signal,
    }).catch(() => undefined);
    await vi.waitFor(() => expect(upstream.billed(mark).requests).toBe(1), waiting);
    late.abort();
    await sent;
    await vi.waitFor(async () => expect((await usedOf(id)).dailyCost).toBeGreaterThanOrEqual(3), waiting);
  });

  it('counts a stream that fails after it began', async () => {
    const mark = newMark();
    const { id, headers } = await keyWith({ limits: { dailyCost: 100 } });
    await chat(headers, mark, { model: 'metered/breaks', stream: true, max_tokens: 3_000 });
    await vi.waitFor(async () => expect((await usedOf(id)).dailyCost).toBeGreaterThanOrEqual(3), waiting);
  });

  it('applies the list of a workspace to the root key and to triggers, until it is removed', async () => {
    await service.call('PATCH', '/v1/workspaces/default', { settings: { models: ['metered/other-*', 'rehearsal/*'] } });
    const mark = newMark();
    expect((await chat({}, mark)).json.error.message).toContain('`models` of the workspace');
    await service.call('PUT', '/v1/schedules/soon', { agent: 'bare-priced', at: new Date(Date.now() + 1_500).toISOString(), input: mark });
    await vi.waitFor(async () => {
      const { json } = await service.call('GET', '/v1/schedules/soon/runs');
      expect(json.items).toMatchObject([{ status: 'failed' }]);
      expect(JSON.stringify(json.items)).toContain('`models` of the workspace');
    }, waiting);
    expect(upstream.billed(mark).requests).toBe(0);
    await service.call('PATCH', '/v1/workspaces/default', { settings: { models: null } });
    expect((await chat({}, mark)).status).toBe(200);
  });
});
