/** Files and batches that are passed to a provider: whose they are, which provider gets them, and what is refused. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
type Received = { method: string; path: string; bytes: number; head: string; headers: Record<string, unknown> };
const received: Received[] = [];
let provider: Server;

beforeAll(async () => {
  provider = createServer((incoming, response) => {
    const [method, path] = [incoming.method ?? '', incoming.url ?? ''];
    const entry: Received = { method, path, bytes: 0, head: '', headers: incoming.headers };
    received.push(entry);
    incoming.on('data', (part: Buffer) => {
      entry.bytes += part.length;
      if (entry.head.length < 4_096) entry.head += part.toString('latin1', 0, 4_096);
    });
    incoming.on('end', () => {
      if (path.endsWith('/content')) return response.writeHead(200, { 'content-type': 'application/jsonl' }).end('{"line":1}\n');
      const file = { id: 'file-theirs', object: 'file', bytes: entry.bytes, purpose: 'batch', filename: 'in.jsonl' };
      const batch = {
        id: 'batch_theirs',
        object: 'batch',
        status: 'completed',
        input_file_id: 'file-theirs',
        output_file_id: 'file-out',
        error_file_id: null,
      };
      const message = { role: 'assistant', content: 'read' };
      const completion = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      };
      if (path === '/v1/chat/completions')
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
      const document = path.startsWith('/v1/batches')
        ? batch
        : method === 'DELETE'
          ? { id: 'file-theirs', object: 'file', deleted: true }
          : file;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(document));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  for (const [name, document] of Object.entries({
    filey: { kind: 'openai-compatible', baseUrl, apiKey: 'sk-provider' },
    claude: { kind: 'anthropic', baseUrl: 'http://127.0.0.1:9/v1', models: ['m'] },
  }))
    expect((await service.call('PUT', `/v1/providers/${name}`, document)).status).toBe(201);
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const client = (apiKey = service.key, baseURL = `${service.url}/v1`) => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const newKey = async (more: object = {}): Promise<string> =>
  (await service.call('POST', '/v1/keys', { name: 'k', scopes: ['chat'], ...more })).json.key;
const upload = async (key?: string) =>
  await client(key).files.create({ file: await toFile(Buffer.from('{"custom_id":"1"}\n'), 'in.jsonl'), purpose: 'batch' });
const last = () => received.at(-1);

describe('the files and batches of a provider', () => {
  it('are used by the stock client under ids of the key, also at the paths of Azure', async () => {
    const file = await upload();
    expect(file.id).toMatch(/^file-eyJ/);
    expect(last()).toMatchObject({ method: 'POST', path: '/v1/files', headers: { authorization: 'Bearer sk-provider' } });
    expect(last()?.head).toContain('name="purpose"');
    expect((await client().files.retrieve(file.id)).id).toBe(file.id);
    expect(last()?.path).toBe('/v1/files/file-theirs');
    const batch = await client().batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    expect(JSON.parse(last()?.head ?? '')).toMatchObject({ input_file_id: 'file-theirs', endpoint: '/v1/chat/completions' });
    expect(batch.input_file_id).toBe(file.id);
    const done = await client(service.key, `${service.url}/openai/v1`).batches.retrieve(batch.id);
    const output = await client().files.content(done.output_file_id ?? '');
    expect([await output.text(), last()?.path]).toEqual(['{"line":1}\n', '/v1/files/file-out/content']);
    await client().batches.cancel(batch.id);
    expect([last()?.method, last()?.path]).toEqual(['POST', '/v1/batches/batch_theirs/cancel']);
    expect(await client().files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
    expect(last()).toMatchObject({ method: 'DELETE', path: '/v1/files/file-theirs' });
  });

  it('are of the key that made them: no other key, and no id of the provider, leads to them', async () => {
    const file = await upload();
    const other = await newKey();
    const before = received.length;
    const forged = file.id.slice(0, -4) + (file.id.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    for (const [id, key] of [
      [file.id, other],
      ['file-theirs', service.key],
      [forged, service.key],
      ['..%2Fmodels', service.key],
    ] as const) {
      await expect(client(key).files.retrieve(id)).rejects.toMatchObject({ status: 404 });
      await expect(client(key).files.content(id)).rejects.toMatchObject({ status: 404 });
      await expect(client(key).files.delete(id)).rejects.toMatchObject({ status: 404 });
      await expect(
        client(key).batches.create({ input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' }),
      ).rejects.toMatchObject({ status: 404, param: 'input_file_id' });
    }
    expect(received.length).toBe(before);
  });

  it('can be named in a chat by their key, and only with their provider', async () => {
    const file = await upload();
    const other = await newKey();
    const ask = (key: string, model: string) =>
      client(key).chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: `Read "${file.id}".` },
              { type: 'file', file: { file_id: file.id } },
            ],
          },
        ],
      });
    await ask(service.key, 'filey/m');
    const { content } = JSON.parse(last()?.head ?? '').messages[0];
    expect(content).toEqual([
      { type: 'text', text: `Read "${file.id}".` },
      { type: 'file', file: { file_id: 'file-theirs' } },
    ]);
    const before = received.length;
    await expect(ask(other, 'filey/m')).rejects.toMatchObject({ status: 404, param: 'file_id' });
    await expect(ask(service.key, 'claude/m')).rejects.toMatchObject({ status: 422 });
    expect(received.length).toBe(before);
  });

  it('are refused for keys whose models or limits they could pass by', async () => {
    const before = received.length;
    await expect(upload(await newKey({ models: ['filey/small'] }))).rejects.toMatchObject({ status: 422 });
    const { status } = await fetch(`${service.url}/v1/files/x`, {
      headers: { authorization: `Bearer ${service.key}`, 'anthropic-version': '2023-06-01' },
    });
    expect(status).toBe(404);
    await expect(upload(await newKey({ agents: ['demo'] }))).rejects.toMatchObject({ status: 403 });
    expect(received.length).toBe(before);
    const limited = await newKey({ models: ['filey/*'], limits: { dailyCost: 1 } });
    const file = await upload(limited);
    await expect(
      client(limited).batches.create({ input_file_id: file.id, endpoint: '/v1/embeddings', completion_window: '24h' }),
    ).rejects.toMatchObject({ status: 403, message: expect.stringContaining('tokens or cost') });
  });

  it('need the name of a provider only if several have files, and never go to one that has none', async () => {
    const ask = async (query: string, headers: Record<string, string> = {}) => {
      const form = new FormData();
      form.set('purpose', 'batch');
      const init = { method: 'POST', body: form, headers: { authorization: `Bearer ${service.key}`, ...headers } };
      const response = await fetch(`${service.url}/v1/files${query}`, init);
      return { status: response.status, text: await response.text() };
    };
    expect(await ask('?provider=claude')).toMatchObject({ status: 422, text: expect.stringContaining('anthropic') });
    expect((await ask('?provider=none')).status).toBe(404);
    const { baseUrl } = (await service.call('GET', '/v1/providers/filey')).json;
    expect((await service.call('PUT', '/v1/providers/second', { kind: 'openai-compatible', baseUrl })).status).toBe(201);
    expect(await ask('')).toMatchObject({ status: 422, text: expect.stringContaining('filey, second') });
    expect((await ask('', { 'x-moniker-provider': 'second' })).status).toBe(200);
    expect((await ask('?provider=filey')).status).toBe(200);
    await service.call('DELETE', '/v1/providers/second');
  });

  it('pass as they arrive, and end at the limit', async () => {
    const piece = Buffer.alloc(1_048_576, 'x');
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const send = (megabytes: number, headers: Record<string, string> = {}) => {
      let left = megabytes;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from(head)),
        pull(controller) {
          left -= 1;
          if (left < 0) controller.close();
          else controller.enqueue(piece);
        },
      });
      const all = { authorization: `Bearer ${service.key}`, 'content-type': 'multipart/form-data; boundary=b', ...headers };
      return fetch(`${service.url}/v1/files`, { method: 'POST', body, headers: all, duplex: 'half' } as RequestInit);
    };
    const sent = await send(48);
    expect([sent.status, last()?.bytes]).toEqual([200, 48 * 1_048_576 + head.length]);
    const before = received.length;
    const wrong = await send(0, { 'content-type': 'application/json' });
    expect([wrong.status, received.length]).toEqual([415, before]);
    const declared = { 'content-length': String(512 * 1_048_576 + 1), 'content-type': 'multipart/form-data; boundary=b' };
    const long = request(`${service.url}/v1/files`, { method: 'POST', headers: { authorization: `Bearer ${service.key}`, ...declared } });
    const answer = once(long, 'response');
    long.write(head);
    expect([(await answer)[0].statusCode, received.length]).toEqual([413, before]);
    long.destroy();
  });

  it('are in the log of requests, without a call of a model', async () => {
    const { json } = await service.call('GET', '/v1/requests?model=filey/files');
    expect(json.items[0]).toMatchObject({ model: 'filey/files', models: [], modelCalls: 0 });
  });
});
