/** Routes: aliases with several targets, in all chat APIs and for embeddings, over fakes of providers that fail as they are asked to. */
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../src/core/json/wire-value.ts';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import { bodyOf } from './harness.ts';
import { createProxiedHarness } from './proxied-harness.ts';

const messages = [{ role: 'user', content: 'hello' }];
const apis: [string, object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 10 }],
  ['/v1/responses', { input: 'hello' }],
];
const refused = (status: number, headers: Record<string, string> = {}, error: object = { message: 'No.' }) =>
  Response.json({ error }, { status, headers: { ...headers, 'x-should-retry': 'false' } });

let count = 0;

/** Three providers of Chat Completions and one of Messages, with new names, since the health of models is remembered. `fail`: what each returns instead of a reply. */
async function createRouted() {
  count += 1;
  const names = ['one', 'two', 'three', 'claude'].map((name) => `${name}-${count}`);
  const [one = '', two = '', three = '', claude = ''] = names;
  const asked: string[] = [];
  const fail = new Map<string, () => Response | Promise<Response>>();
  const scripted = (name: string, create: typeof fakeOpenAi | typeof fakeAnthropic) => {
    const upstream = create(() => ({ text: `from ${name}` }));
    return {
      handle: async (request: Request): Promise<Response> => {
        asked.push(name);
        const failure = fail.get(name);
        if (failure !== undefined) return await failure();
        if (!request.url.endsWith('/embeddings')) return await upstream.handle(request);
        return Response.json({
          object: 'list',
          data: [],
          model: recordOf(await request.json()).model,
          usage: { prompt_tokens: 1, total_tokens: 1 },
        });
      },
    };
  };
  const providers = Object.fromEntries(
    names.map((name) => {
      const isClaude = name === claude;
      const upstream = scripted(name, isClaude ? fakeAnthropic : fakeOpenAi);
      return [name, { kind: isClaude ? ('anthropic' as const) : ('openai-compatible' as const), upstream }];
    }),
  );
  const h = await createProxiedHarness(providers);
  const route = async (document: object, name = 'fast') => {
    const { status } = await h.send('PUT', `/v1/model-aliases/${name}`, document);
    expect([200, 201]).toContain(status);
  };
  const chat = async (body: object = {}, headers?: Record<string, string>, path = '/v1/chat/completions') =>
    await h.send('POST', path, { model: 'fast', ...(path === '/v1/chat/completions' && { messages }), ...body }, headers);
  return { ...h, one, two, three, claude, asked, fail, route, chat };
}
const targetOf = (response: Response): string | null => response.headers.get('x-moniker-target');

describe('a request with the name of a route', () => {
  it.each(apis)('gets the first target, and the next one when that fails; the response names both: %s', async (path, body) => {
    const { one, two, claude, asked, fail, route, chat, reports } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${claude}/m` }], fallbacks: [`${two}/m`] });
    const first = await chat(body, undefined, path);
    expect([first.status, targetOf(first)]).toEqual([200, `${one}/m; why=in-order; attempts=1`]);
    fail.set(one, () => refused(500));
    fail.set(claude, () => refused(401));
    const second = await chat({ ...body, stream: true }, undefined, path);
    const text = await second.text();
    expect([text.includes('from'), text.includes(two)]).toEqual([true, true]);
    expect(targetOf(second)).toBe(`${two}/m; why=fallback; attempts=3; failed="${one}/m:upstream_error ${claude}/m:upstream_error"`);
    expect(asked).toEqual([one, one, claude, two]);
    expect(reports.map(({ request }) => [request?.model, request?.status])).toEqual([
      [`${one}/m`, 'completed'],
      [`${one}/m`, 'failed'],
      [`${claude}/m`, 'failed'],
      [`${two}/m`, 'completed'],
    ]);
  });

  it('does not ask a target again until its 429 allows it', async () => {
    const { one, two, asked, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }] });
    fail.set(one, () => refused(429, { 'retry-after': '30' }));
    for (let index = 0; index < 5; index += 1) expect((await chat()).status).toBe(200);
    expect(asked).toEqual([one, two, two, two, two, two]);
    fail.delete(one);
    await proxyClock.advance(30_000);
    expect(targetOf(await chat())).toBe(`${one}/m; why=in-order; attempts=1`);
  });

  it('does not hammer a target that is down: 50 requests at once ask it once each, and later ones not', async () => {
    const { one, two, asked, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }] });
    let arrived = 0;
    const all = Promise.withResolvers<void>();
    fail.set(one, async () => {
      arrived += 1;
      if (arrived === 50) all.resolve();
      await all.promise;
      return refused(500);
    });
    const many = async (): Promise<number> => {
      asked.length = 0;
      const replies = await Promise.all(Array.from({ length: 50 }, () => chat()));
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
      return asked.filter((name) => name === one).length;
    };
    expect([await many(), await many()]).toEqual([50, 0]);
    await proxyClock.advance(1_000);
    expect(await many()).toBe(1);
  });

  it('keeps a conversation at its target while that is up, and returns to it', async () => {
    const { one, two, three, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [one, two, three].map((name) => ({ model: `${name}/m` })), strategy: 'weighted' });
    const ask = async (start: string) => {
      const turns = [
        { role: 'user', content: start },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'And?' },
      ];
      const replies = [await chat({ messages: turns.slice(0, 1) }), await chat({ messages: turns })];
      return replies.map((reply) => targetOf(reply)?.split(';').slice(0, 2).join(';'));
    };
    const firsts = new Set<string | undefined>();
    for (let index = 0; index < 30; index += 1) {
      const [before, after] = await ask(`conversation ${index}`);
      expect(after).toBe(before);
      firsts.add(before?.split('/')[0]);
    }
    expect([...firsts].sort()).toEqual([one, three, two].sort());
    const [own = ''] = await ask('conversation 7');
    const name = own.split('/')[0] ?? '';
    fail.set(name, () => refused(429, { 'retry-after': '10' }));
    expect((await ask('conversation 7')).every((target) => target?.includes('why=fallback') === true && !target.startsWith(name))).toBe(
      true,
    );
    fail.delete(name);
    await proxyClock.advance(10_000);
    expect(await ask('conversation 7')).toEqual([own, own]);
  });

  it('asks the context fallback next when the conversation does not fit', async () => {
    const { one, two, three, asked, fail, route, chat } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }], contextFallback: `${three}/long` });
    fail.set(one, () => refused(400, {}, { message: 'Too long.', code: 'context_length_exceeded' }));
    expect(targetOf(await chat())).toBe(`${three}/long; why=context; attempts=2; failed="${one}/m:upstream_error"`);
    await chat();
    // The model is up: what it refused was the request.
    expect(asked).toEqual([one, three, one, three]);
  });

  it('asks one model that is put aside rather than none, that whose pause ends first', async () => {
    const { one, two, asked, fail, route, chat } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }] });
    fail.set(one, () => refused(429, { 'retry-after': '60' }));
    fail.set(two, () => refused(429, { 'retry-after': '30' }));
    expect((await chat()).status).toBe(429);
    asked.length = 0;
    expect([(await chat()).status, asked]).toEqual([429, [two]]);
    fail.clear();
    const reply = await chat();
    expect([reply.status, targetOf(reply), asked]).toEqual([200, `${two}/m; why=all-down; attempts=1`, [two, two]]);
  });

  it('waits for the end of a short pause when every model is put aside, and does not hammer the model then', async () => {
    const { one, two, asked, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }] });
    fail.set(one, () => Response.json({ error: {} }, { status: 429, headers: { 'retry-after': '5' } }));
    fail.set(two, () => Response.json({ error: {} }, { status: 429, headers: { 'retry-after': '10' } }));
    const replies = Array.from({ length: 20 }, () => chat());
    await expect.poll(() => asked.includes(two)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    fail.delete(two);
    const before = asked.filter((name) => name === one).length;
    await proxyClock.advance(5_000);
    // Of the requests that wait, one finds out that the model still fails.
    await expect.poll(() => asked.filter((name) => name === one).length).toBe(before + 1);
    let done = false;
    const all = Promise.all(replies).finally(() => {
      done = true;
    });
    while (!done) {
      await proxyClock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('is answered with the failure of the last provider if no model replies', async () => {
    const { one, fail, route, chat } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: 'missing/m' }] });
    fail.set(one, () => refused(503));
    const reply = await chat();
    expect([reply.status, (await bodyOf(reply)).error.message]).toEqual([503, 'No.']);
  });

  it('is retried at its target as often as the route says', async () => {
    const { one, two, asked, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }], retries: 1 });
    fail.set(one, () => Response.json({ error: { message: 'No.' } }, { status: 500 }));
    const reply = chat();
    await expect.poll(() => asked).toEqual([one]);
    await expect.poll(async () => await proxyClock.advance(500).then(() => asked)).toEqual([one, one, two]);
    expect((await reply).status).toBe(200);
  });

  it('stops asking models when the total time is over', async () => {
    const { one, two, asked, fail, route, chat, proxyClock } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }], timeouts: { totalMs: 1_000 } });
    fail.set(one, async () => {
      await proxyClock.advance(1_000);
      return refused(500);
    });
    const reply = await chat();
    expect([reply.status, asked]).toEqual([500, [one]]);
  });

  it('passes embeddings to the targets', async () => {
    const { one, two, fail, route, chat } = await createRouted();
    await route({ targets: [{ model: `${one}/small` }, { model: `${two}/other` }] });
    fail.set(one, () => refused(503));
    const reply = await chat({ input: 'text' }, undefined, '/v1/embeddings');
    expect(targetOf(reply)).toBe(`${two}/other; why=fallback; attempts=2; failed="${one}/small:unavailable"`);
    expect((await bodyOf(reply)).model).toBe('other');
  });

  it('serves an agent without tools, after whose route its own fallbacks come', async () => {
    const { one, two, three, fail, route, chat, send } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }] });
    await send('PUT', '/v1/agents/routed', { model: 'fast', fallbacks: [`${three}/m`], instructions: 'Be brief.' });
    fail.set(one, () => refused(500));
    fail.set(two, () => refused(500));
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
    const reply = await chat({ model: 'agent/routed', tools });
    expect(targetOf(reply)).toBe(`${three}/m; why=fallback; attempts=3; failed="${one}/m:upstream_error ${two}/m:upstream_error"`);
    expect((await bodyOf(reply)).model).toBe('agent/routed');
  });
});

describe('a key with an allow-list', () => {
  it('may use a route only if it may use every model of it', async () => {
    const { one, two, asked, route, chat, key } = await createRouted();
    const headers = await key({ scopes: ['chat'], models: [`${one}/*`] });
    for (const more of [
      { targets: [{ model: `${one}/m` }, { model: `${two}/m` }] },
      { targets: [{ model: `${one}/m` }], contextFallback: `${two}/m` },
    ]) {
      await route(more);
      const reply = await chat({}, headers);
      expect([reply.status, asked]).toEqual([403, []]);
      expect((await chat({ input: 'x' }, headers, '/v1/embeddings')).status).toBe(403);
    }
    await route({ targets: [{ model: `${one}/m` }] });
    expect((await chat({}, headers)).status).toBe(200);
  });
});

describe('what is shown of a route', () => {
  it('is the document as it was written, and the providers that do not exist', async () => {
    const { one, send } = await createRouted();
    const document = { targets: [{ model: `${one}/m`, weight: 2 }, { model: 'missing/m' }], strategy: 'weighted', sticky: 'none' };
    const written = await bodyOf(await send('PUT', '/v1/model-aliases/fast', document));
    expect(written.warnings).toEqual([{ path: 'targets[1].model', message: expect.stringContaining('"missing" does not exist yet') }]);
    expect(await bodyOf(await send('GET', '/v1/model-aliases/fast'))).toMatchObject({ name: 'fast', ...document });
    const listed = (await bodyOf(await send('GET', '/v1/models'))).data;
    expect(listed.map(({ id }: { id: string }) => id)).toContain('fast');
  });

  it('is in which order its models would be asked now, and why; asking changes nothing', async () => {
    const { one, two, three, asked, fail, route, chat, key, send } = await createRouted();
    await route({ targets: [{ model: `${one}/m` }, { model: `${two}/m` }], fallbacks: [`${three}/m`] });
    fail.set(one, () => refused(429, { 'retry-after': '3600' }));
    await chat();
    asked.length = 0;
    const read = async (headers?: Record<string, string>) => await send('GET', '/v1/models/fast?session=s_1', undefined, headers);
    const { route: steps } = await bodyOf(await read());
    expect(steps.map(({ model, why, state, code }: Record<string, unknown>) => [model, why, state, code])).toEqual([
      [`${two}/m`, 'fallback', 'up', null],
      [`${three}/m`, 'fallback', 'up', null],
      [`${one}/m`, 'all-down', expect.stringMatching(/down|due/), 'rate_limited'],
    ]);
    expect((await bodyOf(await read())).route).toEqual(steps);
    expect(asked).toEqual([]);
    const other = await key({ scopes: ['chat'], models: [`${one}/*`] });
    expect((await read(other)).status).toBe(403);
  });
});

describe('a provider with several keys', () => {
  it('sends them in turn, hides each in its replies, and shows only the names of their secrets', async () => {
    const seen: (string | null)[] = [];
    const upstream = {
      handle: async (request: Request): Promise<Response> => {
        seen.push(request.headers.get('authorization'));
        return refused(400, {}, { message: `Your key ${request.headers.get('authorization')} is fine.` });
      },
    };
    const h = await createProxiedHarness({ plain: { kind: 'openai-compatible', upstream } });
    for (const name of ['KEY_A', 'KEY_B'])
      await h.send('PUT', `/v1/secrets/${name}`, { value: `value-of-${name}-0123456789`, hosts: ['plain.example'] });
    const document = { kind: 'openai-compatible', baseUrl: 'https://plain.example/v1', apiKeySecrets: ['KEY_A', 'KEY_B'] };
    expect((await h.send('PUT', '/v1/providers/plain', document)).status).toBe(200);
    expect(await bodyOf(await h.send('GET', '/v1/providers/plain'))).toMatchObject({ apiKeySecrets: ['KEY_A', 'KEY_B'], hasApiKey: true });
    const texts = [];
    for (let index = 0; index < 2; index += 1)
      texts.push(await (await h.send('POST', '/v1/chat/completions', { model: 'plain/m', messages })).text());
    expect([...seen].sort()).toEqual(['Bearer value-of-KEY_A-0123456789', 'Bearer value-of-KEY_B-0123456789']);
    expect(texts.join('')).not.toContain('value-of-KEY');
    expect((await h.send('PUT', '/v1/providers/plain', { ...document, apiKey: 'another' })).status).toBe(422);
  });

  it('is refused if one of its secrets is bound to another host', async () => {
    const h = await createProxiedHarness({});
    await h.send('PUT', '/v1/secrets/KEY_A', { value: 'value-a-0123456789', hosts: ['plain.example'] });
    await h.send('PUT', '/v1/secrets/KEY_B', { value: 'value-b-0123456789', hosts: ['elsewhere.example'] });
    const document = { kind: 'openai-compatible', baseUrl: 'https://plain.example/v1', apiKeySecrets: ['KEY_A', 'KEY_B'] };
    const reply = await h.send('PUT', '/v1/providers/plain', document);
    expect([reply.status, (await bodyOf(reply)).issues]).toEqual([422, [expect.objectContaining({ path: 'apiKeySecrets[1]' })]]);
  });
});
