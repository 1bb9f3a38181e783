import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
  expect((await h.send('PUT', '/v1/model-aliases/claude-*', { model: 'rehearsal/default' })).status).toBe(201);
  expect((await h.send('PUT', '/v1/model-aliases/claude-helper', { model: 'agent/helper' })).status).toBe(201);
});

const messages = [{ role: 'user', content: 'hello' }];
const apis: [string, object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 10 }],
  ['/v1/responses', { input: 'hello' }],
];

describe('a request with the alias of a model', () => {
  it.each(apis)('is sent to the model that the alias names: %s', async (path, body) => {
    const answer = await h.send('POST', path, { model: 'claude-sonnet-4-5', ...body });
    expect([answer.status, h.proxied.map(({ model }) => model)]).toEqual([200, ['rehearsal/default']]);
  });

  it.each(apis)('runs the agent that the alias names, and shows the requested name: %s', async (path, body) => {
    const answer = await h.send('POST', path, { model: 'claude-helper', ...body });
    expect([answer.status, (await bodyOf(answer)).model]).toEqual([200, 'claude-helper']);
    expect(h.sessions.submitted[0]?.plan).toMatchObject({ agent: 'helper' });
  });

  it('runs server tools with the model that the alias names', async () => {
    const answer = await h.send('POST', '/v1/chat/completions', { model: 'claude-x', messages, toolset: 'demo' });
    expect([answer.status, h.sessions.submitted[0]?.plan.model]).toEqual([200, 'rehearsal/default']);
  });

  it('is in the list of models if the key may use what it names, and if it is not a pattern', async () => {
    const headers = await h.key({ scopes: ['chat'], agents: ['helper'] });
    await h.send('PUT', '/v1/model-aliases/gpt-4o', { model: 'rehearsal/default' });
    const list = async (own?: Record<string, string>) =>
      (await bodyOf(await h.send('GET', '/v1/models', undefined, own))).data.map(({ id }: { id: string }) => id);
    expect((await list()).slice(0, 2)).toEqual(['claude-helper', 'gpt-4o']);
    expect(await list(headers)).toEqual(['claude-helper', 'agent/helper']);
    expect((await h.send('GET', '/v1/models/gpt-4o')).status).toBe(200);
  });

  it('does not extend what a key may use', async () => {
    const headers = await h.key({ scopes: ['chat'], agents: ['helper'] });
    const chat = (model: string) => h.send('POST', '/v1/chat/completions', { model, messages }, headers);
    expect((await chat('claude-sonnet-4-5')).status).toBe(403);
    expect((await chat('claude-helper')).status).toBe(200);
  });

  it('is unknown after the alias is deleted', async () => {
    expect((await h.send('DELETE', '/v1/model-aliases/claude-*')).status).toBe(204);
    const answer = await h.send('POST', '/v1/chat/completions', { model: 'claude-sonnet-4-5', messages });
    expect([answer.status, (await bodyOf(answer)).error.code]).toEqual([404, 'model_not_found']);
  });
});

describe('the document of an alias', () => {
  it('is listed, read and replaced by administrators only', async () => {
    expect((await bodyOf(await h.send('GET', '/v1/model-aliases'))).items).toEqual([
      { name: 'claude-*', model: 'rehearsal/default' },
      { name: 'claude-helper', model: 'agent/helper' },
    ]);
    expect(await bodyOf(await h.send('GET', '/v1/model-aliases/claude-*'))).toEqual({ name: 'claude-*', model: 'rehearsal/default' });
    const headers = await h.key({ scopes: ['chat'] });
    for (const method of ['GET', 'DELETE'])
      expect((await h.send(method, '/v1/model-aliases/claude-*', undefined, headers)).status).toBe(403);
  });

  it('cannot name another alias', async () => {
    const answer = await h.send('PUT', '/v1/model-aliases/gpt-4o', { model: 'claude-x' });
    expect([answer.status, (await bodyOf(answer)).issues]).toEqual([
      422,
      [{ path: 'model', message: expect.stringContaining('an alias cannot name another alias') }],
    ]);
  });
});

describe('an alias in the form of <provider>/<model>', () => {
  const put = (name: string, model: string, headers?: Record<string, string>) =>
    h.send('PUT', `/v1/model-aliases/${encodeURIComponent(name)}`, { model }, headers);

  it.each(apis)('is used by requests with its name: %s', async (path, body) => {
    const created = await put('groq/llama-4-maverick', 'rehearsal/default');
    expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/model-aliases/groq%2Fllama-4-maverick']);
    const answer = await h.send('POST', path, { model: 'groq/llama-4-maverick', ...body });
    expect([answer.status, h.proxied.map(({ model }) => model)]).toEqual([200, ['rehearsal/default']]);
  });

  it.each(apis)('runs the agent that it names, and shows the requested name: %s', async (path, body) => {
    await put('openai/helper', 'agent/helper');
    const answer = await h.send('POST', path, { model: 'openai/helper', ...body });
    expect([answer.status, (await bodyOf(answer)).model]).toEqual([200, 'openai/helper']);
    expect(h.sessions.submitted[0]?.plan).toMatchObject({ agent: 'helper' });
  });

  it('is read, changed and removed at its encoded path', async () => {
    await put('together/meta/llama', 'rehearsal/default');
    const path = '/v1/model-aliases/together%2Fmeta%2Fllama';
    expect(await bodyOf(await h.send('GET', path))).toEqual({ name: 'together/meta/llama', model: 'rehearsal/default' });
    expect((await h.send('PATCH', path, { description: 'For old clients.' })).status).toBe(200);
    expect((await bodyOf(await h.send('GET', '/v1/models/together/meta/llama'))).id).toBe('together/meta/llama');
    expect((await h.send('DELETE', path)).status).toBe(204);
    expect((await h.send('GET', path)).status).toBe(404);
  });

  it.each(['..%2Fproviders', 'a%2F..%2Fb', 'a%252Fb', 'agent%2Fx', 'rehearsal%2Fdefault', 'a%2F%2Fb', '%2Fa', 'a%5Cb'])(
    'is rejected with the path %s',
    async (path) => {
      const answer = await h.send('PUT', `/v1/model-aliases/${path}`, { model: 'rehearsal/default' });
      expect([404, 422]).toContain(answer.status);
      expect((await bodyOf(await h.send('GET', '/v1/model-aliases'))).items).toHaveLength(2);
    },
  );

  it('says that requests no longer reach the provider, whose model is listed once', async () => {
    await h.send('PUT', '/v1/providers/groq', { kind: 'openai-compatible', baseUrl: 'https://groq.test/v1', models: ['llama', 'qwen'] });
    expect((await bodyOf(await put('groq/llama', 'rehearsal/default'))).warnings).toEqual([
      { path: 'name', message: expect.stringContaining('precedence over models of the provider "groq"') },
    ]);
    expect((await bodyOf(await put('together/llama', 'rehearsal/default'))).warnings).toBeUndefined();
    const { data } = await bodyOf(await h.send('GET', '/v1/models'));
    const listed = data.filter(({ id }: { id: string }) => id.startsWith('groq/'));
    expect(listed.map(({ id, owned_by }: Record<string, string>) => [id, owned_by])).toEqual([
      ['groq/llama', 'alias'],
      ['groq/qwen', 'groq'],
    ]);
  });

  it('does not extend what a key may use', async () => {
    await h.send('PUT', '/v1/providers/groq', { kind: 'openai-compatible', baseUrl: 'https://groq.test/v1', models: ['llama'] });
    await put('groq/llama', 'rehearsal/default');
    await put('groq/agent', 'agent/helper');
    const limited = await h.key({ scopes: ['chat'], models: ['groq/*'] });
    expect((await h.send('GET', '/v1/models/groq/llama', undefined, limited)).status).toBe(403);
    expect((await bodyOf(await h.send('GET', '/v1/models', undefined, limited))).data.map(({ id }: { id: string }) => id)).not.toContain(
      'groq/llama',
    );
    const bound = await h.key({ scopes: ['chat'], agents: ['other'] });
    expect((await h.send('POST', '/v1/chat/completions', { model: 'groq/agent', messages }, bound)).status).toBe(403);
  });

  it('leaves the models of agents as they are', async () => {
    await put('groq/llama', 'agent/direct');
    await h.send('PUT', '/v1/agents/direct', { model: 'rehearsal/default' });
    await put('rehearsed/default', 'agent/direct');
    const answer = await h.send('POST', '/v1/chat/completions', { model: 'rehearsed/default', messages });
    expect([answer.status, h.sessions.submitted[0]?.plan]).toMatchObject([200, { agent: 'direct', model: 'rehearsal/default' }]);
  });
});
