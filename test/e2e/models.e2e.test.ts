/** What clients of OpenAI's API use besides chat: the list of models, embeddings, moderations, audio and images. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const sound = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
const apiKey = 'sk-provider-key-of-the-test';
const json = { 'content-type': 'application/json' };
const received: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[] = [];
let provider: Server;
/** As OpenRouter describes models. */
const described = {
  context_length: 8_192,
  top_provider: { max_completion_tokens: 1_024 },
  architecture: { input_modalities: ['text', 'file'], output_modalities: ['text'] },
  supported_parameters: ['tools'],
};

beforeAll(async () => {
  provider = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ method: request.method ?? '', path, headers: request.headers, body: Buffer.concat(parts).toString('latin1') });
      const send = (body: object, status = 200) => {
        response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': 'a=b' });
        response.end(JSON.stringify(body));
      };
      if (path === '/v1/models')
        send({ object: 'list', data: [{ id: 'big/model', created: 1_700_000_000 }, { id: 'small', ...described }, { id: 7 }] });
      else if (path === '/v1/embeddings')
        send({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }], model: 'small' });
      else if (path === '/v1/moderations') send({ error: { message: `unknown input ${apiKey}`, type: 'invalid_request_error' } }, 400);
      else if (isStreamed(received.at(-1)?.body ?? '')) {
        streamOf(response);
      } else if (path === '/v1/audio/transcriptions') send({ text: 'hello there' });
      else if (path === '/v1/audio/speech') {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.end(sound);
      } else send({ created: 1, data: [{ b64_json: 'aGk=' }] });
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  for (const [name, document] of Object.entries({
    near: { kind: 'openai-compatible', baseUrl, apiKey },
    silent: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' },
    other: { kind: 'anthropic', baseUrl: 'http://127.0.0.1:9/v1', models: ['m'] },
    openai: {
      kind: 'openai',
      apiKey,
      models: ['gpt-5-mini-2025-08-07', { model: 'gpt-5', contextTokens: 100_000, reasoning: false }, 'own-model'],
    },
  }))
    expect((await service.call('PUT', `/v1/providers/${name}`, document)).status).toBe(201);
  expect((await service.call('PUT', '/v1/model-aliases/text-embedding-*', { model: 'near/small' })).status).toBe(201);
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

/** Requests of speech, transcriptions and images that ask for a stream. */
const isStreamed = (body: string): boolean => /"stream":true|"stream_format":"sse"|name="stream"\r\n\r\ntrue/.test(body);
const frames = ['event: first\r\ndata:  {"type":"first" , "b64_json":"aGk="}\r\n\r\n', ': odd\n\n', 'data: {"type":"last"}\n\n'];
/** The streams that the provider has begun, each held after the first frame until the test continues it. */
let streams: { response: ServerResponse; left: Promise<void> }[] = [];
function streamOf(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frames[0]);
  streams.push({ response, left: new Promise((resolve) => response.once('close', resolve)) });
}
const requests: [path: string, body: () => BodyInit, headers: Record<string, string>][] = [
  ['audio/speech', () => JSON.stringify({ model: 'near/small', voice: 'a', input: 'x', stream_format: 'sse' }), json],
  ['images/generations', () => JSON.stringify({ model: 'near/small', prompt: 'x', stream: true }), json],
  ['audio/transcriptions', () => formOf({ model: 'near/small', stream: 'true' }), {}],
  ['images/edits', () => formOf({ model: 'near/small', stream: 'true' }), {}],
];

const client = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
const last = () => received.at(-1);

describe('GET /v1/models', () => {
  it('has the models that a provider lists, asked once, and leaves out a provider that does not respond', async () => {
    const ids = async (query = '') => (await service.call('GET', `/v1/models${query}`)).json.data.map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual(expect.arrayContaining(['agent/demo', 'near/big/model', 'near/small', 'other/m', 'rehearsal/default']));
    expect(await ids('?provider=near')).toEqual(['near/big/model', 'near/small']);
    expect(await ids('?search=BIG')).toEqual(['near/big/model']);
    expect(received.filter(({ path }) => path === '/v1/models').map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    expect((await service.call('GET', '/v1/models/near/big/model')).json).toMatchObject({ id: 'near/big/model', created: 1_700_000_000 });
    expect((await service.call('GET', '/v1/models/text-embedding-3')).json).toMatchObject({ id: 'text-embedding-3', owned_by: 'near' });
    expect((await service.call('GET', '/v1/models/near/none')).status).toBe(404);
  });
});

describe('what is known of a model', () => {
  const get = async (id: string) => (await service.call('GET', `/v1/models/${id}`)).json;
  const bare = ['created', 'created_at', 'display_name', 'id', 'object', 'owned_by', 'type'];

  it('comes from the provider’s own list', async () => {
    expect(await get('near/small')).toMatchObject({
      context_length: 8_192,
      max_input_tokens: 8_192,
      max_tokens: 1_024,
      max_output_tokens: 1_024,
      architecture: { input_modalities: ['text', 'file'], output_modalities: ['text'] },
      supported_parameters: expect.arrayContaining(['tools', 'tool_choice', 'temperature']),
    });
  });

  it('comes from the table of the service’s host, and the provider’s document takes precedence', async () => {
    expect(await get('openai/gpt-5-mini-2025-08-07')).toMatchObject({
      context_length: 400_000,
      max_input_tokens: 272_000,
      max_output_tokens: 128_000,
      pricing: { prompt: '0.00000025', completion: '0.000002', input_cache_read: '0.000000025' },
      supported_parameters: ['max_tokens', 'tools', 'tool_choice', 'reasoning'],
    });
    const { context_length: context, max_output_tokens: output, supported_parameters: parameters } = await get('openai/gpt-5');
    expect([context, output, parameters.includes('reasoning')]).toEqual([100_000, 128_000, false]);
  });

  it('is absent where nothing is known, and never made up', async () => {
    expect(Object.keys(await get('openai/own-model')).sort()).toEqual(bare);
    expect(Object.keys(await get('near/big/model')).sort()).toEqual(bare);
  });

  it('is that of the target for aliases and agents', async () => {
    await service.call('PUT', '/v1/model-aliases/tiny', { model: 'near/small' });
    await service.call('PUT', '/v1/agents/thinker', { model: 'tiny' });
    await service.call('PUT', '/v1/model-aliases/thinking', { model: 'agent/thinker' });
    const found = (await service.call('GET', '/v1/models')).json.data as { id: string; context_length?: number }[];
    const context = (id: string) => found.find((model) => model.id === id)?.context_length;
    expect(['tiny', 'agent/thinker', 'thinking'].map(context)).toEqual([8_192, 8_192, 8_192]);
    // Not listed by its provider.
    expect((await get('agent/thinker')).max_tokens).toBe(1_024);
  });

  it('names the providers whose models are missing, with the reason', async () => {
    const { unavailable } = (await service.call('GET', '/v1/models')).json;
    expect(unavailable).toEqual([{ provider: 'silent', reason: 'could not be read' }]);
  });

  it('is given to Codex in its own format, for models whose window is known', async () => {
    expect((await service.call('GET', '/v1/models')).json).not.toHaveProperty('models');
    const { models } = (await service.call('GET', '/v1/models?client_version=0.150.0')).json;
    expect(models.find(({ slug }: { slug: string }) => slug === 'openai/gpt-5-mini-2025-08-07')).toMatchObject({
      context_window: 272_000,
      input_modalities: ['text', 'image'],
      shell_type: 'default',
    });
    expect(models.some(({ slug }: { slug: string }) => slug === 'openai/own-model')).toBe(false);
  });

  it('is read by the stock anthropic client', async () => {
    const anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
    const found = await anthropic.models.retrieve('near/small');
    expect([found.id, found.max_input_tokens, found.max_tokens]).toEqual(['near/small', 8_192, 1_024]);
  });
});

describe('the stock openai client', () => {
  it('creates embeddings, by an alias and with the provider’s key', async () => {
    const { data } = await client().embeddings.create({ model: 'text-embedding-3-small', input: 'hi', encoding_format: 'float' });
    expect(data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(JSON.parse(last()?.body ?? '')).toMatchObject({ model: 'small', input: 'hi' });
    expect([last()?.headers.authorization, last()?.headers['x-moniker-session']]).toEqual([`Bearer ${apiKey}`, undefined]);
  });

  it('receives speech as the bytes that the provider sent', async () => {
    const speech = await client().audio.speech.create({ model: 'near/small', voice: 'alloy', input: 'hi' });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await speech.arrayBuffer()).equals(sound)).toBe(true);
  });

  it('sends audio and images as forms, with the model’s own name', async () => {
    const file = await toFile(sound, 'sound.mp3');
    const { text } = await client().audio.transcriptions.create({ model: 'near/big/model', file });
    expect(text).toBe('hello there');
    expect(last()?.headers['content-type']).toMatch(/^multipart\/form-data; ?boundary=/);
    expect(last()?.body).toMatch(/name="model"\r\n\r\nbig\/model\r\n/);
    expect(last()?.body).toContain(sound.toString('latin1'));
    const edited = await client().images.edit({ model: 'near/small', image: file, prompt: 'x' });
    expect(edited.data?.[0]?.b64_json).toBe('aGk=');
    expect((await client().images.generate({ model: 'near/small', prompt: 'x' })).data?.[0]?.b64_json).toBe('aGk=');
  });

  it.each(requests)('receives a stream of %s as it is sent, and cancels it', async (path, body, headers) => {
    streams = [];
    const ask = async () => {
      const init = { method: 'POST', headers: { ...headers, authorization: `Bearer ${service.key}` }, body: body() };
      const answered = await fetch(`${service.url}/v1/${path}`, init);
      expect([answered.status, answered.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      return answered.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    };
    const reader = await ask();
    const text = new TextDecoder();
    // The provider waits, so the first frame was not held back.
    let read = text.decode((await reader.read()).value, { stream: true });
    expect(read).toBe(frames[0]);
    streams[0]?.response.end(frames.slice(1).join(''));
    for (let part = await reader.read(); !part.done; part = await reader.read()) read += text.decode(part.value, { stream: true });
    expect(read).toBe(frames.join(''));

    const cancelled = await ask();
    await cancelled.read();
    await cancelled.cancel();
    // The runtime notices the disconnect when it writes.
    const writing = setInterval(() => streams[1]?.response.write(frames[1]), 20);
    await streams[1]?.left;
    clearInterval(writing);
    expect(streams[1]?.response.writableFinished).toBe(false);
  });

  it('receives errors in the OpenAI format, without the provider’s key', async () => {
    const refused = await client()
      .moderations.create({ model: 'near/small', input: 'x' })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400 });
    expect(String((refused as Error).message)).not.toContain(apiKey);
    const asked = { input: 'x' };
    await expect(client().embeddings.create({ model: 'other/m', ...asked })).rejects.toMatchObject({ status: 422, param: 'model' });
    await expect(client().embeddings.create({ model: 'agent/demo', ...asked })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    await expect(client().embeddings.create({ model: 'nothing', ...asked })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    const legacy = await client()
      .completions.create({ model: 'near/small', prompt: 'x' })
      .catch((error: unknown) => error);
    expect(legacy).toMatchObject({ status: 404, message: expect.stringContaining('POST /v1/chat/completions') });
  });

  it('is refused for a key that is bound to agents', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'bound', scopes: ['chat'], agents: ['demo'] });
    const bound = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: json.key, maxRetries: 0 });
    await expect(bound.embeddings.create({ model: 'near/small', input: 'x' })).rejects.toMatchObject({ status: 403 });
    expect((await bound.models.list()).data.map(({ id }) => id)).toEqual(['agent/demo']);
  });
});

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([sound]), 'sound.mp3');
  return form;
}

describe('an agent and a session whose model is an alias', () => {
  it('use what the alias names at the time, and say so when it is gone', async () => {
    expect((await service.call('PUT', '/v1/agents/quick', { model: 'fast', toolset: 'demo' })).json.warnings).toEqual([
      { path: 'model', message: expect.stringContaining('PUT /v1/model-aliases/fast') },
    ]);
    expect((await service.call('POST', '/v1/sessions', { model: 'fast' })).json).toMatchObject({ status: 404, code: 'model_not_found' });
    await service.call('PUT', '/v1/model-aliases/fast', { model: 'rehearsal/default' });
    const saved = await service.call('PUT', '/v1/agents/quick', { model: 'fast', toolset: 'demo' });
    expect([saved.status, saved.json.warnings]).toEqual([200, undefined]);
    const { id } = (await service.call('POST', '/v1/sessions', { model: 'fast', toolset: 'demo' })).json;
    const turn = () => service.call('POST', `/v1/sessions/${id}/turns`, { input: 'hello' });
    const ask = () => client().chat.completions.create({ model: 'agent/quick', messages: [{ role: 'user', content: 'hello' }] });
    expect((await turn()).json).toMatchObject({ status: 'completed' });
    expect((await ask()).choices[0]?.message.content).toContain('rehearsal model');
    await service.call('DELETE', '/v1/model-aliases/fast');
    const gone = { status: 404, code: 'model_not_found' };
    expect((await turn()).json).toMatchObject(gone);
    await expect(ask()).rejects.toMatchObject({ ...gone, message: expect.stringContaining('"fast"') });
  });
});

it('an alias in the form of <provider>/<model> is no way around the models of a key', async () => {
  const put = (name: string, model: string) => service.call('PUT', `/v1/model-aliases/${encodeURIComponent(name)}`, { model });
  expect((await put('near/shadowed', 'rehearsal/default')).json.warnings).toHaveLength(1);
  await put('far/away', 'near/small');
  const { json } = await service.call('POST', '/v1/keys', { name: 'near', scopes: ['chat'], models: ['near/*'] });
  const ask = (model: string, key?: string) =>
    new OpenAI({ baseURL: `${service.url}/v1`, apiKey: key ?? service.key, maxRetries: 0 }).chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'hello' }],
    });
  // The name is on its list, what it stands for is not; and the other way round.
  await expect(ask('near/shadowed', json.key)).rejects.toMatchObject({ status: 403 });
  expect((await ask('near/shadowed')).choices[0]?.message.content).toContain('rehearsal model');
  const embedded = await new OpenAI({ baseURL: `${service.url}/v1`, apiKey: json.key, maxRetries: 0 }).embeddings.create({
    model: 'far/away',
    input: 'x',
  });
  expect(embedded.data).toHaveLength(1);
});
