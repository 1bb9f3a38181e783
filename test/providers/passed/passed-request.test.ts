/** Embeddings and rerank of providers with other APIs than OpenAI's. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import { passRequest } from '../../../src/providers/passed/passed-request.ts';
import type { ProxyDeps } from '../../../src/providers/proxy.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { fakeAnthropic } from '../../fakes/upstreams/anthropic.ts';
import { awsKey, fakeBedrock } from '../../fakes/upstreams/clouds.ts';
import { accessOf } from '../clouds/access.ts';
import { scriptOf } from '../sdk-script.ts';

const gemini: ProviderAccess = {
  ...{ name: 'g', kind: 'gemini', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
  ...{ headers: { 'x-goog-api-key': 'key' }, models: [], profile: {} },
};
const vertex: ProviderAccess = {
  ...{ ...gemini, kind: 'vertex', baseUrl: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global' },
  cloud: { kind: 'vertex' },
};
const cohere: ProviderAccess = { ...gemini, kind: 'cohere', baseUrl: 'https://api.cohere.com/v2', headers: { authorization: 'Bearer k' } };
const azure: ProviderAccess = {
  ...{ ...gemini, kind: 'azure-openai', baseUrl: 'https://my.openai.azure.com/openai', headers: { 'api-key': 'k' } },
  cloud: { kind: 'azure-openai', apiVersion: '2024-10-21' },
};
const principal = { workspace: 'w', keyId: 'k', scopes: ['chat'] } as unknown as Principal;

type Sent = { url: string; body: unknown };

const pass = async (
  access: ProviderAccess,
  body: object,
  reply: object,
  { path = '/embeddings', models, model = 'emb-1' }: { path?: string; models?: string[]; model?: string } = {},
) => {
  const sent: Sent[] = [];
  const directory = {
    provider: () => Promise.resolve(access),
    workspaceSettings: () => Promise.resolve({ models: models ?? null, limits: null }),
  } as unknown as Directory;
  const outbound = async (request: Request): Promise<Response> => {
    sent.push({ url: request.url, body: await request.clone().json() });
    return typeof reply === 'function' ? await reply(request) : Response.json(reply);
  };
  // Retries do not wait.
  const clock = { ...fakeClock(), sleep: () => Promise.resolve() };
  const deps = { directory, outbound, clock, ids: countedIds() } as unknown as ProxyDeps;
  const response = await passRequest(deps, principal, { ref: `g/${model}`, path, body: body as Record<string, unknown> });
  return { sent, response, body: (await response.json()) as Record<string, unknown> };
};
const vector = [0.5, -0.25, 2];
const data = (embeddings: unknown[]) => embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));

describe('embeddings in the form of OpenAI', () => {
  it('come from Gemini, one request for all texts', async () => {
    const reply = { embeddings: [{ values: vector }, { values: [1, 1, 1] }], usageMetadata: { promptTokenCount: 7 } };
    const { sent, body } = await pass(gemini, { input: ['a', 'b'], dimensions: 3 }, reply);
    const part = (text: string) => ({ model: 'models/emb-1', content: { parts: [{ text }] }, outputDimensionality: 3 });
    expect(sent).toEqual([
      {
        url: 'https://generativelanguage.googleapis.com/v1beta/models/emb-1:batchEmbedContents',
        body: { requests: [part('a'), part('b')] },
      },
    ]);
    expect(body).toEqual({
      ...{ object: 'list', data: data([vector, [1, 1, 1]]), model: 'emb-1' },
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('come from Vertex AI', async () => {
    const reply = { predictions: [{ embeddings: { values: vector, statistics: { token_count: 4, truncated: false } } }] };
    const { sent, body } = await pass(vertex, { input: 'a' }, reply);
    expect(sent).toEqual([
      {
        url: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/emb-1:predict',
        body: { instances: [{ content: 'a' }] },
      },
    ]);
    expect(body).toMatchObject({ data: data([vector]), usage: { total_tokens: 4 } });
  });

  it('come from Cohere, also as base64, as the SDK of OpenAI asks for them', async () => {
    const reply = { id: 'e', embeddings: { float: [vector] }, texts: ['a'], meta: { billed_units: { input_tokens: 2 } } };
    const { sent, body } = await pass(cohere, { input: 'a', encoding_format: 'base64', input_type: 'search_query' }, reply);
    expect(sent).toEqual([
      {
        url: 'https://api.cohere.com/v2/embed',
        body: { model: 'emb-1', texts: ['a'], input_type: 'search_query', embedding_types: ['float'] },
      },
    ]);
    const [{ embedding = '' } = {}] = body.data as { embedding?: string }[];
    expect([...new Float32Array(Uint8Array.from(Buffer.from(embedding, 'base64')).buffer)]).toEqual(vector);
  });

  it('have no usage if the provider does not count', async () => {
    expect((await pass(gemini, { input: 'a' }, { embeddings: [{ values: vector }] })).body).not.toHaveProperty('usage');
  });

  it('name members that the provider does not have', async () => {
    const { response } = await pass(gemini, { input: 'a', user: 'u', input_type: 'x' }, { embeddings: [{ values: vector }] });
    expect(response.headers.get('x-moniker-dropped')).toBe('user, input_type');
  });

  it.each([
    ['tokens', { input: [1, 2] }, 'input'],
    ['lists of tokens', { input: [[1], [2]] }, 'input'],
    ['nothing', {}, 'input'],
    ['another format', { input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    ['further models', { input: 'a', models: ['x/y'] }, 'models'],
  ])('are refused for %s, with its place', async (_case, body, path) => {
    const refused = pass(gemini, body, {}, { models: ['g/*'] });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', extra: { issues: [{ path }] } });
  });

  it.each([
    ['fewer vectors than texts', { embeddings: [{ values: vector }] }],
    ['no numbers', { embeddings: [{ values: vector }, { values: ['1'] }] }],
    ['something else', { error: 'x' }],
  ])('are an error of the provider if its reply has %s', async (_case, reply) => {
    await expect(pass(gemini, { input: ['a', 'b'] }, reply)).rejects.toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('one embedding for each text'),
    });
  });

  it('are those of an allowed model alone', async () => {
    await expect(pass(gemini, { input: 'a' }, {}, { models: ['g/other'] })).rejects.toMatchObject({ code: 'forbidden' });
  });

  describe('on Bedrock', () => {
    const onBedrock = async (model: string, body: object) => {
      const fake = fakeBedrock(fakeAnthropic(scriptOf({ text: { text: 'Hi' }, calls: { text: 'Hi' } })));
      const access = await accessOf({ kind: 'bedrock', region: 'us-east-1' }, awsKey);
      return await pass({ ...access, name: 'g' }, body, (request: Request) => fake.handle(request), { model });
    };
    const host = 'https://bedrock-runtime.us-east-1.amazonaws.com/model';

    it('come from Titan, a signed call for each text, in the order of the texts', async () => {
      const input = Array.from({ length: 20 }, (_, index) => 'x'.repeat(index + 1));
      const { sent, body } = await onBedrock('amazon.titan-embed-text-v2:0', { input, dimensions: 256 });
      expect(sent).toHaveLength(20);
      expect(sent[0]).toEqual({ url: `${host}/amazon.titan-embed-text-v2%3A0/invoke`, body: { inputText: 'x', dimensions: 256 } });
      expect((body.data as { embedding: number[] }[]).map(({ embedding }) => embedding[0])).toEqual(input.map(({ length }) => length));
      expect(body.usage).toEqual({ prompt_tokens: 40, total_tokens: 40 });
    });

    it('come from the first Titan without dimensions, which are named', async () => {
      const { sent, response } = await onBedrock('amazon.titan-embed-text-v1', { input: 'a', dimensions: 256 });
      expect(sent[0]?.body).toEqual({ inputText: 'a' });
      expect(response.headers.get('x-moniker-dropped')).toContain('dimensions');
    });

    it('come from Cohere, at most 96 texts a call, with the count of the header', async () => {
      const { sent, body } = await onBedrock('us.cohere.embed-v4:0', { input: Array.from({ length: 100 }, () => 'a'), dimensions: 512 });
      expect(sent.map((one) => (one.body as { texts: string[] }).texts.length)).toEqual([96, 4]);
      expect(sent[1]).toEqual({
        url: `${host}/us.cohere.embed-v4%3A0/invoke`,
        body: { texts: ['a', 'a', 'a', 'a'], input_type: 'search_document', embedding_types: ['float'], output_dimension: 512 },
      });
      expect(body.data).toHaveLength(100);
      expect(body.usage).toEqual({ prompt_tokens: 300, total_tokens: 300 });
    });

    it('are refused for more texts than can be sent, and for other models', async () => {
      const input = Array.from({ length: 257 }, () => 'a');
      await expect(onBedrock('amazon.titan-embed-text-v2:0', { input })).rejects.toMatchObject({ extra: { issues: [{ path: 'input' }] } });
      await expect(onBedrock('amazon.nova-pro-v1:0', { input: 'a' })).rejects.toMatchObject({ extra: { issues: [{ path: 'model' }] } });
    });

    it('are an error of the provider if one call fails', async () => {
      await expect(onBedrock('amazon.titan-embed-text-v2:0', { input: ['a', 'b'], dimensions: 3 })).rejects.toMatchObject({
        extra: { upstreamStatus: 400 },
      });
    });
  });

  it('are passed to a deployment of Azure', async () => {
    const { sent, body } = await pass(azure, { input: [1, 2], encoding_format: 'base64' }, { object: 'list', data: [] });
    expect(sent).toEqual([
      {
        url: 'https://my.openai.azure.com/openai/deployments/emb-1/embeddings?api-version=2024-10-21',
        body: { input: [1, 2], encoding_format: 'base64', model: 'emb-1' },
      },
    ]);
    expect(body).toEqual({ object: 'list', data: [] });
  });
});

describe('a rerank request', () => {
  const body = { query: 'q', documents: ['a', 'b'], top_n: 1 };
  const reply = { id: 'r', results: [{ index: 1, relevance_score: 0.9 }], meta: { billed_units: { search_units: 1 } } };

  it.each([
    ['Cohere', cohere, 'https://api.cohere.com/v2/rerank'],
    [
      'a compatible server',
      { ...gemini, kind: 'openai-compatible', baseUrl: 'https://llm.example/v1' } as ProviderAccess,
      'https://llm.example/v1/rerank',
    ],
  ])('is passed to %s', async (_case, access, url) => {
    const passed = await pass(access, body, reply, { path: '/rerank' });
    expect(passed.sent).toEqual([{ url, body: { ...body, model: 'emb-1' } }]);
    expect(passed.body).toEqual(reply);
  });

  it('is refused for a provider that has none', async () => {
    const refused = pass(gemini, body, reply, { path: '/rerank' });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', extra: { issues: [{ path: 'model' }] } });
  });

  it('is checked against the allow-list, also for further models', async () => {
    await expect(pass(cohere, body, reply, { path: '/rerank', models: ['g/other'] })).rejects.toMatchObject({ code: 'forbidden' });
    const other = pass(cohere, { ...body, models: ['x/y'] }, reply, { path: '/rerank', models: ['g/*'] });
    await expect(other).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
