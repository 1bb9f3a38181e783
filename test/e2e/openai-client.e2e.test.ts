import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

describe('the stock openai client', () => {
  const service = shareService();
  let client: OpenAI;

  beforeAll(() => {
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  });

  /** Two aliased tools in one step, then the final text. */
  const parallel = '/shell echo one\n/save_file {"path": "two.txt", "content": "two"}';

  it('lists agents and models', async () => {
    const ids = (await client.models.list()).data.map((model) => model.id);
    expect(ids).toContain('agent/demo');
    expect(ids).toContain('rehearsal/default');
  });

  it('gets a plain completion in which two aliased tools ran in parallel', async () => {
    const completion = await client.chat.completions.create({ model: 'agent/demo', messages: [{ role: 'user', content: parallel }] });
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.choices[0]?.message.tool_calls ?? []).toEqual([]);
    expect(completion.choices[0]?.message.content).toContain('one');
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('gets the same result streamed: one message, one finish reason, usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'agent/demo',
      messages: [{ role: 'user', content: parallel }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    const finishes: string[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
      usage = chunk.usage ?? usage;
    }
    expect(content).toContain('one');
    expect(finishes).toEqual(['stop']);
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it('continues a session by its header: the next request finds the files of the first', async () => {
    const first = await client.chat.completions
      .create({ model: 'agent/demo', messages: [{ role: 'user', content: parallel }] }, { headers: { 'x-moniker-session': 'new' } })
      .withResponse();
    const id = first.response.headers.get('x-moniker-session') ?? '';
    expect(id).not.toBe('');
    const content = first.data.choices[0]?.message.content ?? '';
    const second = await client.chat.completions
      .create(
        {
          model: 'agent/demo',
          messages: [
            { role: 'user', content: parallel },
            { role: 'assistant', content },
            { role: 'user', content: '/cat two.txt' },
          ],
        },
        { headers: { 'x-moniker-session': id } },
      )
      .withResponse();
    expect(second.response.headers.get('x-moniker-session')).toBe(id);
    expect(second.data.choices[0]?.message.content).toContain('two');

    const { json } = await service.call('GET', `/v1/sessions/${id}/messages`);
    const users = json.items.filter((message: { role: string }) => message.role === 'user');
    expect(users).toHaveLength(2);
    const calls = json.items.flatMap((message: { parts: { requested?: string; canonical?: string; via?: string }[] }) => message.parts);
    expect(calls).toContainEqual(expect.objectContaining({ requested: 'shell', canonical: 'builtin.bash', via: 'alias' }));
  });

  it("receives calls of the client's tools when no server tools are involved", async () => {
    const tool = {
      type: 'function' as const,
      function: { name: 'get_weather', description: 'Weather of a city', parameters: weatherSchema },
    };
    const completion = await client.chat.completions.create({
      model: 'rehearsal/default',
      messages: [{ role: 'user', content: '/get_weather {"city": "Paris"}' }],
      tools: [tool],
    });
    const call = completion.choices[0]?.message.tool_calls?.[0];
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(call?.type === 'function' ? [call.function.name, JSON.parse(call.function.arguments)] : null).toEqual([
      'get_weather',
      { city: 'Paris' },
    ]);
  });

  it('receives errors in the OpenAI format', async () => {
    const unknown = client.chat.completions.create({ model: 'nobody/nothing', messages: [{ role: 'user', content: 'hi' }] });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    const stranger = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'not-a-key', maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const agent = { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' };
    expect((await service.call('PUT', '/v1/agents/strict', agent)).status).toBe(201);
    const mixed = client.chat.completions.create({
      model: 'agent/strict',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'Shell', parameters: weatherSchema } }],
    });
    await expect(mixed).rejects.toMatchObject({ status: 422 });
  });
});

const weatherSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
