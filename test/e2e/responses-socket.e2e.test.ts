/** `/v1/responses` over a WebSocket, with the WebSocket of Node, against strict stand-ins of providers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { refOf, startFakeProviders, type FakeProviders } from './fake-providers.ts';
import { openSocket, type OpenSocket } from './responses-sockets.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
let providers: FakeProviders;
const opened: OpenSocket[] = [];

beforeAll(async () => {
  providers = await startFakeProviders();
  await providers.putAll(service.call);
});
afterAll(() => {
  for (const socket of opened) socket.close();
  providers.close();
});

async function open(headers: Record<string, string> = { authorization: `Bearer ${service.key}` }): Promise<OpenSocket> {
  const socket = await openSocket(`${service.url}/v1/responses`, headers);
  opened.push(socket);
  return socket;
}
const create = (fields: object) => ({ type: 'response.create', ...fields });
const say = (content: string) => ({ type: 'message', role: 'user', content });
const newKey = async (fields: object = {}) =>
  (await service.call('POST', '/v1/keys', { name: `socket-${opened.length}-${Math.random()}`, scopes: ['chat'], ...fields })).json as {
    id: string;
    key: string;
  };

describe('a conversation over one WebSocket', () => {
  it.each(['openai-responses', 'anthropic'] as const)(
    'continues from the memory of the connection, with store: false, on the wire of %s',
    async (wire) => {
      const story = providers.start(`socket ${wire}`, {
        say: (_understood, index) => (index === 0 ? { calls: [{ name: 'look', arguments: { at: 'a' } }] } : { text: 'It is red.' }),
      });
      const socket = await open();
      const tools = [
        { type: 'function', name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } }, strict: false },
      ];
      const common = { model: refOf(wire), store: false, tools };
      const first = await socket.ask(create({ ...common, input: `Look. ${story.mark}`, stop: undefined }));
      const call = first.output.find(({ type }) => type === 'function_call');
      const output = { type: 'function_call_output', call_id: call?.call_id, output: 'red' };
      const second = await socket.ask(create({ ...common, input: [output], previous_response_id: first.id }));
      expect(second.text).toBe('It is red.');
      expect(story.understood.map(({ streamed }) => streamed)).toEqual([true, true]);
      expect(story.understood[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    },
  );

  it('is prepared by generate: false, which asks no model', async () => {
    const story = providers.start('socket warm', { say: () => ({ text: 'Warm.' }) });
    const socket = await open();
    const warm = await socket.ask(create({ model: refOf('openai'), store: false, input: [say(`Hello. ${story.mark}`)], generate: false }));
    expect([warm.text, warm.output, story.heard]).toEqual(['', [], []]);
    const reply = await socket.ask(create({ model: refOf('openai'), store: false, input: [say('Now.')], previous_response_id: warm.id }));
    expect(reply.text).toBe('Warm.');
    expect(story.understood[0]?.messages).toMatchObject([{ role: 'user', text: `Hello. ${story.mark}\n\nNow.` }]);
  });

  it('with an agent continues its session, which HTTP continues too', async () => {
    const socket = await open();
    const first = await socket.ask(create({ model: 'agent/demo', input: 'one' }));
    const second = await socket.ask(create({ model: 'agent/demo', input: 'two', previous_response_id: first.id }));
    const session = second.headers['x-moniker-session'];
    expect(session).toMatch(/^[0-9a-f]{64}$/);
    expect(first.headers['x-moniker-session']).toBe(session);
    const third = await service.call('POST', '/v1/responses', { model: 'agent/demo', input: 'three', previous_response_id: second.id });
    expect(third.headers.get('x-moniker-session')).toBe(session);
  });

  it('names what the provider was not sent, as HTTP does in a header', async () => {
    const story = providers.start('socket dropped', { say: () => ({ text: 'Fine.' }) });
    const body = { model: refOf('anthropic'), input: `x ${story.mark}`, service_tier: 'priority' };
    const { headers } = await service.call('POST', '/v1/responses', body);
    const reply = await (await open()).ask(create(body));
    expect(headers.get('x-moniker-dropped')).toContain('service_tier');
    expect(reply.headers['x-moniker-dropped']).toBe(headers.get('x-moniker-dropped'));
  });

  it('counts and logs each message like a request', async () => {
    const { id, key } = await newKey();
    const story = providers.start('socket usage', { say: () => ({ text: 'Counted.' }) });
    const socket = await open({ authorization: `Bearer ${key}` });
    for (const input of ['one', 'two']) await socket.ask(create({ model: refOf('openai'), input: `${input} ${story.mark}` }));
    await expect
      .poll(async () => {
        const { json } = await service.call('GET', `/v1/requests?key=${id}`);
        return (json.data ?? json.requests ?? json.items ?? []).length;
      })
      .toBe(2);
  });
});

describe('a message that cannot be answered', () => {
  it.each([
    ['names an unknown previous response', { input: 'x', previous_response_id: 'resp_gone' }, 400, 'previous_response_not_found'],
    ['names an unknown model', { model: 'nowhere/m', input: 'x' }, 404, 'model_not_found'],
    ['asks for no stream', { input: 'x', stream: false }, 422, 'invalid_request'],
    ['asks for work in the background', { input: 'x', background: true }, 422, 'invalid_request'],
    ['belongs to one of several streams', { input: 'x', stream_id: 'b' }, 422, 'invalid_request'],
    ['has another type', { type: 'response.steer' }, 422, 'invalid_request'],
    ['is prepared without a model', { generate: false, model: undefined, input: 'x' }, 422, 'invalid_request'],
  ])('is an error event and leaves the connection open if it %s', async (_what, fields, status, code) => {
    const socket = await open();
    socket.send(create({ model: refOf('anthropic'), ...fields }));
    expect(await socket.next()).toMatchObject({ type: 'error', status, error: { code, message: expect.any(String) } });
    const story = providers.start('socket after', { say: () => ({ text: 'Still here.' }) });
    expect((await socket.ask(create({ model: refOf('anthropic'), input: story.mark }))).text).toBe('Still here.');
  });

  it('is an error event if it is no JSON', async () => {
    const socket = await open();
    socket.sendText('{"type":');
    expect(await socket.next()).toMatchObject({ type: 'error', status: 400, error: { code: 'invalid_json' } });
  });

  it('has the error of the provider', async () => {
    const story = providers.start('socket failing', {
      say: () => ({ text: 'x' }),
      faults: { 0: async () => Response.json({ error: { message: 'Too long.', code: 'context_length_exceeded' } }, { status: 400 }) },
    });
    const socket = await open();
    socket.send(create({ model: refOf('openai-responses'), input: story.mark }));
    // A failure that takes a while comes after the beginning of the reply, as over HTTP.
    expect(await socket.failure()).toMatchObject({ type: 'error', error: { code: 'context_length_exceeded', message: 'Too long.' } });
  });

  it('ends the connection if it is binary', async () => {
    const socket = await open();
    socket.sendText(new Uint8Array([1, 2, 3]));
    expect(await socket.next()).toMatchObject({ type: 'error', status: 422 });
    expect((await socket.closed).code).toBe(1003);
  });

  it('does not use what a failed request continued', async () => {
    const story = providers.start('socket evicted', {
      say: () => ({ text: 'First.' }),
      faults: { 1: async () => Response.json({ error: { message: 'Broken.' } }, { status: 400 }) },
    });
    const socket = await open();
    const { id } = await socket.ask(create({ model: refOf('anthropic'), input: story.mark }));
    for (const code of [null, 'previous_response_not_found']) {
      socket.send(create({ model: refOf('anthropic'), input: 'and?', previous_response_id: id }));
      expect(await socket.failure()).toMatchObject({ type: 'error', error: { code } });
    }
  });
});

describe('a WebSocket', () => {
  it.each([
    ['no key', {}, 401],
    ['a wrong key', { authorization: 'Bearer wrong' }, 401],
    ['the key only in a cookie, as the page of another site would', { cookie: 'moniker=x', origin: 'https://evil.example' }, 401],
    ['the name of one request', { 'idempotency-key': 'a' }, 422],
  ])('is not opened with %s', async (_what, given: Record<string, string>, status) => {
    const headers = given['idempotency-key'] === undefined ? given : { ...given, authorization: `Bearer ${service.key}` };
    await expect(open(headers)).rejects.toThrow(String(status));
  });

  it('is not opened with the cookie of a person who is signed in, from the page of the service or of another site', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const signedIn = await fetch(`${service.url}/sign-in`, {
      method: 'POST',
      headers: form,
      body: `key=${service.key}`,
      redirect: 'manual',
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await service.call('GET', '/v1/me', undefined, { authorization: '', cookie })).status).toBe(200);
    for (const origin of [service.url, 'https://evil.example']) await expect(open({ cookie, origin })).rejects.toThrow(/40[13]/);
  });

  it('is refused with 426 to a request without an upgrade', async () => {
    const { status, json } = await service.call('GET', '/v1/responses');
    expect([status, json.error.message]).toEqual([426, expect.stringContaining('use POST')]);
  });

  it('is closed when its key is revoked, and no reply follows', async () => {
    const { id, key } = await newKey();
    const socket = await open({ authorization: `Bearer ${key}` });
    await service.call('DELETE', `/v1/keys/${id}`);
    socket.send(create({ model: refOf('anthropic'), input: 'x' }));
    expect(await socket.next()).toMatchObject({ type: 'error', status: 401 });
    expect((await socket.closed).code).toBe(1008);
  });

  it('ends the request to the provider when the client closes it', async () => {
    const { promise: never } = Promise.withResolvers<Response>();
    const story = providers.start('socket left', { say: () => ({ text: 'x' }), faults: { 0: () => never } });
    const socket = await open();
    socket.send(create({ model: refOf('openai-responses'), input: story.mark }));
    await expect.poll(() => story.heard.length).toBe(1);
    socket.close();
    await story.heard[0]?.left;
    expect(story.heard[0]?.hasLeft()).toBe(true);
  });

  it('answers messages one after another, and ends when more wait than may', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wait = async (answer: () => Promise<Response>) => await promise.then(answer);
    const story = providers.start('socket queue', { say: (_understood, index) => ({ text: `Reply ${index}` }), faults: { 0: wait } });
    const socket = await open();
    const message = create({ model: refOf('openai'), input: story.mark });
    for (let sent = 0; sent < 3; sent += 1) socket.send(message);
    await expect.poll(() => story.heard.length).toBe(1);
    resolve();
    for (let index = 0; index < 3; index += 1) expect((await socket.reply()).text).toBe(`Reply ${index}`);

    const other = await open();
    for (let sent = 0; sent <= limits.maxSocketQueue + 1; sent += 1)
      other.send(create({ model: refOf('openai'), input: `x ${story.mark}` }));
    expect((await other.closed).code).toBe(1008);
    expect(other.events().at(-1)).toMatchObject({ type: 'error', status: 429, error: { code: 'rate_limited' } });
  });

  it('counts as one open stream of its key, also while it answers', async () => {
    const { key } = await newKey({ limits: { openStreams: 1 } });
    const headers = { authorization: `Bearer ${key}` };
    const story = providers.start('socket places', { say: () => ({ text: 'One.' }) });
    const socket = await open(headers);
    expect((await socket.ask(create({ model: refOf('openai'), input: story.mark }))).text).toBe('One.');
    await expect(open(headers)).rejects.toThrow('429');
    socket.close();
    await expect.poll(async () => await open(headers).then(() => 'open', String)).toBe('open');
  });
});
