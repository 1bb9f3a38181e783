/**
 * The cases of the compliance suite of Open Responses (openresponses/openresponses, `src/lib/compliance-tests.ts`), over providers of each
 * wire and over an agent with server tools. Every response and every event is compared with the shapes of the specification.
 */
import { createOpenResponses } from '@ai-sdk/open-responses';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Say } from '../fakes/upstreams/upstream.ts';
import { eventually } from './eventually.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { CompactionShape, EventShape, ItemListShape, ResponseShape } from './open-responses-shapes.ts';
import { shareService } from './shared-service.ts';

// The SDK warns about settings that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'], additionalProperties: false },
};
const calls: Say = { calls: [{ name: 'get_weather', arguments: { location: 'San Francisco, CA' } }] };
const user = (content: unknown) => ({ type: 'message', role: 'user', content });

const backends = [
  ['a provider with Responses', refOf('openai-responses')],
  ['a provider that only resembles it', refOf('openai-responses').replace('my-', 'alike-')],
  ['a provider with Chat Completions', refOf('openai')],
  ['a provider with Messages', refOf('anthropic')],
  ['an agent with server tools', 'agent/clerk'],
] as const;

describe('Open Responses', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate', aliases: ['reckon'] }] });
    const put = await service.call('PUT', '/v1/agents/clerk', { model: refOf('openai'), toolset: 'desk', instructions: 'Be brief.' });
    expect(put.status, put.text).toBe(201);
  });
  afterAll(() => {
    expect(fakes.refused()).toEqual([]);
    fakes.close();
  });

  const respond = async (body: object) => {
    const { status, text, json } = await service.call('POST', '/v1/responses', body);
    expect(status, text).toBe(200);
    return ResponseShape.parse(json);
  };
  const stream = async (body: object) => {
    const { status, text } = await service.call('POST', '/v1/responses', { ...body, stream: true });
    expect(status, text).toBe(200);
    const lines = text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
    const events = lines.map((line) => EventShape.parse(JSON.parse(line.slice('data: '.length))));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index));
    const last = events.at(-1);
    if (last === undefined || !('response' in last)) throw new Error(`the stream ends with ${last?.type}`);
    return { events, types: events.map(({ type }) => type), response: ResponseShape.parse(last.response) };
  };

  describe.each(backends)('over %s', (name, model) => {
    const start = (title: string, say: Say) => fakes.start(`${title} ${name}`, { say: () => say });

    it('returns a text', async () => {
      const { mark } = start('text', { text: 'Hello, dear world.' });
      const { status, output, completed_at: at } = await respond({ model, input: [user(`Say hello in three words. ${mark}`)] });
      expect([status, output.some(({ type }) => type === 'message'), at]).toEqual(['completed', true, expect.any(Number)]);
    });

    it('streams a text', async () => {
      const { mark } = start('stream', { text: 'one two three four five' });
      const { types, response } = await stream({ model, input: [user(`Count to five. ${mark}`)] });
      expect([types[0], types.at(-1), response.status]).toEqual(['response.created', 'response.completed', 'completed']);
      expect(types).toEqual(expect.arrayContaining(['response.output_text.delta', 'response.output_text.done']));
    });

    it('gives the model a system message of the input', async () => {
      const story = start('system', { text: 'Ahoy.' });
      const system = { type: 'message', role: 'system', content: 'You are a pirate.' };
      const { status, output } = await respond({ model, input: [system, user(`Say hello. ${story.mark}`)] });
      expect([status, output.length > 0]).toEqual(['completed', true]);
      expect(story.understood[0]?.system).toContain('You are a pirate.');
    });

    it('returns the call of a function', async () => {
      const { mark } = start('call', calls);
      const { output } = await respond({ model, input: [user(`What is the weather in San Francisco? ${mark}`)], tools: [weather] });
      const call = output.find(({ type }) => type === 'function_call');
      expect(call).toMatchObject({ name: 'get_weather', status: 'completed' });
      expect(JSON.parse(String(call?.arguments))).toEqual({ location: 'San Francisco, CA' });
    });

    it('streams the call of a function', async () => {
      const { mark } = start('call stream', calls);
      const { types, events } = await stream({ model, input: [user(`What is the weather? ${mark}`)], tools: [weather] });
      expect(types).toEqual(expect.arrayContaining(['response.function_call_arguments.delta', 'response.function_call_arguments.done']));
      const items = events.flatMap(({ type, item }: { type: string; item?: { type: string } | null }) =>
        item?.type === 'function_call' ? [type] : [],
      );
      expect(items).toEqual(['response.output_item.added', 'response.output_item.done']);
    });

    it('deletes a response of a session, whose input has the shapes of items', async () => {
      const { mark } = start('stored', { text: 'Hello.' });
      const headers = { 'x-moniker-session': 'new' };
      const { json } = await service.call('POST', '/v1/responses', { model, input: [user(`Hello. ${mark}`)] }, headers);
      const { id } = ResponseShape.parse(json);
      const listed = (await service.call('GET', `/v1/responses/${id}/input_items`)).json;
      expect(ItemListShape.parse(listed).data.map(({ type }) => type)).toEqual(['message']);
      expect((await service.call('DELETE', `/v1/responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true });
      expect((await service.call('GET', `/v1/responses/${id}`)).status).toBe(404);
    });

    it('takes an image', async () => {
      const story = start('image', { text: 'A dot.' });
      const image = { type: 'input_image', image_url: `data:image/png;base64,${pixel}` };
      const { status } = await respond({ model, input: [user([{ type: 'input_text', text: `What is it? ${story.mark}` }, image])] });
      expect([status, story.understood[0]?.messages]).toMatchObject(['completed', [{ role: 'user', images: 1 }]]);
    });

    it('continues a conversation that the client sends', async () => {
      const story = start('turns', { text: 'Alice.' });
      const assistant = { type: 'message', role: 'assistant', content: 'Hello Alice!' };
      const { status } = await respond({ model, input: [user(`My name is Alice. ${story.mark}`), assistant, user('What is my name?')] });
      expect([status, story.understood[0]?.messages.map(({ role }) => role)]).toEqual(['completed', ['user', 'assistant', 'user']]);
    });

    it.each([
      ['generates', false],
      ['streams', true],
    ])('serves the client of the AI SDK, which %s a text after a call of its tool', async (how, streamed) => {
      const thought = { reasoning: 'The tool knows.', text: 'I look.', ...calls };
      const story = fakes.start(`sdk ${how} ${name}`, { say: (_heard, index) => (index === 0 ? thought : { text: 'Sunny.' }) });
      const provider = createOpenResponses({ name: 'moniker', url: `${service.url}/v1/responses`, apiKey: service.key });
      const inputSchema = z.object({ location: z.string() });
      const get_weather = tool({ description: 'The weather.', inputSchema, execute: ({ location }) => `sunny in ${location}` });
      const asking = {
        model: provider(model),
        prompt: `What is the weather? ${story.mark}`,
        tools: { get_weather },
        stopWhen: isStepCount(3),
      };
      const { text, steps } = streamed ? streamText(asking) : await generateText(asking);
      expect([await text, (await steps).length]).toEqual(['Sunny.', 2]);
      expect(JSON.stringify(story.understood[1]?.messages)).toContain('sunny in San Francisco, CA');
    });

    it('compacts a conversation, and continues it with what it returned', async () => {
      const story = fakes.start(`compact ${name}`, { say: (_heard, index) => ({ text: index === 0 ? 'She is Alice.' : 'Alice.' }) });
      const input = [user(`My name is Alice. ${story.mark}`), { type: 'message', role: 'assistant', content: 'Hello Alice!' }];
      const { status, text, json } = await service.call('POST', '/v1/responses/compact', { model, input });
      expect(status, text).toBe(200);
      const { output } = CompactionShape.parse(json);
      expect(output.map(({ type }) => type)).toEqual(['message', 'compaction']);
      const next = await respond({ model, input: [...output, user(`What is my name? ${story.mark}`)] });
      expect(next.status).toBe('completed');
      expect(JSON.stringify(story.understood.at(-1)?.messages)).toContain('She is Alice.');
    });

    it('runs a request in the background, which is read when it has ended', async () => {
      const { mark } = start('background', { text: 'Done at last.' });
      const begun = await respond({ model, background: true, input: [user(`Take your time. ${mark}`)] });
      expect([begun.background, ['queued', 'in_progress'].includes(begun.status), begun.usage]).toEqual([true, true, null]);
      const ended = await eventually('the response has ended', async () => {
        const read = ResponseShape.parse((await service.call('GET', `/v1/responses/${begun.id}`)).json);
        return read.status === 'completed' ? read : undefined;
      });
      expect(JSON.stringify(ended.output)).toContain('Done at last.');
      const { text } = await service.call('GET', `/v1/responses/${begun.id}?stream=true&starting_after=1`);
      expect(text).toContain('response.output_text.delta');
    });
  });
});
