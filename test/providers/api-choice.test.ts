/** Requests to OpenAI's models reach the API that takes them: by the model's row, or by what the provider has answered before. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { ModelSettings } from '../../src/core/model/model-settings.ts';
import { listOf, recordOf } from '../../src/core/json/wire-value.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { fakeOpenAiApis } from '../fakes/upstreams/openai-apis.ts';
import type { Say } from '../fakes/upstreams/upstream.ts';
import { bodyOf } from '../http/harness.ts';
import { createProxiedHarness } from '../http/proxied-harness.ts';

const call: Say = { reasoning: 'So.', calls: [{ name: 'look', arguments: { path: '/' } }] };
const script = (): Say => call;
const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const chatTool = { type: 'function', function: { name: 'look', parameters } };
const user = [{ role: 'user', content: 'Look.' }];
const always = (): boolean => true;
const unlessNone = (effort: string | undefined): boolean => effort !== 'none';

type Upstream = ReturnType<typeof fakeOpenAiApis>;
const chatBody = (model: string, fields: object = {}) => ({ model, messages: user, tools: [chatTool], ...fields });
const messagesBody = (model: string) => ({ model, max_tokens: 100, messages: user, tools: [{ name: 'look', input_schema: parameters }] });
const responsesBody = (model: string) => ({
  model,
  input: 'Look.',
  tools: [{ type: 'function', name: 'look', parameters, strict: false }],
});

async function openAi(upstream: Upstream, fields: object = {}) {
  return await createProxiedHarness({ acme: { kind: 'openai', upstream, ...fields } });
}

describe('a model of kind openai that Chat Completions refuses tools of', () => {
  it.each([
    ['gpt-5.6', undefined, '/responses'],
    ['gpt-5.6-terra', undefined, '/responses'],
    ['gpt-5.6-luna-2026-07-09', 'high', '/responses'],
    ['gpt-5.6', 'none', '/chat/completions'],
    ['gpt-5.9', undefined, '/responses'],
    ['gpt-6-astra', undefined, '/responses'],
    ['gpt-6-astra', 'none', '/responses'],
    ['gpt-7', 'low', '/responses'],
    ['gpt-5.4', undefined, '/chat/completions'],
    ['gpt-5.5', 'medium', '/responses'],
    ['gpt-5.5', 'none', '/chat/completions'],
    ['gpt-5.6-chat-latest', undefined, '/chat/completions'],
    ['gpt-5.2', 'high', '/chat/completions'],
    ['gpt-4o', undefined, '/chat/completions'],
    ['gpt-5.1-codex-max', undefined, '/responses'],
  ])('%s with effort %s gets tools by %s', async (model, effort, path) => {
    const upstream = fakeOpenAiApis(script);
    const h = await openAi(upstream);
    const response = await h.send('POST', '/v1/chat/completions', chatBody(`acme/${model}`, { reasoning_effort: effort }));
    expect(response.status).toBe(200);
    expect(upstream.paths).toEqual([path]);
    expect(upstream.bodies).toMatchObject([{ model }]);
    expect(response.headers.get('x-moniker-api')).toBe(path === '/responses' ? 'openai-responses' : null);
    expect(await bodyOf(response)).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'look' } }] } }],
    });
  });

  it('without tools is asked by Chat Completions, unchanged', async () => {
    const upstream = fakeOpenAiApis(() => ({ text: 'Hello' }));
    const h = await openAi(upstream);
    const response = await h.send('POST', '/v1/chat/completions', { model: 'acme/gpt-5.6', messages: user });
    expect([upstream.paths, response.headers.get('x-moniker-api')]).toEqual([['/chat/completions'], null]);
  });

  it('continues a tool loop of a Chat client with the encrypted reasoning', async () => {
    const upstream = fakeOpenAiApis((_heard, index) => (index === 0 ? call : { text: 'Done.' }));
    const h = await openAi(upstream);
    const first = await bodyOf(await h.send('POST', '/v1/chat/completions', chatBody('acme/gpt-5.6')));
    const [{ message }] = first.choices as [{ message: { tool_calls: [{ id: string }] } }];
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'a.txt' };
    const second = await h.send('POST', '/v1/chat/completions', chatBody('acme/gpt-5.6', { messages: [...user, message, result] }));
    expect(await bodyOf(second)).toMatchObject({ choices: [{ message: { content: 'Done.' } }] });
    const types = listOf(upstream.bodies[1]?.input).map((item) => recordOf(item).type);
    expect(types).toEqual(['message', 'reasoning', 'function_call', 'function_call_output']);
  });

  it('is asked by Responses for a Messages client', async () => {
    const upstream = fakeOpenAiApis(script);
    const response = await (await openAi(upstream)).send('POST', '/v1/messages', messagesBody('acme/gpt-6-astra'));
    expect(upstream.paths).toEqual(['/responses']);
    expect(response.headers.get('x-moniker-api')).toBe('openai-responses');
    expect(await bodyOf(response)).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('streams by Responses for a Chat client', async () => {
    const upstream = fakeOpenAiApis(script);
    const response = await (await openAi(upstream)).send('POST', '/v1/chat/completions', chatBody('acme/gpt-5.6', { stream: true }));
    expect(response.headers.get('x-moniker-api')).toBe('openai-responses');
    expect(await response.text()).toMatch(/"name":"look"[\s\S]*"finish_reason":"tool_calls"[\s\S]*\[DONE\]/);
  });

  it('is asked by Chat Completions if the provider’s profile says so', async () => {
    const upstream = fakeOpenAiApis(script);
    const h = await openAi(upstream, { profile: { api: 'chat' } });
    await h.send('POST', '/v1/chat/completions', chatBody('acme/gpt-6-astra'));
    await h.send('POST', '/v1/responses', responsesBody('acme/gpt-6-astra'));
    expect(upstream.paths).toEqual(['/chat/completions', '/chat/completions']);
  });
});

describe('a Responses client of kind openai', () => {
  it('is passed on to Responses, whichever the model', async () => {
    const upstream = fakeOpenAiApis(script);
    const h = await openAi(upstream, { profile: { api: 'own' } });
    const sent = { ...responsesBody('acme/gpt-4o'), metadata: { odd: 'field' }, truncation: 'auto' };
    const response = await h.send('POST', '/v1/responses', sent);
    expect(upstream.paths).toEqual(['/responses']);
    expect(upstream.bodies).toEqual([{ ...sent, model: 'gpt-4o' }]);
    expect(await bodyOf(response)).toMatchObject({ object: 'response', output: [{ type: 'function_call', name: 'look' }] });
  });

  it('is translated if the server has no such endpoint, which is asked for once an hour', async () => {
    const upstream = fakeOpenAiApis(script, { only: '/chat/completions' });
    const h = await openAi(upstream, { baseUrl: 'https://acme.only-chat.example/v1', profile: { api: 'own' } });
    for (let count = 0; count < 2; count += 1) {
      expect((await h.send('POST', '/v1/responses', responsesBody('acme/gpt-4.1'))).status).toBe(200);
    }
    expect(upstream.paths).toEqual(['/responses', '/chat/completions', '/chat/completions']);
    await h.proxyClock.advance(3_600_001);
    await h.send('POST', '/v1/responses', responsesBody('acme/gpt-4.1'));
    expect(upstream.paths.slice(3)).toEqual(['/responses', '/chat/completions']);
  });
});

describe('the refusal of tools with reasoning', () => {
  const compatible = async (upstream: Upstream, host: string) =>
    await createProxiedHarness({ acme: { kind: 'openai-compatible', baseUrl: `https://acme.${host}/v1`, upstream } });

  it.each([false, true])(
    'by any host is repeated by Responses before the client sees it, and remembered for an hour (stream: %s)',
    async (stream) => {
      const upstream = fakeOpenAiApis(script, { refuses: unlessNone });
      const h = await compatible(upstream, `gateway-${stream}.example`);
      const send = async (fields: object = {}) =>
        await h.send('POST', '/v1/chat/completions', chatBody('acme/prod-1', { stream, ...fields }));
      const response = await send();
      expect([response.status, response.headers.get('x-moniker-api')]).toEqual([200, 'openai-responses']);
      expect(await response.text()).toContain('"look"');
      await (await send()).text();
      expect(upstream.paths).toEqual(['/chat/completions', '/responses', '/responses']);
      // What Chat Completions takes is sent there.
      await (await send({ reasoning_effort: 'none' })).text();
      await (await send({ tools: undefined })).text();
      expect(upstream.paths.slice(3)).toEqual(['/chat/completions', '/chat/completions']);
      await h.proxyClock.advance(3_600_001);
      await (await send()).text();
      expect(upstream.paths.slice(5)).toEqual(['/chat/completions', '/responses']);
    },
  );

  it('is repeated for a Messages client, and with effort none, too', async () => {
    const upstream = fakeOpenAiApis(script, { refuses: always });
    const h = await compatible(upstream, 'messages.example');
    expect((await h.send('POST', '/v1/messages', messagesBody('acme/prod-2'))).status).toBe(200);
    expect((await h.send('POST', '/v1/chat/completions', chatBody('acme/prod-2', { reasoning_effort: 'none' }))).status).toBe(200);
    expect(upstream.paths).toEqual(['/chat/completions', '/responses', '/chat/completions', '/responses']);
  });

  it('of a server without Responses reaches the client', async () => {
    const upstream = fakeOpenAiApis(script, { refuses: always, only: '/chat/completions' });
    const h = await compatible(upstream, 'no-responses.example');
    for (let count = 0; count < 2; count += 1) {
      const response = await h.send('POST', '/v1/messages', messagesBody('acme/prod-3'));
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.text()).toContain('Function tools with reasoning_effort are not supported');
    }
    expect(upstream.paths).toEqual(['/chat/completions', '/responses', '/chat/completions']);
  });

  it('is remembered for this model and provider only', async () => {
    const upstream = fakeOpenAiApis(script, { refuses: always });
    const h = await compatible(upstream, 'two-models.example');
    await h.send('POST', '/v1/chat/completions', chatBody('acme/one'));
    await h.send('POST', '/v1/chat/completions', chatBody('acme/two'));
    expect(upstream.paths).toEqual(['/chat/completions', '/responses', '/chat/completions', '/responses']);
  });
});

describe('a turn', () => {
  const access = (fields: Partial<ProviderAccess>): ProviderAccess => ({
    ...{ name: 'acme', kind: 'openai', baseUrl: 'https://turns.example/v1', headers: { authorization: 'Bearer key' } },
    ...{ models: [], profile: {}, ...fields },
  });
  async function ask(upstream: Upstream, given: ProviderAccess, model: string, settings: ModelSettings = {}) {
    const http = async (request: Request) => await upstream.handle(request);
    const reserved: unknown[] = [];
    const request = {
      ...{ access: given, model, settings, toolChoice: 'auto' as const },
      messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Look.' }] }],
      tools: [{ name: 'look', description: '', inputSchema: parameters }],
      reserve: async (bound: unknown) => void reserved.push(bound),
    };
    const events: ChatEvent[] = [];
    const model_ = createChatModel({ http, rehearsal: http, clock: fakeClock() });
    for await (const batch of model_.stream(request, new AbortController().signal)) events.push(...batch);
    return { events, reserved };
  }

  it('gets tools of a model that reasons by default', async () => {
    const upstream = fakeOpenAiApis(script);
    const { events } = await ask(upstream, access({}), 'gpt-5.6');
    expect(upstream.paths).toEqual(['/responses']);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['native', 'call-end', 'finish']));
  });

  it('is repeated by Responses, and reserved once', async () => {
    const upstream = fakeOpenAiApis(script, { refuses: always });
    const { events, reserved } = await ask(upstream, access({ kind: 'openai-compatible' }), 'deployment', { reasoningEffort: 'low' });
    expect(upstream.paths).toEqual(['/chat/completions', '/responses']);
    expect(reserved).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'finish' });
  });
});
