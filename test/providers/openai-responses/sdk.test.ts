/** The vendor's client works with the fake server, which shows that the adapter is tested against the real wire format. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeOpenAiResponses } from '../../fakes/upstreams/openai-responses.ts';
import { type ListeningUpstream, listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { calls, scriptOf } from '../sdk-script.ts';

const script = scriptOf({
  text: { reasoning: 'I greet them.', text: 'Hello there.' },
  calls: { reasoning: 'I look both up.', text: 'One moment.', calls },
});

describe('openai (responses)', () => {
  const fake = fakeOpenAiResponses(script);
  let listening: ListeningUpstream;
  let client: OpenAI;
  beforeAll(async () => {
    listening = await listenUpstream(fake);
    client = new OpenAI({ apiKey: 'test', baseURL: listening.url, maxRetries: 0 });
  });
  afterAll(() => listening.close());

  const tools = calls.map(({ name }): OpenAI.Responses.FunctionTool => {
    return { type: 'function', name, description: 'Does it.', parameters: { type: 'object', properties: {} }, strict: false };
  });
  const ask = (input: OpenAI.Responses.ResponseInput | string) => ({ model: 'gpt-5.4', tools, store: false, input });

  it('reads reasoning, text and usage of an unstreamed reply', async () => {
    const reply = await client.responses.create(ask('text'));
    expect(reply).toMatchObject({ status: 'completed', output_text: 'Hello there.', usage: { input_tokens: 120, total_tokens: 150 } });
    expect(reply.output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'I greet them.' }] });
    expect(await client.responses.create(ask('length'))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it('reads a stream into the same reply, and its next request with the whole output is accepted', async () => {
    const stream = client.responses.stream(ask('calls'));
    let text = '';
    let input = '';
    stream.on('response.output_text.delta', ({ delta }) => (text += delta));
    stream.on('response.function_call_arguments.delta', ({ delta }) => (input += delta));
    const reply = await stream.finalResponse();
    expect([text, input]).toEqual(['One moment.', calls.map((call) => JSON.stringify(call.arguments)).join('')]);
    const called = reply.output.filter((item) => item.type === 'function_call');
    expect(called.map((item) => ({ name: item.name, arguments: JSON.parse(item.arguments) as unknown }))).toEqual(calls);
    const plain = await client.responses.create(ask('calls'));
    expect(reply.output.map(({ type }) => type)).toEqual(plain.output.map(({ type }) => type));

    // As in the guides: the whole output is returned.
    const next = await client.responses.create(
      ask([
        { role: 'user', content: 'calls' },
        ...plain.output.filter((item) => item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call'),
        ...plain.output.flatMap((item): OpenAI.Responses.ResponseInputItem.FunctionCallOutput[] =>
          item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'fine' }] : [],
        ),
      ]),
    );
    expect(next.output_text).toBe('Done.');
    expect(fake.understood.at(-1)?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', text: 'One moment.', calls, returned: [expect.stringMatching(/^gAAAA/), 'commentary'] },
      { role: 'tool', results: [{ text: 'fine' }, { text: 'fine' }] },
    ]);
  });

  it('receives rejections in the API’s error format', async () => {
    const refused: [Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>, string][] = [
      [{ temperature: 0.5 }, "'temperature' is not supported with this model"],
      [{ max_output_tokens: 5 }, 'Expected a value >= 16'],
      [{ model: 'gpt-4o', include: ['reasoning.encrypted_content'] }, 'Encrypted content is not supported'],
      [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'No tool call found'],
      [{ input: [{ type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' }] }, 'No tool output found'],
      [{ input: [{ type: 'reasoning', id: 'rs_9', summary: [] }] }, 'Items are not persisted'],
    ];
    for (const [fields, words] of refused) {
      const failed = client.responses.create({ ...ask('text'), ...fields });
      await expect(failed).rejects.toThrow(words);
      await expect(failed).rejects.toBeInstanceOf(OpenAI.APIError);
    }
    expect(fake.refused).toHaveLength(refused.length);
  });
});
