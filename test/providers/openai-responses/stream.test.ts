import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { openaiResponses } from '../../../src/providers/openai-responses/reply.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeOpenAiResponses } from '../../fakes/upstreams/openai-responses.ts';
import { gather, merge } from '../replies.ts';
import { partsOf } from '../said-parts.ts';

const access: ProviderAccess = {
  name: 'acme',
  kind: 'openai-responses',
  baseUrl: 'https://acme.example/v1',
  headers: { authorization: 'Bearer secret' },
  models: [],
  profile: {},
};

type Json = Record<string, unknown>;
const read = (...frames: (Json | string)[]): ChatEvent[] => {
  const reply = openaiResponses.createReply(access);
  const events = frames.flatMap((frame) =>
    reply.take({ event: 'message', data: typeof frame === 'string' ? frame : JSON.stringify(frame) }),
  );
  return [...events, ...reply.end()];
};
const whole = (...frames: (Json | string)[]) => gather(merge(read(...frames)));

const item = (fields: Json, index?: number, type = 'done') => ({
  type: `response.output_item.${type}`,
  ...(index !== undefined && { output_index: index }),
  item: fields,
});
const fn = (id: string, args: string, fields: Json = {}) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'a',
  arguments: args,
  ...fields,
});
const added = (id: string, index?: number, fields: Json = {}) => item(fn(id, '', fields), index, 'added');
const delta = (text: string, index?: number, fields: Json = {}) => ({
  type: 'response.function_call_arguments.delta',
  delta: text,
  ...(index !== undefined && { output_index: index }),
  ...fields,
});
const say = (text: string, index = 0) => ({ type: 'response.output_text.delta', output_index: index, content_index: 0, delta: text });
const completed = (output: unknown[] = [], fields: Json = {}) => ({
  type: 'response.completed',
  response: { status: 'completed', output, usage: { input_tokens: 9, output_tokens: 4 }, ...fields },
});
const ok = (args: unknown, nativeId: string | null = 'c1') => ({ state: 'ok', arguments: args, nativeId });

describe('calls in unusual streams', () => {
  it('are read where the arguments come only at the end: in done, in the item, or in the last response', () => {
    const done = { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"n":1}' };
    expect(whole(added('c1', 0), done, completed()).calls).toMatchObject([ok({ n: 1 })]);
    expect(whole(added('c1', 0), item(fn('c1', '{"n":1}'), 0), completed()).calls).toMatchObject([ok({ n: 1 })]);
    expect(whole(item(fn('c1', '{"n":1}'), 0), completed()).calls).toMatchObject([ok({ n: 1 })]);
    expect(whole(added('c1', 0), completed([fn('c1', '{"n":1}')])).calls).toMatchObject([ok({ n: 1 })]);
    expect(whole(completed([fn('c1', '{"n":1}'), fn('c2', '{}')])).calls).toMatchObject([ok({ n: 1 }), ok({}, 'c2')]);
    expect(whole(added('c1', 0, { arguments: '{"n":1}' }), completed()).calls).toMatchObject([ok({ n: 1 })]);
  });

  it('pieces missing from the deltas are taken from the whole, without duplicates', () => {
    const frames = [added('c1', 0), delta('{"n":', 0)];
    expect(whole(...frames, item(fn('c1', '{"n":1}'), 0), completed()).calls).toMatchObject([{ ...ok({ n: 1 }), deltas: '{"n":1}' }]);
    const all = [...frames, delta('1}', 0), item(fn('c1', '{"n":1}'), 0), item(fn('c1', '{"n":1}'), 0), delta('1}', 0)];
    expect(whole(...all, completed([fn('c1', '{"n":1}')])).calls).toMatchObject([{ ...ok({ n: 1 }), deltas: '{"n":1}', raw: '{"n":1}' }]);
    // The same arguments in another notation: emitted text stays.
    expect(whole(...frames, delta('1}', 0), item(fn('c1', '{"n": 1 }'), 0), completed()).calls).toMatchObject([{ raw: '{"n":1}' }]);
  });

  it('a call whose pieces and whole differ does not run: an event was lost or damaged', () => {
    const broken = [added('c1', 0), delta('{"to":"', 0), delta('me"}', 0)];
    for (const args of ['{"to":"you and me"}', '{"to":"me","cc":1}', 'null', `${'['.repeat(100)}${']'.repeat(100)}`]) {
      const cut = whole(...broken, item(fn('c1', args), 0), completed());
      expect(cut, args).toMatchObject({ finish: undefined, error: expect.stringContaining('two different versions') });
    }
    expect(whole(...broken, item(fn('c1', ''), 0), completed()).calls).toMatchObject([ok({ to: 'me' })]);
    const custom = { type: 'custom_tool_call', call_id: 'c1', name: 'a', input: '' };
    const input = { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'rm x' };
    expect(whole(item(custom, 0, 'added'), input, item({ ...custom, input: 'rm -i x' }, 0), completed()).error).toContain('two different');
  });

  it('changing ids and a wrong index do not duplicate a call', () => {
    const begun = [added('c1', 0), delta('{}', 0)];
    for (const end of [item(fn('c9', '{}'), 0), item(fn('c1', '{}'), 3), item(fn('c1', '{}'))]) {
      expect(whole(...begun, end, completed()).calls).toMatchObject([ok({})]);
    }
    expect(whole(...begun, item(fn('c1', '{}'), 0), completed([fn('c9', '{}')])).calls).toMatchObject([ok({})]);
  });

  it('belong to the item of their id, otherwise to the latest, when there is no output_index', () => {
    const ids = (id: string) => ({ item_id: `fc_${id}` });
    const interleaved = [added('c1'), added('c2'), delta('{"n":1}', undefined, ids('c1')), delta('{"n":2}', undefined, ids('c2'))];
    expect(whole(...interleaved, item(fn('c1', '{"n":1}')), item(fn('c2', '{"n":2}')), completed()).calls).toMatchObject([
      ok({ n: 1 }),
      ok({ n: 2 }, 'c2'),
    ]);
    expect(whole(added('c1'), delta('{"n":1}'), added('c2'), delta('{"n":2}'), completed()).calls).toMatchObject([
      ok({ n: 1 }),
      ok({ n: 2 }, 'c2'),
    ]);
  });

  it('are kept apart when every call has the output_index 0', () => {
    const frames = [1, 2].flatMap((n) => [added(`c${n}`, 0), delta(`{"n":${n}}`, 0), item(fn(`c${n}`, `{"n":${n}}`), 0)]);
    expect(whole(...frames, completed()).calls).toMatchObject([ok({ n: 1 }), ok({ n: 2 }, 'c2')]);
  });

  it('pieces before the item that names their call; and an item that never arrives', () => {
    expect(whole(delta('{"n":', 0), delta('1}', 0), item(fn('c1', '{"n":1}'), 0), completed()).calls).toMatchObject([
      { name: 'a', ...ok({ n: 1 }), raw: '{"n":1}' },
    ]);
    expect(whole(delta('{"n":1}', 0), completed()).calls).toMatchObject([{ name: '', nativeId: null, arguments: { n: 1 } }]);
  });

  it('a call is reported when it is complete, before the reply ends', () => {
    const types = read(added('c1', 0), delta('{}', 0), item(fn('c1', '{}'), 0), say('Then text.', 1), completed()).map(({ type }) => type);
    expect(types).toEqual(['call-start', 'call-delta', 'call-end', 'text', 'usage', 'finish']);
  });

  it('a cut call is never complete, whatever the final event', () => {
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'a', input: 'rm -r', status: 'incomplete' };
    const response = { status: 'incomplete', output: [custom], incomplete_details: { reason: 'max_output_tokens' } };
    for (const type of ['response.incomplete', 'response.completed']) {
      const cut = whole(item({ ...custom, input: '' }, 0, 'added'), item(custom, 0), { type, response });
      expect(cut).toMatchObject({ calls: [{ state: 'truncated', arguments: null }], reason: 'length', finish: 'incomplete' });
    }
    expect(whole(added('c1', 0), delta('{"n":1', 0), { type: 'response.incomplete', response }).calls).toMatchObject([
      { state: 'truncated' },
    ]);
    expect(whole(added('c1', 0), delta('{"n":1', 0))).toMatchObject({ calls: [{ state: 'truncated' }], finish: undefined });
  });

  it('too many calls are an error', () => {
    const calls = Array.from({ length: limits.maxCallsPerReply + 1 }, (_, index) => item(fn(`c${index}`, '{}'), index));
    expect(read(...calls, completed()).at(-1)).toMatchObject({ type: 'error' });
  });
});

describe('words', () => {
  it('come from deltas, otherwise from the part, the item, or the last response', () => {
    const message = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'Hello.' },
        { type: 'refusal', refusal: 'No.' },
      ],
    };
    const done = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello.' };
    for (const frames of [[say('Hel'), say('lo.'), done], [done], [done, item(message, 0)], [item(message, 0)], []]) {
      expect(whole(...frames, completed([message])), JSON.stringify(frames)).toMatchObject({ text: 'Hello.', reason: 'stop' });
    }
    expect(whole(completed([message]))).toMatchObject({ text: 'Hello.', refusal: 'No.' });
  });

  it('of a summary and of a content that both count from 0 stay separate', () => {
    const pieces = ['reasoning_summary_text', 'reasoning_text'].map((name, place) => ({
      ...{ type: `response.${name}.delta`, output_index: 0, delta: `${place}.` },
      [place === 0 ? 'summary_index' : 'content_index']: 0,
    }));
    const reasoning = { type: 'reasoning', summary: [{ text: '0.' }], content: [{ text: '1.' }] };
    expect(whole(...pieces, item(reasoning, 0), completed()).reasoning).toBe('0.1.');
    expect(whole(item(reasoning, 0), completed()).reasoning).toBe('0.1.');
  });

  it('that stopped at a filter say so', () => {
    const response = { status: 'incomplete', output: [], incomplete_details: { reason: 'content_filter' } };
    expect(whole(say('Well'), { type: 'response.incomplete', response })).toMatchObject({ reason: 'content-filter', finish: 'incomplete' });
  });
});

describe('deltas that are read without parsing them again', () => {
  const event = (delta: string, more: Json = {}) => ({
    ...{ type: 'response.output_text.delta', content_index: 0, delta, item_id: 'msg_1', logprobs: [], obfuscation: 'ab', output_index: 0 },
    ...more,
  });
  const odd = [
    '',
    ' ',
    'a',
    '"',
    '\\',
    '\\"',
    '\n',
    '\u0000',
    '\u2028',
    '💥',
    '"delta":"x"',
    '","output_index":7,"x":"',
    '{"a":"b"}',
    '\ud83d',
  ];

  it('equal parsed ones for any content', () => {
    for (const text of odd) {
      const second = [event('Begin: '), event(text, { item_id: 'msg_2', obfuscation: '', sequence_number: 12 }), event(text)];
      const numbered = second.map((frame, at) => ({ ...frame, sequence_number: at }));
      expect(whole(...numbered, completed()).text, text).toBe(`Begin: ${text}${text}`);
      expect(whole(...second, completed()).text, text).toBe(`Begin: ${text}${text}`);
    }
  });

  it('find their item and part, in any order of keys and with blanks', () => {
    const spaced = (frame: Json) => JSON.stringify(frame).replaceAll(/"(\w+)":/g, '"$1": ');
    const turned = (frame: Json) => Object.fromEntries(Object.entries(frame).reverse());
    const calls = (n: number) => ({ type: 'response.function_call_arguments.delta', delta: `${n}`, item_id: 'fc', output_index: n });
    for (const write of [(frame: Json) => JSON.stringify(frame), spaced, (frame: Json) => JSON.stringify(turned(frame))]) {
      const frames = [0, 1, 2, 0, 1, 2].map((n) => write(calls(n)));
      const names = [0, 1, 2].map((n) => item(fn(`c${n}`, ''), n, 'added'));
      const ends = [0, 1, 2].map((n) => item(fn(`c${n}`, `${n}${n}`), n));
      expect(whole(...names, ...frames, ...ends, completed()).calls.map(({ raw }) => raw)).toEqual(['00', '11', '22']);
      const refused = { ...event('No.'), type: 'response.refusal.delta' };
      expect(whole(...[event('a'), refused, event('b'), refused].map(write), completed())).toMatchObject({ text: 'ab', refusal: 'No.No.' });
    }
  });

  it('that are cut or invalid JSON are reported as before', () => {
    const frame = JSON.stringify(event('abc'));
    for (const bad of [frame.slice(0, -1), `${frame}}`, frame.replace('abc', 'a\\xbc'), frame.replace('abc', 'a\nbc')]) {
      expect(whole(frame, frame, bad, completed()), bad).toMatchObject({ text: 'abcabc', error: expect.stringContaining('not JSON') });
    }
  });

  it('that all differ are not cached without limit', () => {
    const frames = Array.from({ length: 200 }, (_, n) => event('a', { logprobs: [{ n }] }));
    expect(whole(...frames, ...frames, completed()).text).toBe('a'.repeat(400));
  });
});

describe('the end', () => {
  it('counts cached and reasoning tokens within the total', () => {
    const usage = {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 3 },
    };
    expect(read(say('a'), completed([], { usage }))).toContainEqual({
      type: 'usage',
      usage: { inputTokens: 9, cachedInputTokens: 5, outputTokens: 4, reasoningTokens: 3 },
    });
  });

  it('an error is reported in either format, with its code and the usage before it', () => {
    const nested = { type: 'error', error: { type: 'tokens', code: 'rate_limit_exceeded', message: 'Too large.' } };
    const flat = { type: 'error', code: 'server_error', message: 'Broken.', param: null, sequence_number: 3 };
    expect(read(nested)).toMatchObject([{ type: 'error', retryable: true, problem: { detail: expect.stringContaining('Too large') } }]);
    expect(read(flat)).toMatchObject([{ type: 'error', retryable: true, problem: { detail: expect.stringContaining('Broken') } }]);
    const failed = {
      status: 'failed',
      error: { code: 'insufficient_quota', message: 'Spent.' },
      usage: { input_tokens: 9, output_tokens: 4 },
    };
    expect(read({ type: 'response.failed', response: failed })).toMatchObject([{ type: 'error', retryable: false }]);
    expect(read(say('a'), { type: 'response.failed', response: failed }, say('b')).map(({ type }) => type)).toEqual([
      'text',
      'usage',
      'error',
    ]);
    expect(read(say('a'), { type: 'response.cancelled', response: { status: 'cancelled' } }).at(-1)).toMatchObject({ type: 'error' });
    const named = openaiResponses.createReply(access).take({ event: 'error', data: '{"message":"Over.","code":503}' });
    expect(named).toMatchObject([{ type: 'error', retryable: true }]);
  });

  it('an end marker alone is enough if no item is open, and otherwise not', () => {
    expect(read(added('c1', 0), delta('{}', 0), item(fn('c1', '{}'), 0), '[DONE]').at(-1)).toMatchObject({
      type: 'finish',
      reason: 'tool-calls',
      raw: null,
    });
    expect(read(added('c1', 0), delta('{}', 0), '[DONE]').at(-1)).toMatchObject({ type: 'error', retryable: true });
    expect(read('[DONE]').at(-1)).toMatchObject({ type: 'error', retryable: true });
  });

  it('output that nests too deep to be written again is an error of the provider', () => {
    const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as unknown;
    expect(whole(item({ type: 'web_search_call', action: deep(limits.maxJsonDepth) }, 0), completed()).error).toContain('nests too deep');
    const done = `{"type":"response.function_call_arguments.done","output_index":0,"arguments":${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}}`;
    expect(whole(added('c1', 0), done, completed()).error).toContain('nests too deep');
    const shallow = { type: 'response.function_call_arguments.done', output_index: 0, arguments: deep(3) };
    expect(whole(added('c1', 0), shallow, completed()).calls).toMatchObject([ok({ a: { a: { a: 1 } } })]);
  });

  it('an invalid reply is an error of the provider', () => {
    const plain = (body: unknown) => openaiResponses.createReply(access).takeWhole(body);
    for (const body of [
      null,
      [],
      {},
      { error: { message: 'No.' } },
      { status: 'failed', error: null, output: [] },
      { status: 'queued', output: [] },
    ]) {
      expect(plain(body), JSON.stringify(body)).toMatchObject([{ type: 'error', problem: { code: 'upstream_error' } }]);
    }
    expect(read('{"type": oops').at(-1)).toMatchObject({ type: 'error' });
    expect(plain({ output: [null, 7, { type: 'message', content: 'x' }, { type: 'function_call' }] }).at(-1)).toMatchObject({
      type: 'finish',
    });
  });
});

describe('with a fake server that is as strict as the API', () => {
  const calls = [
    { name: 'get_weather', arguments: { city: 'Paris' } },
    { name: 'list_files', arguments: {} },
  ];
  const create = () => {
    const fake = fakeOpenAiResponses(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return { reasoning: 'Good.', text: 'All fine.' };
      return last?.role === 'user' && last.text === 'calls' ? { reasoning: 'Both.', text: 'One moment.', calls } : { text: 'Hello.' };
    });
    return { fake, model: createChatModel({ http: (sent) => fake.handle(sent), clock: fakeClock(), rehearsal: rehearsalHttp }) };
  };
  const ask = (text: string, fields: Partial<ChatRequest> = {}): ChatRequest => ({
    access,
    model: 'gpt-5.4',
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    tools: calls.map(({ name }) => ({ name, description: '', inputSchema: {} })),
    toolChoice: 'auto',
    settings: { temperature: 1, maxOutputTokens: 3, stop: ['x'], seed: 1 },
    ...fields,
  });

  chatModelContract('the Responses API', () => ({
    model: create().model,
    text: ask('hi'),
    twoCalls: ask('calls'),
    refused: ask('hi', { model: '' }),
  }));

  it('a tool loop returns everything that is required', async () => {
    const { fake, model } = create();
    const parts = partsOf(await collect(model, ask('calls')));
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []));
    const results = ids.map((callId) => ({
      ...{ type: 'tool-result' as const, callId, requested: 'x', canonical: null, isError: false },
      content: [{ type: 'text' as const, text: `of ${callId}` }],
    }));
    const messages: ChatRequest['messages'] = [
      ...ask('calls').messages,
      { role: 'assistant', parts, model: 'acme/gpt-5.4' },
      { role: 'tool', parts: results },
    ];
    expect(gather(await collect(model, ask('', { messages })))).toMatchObject({ text: 'All fine.', reasoning: 'Good.', reason: 'stop' });
    expect(fake.refused).toEqual([]);
    expect(fake.understood[1]?.messages).toMatchObject([
      { role: 'user', text: 'calls' },
      { role: 'assistant', text: 'One moment.', calls, returned: [expect.stringMatching(/^gAAAA/), 'commentary'] },
      { role: 'tool', results: [{ text: 'of call_0' }, { text: 'of call_1' }] },
    ]);
    // Another model of the same provider does not receive what it cannot read.
    await collect(model, ask('', { model: 'gpt-4o', messages }));
    expect(fake.understood[2]?.messages[1]).toMatchObject({ role: 'assistant', calls, returned: [] });
    expect(fake.refused).toEqual([]);
  });
});
