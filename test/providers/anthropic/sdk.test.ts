/** The vendor's client works with the fake server, which shows that the adapter is tested against the real wire format. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeAnthropic, signatureOf } from '../../fakes/upstreams/anthropic.ts';
import { type ListeningUpstream, listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { partsOf } from '../said-parts.ts';
import { calls, scriptOf } from '../sdk-script.ts';

const script = scriptOf({
  text: { reasoning: 'I greet.', text: 'Hello there.' },
  calls: { reasoning: 'I look both up.', text: 'One moment.', calls },
});

describe('@anthropic-ai/sdk', () => {
  const fake = fakeAnthropic(script);
  let listening: ListeningUpstream;
  let client: Anthropic;
  beforeAll(async () => {
    listening = await listenUpstream(fake);
    client = new Anthropic({ apiKey: 'test', baseURL: listening.url, maxRetries: 0 });
  });
  afterAll(() => listening.close());

  const tools = calls.map(({ name }) => ({ name, description: 'Does it.', input_schema: { type: 'object' as const } }));
  const ask = (content: string) => ({
    model: 'claude-haiku-4-5',
    max_tokens: 4000,
    thinking: { type: 'enabled' as const, budget_tokens: 2000 },
    tools,
    messages: [{ role: 'user' as const, content }],
  });
  const thought = (thinking: string) => ({ type: 'thinking', thinking, signature: signatureOf(thinking) });
  const used = calls.map((call) => expect.objectContaining({ type: 'tool_use', name: call.name, input: call.arguments }));

  it('reads thinking, text, parallel calls and usage of an unstreamed reply', async () => {
    const reply = await client.messages.create(ask('calls'));
    expect(reply.content).toEqual([thought('I look both up.'), { type: 'text', text: 'One moment.' }, ...used]);
    expect(reply).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 7 } });
    expect(await client.messages.create(ask('length'))).toMatchObject({ stop_reason: 'max_tokens' });
  });

  it('reads the same from a stream', async () => {
    const reply = await client.messages.stream(ask('calls')).finalMessage();
    expect(reply.content).toEqual([thought('I look both up.'), { type: 'text', text: 'One moment.' }, ...used]);
    expect(reply).toMatchObject({ stop_reason: 'tool_use', usage: { output_tokens: 7 } });
    expect(await client.messages.stream(ask('text')).finalText()).toBe('Hello there.');
  });

  it('sends a next request that is accepted', async () => {
    const { content } = await client.messages.stream(ask('calls')).finalMessage();
    const results = content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'fine' }] : [],
    );
    const messages = [...ask('calls').messages, { role: 'assistant' as const, content }, { role: 'user' as const, content: results }];
    const next = await client.messages.create({ ...ask('calls'), messages });
    expect(next.content).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(fake.understood.at(-1)?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', text: 'One moment.', calls, returned: [signatureOf('I look both up.')] },
      { role: 'tool', results: [{ text: 'fine' }, { text: 'fine' }] },
    ]);
  });

  it('receives rejections in the API’s error format', async () => {
    const before = fake.refused.length;
    await expect(client.messages.create({ ...ask('text'), max_tokens: 2000 })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('must be greater than'),
    });
    expect(fake.refused.length).toBe(before + 1);
  });
});

const access: ProviderAccess = {
  name: 'claude',
  kind: 'anthropic',
  baseUrl: 'https://api.anthropic.example/v1',
  headers: { 'x-api-key': 'key' },
  models: [],
  profile: {},
};
const offered = calls.map(({ name }) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } }));
const requestOf = (text: string, fields: Partial<ChatRequest> = {}): ChatRequest => ({
  access,
  model: 'claude-haiku-4-5',
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: offered,
  toolChoice: 'auto',
  settings: { reasoningBudget: 2000 },
  ...fields,
});
const modelOver = (fake: ReturnType<typeof fakeAnthropic>) =>
  createChatModel({ http: (request) => fake.handle(request), clock: fakeClock(), rehearsal: rehearsalHttp });

chatModelContract("Anthropic's Messages API", () => ({
  model: modelOver(fakeAnthropic(script)),
  text: requestOf('text'),
  twoCalls: requestOf('calls'),
  refused: requestOf('text', { access: { ...access, baseUrl: 'https://api.anthropic.example/nowhere' }, model: '' }),
}));

describe('our adapter and the fake server', () => {
  it('complete a tool loop with thinking, which is returned signed', async () => {
    const fake = fakeAnthropic(script);
    const model = modelOver(fake);
    const first = requestOf('calls');
    const parts = partsOf(await collect(model, first));
    const results = parts.flatMap((part) =>
      part.type === 'tool-call'
        ? [{ type: 'tool-result' as const, callId: part.callId, requested: part.requested, canonical: null, isError: false, content: [] }]
        : [],
    );
    const events = await collect(model, {
      ...first,
      messages: [...first.messages, { role: 'assistant', parts, model: 'claude/claude-haiku-4-5' }, { role: 'tool', parts: results }],
    });
    expect(events[0]).toEqual({ type: 'text', text: 'Done.' });
    expect(fake.refused).toEqual([]);
    expect(fake.understood[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', calls: [{ id: 'toolu_0x0' }, { id: 'toolu_0x1' }], returned: [signatureOf('I look both up.')] },
      { role: 'tool', results: [{ id: 'toolu_0x0' }, { id: 'toolu_0x1' }] },
    ]);
  });

  it('send the version of the provider’s own header instead of the default', async () => {
    const versions: (string | null)[] = [];
    const fake = fakeAnthropic(script);
    const http = (request: Request) => {
      versions.push(request.headers.get('anthropic-version'));
      return fake.handle(request);
    };
    const model = createChatModel({ http, clock: fakeClock(), rehearsal: rehearsalHttp });
    await collect(model, requestOf('text'));
    await collect(model, requestOf('text', { access: { ...access, headers: { 'anthropic-version': '2099-01-01' } } }));
    expect(versions).toEqual(['2023-06-01', '2099-01-01']);
  });
});
