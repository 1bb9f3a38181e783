/** A server of Ollama's own API, without a key, behind every chat API and in turns. Its streams are lines of JSON. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeOllama } from '../fakes/upstreams/ollama.ts';
import { type FakeUpstream, listenUpstream, type ListeningUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
const model = 'home/qwen3:8b';
const weather = {
  name: 'get_weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('a provider of kind ollama', () => {
  let fake: FakeUpstream;
  let listening: ListeningUpstream;
  beforeAll(async () => {
    fake = fakeOllama(({ messages, tools }) => {
      if (messages.at(-1)?.role === 'tool') return { reasoning: 'There it is.', text: 'It snows, and 42.' };
      if (tools.length === 0) return { reasoning: 'Easy.', text: 'Grüße aus 東京.' };
      const calls = tools.includes('get_weather')
        ? [
            { name: 'get_weather', arguments: { city: 'Zürich' } },
            { name: 'get_weather', arguments: { city: 'Oslo' } },
          ]
        : [{ name: 'reckon', arguments: { expression: '6 * 7' } }];
      return { reasoning: 'I look.', calls };
    });
    listening = await listenUpstream(fake);
    const { status, text } = await service.call('PUT', '/v1/providers/home', { kind: 'ollama', baseUrl: listening.url });
    expect(status, text).toBe(201);
    expect((await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate', name: 'reckon' }] })).status).toBe(201);
  });
  afterAll(() => listening.close());

  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await service.call('POST', path, { model, ...body }, headers);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };

  it('lists its models', async () => {
    const { json } = await service.call('GET', '/v1/models');
    const ids = json.data.map(({ id }: { id: string }) => id).filter((id: string) => id.startsWith('home/'));
    expect(ids.toSorted()).toEqual(['home/llama3.2:3b', model]);
  });

  it.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi.' }] }],
    ['/v1/responses', { input: 'Hi.' }],
    ['/v1/messages', { max_tokens: 300, messages: [{ role: 'user', content: 'Hi.' }] }],
  ])('answers %s, streamed and plain', async (path, body) => {
    for (const stream of [false, true]) {
      const { text, headers } = await ask(path, { ...body, stream });
      expect(headers.get('content-type')).toContain(stream ? 'text/event-stream' : 'application/json');
      for (const word of ['Grüße', '東京.']) expect(text).toContain(word);
    }
    expect(fake.refused).toEqual([]);
  });

  it('calls tools of a client in parallel, and reads their results', async () => {
    const tools = [{ type: 'function', function: weather }];
    const messages: unknown[] = [{ role: 'user', content: 'Weather?' }];
    const first = await ask('/v1/chat/completions', { messages, tools, tool_choice: 'required', stop: ['X'] });
    const [{ message, finish_reason: reason }] = first.json.choices;
    expect(reason).toBe('tool_calls');
    expect(message.tool_calls.map((call: { function: { arguments: string } }) => JSON.parse(call.function.arguments))).toEqual([
      { city: 'Zürich' },
      { city: 'Oslo' },
    ]);
    expect(first.headers.get('x-moniker-dropped')).toContain('tool_choice');
    const results = message.tool_calls.map(({ id }: { id: string }) => ({ role: 'tool', tool_call_id: id, content: 'snow' }));
    const last = await ask('/v1/chat/completions', { messages: [...messages, message, ...results], tools });
    expect(last.json.choices[0]).toMatchObject({ message: { content: 'It snows, and 42.' }, finish_reason: 'stop' });
    expect(last.json.usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 30 });
    const heard = fake.understood.at(-1)?.messages ?? [];
    expect(heard.at(-1)).toMatchObject({ role: 'tool', results: [{ name: 'get_weather' }, { name: 'get_weather' }] });
    expect(heard[1]).toMatchObject({ role: 'assistant', calls: [{ arguments: { city: 'Zürich' } }, { arguments: { city: 'Oslo' } }] });
    expect(fake.refused).toEqual([]);
  });

  it('calls tools of a toolset in a turn, and gets its thoughts back', async () => {
    const { json } = await service.call('POST', '/v1/sessions', { model, toolset: 'desk' });
    const turn = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: 'Reckon.' });
    expect(turn.json, turn.text).toMatchObject({
      status: 'completed',
      text: 'It snows, and 42.',
      toolCalls: [{ canonical: 'local.calculate', isError: false }],
    });
    const [, said, results] = fake.understood.at(-1)?.messages ?? [];
    expect(said).toMatchObject({ returned: ['I look.'], calls: [{ name: 'reckon', arguments: { expression: '6 * 7' } }] });
    expect(results).toMatchObject({ results: [{ name: 'reckon', text: expect.stringContaining('42') }] });
  });

  it('reports a model that the server does not have, and a conversation that is too long for its context', async () => {
    const messages = [{ role: 'user', content: 'Hi.' }];
    const missing = await service.call('POST', '/v1/chat/completions', { model: 'home/missing', messages });
    expect([missing.status, missing.text]).toEqual([404, expect.stringContaining("model 'missing' not found")]);
    const long = await service.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x'.repeat(100_001) }] });
    expect(long.status).toBeGreaterThanOrEqual(400);
    expect(long.text).toContain('exceeds the context length');
  });
});
