import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Message } from '../../../src/core/model/message.ts';
import { anthropic } from '../../../src/providers/anthropic/reply.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { describeCorpus, readJson } from '../../fixtures.ts';
import { access as recordedAccess, bodyOf, gather, merge, readCuts, type Recording } from '../replies.ts';
import { partsOf } from '../said-parts.ts';

const access = { ...recordedAccess, kind: 'anthropic' as const };
type Wire = Record<string, unknown>;

const reader = () => anthropic.createReply(access);
const started: Wire = { type: 'message_start', message: { id: 'msg_1', content: [], usage: { input_tokens: 5, output_tokens: 1 } } };
const start = (index: number | undefined, content_block: Wire): Wire => ({ type: 'content_block_start', index, content_block });
const delta = (index: number | undefined, piece: Wire): Wire => ({ type: 'content_block_delta', index, delta: piece });
const stop = (index?: number): Wire => ({ type: 'content_block_stop', index });
const ended = (stop_reason: string | null, usage: Wire = { output_tokens: 9 }): Wire[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];
const text = (index: number, words: string): Wire[] => [
  start(index, { type: 'text', text: '' }),
  delta(index, { type: 'text_delta', text: words }),
  stop(index),
];
const call = (index: number, id: string, json: string): Wire[] => [
  start(index, { type: 'tool_use', id, name: 'get_weather', input: {} }),
  delta(index, { type: 'input_json_delta', partial_json: json }),
  stop(index),
];

/** Events as the wire's objects, each as one message. */
function read(...events: Wire[]): ChatEvent[] {
  const reply = reader();
  const read = events.flatMap((event) => reply.take({ event: String(event.type), data: JSON.stringify(event) }));
  return merge([...read, ...reply.end()]);
}

/** What the next request returns of a reply of the same model. */
function returned(events: readonly ChatEvent[], last: Message[] = []): unknown[] {
  const messages: Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', parts: partsOf(events), model: 'recorded/claude-sonnet-4-5' },
    ...last,
  ];
  const body = toRequestBody({ access, model: 'claude-sonnet-4-5', messages, tools: [], toolChoice: 'auto', settings: {} });
  return (body.messages as { role: string; content: unknown[] }[])[1]?.content ?? [];
}
const next: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'and?' }] }];

describe('a reply is returned unchanged', () => {
  const blocks: Wire[] = [
    { type: 'thinking', thinking: 'First “this”.\n', signature: 'c2lnMQ==' },
    { type: 'redacted_thinking', data: 'ZW5j' },
    { type: 'thinking', thinking: '', signature: 'c2lnMg==' },
    { type: 'text', text: 'One. ' },
    { type: 'text', text: 'Two.', citations: [{ type: 'web_search_result_location', url: 'https://a.example', encrypted_index: 'x' }] },
    { type: 'text', text: ' Three.' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', encrypted_content: 'y' }] },
    { type: 'thinking', thinking: 'Then that.', signature: 'c2lnMw==' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
    { type: 'tool_use', id: 'toolu_2', name: 'get_time', input: {}, caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } },
  ];
  const streamed = (block: Wire, index: number): Wire[] => {
    const { thinking, signature, text: words, citations, input, ...rest } = block;
    if (block.type === 'thinking') {
      const pieces = [
        { type: 'thinking_delta', thinking },
        { type: 'signature_delta', signature },
      ];
      return [start(index, { ...rest, thinking: '', signature: '' }), ...pieces.map((piece) => delta(index, piece)), stop(index)];
    }
    if (block.type === 'text') {
      const cited = ((citations ?? []) as Wire[]).map((citation) => delta(index, { type: 'citations_delta', citation }));
      return [start(index, { ...rest, text: '' }), delta(index, { type: 'text_delta', text: words }), ...cited, stop(index)];
    }
    if (input === undefined) return [start(index, block), stop(index)];
    const json = Object.keys(input as object).length === 0 ? '' : JSON.stringify(input);
    return [start(index, { ...rest, input: {} }), delta(index, { type: 'input_json_delta', partial_json: json }), stop(index)];
  };

  it('sends back the same content that a stream brought', () => {
    expect(returned(read(started, ...blocks.flatMap(streamed), ...ended('tool_use')), next)).toEqual(blocks);
  });

  it('sends back the same content that an unstreamed reply brought', () => {
    expect(returned(reader().takeWhole({ content: blocks, stop_reason: 'tool_use' }), next)).toEqual(blocks);
  });

  it('contains each text once, outside of native parts', () => {
    const events = read(started, ...blocks.flatMap(streamed), ...ended('tool_use'));
    const natives = JSON.stringify(events.filter(({ type }) => type === 'native'));
    for (const words of ['First', 'One.', 'Two.', 'Paris']) expect(natives).not.toContain(words);
  });

  it('except for what was cut off: unsigned thinking, half a block, a provider call without its end', () => {
    const half = [
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      stop(0),
      ...text(1, 'So.'),
      start(2, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"query": "q' }),
    ];
    expect(returned(read(started, ...half, ...ended('max_tokens')), next)).toEqual([{ type: 'text', text: 'So.' }]);
  });

  it('with thinking of servers that never sign', () => {
    const events = read(started, start(0, { type: 'thinking', thinking: 'Hm.' }), stop(0), ...text(1, 'So.'), ...ended('end_turn'));
    expect(returned(events, next)).toEqual([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'So.' },
    ]);
  });

  it('after a pause, complete if it is continued, and without the unanswered call if the user continued', () => {
    const asked = { type: 'server_tool_use', id: 'srvtoolu_9', name: 'web_search', input: { query: 'q' } };
    const events = read(started, ...text(0, 'I look.'), ...streamed(asked, 1), ...ended('pause_turn'));
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length', raw: 'pause_turn' });
    expect(returned(events)).toEqual([{ type: 'text', text: 'I look.' }, asked]);
    expect(returned(events, next)).toEqual([{ type: 'text', text: 'I look.' }]);
  });
});

describeCorpus('providers', (path) => {
  const plain = readJson<Recording[]>(join(path, 'index.json')).filter(({ api, streamed, httpStatus }) => {
    return api === 'anthropic' && !streamed && (httpStatus ?? 200) === 200;
  });

  it.each(plain.map(({ file }) => file))('%s is returned unchanged', (file) => {
    const body = bodyOf(join(path, file));
    const { content } = JSON.parse(new TextDecoder().decode(body)) as { content: Wire[] };
    // `caller` is only returned if it was not the model itself.
    const expected = content.map(({ caller: _direct, ...block }) => block);
    expect(returned(readCuts(anthropic, [body], false), next)).toEqual(expected);
  });

  it('the recorded pause returns all of its searches, with their results', () => {
    const body = bodyOf(join(path, 'anthropic/sonnet-4-5-pause-turn-web-search.sse'));
    const types = returned(readCuts(anthropic, [body], true)).map((block) => (block as Wire).type);
    expect(types[0]).toBe('thinking');
    expect(types.filter((type) => type === 'server_tool_use')).toHaveLength(11);
    expect(types.filter((type) => type === 'web_search_tool_result')).toHaveLength(10);
  });

  it.each(
    readJson<Recording[]>(join(path, 'index.json'))
      .filter(({ api, streamed }) => api === 'anthropic' && streamed)
      .map(({ file }) => file),
  )('%s ends with a typed event wherever it is cut or damaged, and no incomplete call runs', (file) => {
    const body = bodyOf(join(path, file), '').subarray(0, 20_000);
    const whole = gather(readCuts(anthropic, [bodyOf(join(path, file), '')], true)).calls;
    for (let seed = 1; seed <= 150; seed++) {
      const at = (seed * 7919) % body.length;
      const cut = readCuts(anthropic, [body.subarray(0, at)], true);
      const spoilt = Uint8Array.from(body);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (seed % 8));
      for (const events of [cut, readCuts(anthropic, [spoilt], true)]) {
        expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1);
        expect(['finish', 'error']).toContain(events.at(-1)?.type);
      }
      for (const made of gather(cut).calls) {
        if (made.arguments !== null)
          expect(whole).toContainEqual(expect.objectContaining({ nativeId: made.nativeId, arguments: made.arguments }));
      }
    }
  });
});

describe('streams as gateways and compatible servers send them', () => {
  const made = (events: ChatEvent[]) => gather(events).calls.map(({ nativeId, state, arguments: input }) => [nativeId, state, input]);

  it('are read where a call has its whole input in its start', () => {
    const block = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } };
    expect(made(read(started, start(0, block), stop(0), ...ended('tool_use')))).toEqual([['toolu_1', 'ok', { city: 'Paris' }]]);
    // The pieces repeat it, and they count.
    const again = delta(0, { type: 'input_json_delta', partial_json: '{"city": "Paris"}' });
    expect(made(read(started, start(0, block), again, stop(0), ...ended('tool_use')))).toEqual([['toolu_1', 'ok', { city: 'Paris' }]]);
  });

  it('are read where a call has no input, with one empty delta or with none', () => {
    const events = read(
      started,
      ...call(0, 'toolu_1', ''),
      start(1, { type: 'tool_use', id: 'toolu_2', name: 'b', input: {} }),
      stop(1),
      ...ended('tool_use'),
    );
    expect(made(events)).toEqual([
      ['toolu_1', 'ok', {}],
      ['toolu_2', 'ok', {}],
    ]);
    expect(events.filter(({ type }) => type === 'call-delta')).toEqual([]);
  });

  it('a call ends with its block, before the reply does', () => {
    const reply = reader();
    const events = [started, ...call(0, 'toolu_1', '{"a":1}')].flatMap((event) => reply.take({ event: '', data: JSON.stringify(event) }));
    expect(events.at(-1)).toMatchObject({ type: 'call-end', state: 'ok', arguments: { a: 1 } });
  });

  it('indexes, stops, the start of the message and its end missing', () => {
    const events = read(
      start(undefined, { type: 'text', text: 'Hi' }),
      delta(undefined, { type: 'text_delta', text: '!' }),
      start(undefined, { type: 'tool_use', id: 'toolu_1', name: 'a', input: {} }),
      delta(undefined, { type: 'input_json_delta', partial_json: '{"n":1}' }),
      start(undefined, { type: 'tool_use', id: 'toolu_2', name: 'a', input: {} }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    );
    expect(made(events)).toEqual([
      ['toolu_1', 'ok', { n: 1 }],
      ['toolu_2', 'ok', {}],
    ]);
    expect(gather(events)).toMatchObject({ text: 'Hi!', reason: 'tool-calls', error: undefined });
  });

  it('starts and stops doubled or late, ids missing, indexes used again', () => {
    const doubled = call(0, 'toolu_1', '{"n":1}').flatMap((event) => (event.type === 'content_block_delta' ? [event] : [event, event]));
    const late = delta(0, { type: 'input_json_delta', partial_json: '{"n":2}' });
    const unnamed = [start(0, { type: 'tool_use', name: 'b', input: {} }), delta(0, { partial_json: '{"n":3}' }), stop(0)];
    expect(made(read(started, started, ...doubled, late, ...unnamed, ...ended('tool_use')))).toEqual([
      ['toolu_1', 'ok', { n: 1 }],
      [null, 'ok', { n: 3 }],
    ]);
  });

  it('deltas of a block that never started', () => {
    const events = read(
      started,
      delta(3, { type: 'text_delta', text: 'Hi' }),
      delta(4, { type: 'thinking_delta', thinking: 'Hm' }),
      ...ended('end_turn'),
    );
    expect(gather(events)).toMatchObject({ text: 'Hi', reasoning: 'Hm', reason: 'stop' });
  });

  it('are read where only the event field names an event, and unknown events and comments are between', () => {
    const reply = reader();
    const say = (event: string, data: unknown) => reply.take({ event, data: JSON.stringify(data) });
    const events = [
      ...say('vendor_hint', { hint: 1 }),
      ...say('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...say('content_block_delta', { index: 0, delta: { text: 'Hi' } }),
      ...say('message_delta', { delta: { stop_reason: 'end_turn' } }),
      ...reply.take({ event: 'message', data: '[DONE]' }),
    ];
    expect(events).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'finish', reason: 'stop', raw: 'end_turn' },
    ]);
  });

  it('keys in any order, with blanks, and text that looks like the wire around it', () => {
    const words = ['"index":7', '}  }', '\\"}}', ' ', '"text":"x"', 'ü\n', '', '}'];
    const frames = [
      (piece: string, blanks: string) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${piece}}${blanks}}`,
      (piece: string, blanks: string) =>
        `{"delta": {"text": ${piece}, "type": "text_delta"}, "index": 0, "type": "content_block_delta"${blanks}}`,
      (piece: string, blanks: string) =>
        `{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ${piece}}${blanks}}`,
    ];
    for (const frame of frames) {
      const reply = reader();
      const events = words
        .concat(words)
        .flatMap((word, at) => reply.take({ event: '', data: frame(JSON.stringify(word), ' '.repeat(at % 5)) }));
      expect(gather(events).text).toBe(words.join('') + words.join(''));
    }
  });

  it('are read where the pieces of many calls are interleaved', () => {
    const indexes = Array.from({ length: 40 }, (_, index) => index);
    const each = (make: (index: number) => Wire) => indexes.map(make);
    const events = read(
      started,
      ...each((index) => start(index, { type: 'tool_use', id: `toolu_${index}`, name: 'a', input: {} })),
      ...['{"n"', ':', '1'].flatMap((piece) => each((index) => delta(index, { type: 'input_json_delta', partial_json: piece }))),
      ...each((index) => delta(index, { type: 'input_json_delta', partial_json: `${index}}` })),
      ...each(stop),
      ...ended('tool_use'),
    );
    expect(made(events)).toEqual(indexes.map((index) => [`toolu_${index}`, 'ok', { n: Number(`1${index}`) }]));
  });
});

describe('the end of a reply', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content-filter'],
    ['something_new', 'stop'],
  ])('%s is %s', (raw, reason) => {
    expect(read(started, ...text(0, 'Hi'), ...ended(raw)).slice(-1)).toEqual([{ type: 'finish', reason, raw }]);
    const whole = reader().takeWhole({ content: [{ type: 'text', text: 'Hi' }], stop_reason: raw });
    expect(whole).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'finish', reason, raw },
    ]);
  });

  it('calls count, with or without a reason', () => {
    expect(read(started, ...call(0, 'toolu_1', '{}'), ...ended('end_turn')).at(-1)).toMatchObject({ reason: 'tool-calls' });
    expect(read(started, ...call(0, 'toolu_1', '{}'), ...ended(null)).at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', raw: null });
    expect(read(started, ...text(0, 'Hi'), { type: 'message_stop' }).at(-1)).toMatchObject({ reason: 'unknown' });
  });

  it.each(['max_tokens', 'refusal'])('a call that %s cut is truncated, also one without any input', (reason) => {
    const open = [
      start(0, { type: 'tool_use', id: 'toolu_1', name: 'a', input: {} }),
      start(1, { type: 'tool_use', id: 'toolu_2', name: 'a', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{"a":{}' }),
    ];
    expect(gather(read(started, ...open, ...ended(reason))).calls.map(({ state }) => state)).toEqual(['truncated', 'truncated']);
  });

  it('the bytes end too early: a retryable error, never a finish', () => {
    const events = read(started, ...text(0, 'Hi'), ...call(1, 'toolu_1', '{"a":1}').slice(0, -1));
    expect(gather(events).calls).toMatchObject([{ state: 'ok' }]);
    expect(events.at(-1)).toMatchObject({ type: 'error', retryable: true });
    expect(events.at(-2)).toEqual({ type: 'usage', usage: { inputTokens: 5, outputTokens: 1 } });
  });

  it.each([
    ['overloaded_error', true, 'unavailable'],
    ['rate_limit_error', true, 'rate_limited'],
    ['api_error', true, 'upstream_error'],
    ['invalid_request_error', false, 'upstream_error'],
  ])('an %s within the stream ends it; retryable: %s; %s', (type, retryable, code) => {
    const error = { type: 'error', error: { type, message: 'Overloaded' } };
    expect(read(started, error)).toMatchObject([{ type: 'error', retryable, problem: { code } }]);
    const later = read(started, ...text(0, 'Hi'), error, ...text(1, 'more'));
    expect(later.map((event) => event.type)).toEqual(['text', 'usage', 'error']);
    expect(reader().takeWhole(error)).toMatchObject([{ type: 'error', retryable }]);
  });

  it('another message within this one is an error, and so are too many calls', () => {
    const other = { type: 'message_start', message: { id: 'msg_2' } };
    expect(read(started, ...text(0, 'Hi'), other).at(-1)).toMatchObject({ type: 'error', retryable: true });
    const flood = Array.from({ length: limits.maxCallsPerReply + 1 }, (_, index) => call(index, `toolu_${index}`, '{}')).flat();
    expect(read(started, ...flood, ...ended('tool_use')).at(-1)).toMatchObject({ type: 'error' });
  });

  it.each([
    ['no object', '[1]'],
    ['no JSON', '{"type":'],
  ])('an event that is %s is an error', (_what, data) => {
    expect(reader().take({ event: 'message', data })).toMatchObject([{ type: 'error', retryable: true }]);
  });

  it('a body without content is an error', () => {
    for (const body of [null, {}, { content: 'x' }]) expect(reader().takeWhole(body)).toMatchObject([{ type: 'error' }]);
  });

  it('nothing is read after the end', () => {
    const reply = reader();
    for (const event of [started, ...ended('end_turn')]) reply.take({ event: '', data: JSON.stringify(event) });
    expect(reply.state).toBe('over');
    expect([...reply.take({ event: '', data: JSON.stringify(started) }), ...reply.takeWhole({ content: [] }), ...reply.end()]).toEqual([]);
  });
});

describe('usage', () => {
  it('counts cached input as input, and uses the last value of each count', () => {
    const first = { input_tokens: 0, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const message = { type: 'message_start', message: { id: 'msg_1', usage: first } };
    const last = { input_tokens: 5, cache_read_input_tokens: null, output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } };
    expect(read(message, ...text(0, 'Hi'), ...ended('end_turn', last))).toContainEqual({
      type: 'usage',
      usage: { inputTokens: 125, outputTokens: 40, reasoningTokens: 30, cachedInputTokens: 100, cacheWriteInputTokens: 20 },
    });
  });

  it('is absent without counts', () => {
    expect(
      reader()
        .takeWhole({ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' })
        .map(({ type }) => type),
    ).toEqual(['text', 'finish']);
  });
});
