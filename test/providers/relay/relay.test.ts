/** Replies with calls from hosts whose wire is not known to be exact: they pass as they are, and are mended from the first anomaly on. */
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import { proxyChat, type ProxyRequest } from '../../../src/providers/passed/forward-chat.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { responseOf } from '../spoil.ts';

const tools = [{ name: 'look' }];
const wires = {
  chat: ['openai-compatible', openAiChat],
  messages: ['anthropic', anthropicMessages],
  responses: ['openai-responses', openAiResponses],
} as const satisfies Record<string, readonly [ProviderAccess['kind'], Dialect]>;
type Wire = keyof typeof wires;

async function reply(wire: Wire, sent: string | object, fields: Partial<ProxyRequest> = {}, asked: object = {}): Promise<Response> {
  const [kind, dialect] = wires[wire];
  const access: ProviderAccess = { name: 'host', kind, baseUrl: 'https://host.example/v1', headers: {}, models: [], profile: {} };
  const stream = typeof sent === 'string';
  const http = async () => (stream ? responseOf([new TextEncoder().encode(sent)], 'text/event-stream') : Response.json(sent));
  const body = { model: 'host/m', stream, tools, stream_options: { include_usage: true }, ...asked };
  return await proxyChat({ access, model: 'm', dialect, body, http, clock: fakeClock(), ids: countedIds(), ...fields });
}
const streamed = async (...args: Parameters<typeof reply>): Promise<string> => await (await reply(...args)).text();

const chunks = (...list: object[]) => list.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const events = (...list: { type: string; [field: string]: unknown }[]) =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const done = 'data: [DONE]\n\n';
const choice = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: 'c1',
  created: 7,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
});
const call = (index: number, more: object, id?: string) => ({
  tool_calls: [{ index, ...(id !== undefined && { id, type: 'function' }), function: more }],
});
const begin = { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: {} } };
const block = (index: number, start: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const end = (reason: string, more: object = {}) => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 3 }, ...more },
  { type: 'message_stop' },
];
const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], service_tier: 'priority' } };
const item = (output_index: number, value: object) => [
  { type: 'response.output_item.added', output_index, item: value },
  { type: 'response.output_item.done', output_index, item: value },
];
const completed = (output: object[], status = 'completed') => ({
  type: `response.${status}`,
  response: { id: 'resp_1', status, output, service_tier: 'priority' },
});

describe('a stream that clients can read passes byte for byte', () => {
  const approval = { type: 'mcp_approval_request', id: 'apr_1', name: 'b', server_label: 's', arguments: '{}' };
  const shell = { type: 'shell_call', id: 'sh_1', call_id: 'call_1', action: { commands: ['ls'] }, status: 'completed' };
  const lookUp = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_2',
    name: 'look',
    namespace: 'desk',
    arguments: '{}',
    status: 'completed',
  };
  const patch = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_3', name: 'patch', input: '*** Begin', status: 'completed' };
  const search = { type: 'tool_search_call', id: 'tsc_1', call_id: 'call_4', execution: 'client', arguments: { query: 'a' } };
  it.each<[string, Wire, string]>([
    [
      'several choices, token probabilities and a fingerprint',
      'chat',
      chunks(
        choice({ role: 'assistant', content: 'one' }, null, { logprobs: { content: [] } }),
        { ...choice({}), choices: [{ index: 1, delta: { content: 'two' }, finish_reason: null }], system_fingerprint: 'fp_1' },
        choice({}, 'stop'),
        {
          id: 'c1',
          choices: [],
          usage: { prompt_tokens: 1, completion_tokens: 2, cost: 0.1, prompt_tokens_details: { cache_write_tokens: 3 } },
        },
      ) + done,
    ],
    [
      'calls, one after the other',
      'chat',
      chunks(
        choice({ role: 'assistant', content: null }),
        choice(call(0, { name: 'look', arguments: '' }, 'call_a')),
        choice(call(0, { arguments: '{"at":' })),
        choice(call(0, { arguments: '1}' })),
        choice(call(1, { name: 'look', arguments: '{}' }, 'call_b')),
        choice({}, 'tool_calls'),
      ) + done,
    ],
    [
      'an unknown finish reason, unknown fields and comments',
      'chat',
      `: PROCESSING\n\n${chunks({ ...choice({ content: 'Hi', x: 1 }), provider: 'a' }, choice({}, 'overheated'))}${done}`,
    ],
    ['lines that end with CR and LF', 'chat', (chunks(choice({ content: 'Hi' }), choice({}, 'stop')) + done).replaceAll('\n', '\r\n')],
    [
      'numbers and spaces',
      'chat',
      `data: {"id":"c1", "choices":[ {"index":0,"delta":{"content":"é"},"finish_reason":null} ],"n":12345678901234567890}\n\n${chunks(choice({}, 'stop'))}${done}`,
    ],
    [
      'unknown blocks, events and stop reasons',
      'messages',
      events(
        begin,
        { type: 'ping' },
        ...block(0, { type: 'thinking_summary', x: 1 }, { type: 'summary_delta', summary: 'a' }),
        { type: 'later', x: 1 },
        ...block(1, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }, { type: 'input_json_delta', partial_json: '' }),
        ...end('tool_use', { context_management: { applied_edits: [] } }),
      ),
    ],
    [
      'a stop sequence, a pause and a full context',
      'messages',
      events(begin, ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' }), ...end('pause_turn')),
    ],
    [
      'unknown items and events',
      'responses',
      events(
        created,
        { type: 'response.queued_by.someone', x: 1 },
        ...item(0, approval),
        ...item(1, shell),
        { type: 'response.output_item.added', output_index: 2, item: { ...lookUp, arguments: '', status: 'in_progress' } },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{}' },
        { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 2, arguments: '{}' },
        { type: 'response.output_item.done', output_index: 2, item: lookUp },
        completed([approval, shell, lookUp]),
      ),
    ],
    [
      'a free-text call before a search of the client',
      'responses',
      events(
        created,
        { type: 'response.output_item.added', output_index: 0, item: { ...patch, input: '' } },
        { type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', output_index: 0, delta: '*** Begin' },
        { type: 'response.custom_tool_call_input.done', item_id: 'ctc_1', output_index: 0, input: '*** Begin' },
        { type: 'response.output_item.done', output_index: 0, item: patch },
        ...item(1, search),
        completed([patch, search]),
      ),
    ],
  ])('%s', async (_what, wire, text) => {
    expect(await streamed(wire, text)).toBe(text);
  });
});

describe('a stream with an anomaly', () => {
  it('passes up to there, and goes on in the form that clients read, with the same indexes and ids', async () => {
    const before = chunks(
      { ...choice({ role: 'assistant', content: '' }), x: 1 },
      choice(call(0, { name: 'look', arguments: '{}' }, 'call_a')),
    );
    const text = await streamed(
      'chat',
      before +
        chunks(choice({ tool_calls: [{ id: 'call_b', function: { name: 'look', arguments: { at: 2 } } }] }), choice({}, 'stop')) +
        done,
    );
    expect(text.startsWith(before)).toBe(true);
    const rest = text.slice(before.length);
    expect(rest).toContain('{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"look","arguments":""}}]}');
    expect(rest).not.toContain('"role"');
    expect(rest).toContain('"finish_reason":"tool_calls"');
    expect(rest.endsWith(done)).toBe(true);
  });

  it('gets the finish reason that its calls need', async () => {
    const called = chunks(choice(call(0, { name: 'look', arguments: '{}' }, 'call_a')));
    const text = await streamed('chat', called + chunks(choice({}, 'stop')) + done);
    expect(text.startsWith(called)).toBe(true);
    expect(text).toContain('"finish_reason":"tool_calls"');
    expect(text).not.toContain('"finish_reason":"stop"');
  });

  it('gets an object for a call without arguments', async () => {
    const text = await streamed(
      'chat',
      chunks(choice(call(0, { name: 'look', arguments: '' }, 'call_a')), choice({}, 'tool_calls')) + done,
    );
    expect(text).toContain('{"index":0,"function":{"arguments":"{}"}}');
  });

  it('does not repeat a name that every piece repeats', async () => {
    const pieces = ['{"at"', ':1}'].map((text) => choice(call(0, { name: 'look', arguments: text }, 'call_a')));
    const text = await streamed('chat', chunks(...pieces, choice({}, 'tool_calls')) + done);
    expect(text.match(/"name":"look"/g)).toHaveLength(1);
  });

  it('continues the blocks of a message by their numbers', async () => {
    const before = events(
      begin,
      ...block(0, { type: 'later', x: 1 }),
      ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' }),
    );
    const odd = events(...block(7, { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } }), ...end('end_turn'));
    const text = await streamed('messages', before + odd);
    expect(text.startsWith(before)).toBe(true);
    const rest = text.slice(before.length);
    expect(rest).toContain(
      '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}',
    );
    expect(rest).toContain('"partial_json":"{\\"at\\":1}"');
    expect(rest).toContain('"stop_reason":"tool_use"');
    expect(rest.match(/content_block_stop","index":2/g)).toHaveLength(1);
  });

  it('keeps the items of a response that it has passed, and its fields', async () => {
    const approval = { type: 'mcp_approval_request', id: 'apr_1', arguments: '{}' };
    const before = events(created, ...item(0, approval));
    const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', namespace: 'desk', arguments: '{"at":1}' };
    const text = await streamed('responses', before + events({ type: 'response.output_item.done', item: called }, completed([])));
    expect(text.startsWith(before)).toBe(true);
    const last = JSON.parse(/event: response\.completed\ndata: (.*)\n/.exec(text)?.[1] ?? '{}');
    expect(last.response.service_tier).toBe('priority');
    expect(last.response.output).toMatchObject([
      approval,
      { type: 'function_call', call_id: 'call_1', namespace: 'desk', arguments: '{"at":1}' },
    ]);
    expect(text).toContain('"output_index":1');
  });

  it.each<[string, Wire, string, string]>([
    ['chat', 'chat', chunks(choice({ content: 'Hi' }), choice({}, 'stop')), done],
    [
      'messages',
      'messages',
      events(begin, ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' }), ...end('end_turn').slice(0, 1)),
      events({ type: 'message_stop' }),
    ],
  ])('that only lacks its end mark gets only that: %s', async (_name, wire, text, mark) => {
    expect(await streamed(wire, text)).toBe(text + mark);
  });

  it('ends with an error frame if it is cut', async () => {
    const text = await streamed('chat', chunks(choice({ content: 'Hi' })));
    expect(text).toMatch(/"content":"Hi".*\n\ndata: \{"error":.*before it was complete/);
  });
});

describe('what the client must not see', () => {
  it('is the model of an agent: its ref takes the place in every message, and other fields stay', async () => {
    const text = await streamed('chat', chunks({ ...choice({ content: 'Hi' }), x: 1 }, choice({}, 'stop')) + done, { agentRef: 'agent/a' });
    expect(text).toBe(chunks({ ...choice({ content: 'Hi' }), model: 'agent/a', x: 1 }, { ...choice({}, 'stop'), model: 'agent/a' }) + done);
    const whole = {
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: 'end_turn',
      usage: {},
      container: { id: 'c' },
    };
    expect(await (await reply('messages', whole, { agentRef: 'agent/a' })).json()).toEqual({ ...whole, model: 'agent/a' });
  });

  it('is usage that it has not asked for', async () => {
    const text = chunks(choice({ content: 'Hi' }), choice({}, 'stop'));
    const usage = chunks({ id: 'c1', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } });
    expect(await streamed('chat', text + usage + done, {}, { stream_options: {} })).toBe(text + done);
  });
});

describe('an unstreamed reply', () => {
  const message = { role: 'assistant', content: 'Hi', reasoning_details: [{ x: 1 }] };
  const whole = { id: 'c1', x: 1, choices: [{ index: 0, message, logprobs: { content: [] }, finish_reason: 'stop' }], usage: { cost: 1 } };
  it('passes byte for byte if clients can read it', async () => {
    expect(await (await reply('chat', whole)).text()).toBe(JSON.stringify(whole));
  });

  it('gets only its calls and its finish reason mended', async () => {
    const odd = { ...message, content: null, tool_calls: [{ id: 'a', function: { name: 'look', arguments: { at: 1 } } }] };
    const sent = {
      ...whole,
      choices: [
        { ...whole.choices[0], message: odd },
        { index: 1, message, finish_reason: 'stop' },
      ],
    };
    expect(await (await reply('chat', sent)).json()).toMatchObject({
      ...whole,
      choices: [
        {
          logprobs: { content: [] },
          message: {
            reasoning_details: [{ x: 1 }],
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
        { index: 1, message },
      ],
    });
  });

  it.each([['text/plain; charset=utf-8'], ['application/octet-stream'], ['text/event-stream']])('is read as %s, too', async (type) => {
    const http = async () => new Response(JSON.stringify(whole), { headers: { 'content-type': type } });
    const answer = await reply('chat', whole, { http });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual(whole);
  });

  it('without tools is read in the other form, too, if the provider always or never streams', async () => {
    const text = chunks(choice({ content: 'Hi' }), choice({}, 'stop')) + done;
    const plain = await reply(
      'chat',
      whole,
      { http: async () => responseOf([new TextEncoder().encode(text)], 'text/event-stream') },
      { tools: undefined },
    );
    expect(await plain.json()).toMatchObject({ choices: [{ message: { content: 'Hi' } }] });
    const live = await streamed('chat', '', { http: async () => Response.json(whole) }, { tools: undefined });
    expect(live).toContain('"content":"Hi"');
    const unlabelled = async () => new Response(new TextEncoder().encode(text));
    expect(await streamed('chat', '', { http: unlabelled }, { tools: undefined })).toBe(text);
  });

  it('of a provider that always streams is the whole reply, and a stream of one that never streams has all of it', async () => {
    const text = chunks(choice({ content: 'Hi' }), choice({}, 'stop')) + done;
    const http = async () => new Response(text, { headers: { 'content-type': 'application/json' } });
    expect(await (await reply('chat', whole, { http })).json()).toMatchObject({
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    });
    expect(await streamed('chat', '', { http: async () => Response.json(whole) })).toMatch(
      /"content":"Hi"[\s\S]*"finish_reason":"stop"[\s\S]*\[DONE\]/,
    );
  });
});
