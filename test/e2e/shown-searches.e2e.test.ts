/** A web search that ran at a provider of another API, or as the toolset's tool, as stock clients of each API see it. */
import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Response as Answered, ResponseInput } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apis, type FakeProviders, type Fault, keyOf, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let fakes: FakeProviders;
let openai: OpenAI;
let anthropic: Anthropic;
let gemini: GoogleGenAI;

const url = 'https://weather.example/today';
const title = 'Weather today';
const searching = (wire: Wire): string => `searching-${wire}/${apis[wire].model}`;

const sse = (events: readonly object[]): Response =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } });
const isStreamed = async (request: Request): Promise<boolean> =>
  /streamGenerateContent/.test(request.url) || ((await request.clone().json()) as { stream?: boolean }).stream === true;

const blocks = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url, title, encrypted_content: 'sealed', page_age: null }],
  },
  {
    type: 'text',
    text: 'Sunny.',
    citations: [{ type: 'web_search_result_location', url, title, cited_text: 'sun', encrypted_index: 'sealed' }],
  },
];
const usage = { input_tokens: 9, output_tokens: 5 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', usage };
const parts = [
  {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'weather', sources: [{ type: 'url', url }] },
  },
  {
    ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
    content: [{ type: 'output_text', text: 'Sunny.', annotations: [{ type: 'url_citation', url, title, start_index: 0, end_index: 6 }] }],
  },
];
const candidate = {
  content: { role: 'model', parts: [{ text: 'Sunny.' }] },
  finishReason: 'STOP',
  groundingMetadata: {
    webSearchQueries: ['weather'],
    groundingChunks: [{ web: { uri: url, title } }],
    groundingSupports: [{ segment: { startIndex: 0, endIndex: 6, text: 'Sunny.' }, groundingChunkIndices: [0] }],
  },
};

/** What each API returns for the same search. */
const found: Partial<Record<Wire, Fault>> = {
  anthropic: async (_answer, request) => {
    if (!(await isStreamed(request))) return Response.json({ ...message, content: blocks });
    const inner = blocks.flatMap((block, index) => {
      const { citations, ...start } = block;
      return [
        { type: 'content_block_start', index, content_block: block.type === 'text' ? { type: 'text', text: '' } : start },
        ...(block.text === undefined ? [] : [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: block.text } }]),
        ...(citations ?? []).map((citation) => ({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } })),
        { type: 'content_block_stop', index },
      ];
    });
    const begin = { type: 'message_start', message: { ...message, content: [], stop_reason: null } };
    return sse([begin, ...inner, { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }, { type: 'message_stop' }]);
  },
  'openai-responses': async (_answer, request) => {
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      output: parts,
      usage: { ...usage, total_tokens: 14 },
    };
    return (await isStreamed(request)) ? sse([{ type: 'response.completed', sequence_number: 0, response }]) : Response.json(response);
  },
  gemini: async (_answer, request) => {
    const reply = { candidates: [candidate], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 } };
    return (await isStreamed(request)) ? sse([reply]) : Response.json(reply);
  },
};

beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  for (const wire of ['anthropic', 'openai-responses', 'gemini'] as const) {
    const { kind, model } = apis[wire];
    const provider = { kind, baseUrl: fakes.urlOf(wire), apiKey: keyOf(wire), models: [model], profile: { webSearch: true } };
    expect((await service.call('PUT', `/v1/providers/searching-${wire}`, provider)).status).toBe(201);
  }
  const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
  const lookup = { name: 'lookup', description: 'Searches.', inputSchema };
  await service.call('PUT', '/v1/servers/finder', { kind: 'static', url: 'http://127.0.0.1:9/none', tools: [lookup], trusted: true });
  const entry = { tool: 'finder.lookup', standsFor: 'web_search', approval: 'never', arguments: { rename: { query: 'q' } } };
  expect((await service.call('PUT', '/v1/toolsets/finding', { tools: [entry] })).status).toBe(201);
  const apiKey = service.key;
  openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: service.url, apiKey, maxRetries: 0 });
  gemini = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: service.url } });
});
afterAll(() => fakes.close());

const start = (title: string, wire: Wire) => {
  const fault = found[wire];
  return fakes.start(`${title} ${wire}`, { say: () => ({ text: 'And now?' }), ...(fault !== undefined && { faults: { 0: fault } }) });
};

/** The whole response, and the types of its events if it is streamed. */
async function respond(
  body: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>,
  streamed: boolean,
  headers: Record<string, string> = {},
) {
  if (!streamed) return { response: await openai.responses.create(body, { headers }), types: [] };
  const types: string[] = [];
  // The accumulator of the SDK throws for inconsistent events.
  const stream = openai.responses.stream(body, { headers });
  for await (const { type } of stream) types.push(type);
  return { response: (await stream.finalResponse()) as Answered, types };
}

const progress = ['in_progress', 'searching', 'completed'].map((state) => `response.web_search_call.${state}`);
const searchesIn = ({ output }: Answered) => output.filter((item) => item.type === 'web_search_call');
const annotationsIn = ({ output }: Answered) =>
  output.flatMap((item) =>
    item.type === 'message' ? item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : [])) : [],
  );

describe('a web search of a provider', () => {
  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (how, streamed) => {
    it.each(['anthropic', 'gemini'] as const)('is a web_search_call of Responses over %s, with its citations', async (wire) => {
      const { mark } = start(`responses ${how}`, wire);
      const body = { model: searching(wire), input: `Weather? ${mark}`, tools: [{ type: 'web_search' as const }] };
      const { response, types } = await respond(body, streamed);
      const action = { type: 'search', query: 'weather', queries: ['weather'], sources: [{ type: 'url', url }] };
      expect(searchesIn(response)).toMatchObject([
        { type: 'web_search_call', id: expect.stringMatching(/^ws_/), status: 'completed', action },
      ]);
      expect(annotationsIn(response)).toEqual([{ type: 'url_citation', url, title, start_index: 0, end_index: 6 }]);
      expect(types.filter((type) => type.includes('web_search'))).toEqual(streamed ? progress : []);
      expect(response.output_text).toBe('Sunny.');
    });

    it('is a web_search_call of Responses when the answer belongs to a session', async () => {
      const { mark } = start(`session ${how}`, 'openai-responses');
      const body = { model: searching('openai-responses'), input: `Weather? ${mark}`, tools: [{ type: 'web_search' as const }] };
      const { response } = await respond(body, streamed, { 'x-moniker-session': 'new' });
      expect(searchesIn(response)).toMatchObject([{ status: 'completed', action: { query: 'weather', sources: [{ url }] } }]);
      expect(annotationsIn(response)).toMatchObject([{ url }]);
    });

    it.each(['gemini', 'openai-responses'] as const)('is a server_tool_use of Messages and its result over %s', async (wire) => {
      const { mark } = start(`messages ${how}`, wire);
      const body = {
        ...{ model: searching(wire), max_tokens: 100 },
        messages: [{ role: 'user' as const, content: `Weather? ${mark}` }],
        tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const }],
      };
      const { content } = streamed ? await anthropic.messages.stream(body).finalMessage() : await anthropic.messages.create(body);
      const use = content.find((block) => block.type === 'server_tool_use');
      expect(use).toMatchObject({ id: expect.stringMatching(/^srvtoolu_\w+$/), name: 'web_search', input: { query: 'weather' } });
      expect(content.find((block) => block.type === 'web_search_tool_result')).toMatchObject({
        tool_use_id: use?.type === 'server_tool_use' && use.id,
        content: [{ type: 'web_search_result', url }],
      });
      expect(content.find((block) => block.type === 'text')).toMatchObject({ text: 'Sunny.', citations: [{ url }] });
    });

    it('has its queries in the groundingMetadata of Gemini', async () => {
      const { mark } = start(`gemini ${how}`, 'anthropic');
      const request = { model: searching('anthropic'), contents: `Weather? ${mark}`, config: { tools: [{ googleSearch: {} }] } };
      const chunks: GenerateContentResponse[] = [];
      if (!streamed) chunks.push(await gemini.models.generateContent(request));
      else for await (const chunk of await gemini.models.generateContentStream(request)) chunks.push(chunk);
      const grounding = chunks.map(({ candidates }) => candidates?.[0]?.groundingMetadata).find((given) => given !== undefined);
      expect(grounding).toMatchObject({ webSearchQueries: ['weather'], groundingChunks: [{ web: { uri: url, title } }] });
    });
  });

  it('is sent back to its provider as its own blocks alone', async () => {
    const story = start('back', 'anthropic');
    const model = searching('anthropic');
    const first = await openai.responses.create({ model, input: `Weather? ${story.mark}`, tools: [{ type: 'web_search' }] });
    const input = [{ role: 'user', content: `Weather? ${story.mark}` }, ...first.output, { role: 'user', content: 'And now?' }];
    await openai.responses.create({ model, input: input as ResponseInput });
    const { messages } = JSON.parse(story.heard[1]?.text ?? '{}') as { messages: { content: { type: string; id?: string }[] }[] };
    const sent = messages[1]?.content.filter(({ type }) => type === 'server_tool_use');
    expect(sent?.map(({ id }) => id)).toEqual(['srvtoolu_1']);
  });

  it('of another provider is not sent to one that would refuse it', async () => {
    const story = start('other', 'gemini');
    const user = { role: 'user' as const, content: `Weather? ${story.mark}` };
    const tools = [{ type: 'web_search_20250305' as const, name: 'web_search' as const }];
    const first = await anthropic.messages.create({ model: searching('gemini'), max_tokens: 100, messages: [user], tools });
    const messages = [user, { role: 'assistant' as const, content: first.content }, { role: 'user' as const, content: 'And now?' }];
    await anthropic.messages.create({ model: refOf('anthropic'), max_tokens: 100, messages });
    const asked = await openai.responses.create({
      model: searching('gemini'),
      input: `Weather? ${start('items', 'gemini').mark}`,
      tools: [{ type: 'web_search' }],
    });
    const items = [{ role: 'user', content: `Weather? ${story.mark}` }, ...asked.output, { role: 'user', content: 'And now?' }];
    await openai.responses.create({ model: refOf('openai-responses'), input: items as ResponseInput });
    for (const { text } of story.heard.slice(1)) expect(text).not.toMatch(/server_tool_use|web_search/);
    expect([story.heard.length, fakes.refused()]).toEqual([3, []]);
  });
});

describe('a web search of the toolset', () => {
  it.each([
    ['plain', false],
    ['streamed', true],
  ])('is a web_search_call, %s, which says that it failed', async (how, streamed) => {
    const say = (index: number) => (index === 0 ? { calls: [{ name: 'lookup', arguments: { query: 'weather' } }] } : { text: 'No idea.' });
    const { mark } = fakes.start(`toolset ${how}`, { say: (_heard, index) => say(index) });
    const body = { model: refOf('openai'), input: `Weather? ${mark}`, tools: [{ type: 'web_search' as const }] };
    const { response, types } = await respond(body, streamed, { 'x-moniker-toolset': 'finding' });
    expect(response.output.map(({ type }) => type)).toEqual(['web_search_call', 'message']);
    // Nothing listens at the address of its server.
    expect(searchesIn(response)).toMatchObject([{ status: 'failed', action: { type: 'search', queries: ['weather'] } }]);
    expect(types.filter((type) => type.includes('web_search'))).toEqual(streamed ? progress : []);
  });

  it('is not shown if the request declares none', async () => {
    const say = (index: number) => (index === 0 ? { calls: [{ name: 'lookup', arguments: { query: 'weather' } }] } : { text: 'No idea.' });
    const { mark } = fakes.start('undeclared', { say: (_heard, index) => say(index) });
    const { response } = await respond({ model: refOf('openai'), input: `Weather? ${mark}` }, false, { 'x-moniker-toolset': 'finding' });
    expect(response.output.map(({ type }) => type)).toEqual(['message']);
  });
});
