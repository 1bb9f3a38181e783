/** The vendor's client works with the fake server, which shows that the adapter is tested against the real wire format. */
import { type Content, FunctionCallingConfigMode, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeGemini } from '../../fakes/upstreams/gemini.ts';
import { type ListeningUpstream, listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { calls, scriptOf } from '../sdk-script.ts';

const script = scriptOf({
  text: { reasoning: 'I greet.', text: 'Hello there.' },
  calls: { reasoning: 'I look both up.', calls },
});

describe.each(['gemini-2.5-flash', 'gemini-3-flash-preview'])('@google/genai with %s', (model) => {
  const fake = fakeGemini(script);
  let listening: ListeningUpstream;
  let client: GoogleGenAI;
  beforeAll(async () => {
    listening = await listenUpstream(fake);
    client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: listening.url } });
  });
  afterAll(() => listening.close());

  const config = {
    systemInstruction: 'Be brief.',
    tools: [
      { functionDeclarations: calls.map(({ name }) => ({ name, description: 'Does it.', parametersJsonSchema: { type: 'object' } })) },
    ],
    toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_weather'] } },
    thinkingConfig: { includeThoughts: true },
  };
  const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
  const partsOf = (reply: GenerateContentResponse): Part[] => reply.candidates?.[0]?.content?.parts ?? [];
  const thoughts = (parts: Part[]): string => parts.map((part) => (part.thought ? (part.text ?? '') : '')).join('');
  const text = (parts: Part[]): string => parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');

  it('reads thoughts, text, usage and the finish of an unstreamed reply', async () => {
    const reply = await client.models.generateContent({ model, contents: [user('text')], config });
    expect(thoughts(partsOf(reply))).toBe('I greet.');
    expect(reply.text).toBe('Hello there.');
    expect(reply.usageMetadata).toMatchObject({ promptTokenCount: 120, candidatesTokenCount: 20, thoughtsTokenCount: 10 });
    expect(reply.candidates?.[0]?.finishReason).toBe('STOP');
    const cut = await client.models.generateContent({ model, contents: [user('length')], config });
    expect(cut.candidates?.[0]?.finishReason).toBe('MAX_TOKENS');
    expect(fake.understood.at(-1)).toMatchObject({
      model,
      system: 'Be brief.',
      tools: ['get_weather', 'list_files'],
      toolChoice: { tool: 'get_weather' },
    });
  });

  it('reads parallel calls of an unstreamed reply', async () => {
    const reply = await client.models.generateContent({ model, contents: [user('calls')], config });
    expect(reply.functionCalls?.map((call) => [call.name, call.args ?? {}])).toEqual(calls.map((call) => [call.name, call.arguments]));
  });

  it('reads a stream, and its history is accepted with every signature', async () => {
    const read = async (contents: Content[]): Promise<Part[]> => {
      const parts: Part[] = [];
      for await (const chunk of await client.models.generateContentStream({ model, contents, config })) parts.push(...partsOf(chunk));
      return parts.filter((part) => part.text !== '' || part.thoughtSignature !== undefined);
    };
    const said = await read([user('text')]);
    expect([thoughts(said), text(said)]).toEqual(['I greet.', 'Hello there.']);
    const called = await read([user('text'), { role: 'model', parts: said }, user('calls')]);
    expect(thoughts(called)).toBe('I look both up.');
    const made = called.flatMap((part) => (part.functionCall === undefined ? [] : [part.functionCall]));
    expect(made.map((call) => [call.name, call.args ?? {}])).toEqual(calls.map((call) => [call.name, call.arguments]));
    const results = made.map(({ id, name }) => ({
      functionResponse: { ...(id !== undefined && { id }), ...(name !== undefined && { name }), response: { output: 'fine' } },
    }));
    const done = await read([user('calls'), { role: 'model', parts: called }, { role: 'user', parts: results }]);
    expect(text(done)).toBe('Done.');
    expect(fake.understood.at(-1)?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', calls, returned: expect.arrayContaining(['I', ' look', ' both', ' up.']) },
      { role: 'tool', results: [{ text: 'fine' }, { text: 'fine' }] },
    ]);
  });

  it('receives rejections in the API’s error format', async () => {
    const refused = client.models.generateContent({ model, contents: [user('text')], config: { stopSequences: [...'abcdef'] } });
    await expect(refused).rejects.toMatchObject({ name: 'ApiError', status: 400, message: expect.stringContaining('INVALID_ARGUMENT') });
    expect(fake.refused).toHaveLength(1);
  });
});
