/** The vendor's client works with the fake server, which shows that the adapter is tested against the real wire format. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeOpenAi } from '../../fakes/upstreams/openai.ts';
import { type ListeningUpstream, listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { calls, scriptOf } from '../sdk-script.ts';

const script = scriptOf({
  text: { reasoning: 'I greet.', text: 'Hello there.' },
  calls: { text: 'I look both up.', calls },
});

describe('openai, chat completions', () => {
  const fake = fakeOpenAi(script);
  let listening: ListeningUpstream;
  let client: OpenAI;
  beforeAll(async () => {
    listening = await listenUpstream(fake);
    client = new OpenAI({ apiKey: 'test', baseURL: `${listening.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => listening.close());

  const tools = calls.map(({ name }) => ({
    type: 'function' as const,
    function: { name, description: 'Does it.', parameters: { type: 'object', properties: {} } },
  }));
  const ask = (content: string) => ({ model: 'gpt-4o', tools, messages: [{ role: 'user' as const, content }] });

  it('reads text, reason and usage of an unstreamed reply', async () => {
    const { choices, usage } = await client.chat.completions.create(ask('text'));
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hello there.', reasoning_content: 'I greet.' } });
    expect(usage).toMatchObject({ prompt_tokens: 120, prompt_tokens_details: { cached_tokens: 64 } });
    expect((await client.chat.completions.create(ask('length'))).choices[0]?.finish_reason).toBe('length');
  });

  it('reads parallel calls of an unstreamed reply, and its next request is accepted', async () => {
    const [choice] = (await client.chat.completions.create(ask('calls'))).choices;
    if (choice === undefined) throw new Error('no choice');
    const made = (choice.message.tool_calls ?? []).filter((call) => call.type === 'function');
    expect(made.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }))).toEqual(calls);
    const results = made.map((call) => ({ role: 'tool' as const, tool_call_id: call.id, content: 'fine' }));
    const { choices } = await client.chat.completions.create({
      ...ask('calls'),
      messages: [{ role: 'user', content: 'calls' }, choice.message, ...results],
    });
    expect(choices[0]?.message.content).toBe('Done.');
    expect(fake.understood.at(-1)?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', text: 'I look both up.', calls },
      { role: 'tool', results: [{ text: 'fine' }, { text: 'fine' }] },
    ]);
  });

  it('accumulates a stream: text, parallel calls, usage', async () => {
    const stream = client.chat.completions.stream({ ...ask('calls'), stream_options: { include_usage: true } });
    const [choice] = (await stream.finalChatCompletion()).choices;
    expect(choice?.message.content).toBe('I look both up.');
    expect(choice?.finish_reason).toBe('tool_calls');
    const made = (choice?.message.tool_calls ?? []).filter((call) => call.type === 'function');
    expect(made.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }))).toEqual(calls);
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 120, completion_tokens: 30 });
  });

  it('receives rejections in the API’s error format', async () => {
    const message = { role: 'tool' as const, tool_call_id: 'nobody', content: '' };
    await expect(client.chat.completions.create({ ...ask('text'), messages: [message] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('must be a response to a preceding message'),
    });
    expect(fake.refused).toHaveLength(1);
  });
});
