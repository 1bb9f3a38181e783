/** Replies of models that are stored and answered again: for whom, for how long, and what is counted. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const received: string[] = [];
let provider: Server;

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
beforeAll(async () => {
  provider = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method === 'GET') return void response.writeHead(404).end();
      const text = Buffer.concat(parts).toString();
      const body = JSON.parse(text);
      received.push(text);
      const number = received.length;
      const head = { id: `c${number}`, created: 1, model: 'small' };
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      const send = (status: number, value: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      if (request.url?.endsWith(':batchEmbedContents')) return send(200, { embeddings: [{ values: [number] }] });
      if (request.url === '/v1/embeddings')
        return send(200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [number] }], model: 'small', usage });
      const inTime = (answer: () => void): void => void (text.includes('slow') ? setTimeout(answer, 400) : answer());
      if (text.includes('fail')) return inTime(() => send(400, { error: { message: 'no', type: 'invalid_request_error' } }));
      if (body.stream !== true) {
        const message = { role: 'assistant', content: text.includes('long') ? 'x'.repeat(1_100_000) : `reply ${number}` };
        const reply = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
        return inTime(() => send(200, reply));
      }
      const chunk = (delta: object, finish: string | null) =>
        frame({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: `reply ${number}` }, null));
      if (text.includes('cut')) return response.end();
      return inTime(() => {
        response.write(chunk({}, 'stop'));
        response.write(frame({ ...head, object: 'chat.completion.chunk', choices: [], usage }));
        response.end('data: [DONE]\n\n');
      });
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const put = async (path: string, document: object) => expect((await service.call('PUT', path, document)).status).toBe(201);
  await put('/v1/providers/cachy', { kind: 'openai-compatible', baseUrl, apiKey: 'sk-x', prices: { '*': { input: 1, output: 1 } } });
  await put('/v1/model-aliases/kept', { model: 'cachy/small', cache: { ttl: 600 } });
  await put('/v1/model-aliases/shared', { model: 'cachy/small', cache: { ttl: 600, scope: 'workspace' } });
  await put('/v1/providers/gem', { kind: 'gemini', baseUrl, apiKey: 'k' });
  await put('/v1/model-aliases/embed', { model: 'gem/m', cache: { ttl: 600 } });
  await put('/v1/model-aliases/routed', { targets: [{ model: 'cachy/small' }], strategy: 'lowest-latency', cache: { ttl: 600 } });
  await put('/v1/model-aliases/never', { model: 'cachy/small', cache: false });
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const newKey = async (more: object = {}): Promise<{ id: string; key: string }> => {
  const { json } = await service.call('POST', '/v1/keys', { name: 'k', scopes: ['chat'], ...more });
  return { id: json.id ?? json.record?.id, key: json.key };
};
type Asked = { key?: string; cache?: string; path?: string };
/** Returns the header and the text of the reply. */
async function ask(body: object, { key = service.key, cache, path = 'chat/completions' }: Asked = {}) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(cache !== undefined && { 'x-moniker-cache': cache }),
  };
  const response = await fetch(`${service.url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, cache: response.headers.get('x-moniker-cache'), type: response.headers.get('content-type'), text };
}
const chat = (model: string, content: string, more: object = {}) => ({ model, messages: [{ role: 'user', content }], ...more });
/** Repeats a request until its reply was stored, which happens in the background. */
const hit = (body: object, asked: Asked = {}) =>
  eventually('the reply is stored', async () => {
    const answer = await ask(body, asked);
    return /^hit; age=\d+$/.test(answer.cache ?? '') ? answer : undefined;
  });

describe('a cached reply', () => {
  it('answers the same request of the same key, byte for byte, and no other one', async () => {
    const first = await ask(chat('kept', 'one'));
    expect(first).toMatchObject({ status: 200, cache: 'miss' });
    const before = received.length;
    const second = await hit(chat('kept', 'one'));
    expect([second.text, second.type]).toEqual([first.text, first.type]);
    expect((await ask(chat('kept', 'two'))).cache).toBe('miss');
    expect((await ask(chat('kept', 'one', { temperature: 0.5 }))).cache).toBe('miss');
    const { key } = await newKey();
    expect((await ask(chat('kept', 'one'), { key })).cache).toBe('miss');
    expect(received.length).toBe(before + 3);
  });

  it('is a stream for a request for one, which the stock client reads', async () => {
    const body = chat('kept', 'stream', { stream: true });
    const first = await ask(body);
    expect((await hit(body)).text).toBe(first.text);
    const stream = await new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 }).chat.completions.create({
      ...(body as unknown as OpenAI.ChatCompletionCreateParamsStreaming),
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toMatch(/^reply \d+$/);
  });

  it.each([false, true])('answers equal requests at the same time, which wait for the first one (stream %s)', async (stream) => {
    const before = received.length;
    const body = chat('kept', `slow and equal ${stream}`, { stream });
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(body)));
    expect(received).toHaveLength(before + 1);
    expect(answers.map(({ cache }) => cache?.slice(0, 3)).toSorted()).toEqual(['hit', 'hit', 'hit', 'hit', 'hit', 'mis']);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('that does not come lets equal requests at the same time ask the model themselves', async () => {
    const before = received.length;
    const failed = await Promise.all(Array.from({ length: 4 }, () => ask(chat('kept', 'slow fail'))));
    expect([received.length - before, failed.map(({ status }) => status)]).toEqual([4, [400, 400, 400, 400]]);
    // The client of the first one disconnects.
    const body = chat('kept', 'slow and left', { stream: true });
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: gone.signal };
    const first = await fetch(`${service.url}/v1/chat/completions`, init);
    const second = ask(body);
    await first.body?.getReader().read();
    gone.abort();
    expect((await second).text).toContain('[DONE]');
  });

  it('is translated to the dialect of the request, and shared with no other dialect', async () => {
    const body = { model: 'kept', max_tokens: 10, messages: [{ role: 'user', content: 'messages' }] };
    const first = await ask(body, { path: 'messages' });
    expect([first.cache, JSON.parse(first.text).type]).toEqual(['miss', 'message']);
    expect((await hit(body, { path: 'messages' })).text).toBe(first.text);
    expect((await ask(body)).cache).toBe('miss');
  });

  it('is stored for embeddings, too', async () => {
    const body = { model: 'kept', input: 'x' };
    const first = await ask(body, { path: 'embeddings' });
    expect((await hit(body, { path: 'embeddings' })).text).toBe(first.text);
  });

  it('is stored for embeddings of Gemini by all that its API is sent', async () => {
    const path = 'models/embed:embedContent';
    const body = { content: { parts: [{ text: 'x' }] }, taskType: 'RETRIEVAL_QUERY' };
    const first = await ask(body, { path });
    expect((await hit(body, { path })).text).toBe(first.text);
    const other = await ask({ ...body, taskType: 'RETRIEVAL_DOCUMENT' }, { path });
    expect(other.cache).toBe('miss');
    expect(other.text).not.toBe(first.text);
  });

  it.each([
    ['a chat', chat('routed', 'how fast'), 'chat/completions'],
    ['embeddings', { model: 'routed', input: 'how fast' }, 'embeddings'],
  ])('says nothing about the speed of a model of a route: %s', async (_what, body, path) => {
    const measured = async (): Promise<number> => (await service.call('GET', '/v1/models/routed')).json.route[0].latencyMs;
    await ask(body, { path });
    await hit(body, { path });
    // Only a reply of the model itself may change it.
    await ask(chat('routed', `slow ${path}`));
    const slow = await measured();
    for (let again = 0; again < 5; again += 1) await hit(body, { path });
    expect(slow).toBeGreaterThan(10);
    expect(await measured()).toBe(slow);
  });

  it('is shared by the keys of a workspace only if the alias says so, and never beyond the models of a key', async () => {
    const first = await ask(chat('shared', 'all'));
    const [one, two] = [await newKey(), await newKey({ cache: { ttl: 600 } })];
    expect((await hit(chat('shared', 'all'), { key: one.key })).text).toBe(first.text);
    expect((await ask(chat('shared', 'all'), { key: two.key })).cache).toBe('miss');
    const limited = await newKey({ models: ['other/*'] });
    expect(await ask(chat('shared', 'all'), { key: limited.key })).toMatchObject({ status: 403, cache: null });
  });

  it('is replaced or left alone as the header of the request says', async () => {
    const body = chat('cachy/small', 'header');
    expect((await ask(body)).cache).toBeNull();
    expect((await ask(body, { cache: 'ttl=600' })).cache).toBe('miss');
    const old = await hit(body, { cache: 'ttl=600' });
    expect((await ask(body, { cache: 'no-store' })).cache).toBe('bypass; reason=request');
    const fresh = await ask(body, { cache: 'ttl=600, refresh' });
    expect([fresh.cache, fresh.text === old.text]).toEqual(['miss', false]);
    for (const cache of ['ttl=1', 'ttl=99999999', 'all', 'ttl=-5'])
      expect([cache, (await ask(body, { cache })).status]).toEqual([cache, 422]);
  });

  it('is not stored if the alias or the key forbids it, which the response says', async () => {
    expect((await ask(chat('never', 'x'), { cache: 'ttl=600' })).cache).toBe('bypass; reason=alias');
    const { key } = await newKey({ cache: false });
    expect((await ask(chat('kept', 'x'), { key, cache: 'ttl=600' })).cache).toBe('bypass; reason=key');
    expect((await ask(chat('kept', 'x'), { key })).cache).toBeNull();
  });

  it('is not used for what has an effect at the provider, or for turns', async () => {
    const tools = [{ type: 'web_search' }];
    expect((await ask(chat('kept', 'x', { tools }))).cache).toBe('bypass; reason=provider-tools');
    const turn = await ask(chat('rehearsal/default', 'x', { toolset: 'demo' }), { cache: 'ttl=600' });
    expect([turn.status, turn.cache]).toEqual([200, 'bypass; reason=turn']);
  });

  it('is none that failed, was cut off or is too long', async () => {
    for (const body of [chat('kept', 'fail'), chat('kept', 'cut', { stream: true }), chat('kept', 'long')]) {
      await ask(body);
      const before = received.length;
      // A reply that is stored after them.
      await ask(chat('kept', `marker ${before}`));
      await hit(chat('kept', `marker ${before}`));
      expect((await ask(body)).cache ?? '').not.toMatch(/^hit/);
    }
  });

  it('is counted without its cost, and with what it saved', async () => {
    const { id, key } = await newKey();
    await ask(chat('kept', 'count'), { key });
    await hit(chat('kept', 'count'), { key });
    const row = await eventually('the hit is counted', async () => {
      const { json } = await service.call('GET', `/v1/usage?by=key&key=${id}`);
      return json.items[0]?.cachedCalls === 1 ? json.items[0] : undefined;
    });
    expect(row).toMatchObject({ savedTokens: 15, savedCost: 0.000015 });
    expect(row.cost).toBeCloseTo((row.calls - 1) * 0.000015, 9);
    const { json } = await service.call('GET', `/v1/requests?key=${id}`);
    expect(json.items[0]).toMatchObject({ cached: true, cost: 0, status: 'completed' });
    expect(json.items.at(-1)).not.toHaveProperty('cached');
  });

  it('is erased for one key or for all, only by an administrator', async () => {
    const { id, key } = await newKey();
    expect((await service.call('DELETE', '/v1/cache', undefined, { authorization: `Bearer ${key}` })).status).toBe(403);
    for (const path of [`/v1/cache?key=${id}`, '/v1/cache']) {
      await ask(chat('kept', path), { key });
      await hit(chat('kept', path), { key });
      const { status, json } = await service.call('DELETE', path);
      expect([path, status, json]).toEqual([path, 200, { erased: expect.any(Number), isDone: true }]);
      expect([path, json.erased]).not.toEqual([path, 0]);
      expect((await ask(chat('kept', path), { key })).cache).toBe('miss');
    }
  });
});
