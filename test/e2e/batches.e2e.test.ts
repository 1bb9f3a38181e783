/** Lists of what a key made at a provider, and what its batches used, with the stock clients of OpenAI and Anthropic. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BatchProvider, startBatchProvider } from './batch-provider.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let provider: BatchProvider;

beforeAll(async () => {
  provider = await startBatchProvider();
  const prices = { '*': { input: 1, output: 10 } };
  for (const [name, kind] of [
    ['filey', 'openai-compatible'],
    ['claude', 'anthropic'],
    ['other', 'anthropic'],
  ]) {
    const document = { kind, baseUrl: provider.url, apiKey: 'sk-provider', models: ['m'], prices };
    expect((await service.call('PUT', `/v1/providers/${name}`, document)).status).toBe(201);
  }
  expect((await service.call('PUT', '/v1/model-aliases/fast', { model: 'claude/haiku' })).status).toBe(201);
});
afterAll(() => provider.stop());

const openai = (apiKey: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey, maxRetries: 0 });
const anthropic = (apiKey: string) => new Anthropic({ baseURL: service.url, apiKey, maxRetries: 0 });
const newKey = async (more: object = {}): Promise<{ key: string; id: string }> =>
  (await service.call('POST', '/v1/keys', { name: 'k', scopes: ['chat'], ...more })).json;
const upload = async (key: string, purpose: 'batch' | 'user_data' = 'batch') =>
  await openai(key).files.create({ file: await toFile(Buffer.from('{}\n'), 'in.jsonl'), purpose });
const usageOf = async (key: string) => (await service.call('GET', `/v1/usage?by=model&key=${key}`)).json.items;
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
const params = (model: string) => ({ model, max_tokens: 10, messages: [{ role: 'user' as const, content: 'x' }] });
const raw = async (key: string, path: string, init: RequestInit = {}) => {
  const response = await fetch(`${service.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  return { status: response.status, text: await response.text() };
};

describe('lists of files and batches', () => {
  it('have what the key made and nothing of another key, page by page', async () => {
    const [mine, theirs] = [await newKey(), await newKey()];
    const files = [await upload(mine.key), await upload(mine.key, 'user_data'), await upload(mine.key)];
    const foreign = await upload(theirs.key);
    const client = openai(mine.key);
    const first = await client.files.list({ limit: 2 });
    expect(idsOf(first.data)).toEqual(idsOf([files[2], files[1]] as { id: string }[]));
    expect(first.has_more).toBe(true);
    const all: string[] = [];
    for await (const file of client.files.list({ limit: 1, order: 'asc' })) all.push(file.id);
    expect(all).toEqual(idsOf(files));
    expect(idsOf((await client.files.list({ purpose: 'user_data' })).data)).toEqual([files[1]?.id]);
    expect(idsOf((await openai(theirs.key).files.list()).data)).toEqual([foreign.id]);
    await expect(client.files.list({ after: foreign.id })).rejects.toMatchObject({ status: 404, param: 'after' });
    expect((await raw(mine.key, '/v1/files?provider=claude')).status).toBe(422);
    const limited = await newKey({ models: ['claude/*'] });
    expect((await openai(limited.key).files.list()).data).toEqual([]);
    expect((await raw(limited.key, '/v1/files?provider=filey')).status).toBe(403);
  });

  it('leave out what was deleted here or at the provider, and continue behind it', async () => {
    const { key } = await newKey();
    const files = [await upload(key), await upload(key), await upload(key), await upload(key)];
    const client = openai(key);
    await client.files.delete(files[3]?.id ?? '');
    expect(idsOf((await client.files.list({ after: files[3]?.id })).data)).toEqual(
      idsOf([files[2], files[1], files[0]] as { id: string }[]),
    );
    const newest = [...provider.items.keys()].filter((id) => id.startsWith('file-')).at(-1) ?? '';
    provider.items.delete(newest);
    for (const limit of [1, 3]) expect((await client.files.list({ limit })).data[0]?.id).toBe(files[1]?.id);
    const batch = await client.batches.create({ input_file_id: files[0]?.id ?? '', endpoint: '/v1/embeddings', completion_window: '24h' });
    expect(idsOf((await client.batches.list()).data)).toEqual([batch.id]);
  });

  it('are kept over a crash', async () => {
    const { key } = await newKey();
    const file = await upload(key);
    await service.restart();
    expect(idsOf((await openai(key).files.list()).data)).toEqual([file.id]);
  });
});

describe('what a batch used', () => {
  const finish = async (key: string, changes: object) => {
    const file = await upload(key);
    const client = openai(key);
    const batch = await client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    const id = [...provider.items.keys()].filter((one) => one.startsWith('batch_')).at(-1) ?? '';
    provider.items.set(id, { ...provider.items.get(id), id, ...changes });
    return { client, batch, id };
  };

  it('is counted once from the batch, whoever reads it how often', async () => {
    const { key, id } = await newKey();
    const usage = { input_tokens: 1_000_000, output_tokens: 100_000, total_tokens: 1_100_000 };
    const counts = { request_counts: { total: 3, completed: 2, failed: 1 } };
    const { client, batch } = await finish(key, { status: 'completed', model: 'small', usage, ...counts });
    await Promise.all(Array.from({ length: 4 }, () => client.batches.retrieve(batch.id)));
    await client.batches.list();
    await client.batches.retrieve(batch.id);
    const counted = { model: 'filey/small', calls: 3, failures: 1, inputTokens: 1_000_000, outputTokens: 100_000, cost: 2 };
    expect(await usageOf(id)).toMatchObject([counted]);
    expect((await usageOf(id)).length).toBe(1);
    await service.restart();
    await openai(key).batches.retrieve(batch.id);
    expect(await usageOf(id)).toMatchObject([counted]);
  });

  it('is counted once from the output file, if its provider does not sum it up', async () => {
    const { key, id } = await newKey();
    const line = (status: number, tokens: number) => {
      const body = { model: 'small-1', usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 } };
      return JSON.stringify({
        custom_id: 'é',
        response: { status_code: status, body: status === 200 ? body : { error: {} } },
        error: null,
      });
    };
    const { client, batch } = await finish(key, { status: 'expired', output_file_id: 'file-out', error_file_id: null });
    provider.contents.set('file-out', [line(200, 10), line(200, 20), line(500, 0)].join('\n'));
    provider.items.set('file-out', { id: 'file-out', object: 'file', purpose: 'batch_output' });
    const { output_file_id: output } = await client.batches.retrieve(batch.id);
    expect(await usageOf(id)).toEqual([]);
    expect(idsOf((await client.files.list({ purpose: 'batch_output' })).data)).toEqual([output]);
    for (let reads = 0; reads < 3; reads += 1) expect(await (await client.files.content(output ?? '')).text()).toContain('"custom_id":"é"');
    expect(await usageOf(id)).toMatchObject([{ model: 'filey/small-1', calls: 3, failures: 1, inputTokens: 30, outputTokens: 2 }]);
    expect((await service.call('GET', `/v1/requests?key=${id}&model=filey/small-1`)).json.items).toMatchObject([{ modelCalls: 3 }]);
  });
});

describe('batches of messages', () => {
  it('are used by the stock client, with aliases, and counted once from their results', async () => {
    const { key, id } = await newKey({ models: ['claude/haiku'] });
    const client = anthropic(key);
    const requests = [
      { custom_id: 'a', params: params('claude/haiku') },
      { custom_id: 'b', params: params('fast') },
    ];
    const batch = await client.messages.batches.create({ requests });
    expect(batch.id).toMatch(/^msgbatch_eyJ/);
    const sent = provider.received.at(-1);
    expect(sent).toMatchObject({
      path: '/v1/messages/batches',
      headers: { 'x-api-key': 'sk-provider', 'anthropic-version': expect.any(String) },
    });
    expect(JSON.parse(sent?.text ?? '').requests.map((one: { params: { model: string } }) => one.params.model)).toEqual(['haiku', 'haiku']);
    const theirs = [...provider.items.keys()].filter((one) => one.startsWith('msgbatch_')).at(-1) ?? '';
    const ended = { id: theirs, type: 'message_batch', processing_status: 'ended', results_url: `https://api.example/${theirs}` };
    provider.items.set(theirs, ended);
    const result = (custom: string, result_: object) => JSON.stringify({ custom_id: custom, result: result_ });
    const usage = { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'haiku-20991001', content: [], usage };
    const lines = [
      result('a', { type: 'succeeded', message }),
      result('b', { type: 'errored', error: {} }),
      result('c', { type: 'expired' }),
    ];
    provider.contents.set(theirs, `${lines.join('\n')}\n`);
    const read = await client.messages.batches.retrieve(batch.id);
    expect(read.results_url).toBe(`${service.url}/v1/messages/batches/${batch.id}/results`);
    for (let reads = 0; reads < 2; reads += 1) {
      const results: unknown[] = [];
      for await (const one of await client.messages.batches.results(batch.id)) results.push(one);
      expect(results).toMatchObject([{ custom_id: 'a', result: { message: { id: 'msg_1' } } }, { custom_id: 'b' }, { custom_id: 'c' }]);
    }
    expect(await usageOf(id)).toMatchObject([{ model: 'claude/haiku', calls: 2, failures: 1, inputTokens: 7, outputTokens: 7 }]);
    expect((await client.messages.batches.cancel(batch.id)).id).toBe(batch.id);
    expect(provider.received.at(-1)).toMatchObject({ method: 'POST', path: `/v1/messages/batches/${theirs}/cancel` });
    expect((await client.messages.batches.delete(batch.id)).id).toBe(batch.id);
    expect((await client.messages.batches.list()).data).toEqual([]);
    await expect(client.messages.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
  });

  it('count all of their results, although the client disconnects before their end', async () => {
    const { key, id } = await newKey();
    const batch = await anthropic(key).messages.batches.create({ requests: [{ custom_id: 'a', params: params('fast') }] });
    const theirs = [...provider.items.keys()].filter((one) => one.startsWith('msgbatch_')).at(-1) ?? '';
    const message = { model: 'haiku', content: [{ type: 'text', text: 'x'.repeat(1_000) }], usage: { input_tokens: 1, output_tokens: 2 } };
    const line = `${JSON.stringify({ custom_id: 'a', result: { type: 'succeeded', message } })}\n`;
    provider.contents.set(theirs, line.repeat(40_000));
    const { body } = await fetch(`${service.url}/v1/messages/batches/${batch.id}/results`, { headers: { 'x-api-key': key } });
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(async () => await usageOf(id), { timeout: 30_000 }).toMatchObject([{ calls: 40_000, inputTokens: 40_000 }]);
  });

  it('are listed for their key, in both directions', async () => {
    const { key } = await newKey();
    const client = anthropic(key);
    const make = async () => (await client.messages.batches.create({ requests: [{ custom_id: 'a', params: params('fast') }] })).id;
    const [first, second, third] = [await make(), await make(), await make()];
    const all: string[] = [];
    for await (const { id } of client.messages.batches.list({ limit: 1 })) all.push(id);
    expect(all).toEqual([third, second, first]);
    const newer = await client.messages.batches.list({ before_id: first, limit: 1 });
    expect([idsOf(newer.data), newer.has_more, newer.first_id]).toEqual([[second], true, second]);
    expect((await anthropic((await newKey()).key).messages.batches.list()).data).toEqual([]);
  });

  it('are refused with their place, for another key, and where limits could not be kept', async () => {
    const { key } = await newKey({ models: ['claude/*', 'filey/*'] });
    const batch = await anthropic(key).messages.batches.create({ requests: [{ custom_id: 'a', params: params('fast') }] });
    const before = provider.received.length;
    const other = anthropic((await newKey()).key).messages.batches;
    for (const call of [
      () => other.retrieve(batch.id),
      () => other.cancel(batch.id),
      () => other.delete(batch.id),
      () => other.list({ after_id: batch.id }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 404 });
    expect((await raw((await newKey()).key, `/v1/messages/batches/${batch.id}/results`)).status).toBe(404);
    expect((await raw(key, `/v1/batches/${batch.id}`)).status).toBe(422);
    const create = async (own: string, ...models: string[]) =>
      await raw(own, '/v1/messages/batches', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ requests: models.map((model, index) => ({ custom_id: `${index}`, params: params(model) })) }),
      });
    expect(await create(key, 'claude/a', 'other/a')).toMatchObject({ status: 403 });
    expect(await create(service.key, 'claude/a', 'other/a')).toMatchObject({
      status: 422,
      text: expect.stringContaining('requests[1].params.model: is of the provider'),
    });
    expect(await create(key, 'claude/a', 'filey/m')).toMatchObject({ status: 422, text: expect.stringContaining('no message batches') });
    expect(await create(key, 'agent/demo')).toMatchObject({ status: 422, text: expect.stringContaining('requests[0].params.model') });
    const body = JSON.stringify({ requests: [{ custom_id: 'a', params: { ...params('claude/a'), fallbacks: ['claude/b'] } }] });
    const fallback = await raw(key, '/v1/messages/batches', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(fallback).toMatchObject({ status: 422, text: expect.stringContaining('requests[0].params.fallbacks') });
    const limited = await newKey({ limits: { monthlyCost: 1 } });
    expect(await create(limited.key, 'claude/a')).toMatchObject({ status: 403, text: expect.stringContaining('tokens or cost') });
    expect(provider.received.length).toBe(before);
  });
});
