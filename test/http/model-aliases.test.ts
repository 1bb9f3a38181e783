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
