/** What is cached: the marks of a client reach each provider whose API has marks, and the service sets its own where a model needs them. */
import { describe, expect, it } from 'vitest';
import type { Dropped } from '../../../src/core/model/dropped.ts';
import type { Message } from '../../../src/core/model/message.ts';
import type { ModelSettings } from '../../../src/core/model/model-settings.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ApiDialectName } from '../../../src/core/text/reference.ts';
import { loadDialect } from '../../../src/dialects/dialects.ts';
import { noMeter } from '../../../src/engine/proxy/call-meter.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel, toRequestBody } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { goldenRequest, type goldenTools } from '../golden-conversation.ts';

type Json = Record<string, unknown>;
type Place = { access: Partial<ProviderAccess> & Pick<ProviderAccess, 'kind'>; model: string };

const claude: Place = { access: { kind: 'anthropic' }, model: 'claude-sonnet-4-5' };
const gateway: Place = { access: { kind: 'openai-compatible' }, model: 'anthropic/claude-sonnet-4.5' };
const openRouter: Place = { ...gateway, access: { ...gateway.access, baseUrl: 'https://openrouter.ai/api/v1' } };
const chatGpt: Place = { access: { kind: 'openai-compatible', profile: { cacheMarks: 'breakpoint' } }, model: 'gpt-5.6' };
const responses: Place = { access: { kind: 'openai-responses' }, model: 'gpt-5.6' };

/** Returns the body that the provider is sent for a client's request, and what the response names as left out. */
async function send({ access: own, model }: Place, dialect: ApiDialectName, given: Json): Promise<{ body: Json; dropped: string | null }> {
  const access = { name: 'a', baseUrl: 'https://a.example/v1', headers: {}, models: [], profile: {}, ...own };
  let body: Json = {};
  const kept: { dropped?: Dropped } = {};
  const http: OutboundHttp = async (request) => {
    body = await request.json();
    return Response.json({ error: { message: 'That is all.' } }, { status: 400 });
  };
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const meter = { ...noMeter, dropped: (found: Dropped) => Object.assign(kept, { dropped: found }) };
  const chat = { access, model, dialect: await loadDialect(dialect), body: { model: 'a/b', max_tokens: 99, ...given }, ref: 'a/b', meter };
  await expect(translateChat(deps, chat, () => new AbortController().signal)).rejects.toThrow();
  const names = kept.dropped?.items().map(({ name }) => name) ?? [];
  return { body, dropped: names.length === 0 ? null : names.join(', ') };
}

/** Returns the places of all marks, with their lifetimes. */
function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === 'cache_control') return [`${path} ${inner.ttl ?? '5m'}`];
    if (name === 'prompt_cache_breakpoint') return [`${path} breakpoint ${inner.ttl ?? ''}`.trim()];
    return marksIn(inner, Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
  });
}

const short = { cache_control: { type: 'ephemeral' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const point = { prompt_cache_breakpoint: { mode: 'explicit' } };
const text = (said: string, mark: object = {}) => ({ type: 'text', text: said, ...mark });
const user = (...content: object[]) => ({ role: 'user', content });
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const chatTool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const chatCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answered = (result: object, call: object = {}) => [
  user(text('Hi.')),
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {}, ...call }] },
  user({ type: 'tool_result', tool_use_id: 'c', content: [text('fine')], ...result }),
];
const called = (result: object, call: object = {}) => [
  { role: 'user', content: 'Hi.' },
  { role: 'assistant', content: null, tool_calls: [{ ...chatCall, ...call }] },
  { role: 'tool', tool_call_id: 'c', content: 'fine', ...result },
];

describe.each([
  ['any OpenAI-compatible gateway', gateway],
  ['OpenRouter', openRouter],
])('a Messages client of Claude behind %s', (_name, place) => {
  it.each<[string, Json, string[]]>([
    ['a text', { messages: [user(text('Long.', short), text('Q?'))] }, ['messages[0].content[0] 5m']],
    ['a text, for an hour', { messages: [user(text('Long.', hour), text('Q?'))] }, ['messages[0].content[0] 1h']],
    ['an image', { messages: [user({ ...png, ...short }, text('Q?'))] }, ['messages[0].content[0] 5m']],
    [
      'the first of two system texts',
      { system: [text('Long.', hour), text('Date.')], messages: [user(text('Q?'))] },
      ['messages[0].content[0] 1h', 'messages[0].content[1] 5m'],
    ],
    [
      'a tool',
      { tools: [{ name: 'f', input_schema: { type: 'object' }, ...hour }], messages: [user(text('Q?'))] },
      ['messages[0].content[0] 5m', 'tools[0] 1h'],
    ],
    ['a result', { messages: answered(hour) }, ['messages[2].content[0] 1h']],
    ['what is in a result', { messages: answered({ content: [text('fine', hour)] }) }, ['messages[2].content[0] 1h']],
    ['a call: with its result', { messages: answered({}, hour) }, ['messages[2].content[0] 1h']],
    [
      'an answer',
      { messages: [user(text('Hi.')), { role: 'assistant', content: [text('Yes?', short)] }, user(text('Q?'))] },
      ['messages[1].content[0] 5m'],
    ],
    ['all, at the top', { messages: [user(text('Hi.'))], ...hour }, ['messages[0].content[0] 1h']],
  ])('marks %s', async (_what, given, expected) => {
    const { body, dropped } = await send(place, 'anthropic-messages', given);
    expect(marksIn(body)).toEqual(expected);
    expect(dropped).toBeNull();
  });
});

describe('a Chat Completions client of Anthropic', () => {
  it.each<[string, Json, string[]]>([
    ['a text', { messages: [user(text('Long.', short), text('Q?'))] }, ['messages[0].content[0] 5m']],
    ['a text by OpenAI’s mark', { messages: [user(text('Long.', point), text('Q?'))] }, ['messages[0].content[0] 5m']],
    [
      'a text by OpenAI’s mark of twelve hours, for an hour',
      { messages: [user(text('Long.', { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }), text('Q?'))] },
      ['messages[0].content[0] 1h'],
    ],
    [
      'the first of two system texts',
      { messages: [{ role: 'system', content: [text('Long.', hour), text('Date.')] }, user(text('Q?'))] },
      ['system[0] 1h', 'system[1] 5m'],
    ],
    ['a message', { messages: [{ role: 'user', content: 'Long.', ...short }, user(text('Q?'))] }, ['messages[0].content[0] 5m']],
    ['a tool', { tools: [{ ...chatTool, ...hour }], messages: [user(text('Q?'))] }, ['messages[0].content[0] 5m', 'tools[0] 1h']],
    [
      'a function',
      { tools: [{ ...chatTool, function: { ...chatTool.function, ...hour } }], messages: [user(text('Q?'))] },
      ['messages[0].content[0] 5m', 'tools[0] 1h'],
    ],
    ['a result', { messages: called({ content: [text('fine', hour)] }) }, ['messages[2].content[0] 1h', 'tools[0] 1h']],
    ['a result as a message', { messages: called(hour) }, ['messages[2].content[0] 1h', 'tools[0] 1h']],
    ['a call: with its result', { messages: called({}, hour) }, ['messages[2].content[0] 1h', 'tools[0] 1h']],
    ['all, at the top', { messages: [{ role: 'user', content: 'Hi.' }], ...hour }, ['messages[0].content[0] 1h']],
  ])('marks %s', async (_what, given, expected) => {
    const { body, dropped } = await send(claude, 'openai-chat', given);
    expect(marksIn(body)).toEqual(expected);
    expect(dropped).toBeNull();
  });

  it('has four marks at most, its last ones, and the response names it', async () => {
    const content = ['1', '2', '3', '4', '5'].map((said) => text(said, short));
    const { body, dropped } = await send(claude, 'openai-chat', { messages: [{ role: 'system', content: 'Be brief.' }, user(...content)] });
    expect(marksIn(body)).toEqual([1, 2, 3, 4].map((index) => `messages[0].content[${index}] 5m`));
    expect(dropped).toBe('cache_control');
  });

  it('gets no mark of five minutes before one of an hour, which would be refused', async () => {
    const messages = [{ role: 'system', content: [text('Long.', short)] }, user(text('Long.', hour), text('Q?'))];
    const { body } = await send(claude, 'openai-chat', { tools: [chatTool], messages });
    expect(marksIn(body)).toEqual(['messages[0].content[0] 1h', 'messages[0].content[1] 5m', 'system[0] 1h', 'tools[0] 1h']);
  });
});

describe('a Responses client', () => {
  const input = [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Long.', ...point },
        { type: 'input_text', text: 'Q?' },
      ],
    },
  ];

  it.each([
    ['Anthropic', claude],
    ['Claude behind a gateway', gateway],
  ])('of %s marks a text', async (_name, place) => {
    const { body, dropped } = await send(place, 'openai-responses', { max_tokens: undefined, input });
    expect(marksIn(body)).toEqual(['messages[0].content[0] 5m']);
    expect(dropped).toBeNull();
  });

  it('gets the marks of the service without its own', async () => {
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
    const { body } = await send(gateway, 'openai-responses', { max_tokens: undefined, instructions: 'Be brief.', input: 'Hi.', tools });
    expect(marksIn(body)).toEqual(['messages[0].content[0] 5m', 'messages[1].content[0] 5m']);
  });
});

describe('OpenAI’s own marks', () => {
  const given = { system: [text('Long.', hour)], messages: [user(text('Long.', short), text('Q?'))] };

  it('are sent for those of a Messages client', async () => {
    const chat = await send(chatGpt, 'anthropic-messages', given);
    expect(marksIn(chat.body)).toEqual(['messages[0].content[0] breakpoint 12h', 'messages[1].content[0] breakpoint']);
    const own = await send(responses, 'anthropic-messages', given);
    expect(marksIn(own.body)).toEqual(['input[0].content[0] breakpoint 12h', 'input[1].content[0] breakpoint']);
    expect([chat.dropped, own.dropped]).toEqual([null, null]);
  });

  it('have no place on tools and answers, which is named; the service then sets its own', async () => {
    const tools = [{ name: 'f', input_schema: { type: 'object' }, ...short }];
    const messages = [user(text('Hi.')), { role: 'assistant', content: [text('Yes?', short)] }, user(text('Q?'))];
    for (const [place, field] of [
      [chatGpt, 'messages'],
      [responses, 'input'],
    ] as const) {
      const { body, dropped } = await send(place, 'anthropic-messages', { tools, messages });
      expect(marksIn(body)).toEqual([0, 2].map((index) => `${field}[${index}].content[0] breakpoint`));
      expect(dropped?.split(', ').sort()).toEqual(['cache_control', 'tools.f.cache_control']);
    }
  });

  it('and its settings of the cache go from one of its APIs to the other', async () => {
    const caching = { prompt_cache_key: 'k', prompt_cache_retention: '24h', prompt_cache_options: { mode: 'explicit' } };
    const chat: Place = { access: { kind: 'openai' }, model: 'gpt-5.6' };
    const { body, dropped } = await send(chat, 'openai-responses', { max_tokens: undefined, input: 'Hi.', ...caching });
    expect(body).toMatchObject(caching);
    expect(dropped).toBeNull();
    expect((await send(responses, 'openai-chat', { messages: [user(text('Hi.'))], ...caching })).body).toMatchObject(caching);
    expect((await send(claude, 'openai-chat', { messages: [user(text('Hi.'))], ...caching })).dropped).toBe(
      Object.keys(caching).join(', '),
    );
  });
});

it.each<[string, Place]>([
  ['Gemini', { access: { kind: 'gemini' }, model: 'gemini-2.5-pro' }],
  ['other models behind gateways', { access: { kind: 'openai-compatible' }, model: 'llama-3.3-70b' }],
  ['older models of OpenAI', { access: { kind: 'openai-responses' }, model: 'gpt-5.2' }],
])('the marks are left out and named, by their places, for %s', async (_name, place) => {
  const tools = [{ name: 'f', input_schema: { type: 'object' }, ...short }];
  const given = { system: [text('Long.', short)], tools, messages: [...answered(short), user(text('A', hour), text('B', hour))] };
  const { body, dropped } = await send(place, 'anthropic-messages', given);
  expect(marksIn(body)).toEqual([]);
  expect(dropped?.split(', ').sort()).toEqual(['messages[].content[].cache_control', 'system[].cache_control', 'tools[].cache_control']);
  expect(JSON.stringify(body)).not.toContain('"cache"');
});

describe('a turn of Claude behind a gateway', () => {
  const said = (...texts: string[]): Message => ({ role: 'user', parts: texts.map((one) => ({ type: 'text', text: one })) });
  const sent = (messages: Message[], fields: { settings?: ModelSettings; model?: string; tools?: typeof goldenTools } = {}) =>
    toRequestBody(goldenRequest({ kind: 'openai-compatible' }, { model: gateway.model, messages, ...fields }));
  const history: Message[] = [{ role: 'system', parts: [{ type: 'text', text: 'You are brief.' }] }, said('Hi.')];
  const step = (id: string): Message[] => [
    { role: 'assistant', parts: [{ type: 'tool-call', callId: id, requested: 'list_files', canonical: null, via: null, arguments: {} }] },
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: id,
          requested: 'list_files',
          canonical: null,
          isError: false,
          content: [{ type: 'text', text: id }],
        },
      ],
    },
  ];

  it('marks the system text and the last two turns of the user, so that each step reads what the one before it wrote', () => {
    expect(marksIn(sent(history))).toEqual(['messages[0].content[0] 5m', 'messages[1].content[0] 5m']);
    expect(marksIn(sent([...history, ...step('one')]))).toEqual([0, 1, 3].map((at) => `messages[${at}].content[0] 5m`));
    const later = sent([...history, ...step('one'), ...step('two')]);
    expect(marksIn(later)).toEqual([0, 3, 5].map((at) => `messages[${at}].content[0] 5m`));
    expect(later.messages).toContainEqual({ role: 'tool', tool_call_id: 'two', content: [text('two', short)] });
  });

  it('marks only the system text without tools, and for as long as the client marked its own', () => {
    expect(marksIn(sent(history, { tools: [] }))).toEqual(['messages[0].content[0] 5m']);
    expect(marksIn(sent(history, { tools: [], settings: { cache: '1h' } }))).toEqual([0, 1].map((at) => `messages[${at}].content[0] 1h`));
  });

  it('has no marks with other models, unless the client sets marks that they take', () => {
    expect(marksIn(sent(history, { model: 'qwen3-32b' }))).toEqual([]);
    const turn = { model: 'gpt-5.6', messages: [...history, ...step('one')] };
    const bodyFor = (settings: ModelSettings) => toRequestBody(goldenRequest({ kind: 'openai-responses' }, { ...turn, settings }));
    expect(marksIn(bodyFor({}))).toEqual([]);
    const places = ['input[0].content[0]', 'input[1].content[0]', 'input[3].output[0]'];
    expect(marksIn(bodyFor({ cache: '5m' }))).toEqual(places.map((place) => `${place} breakpoint`));
  });

  it.each<[ApiDialectName, Json]>([
    ['anthropic-messages', { max_tokens: 9, messages: [user(text('Long.', short), text('Q?', hour))] }],
    ['openai-chat', { messages: [user(text('Long.', short), text('Q?', hour))] }],
  ])('takes the lifetime of a client of %s, and stores no marks', async (name, given) => {
    const request = (await loadDialect(name)).readRequest({ model: 'agent/x', ...given });
    expect(request.settings().cache).toBe('1h');
    expect(JSON.stringify(request.conversation({ inSession: true }))).not.toContain('cache');
  });
});
