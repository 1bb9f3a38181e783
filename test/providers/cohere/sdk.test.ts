/** The vendor's client works with the fake server, which shows that the adapter is tested against the real wire format. */
import { CohereClientV2 } from 'cohere-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeCohere } from '../../fakes/upstreams/cohere.ts';
import { type ListeningUpstream, listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { calls, scriptOf } from '../sdk-script.ts';

const script = scriptOf({
  text: { reasoning: 'I greet.', text: 'Hello there.' },
  calls: { reasoning: 'I look both up.', calls },
});

describe('cohere-ai', () => {
  const fake = fakeCohere(script);
  let listening: ListeningUpstream;
  let client: CohereClientV2;
  beforeAll(async () => {
    listening = await listenUpstream(fake);
    client = new CohereClientV2({ token: 'test', environment: listening.url });
  });
  afterAll(() => listening.close());

  const tools = calls.map(({ name }) => ({
    type: 'function' as const,
    function: { name, description: 'Does it.', parameters: { type: 'object', properties: {} } },
  }));
  const ask = (content: string) => ({ model: 'command-a-03-2025', tools, messages: [{ role: 'user' as const, content }] });

  it('reads thoughts, text and usage of an unstreamed reply', async () => {
    const reply = await client.chat(ask('text'));
    expect(reply.message.content).toEqual([
      { type: 'thinking', thinking: 'I greet.' },
      { type: 'text', text: 'Hello there.' },
    ]);
    expect(reply).toMatchObject({ finishReason: 'COMPLETE', usage: { tokens: { inputTokens: 120 }, cachedTokens: 64 } });
    expect(await client.chat(ask('length'))).toMatchObject({ finishReason: 'MAX_TOKENS' });
  });

  it('reads a plan and parallel calls of an unstreamed reply, and its next request is accepted', async () => {
    const { message, finishReason } = await client.chat(ask('calls'));
    expect(finishReason).toBe('TOOL_CALL');
    expect(message.toolPlan).toBe('I look both up.');
    expect(message.toolCalls?.map((call) => [call.function?.name, JSON.parse(call.function?.arguments ?? '')])).toEqual(
      calls.map((call) => [call.name, call.arguments]),
    );
    const results = (message.toolCalls ?? []).map((call) => ({ role: 'tool' as const, toolCallId: call.id, content: 'fine' }));
    const next = await client.chat({
      ...ask('calls'),
      messages: [
        { role: 'user', content: 'calls' },
        { role: 'assistant', toolPlan: message.toolPlan, toolCalls: message.toolCalls },
        ...results,
      ],
    });
    expect(next.message.content).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(fake.understood.at(-1)?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', calls, returned: ['I look both up.'] },
      { role: 'tool', results: [{ text: 'fine' }, { text: 'fine' }] },
    ]);
  });

  it('reads the events of a stream', async () => {
    const said = { thinking: '', text: '', plan: '', names: [] as string[], input: ['', ''], ends: 0, finish: '' };
    for (const words of ['text', 'calls']) {
      for await (const event of await client.chatStream(ask(words))) {
        if (event.type === 'content-delta') {
          said.text += event.delta?.message?.content?.text ?? '';
          said.thinking += event.delta?.message?.content?.thinking ?? '';
        }
        if (event.type === 'tool-plan-delta') said.plan += event.delta?.message?.toolPlan ?? '';
        if (event.type === 'tool-call-start') said.names.push(event.delta?.message?.toolCalls?.function?.name ?? '');
        if (event.type === 'tool-call-delta') said.input[event.index ?? 0] += event.delta?.message?.toolCalls?.function?.arguments ?? '';
        if (event.type === 'tool-call-end') said.ends += 1;
        if (event.type === 'message-end') said.finish += `${event.delta?.finishReason} ${event.delta?.usage?.tokens?.outputTokens};`;
      }
    }
    expect(said).toEqual({
      thinking: 'I greet.',
      text: 'Hello there.',
      plan: 'I look both up.',
      names: ['get_weather', 'list_files'],
      input: [JSON.stringify(calls[0]?.arguments), ''],
      ends: 2,
      finish: 'COMPLETE 30;TOOL_CALL 30;',
    });
  });

  it('receives rejections in the API’s error format', async () => {
    await expect(client.chat({ ...ask('text'), tools: [] })).rejects.toMatchObject({
      statusCode: 400,
      body: { message: expect.stringContaining('tools must not be empty') },
    });
    expect(fake.refused).toHaveLength(1);
  });
});
