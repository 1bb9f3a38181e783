/** The paths of Azure OpenAI, with the stock client for Azure. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const apiKey = 'sk-provider-key-of-the-test';
const received: { path: string; headers: Record<string, unknown>; body: string }[] = [];
let provider: Server;

beforeAll(async () => {
  provider = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(200, { 'content-type': body.includes('"stream":true') ? 'text/event-stream' : 'application/json' });
      if (body.includes('"stream":true')) {
        const chunk = (delta: object, finish: string | null) => ({
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'small',
          choices: [{ index: 0, delta, finish_reason: finish }],
        });
        response.end(
          `data: ${JSON.stringify(chunk({ content: 'hi' }, null))}\n\ndata: ${JSON.stringify(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n`,
        );
      } else if (request.url === '/v1/chat/completions') {
        const message = { role: 'assistant', content: 'hello' };
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        response.end(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'small',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage,
          }),
        );
      } else if (request.url === '/v1/embeddings')
        response.end(JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }));
      else if (request.url === '/v1/images/generations') response.end(JSON.stringify({ created: 1, data: [{ b64_json: 'aGk=' }] }));
      else response.end(JSON.stringify({ text: 'hello there' }));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  expect((await service.call('PUT', '/v1/providers/azurely', { kind: 'openai-compatible', baseUrl, apiKey })).status).toBe(201);
  expect((await service.call('PUT', '/v1/model-aliases/our-deployment', { model: 'azurely/small' })).status).toBe(201);
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const client = (deployment?: string) =>
  new AzureOpenAI({
    endpoint: service.url,
    apiKey: service.key,
    apiVersion: '2024-10-21',
    maxRetries: 0,
    ...(deployment !== undefined && { deployment }),
  });
const messages = [{ role: 'user' as const, content: 'hi' }];
const last = () => received.at(-1);

describe('the stock client of Azure OpenAI', () => {
  it('chats with a deployment that is an alias, and its key is not sent on', async () => {
    const answer = await client().chat.completions.create({ model: 'our-deployment', messages });
    expect(answer.choices[0]?.message.content).toBe('hello');
    expect(last()).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: `Bearer ${apiKey}` } });
    expect(last()?.headers['api-key']).toBeUndefined();
    expect(JSON.parse(last()?.body ?? '')).toMatchObject({ model: 'small' });
  });

  it('streams from the deployment of the client, whatever the body names', async () => {
    const stream = await client('azurely/small').chat.completions.create({ model: 'ignored', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect([text, JSON.parse(last()?.body ?? '').model]).toEqual(['hi', 'small']);
  });

  it('creates embeddings, transcripts and images', async () => {
    const { data } = await client().embeddings.create({ model: 'our-deployment', input: 'x', encoding_format: 'float' });
    expect(data[0]?.embedding).toEqual([0.5]);
    const file = await toFile(Buffer.from('sound'), 'sound.mp3');
    expect((await client().audio.transcriptions.create({ model: 'our-deployment', file })).text).toBe('hello there');
    expect(last()?.body).toMatch(/name="model"\r\n\r\nsmall\r\n/);
    expect((await client().images.generate({ model: 'our-deployment', prompt: 'x' })).data?.[0]?.b64_json).toBe('aGk=');
  });

  it('is refused with another key, and for what is no path here, in the format of its API', async () => {
    const stranger = new AzureOpenAI({ endpoint: service.url, apiKey: 'other', apiVersion: '2024-10-21', maxRetries: 0 });
    await expect(stranger.chat.completions.create({ model: 'our-deployment', messages })).rejects.toMatchObject({ status: 401 });
    for (const path of ['/openai/deployments/%zz/embeddings', '/openai/v1/keys', '/openai/assistants']) {
      const response = await fetch(service.url + path, { method: 'POST', headers: { 'api-key': service.key }, body: '{}' });
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    }
  });

  it('reaches the version without deployments by the stock OpenAI client', async () => {
    const plain = new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: service.key, maxRetries: 0 });
    expect((await plain.chat.completions.create({ model: 'our-deployment', messages })).choices[0]?.message.content).toBe('hello');
    expect((await plain.models.list()).data.map(({ id }) => id)).toContain('our-deployment');
  });
});
