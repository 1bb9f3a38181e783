import { toRequestBody } from '../../../src/providers/chat-model.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { gemini } from '../../../src/providers/gemini/reply.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeGemini } from '../../fakes/upstreams/gemini.ts';
import { gather, readCuts } from '../replies.ts';
import { partsOf } from '../said-parts.ts';
import { runs } from '../../selection.ts';

const model = 'gemini-3-flash-preview';
const access: ProviderAccess = {
  name: 'google',
  kind: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  headers: { 'x-goog-api-key': 'test' },
  models: [],
  profile: {},
};
const request = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  access,
  model,
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: 'auto',
  settings: {},
  ...fields,
});

type Json = Record<string, unknown>;
const chunk = (parts: Json[], finishReason?: unknown, rest: Json = {}): Json => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
  ...rest,
});
const stop = (rest: Json = {}): Json => chunk([{ text: '' }], 'STOP', rest);
const called = (name: string, fields: Json = {}, rest: Json = {}): Json => ({ functionCall: { name, ...fields }, ...rest });

function replyOf(...chunks: unknown[]): ChatEvent[] {
  const reply = gemini.createReply(access);
  const events = chunks.flatMap((value) =>
    reply.take({ event: 'message', data: typeof value === 'string' ? value : JSON.stringify(value) }),
  );
  return [...events, ...reply.end()];
}
const typesOf = (events: ChatEvent[]): string[] => events.map(({ type }) => type);

describe('data returned unchanged', () => {
  /** The model's turn in the next request. */
  const back = (chunks: Json[], fields: Partial<ChatRequest> = {}): unknown[] => {
    const parts = partsOf(replyOf(...chunks));
    const results: Message[] = parts.flatMap((part): Message[] =>
      part.type === 'tool-call'
        ? [
            {
              role: 'tool',
              parts: [{ type: 'tool-result', callId: part.callId, requested: '', canonical: null, isError: false, content: [] }],
            },
          ]
        : [],
    );
    const messages: Message[] = [...request().messages, { role: 'assistant', model: `google/${model}`, parts }, ...results];
    const body = toRequestBody(request({ messages, ...fields })) as { contents: { parts: unknown[] }[] };
    return body.contents[1]?.parts ?? [];
  };

  it('has each signature on its own part: of thoughts, texts, an empty text and the first of parallel calls', () => {
    const whole = [
      { text: 'I think. ', thought: true },
      { text: 'So I am.', thought: true, thoughtSignature: 'S1' },
      { text: 'Let me ' },
      { text: 'look.', thoughtSignature: 'S2' },
      called('a', { args: { n: 1 }, id: 'x1' }, { thoughtSignature: 'S3' }),
      called('b', { args: {}, id: 'x2' }),
      { text: '', thoughtSignature: 'S4' },
      { text: 'After', thoughtSignature: 'S5' },
      { text: 'wards.', thoughtSignature: 'S6' },
    ];
    expect(back([...whole.map((part) => chunk([part])), stop()])).toEqual(whole);
    expect(back([chunk(whole, 'STOP')])).toEqual(whole);
  });

  it('includes unsigned text as one text, and the thoughts before it as thoughts', () => {
    const pieces = [{ text: 'Hm', thought: true }, { text: ' hm.', thought: true }, { text: 'Hel' }, { text: 'lo' }];
    expect(back([...pieces.map((part) => chunk([part])), stop()])).toEqual([{ text: 'Hm hm.', thought: true }, { text: 'Hello' }]);
  });

  it('what the provider ran itself, which is not a client call', () => {
    const parts = [
      { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'S' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      { toolCall: { toolType: 'GOOGLE_SEARCH', args: { queries: ['x'] }, id: 't1' } },
      { text: 'One.' },
    ];
    const chunks = [chunk(parts.slice(0, 2)), chunk(parts.slice(2), 'STOP')];
    expect(typesOf(replyOf(...chunks))).toEqual(['native', 'native', 'native', 'text', 'finish']);
    expect(back(chunks)).toEqual(parts);
  });

  it('includes the signature of a call whose arguments arrived in pieces', () => {
    const chunks = [
      chunk([called('a', { willContinue: true }, { thoughtSignature: 'S' })]),
      chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.x', stringValue: 'y' }], willContinue: true } }]),
      chunk([{ functionCall: {} }]),
      chunk([called('b')]),
      stop(),
    ];
    const vertex = { ...access, baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google' };
    expect(back(chunks, { access: vertex })).toEqual([
      called('a', { args: { x: 'y' } }, { thoughtSignature: 'S' }),
      called('b', { args: {} }),
    ]);
  });

  it('is not sent to another model', () => {
    const chunks = [
      chunk([
        { text: 'Hm.', thought: true },
        { text: 'Hi', thoughtSignature: 'S' },
      ]),
      stop(),
    ];
    expect(back(chunks, { model: 'gemini-3.1-pro-preview' })).toEqual([{ text: 'Hi' }]);
  });
});

describe('calls', () => {
  const callsOf = (...chunks: unknown[]) => gather(replyOf(...chunks)).calls;

  it('of one name without arguments and without ids are separate', () => {
    const calls = callsOf(chunk([called('a'), called('a')]), chunk([called('a', { args: {} })]), stop());
    expect(calls).toMatchObject([0, 1, 2].map(() => ({ name: 'a', state: 'ok', arguments: {}, nativeId: null })));
  });

  it('are complete immediately: their end does not wait for the reply', () => {
    const reply = gemini.createReply(access);
    const events = reply.take({ event: 'message', data: JSON.stringify(chunk([called('a', { args: { n: 1 } })])) });
    expect(typesOf(events)).toEqual(['call-start', 'call-delta', 'call-end']);
  });

  it('end a reply as calls, whatever the wire says, except at a limit', () => {
    expect(replyOf(chunk([called('a')], 'STOP')).at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', raw: 'STOP' });
    expect(replyOf(chunk([called('a')], 'MAX_TOKENS')).at(-1)).toMatchObject({ reason: 'length' });
    expect(replyOf(chunk([called('a')], 'UNEXPECTED_TOOL_CALL')).at(-1)).toMatchObject({ reason: 'tool-calls' });
  });

  it('without limit are an error', () => {
    const many = Array.from({ length: limits.maxCallsPerReply + 1 }, () => called('a'));
    expect(replyOf(chunk(many, 'STOP')).at(-1)).toMatchObject({ type: 'error' });
  });
});

describe('arguments in pieces', () => {
  const partial = (jsonPath: string, value: Json, willContinue = true): Json =>
    chunk([{ functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue } }]);
  const begun = chunk([called('a', { willContinue: true })]);
  const ended = chunk([{ functionCall: {} }]);
  const callOf = (...chunks: unknown[]) => gather(replyOf(begun, ...chunks)).calls[0];

  it('become the text of one object, string by string', () => {
    const open = { willContinue: true };
    const events = replyOf(
      begun,
      partial('$.a.b[0].c', { stringValue: 'x"', ...open }),
      chunk([{ functionCall: { willContinue: true } }]),
      partial('$.a.b[0].c', { stringValue: 'y\n\ud83d', ...open }),
      partial('$.a.b[0].c', { stringValue: '\ude00' }),
      partial('$.a.b[1].c', { numberValue: -0.5 }),
      partial('$.a.d', { boolValue: false }),
      partial("$['odd.key \\' ]'][\"__proto__\"]", { nullValue: 'NULL_VALUE' }),
      partial('$.list[0][0]', { stringValue: '' }),
      partial('$.list[0][1]', { stringValue: 'z' }),
      ended,
      stop(),
    );
    const call = gather(events).calls[0];
    const expected = '{"a":{"b":[{"c":"x\\"y\\n😀"},{"c":-0.5}],"d":false},"odd.key \' ]":{"__proto__":null},"list":[["","z"]]}';
    expect(JSON.stringify(call?.arguments)).toBe(expected);
    expect(call).toMatchObject({ state: 'ok' });
    expect(JSON.parse(call?.deltas ?? '')).toEqual(call?.arguments);
    expect(events.filter(({ type }) => type === 'call-delta').length).toBeGreaterThan(8);
  });

  it('of a cut reply, or of a string that never ended, are not a complete call', () => {
    const cut = replyOf(begun, partial('$.a', { stringValue: 'rm -', willContinue: true }));
    expect(gather(cut).calls).toMatchObject([{ state: 'truncated', arguments: null }]);
    expect(cut.at(-1)).toMatchObject({ type: 'error', retryable: true });
    const limit = replyOf(begun, partial('$.a', { numberValue: 1 }), chunk([], 'MAX_TOKENS'));
    expect(gather(limit)).toMatchObject({ reason: 'length', calls: [{ state: 'truncated' }] });
    expect(callOf(partial('$.a', { stringValue: 'x', willContinue: true }), ended, stop())).not.toMatchObject({ state: 'ok' });
  });

  it('without a terminator end with their last piece, with the next call, or with the reply', () => {
    expect(callOf(partial('$.n', { numberValue: 1 }, false), stop())).toMatchObject({ state: 'ok', arguments: { n: 1 } });
    const open = partial('$.s', { stringValue: 'x' });
    const next = chunk([called('a', { args: { n: 2 } })]);
    expect(gather(replyOf(begun, open, next, stop())).calls).toMatchObject([
      { state: 'closed', arguments: { s: 'x' } },
      { state: 'ok', arguments: { n: 2 } },
    ]);
    expect(callOf(open, stop())).toMatchObject({ state: 'closed', arguments: { s: 'x' } });
  });

  it.each([
    ['a member twice', [partial('$.a', { numberValue: 1 }), partial('$.a', { numberValue: 2 })]],
    [
      'a container entered again',
      [partial('$.a.x', { numberValue: 1 }), partial('$.b', { numberValue: 2 }), partial('$.a.y', { numberValue: 3 })],
    ],
    ['an element left out', [partial('$.a[1]', { numberValue: 1 })]],
    ['a list that is an object', [partial('$.a[0]', { numberValue: 1 }), partial('$.a.b', { numberValue: 1 })]],
    ['no path', [partial('', { numberValue: 1 })]],
    ['the root', [partial('$', { numberValue: 1 })]],
    ['a query', [partial('$..a[?(@.b)]', { numberValue: 1 })]],
    ['a path without an end', [partial('$.a'.repeat(1) + '.a'.repeat(limits.maxJsonDepth), { numberValue: 1 })]],
    ['a value of another type', [partial('$.a', { numberValue: 'x' })]],
  ])('in an invalid order end the reply as a retryable error: %s', (_what, chunks) => {
    const events = replyOf(begun, ...chunks, ended, stop());
    expect(events.at(-1)).toMatchObject({ type: 'error', retryable: true });
    expect(gather(events).calls.every((call) => call.state === 'truncated')).toBe(true);
  });

  it('produce any object, however its strings are cut', () => {
    const key = fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' });
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        leaf,
        fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(key, tie('value'), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 4 }), fc.integer({ min: 1, max: 5 }), (object, size) => {
        const events = replyOf(
          begun,
          ...Object.keys(object).flatMap((name) => write(`$[${quoted(name)}]`, object[name], size)),
          ended,
          stop(),
        );
        // Serialized first: -0 becomes 0.
        expect(gather(events).calls[0]?.arguments).toEqual(JSON.parse(JSON.stringify(object)));
      }),
    );
  });

  const quoted = (name: string): string => `'${name.replace(/[\\']/g, '\\$&')}'`;
  function write(path: string, value: unknown, size: number): Json[] {
    if (Array.isArray(value)) return value.flatMap((element, index) => write(`${path}[${index}]`, element, size));
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).flatMap(([name, member]) => write(`${path}[${quoted(name)}]`, member, size));
    if (typeof value === 'number') return [partial(path, { numberValue: value })];
    if (typeof value === 'boolean') return [partial(path, { boolValue: value })];
    if (value === null) return [partial(path, { nullValue: 'NULL_VALUE' })];
    const text = String(value);
    const pieces: Json[] = [];
    for (let at = 0; at < text.length; at += size)
      pieces.push(partial(path, { stringValue: text.slice(at, at + size), willContinue: true }));
    return [...pieces, partial(path, { stringValue: '' })];
  }
});

describe('the end of a reply', () => {
  it.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'LANGUAGE'])('%s is a filter', (reason) => {
    expect(replyOf(chunk([{ text: 'Well' }], reason)).at(-1)).toEqual({ type: 'finish', reason: 'content-filter', raw: reason });
    expect(replyOf({ candidates: [{ finishReason: reason }] })).toEqual([{ type: 'finish', reason: 'content-filter', raw: reason }]);
  });

  it('a blocked prompt is a filter too, streamed or unstreamed', () => {
    for (const blockReason of ['SAFETY', 'OTHER', 'PROHIBITED_CONTENT']) {
      const blocked = { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 7 } };
      const ends: ChatEvent[] = [
        { type: 'usage', usage: { inputTokens: 7, outputTokens: 0 } },
        { type: 'finish', reason: 'content-filter', raw: blockReason },
      ];
      expect(replyOf(blocked)).toEqual(ends);
      expect(gemini.createReply(access).takeWhole(blocked)).toEqual(ends);
    }
  });

  it.each([
    ['a call it could not write', [chunk([], 'MALFORMED_FUNCTION_CALL')]],
    ['an undeclared call that is not on the wire', [chunk([], 'UNEXPECTED_TOOL_CALL')]],
    ['nothing at all', [chunk([])]],
    ['an empty text without a reason', [chunk([{ text: '' }]), chunk([{ text: '' }])]],
    ['OTHER without a word', [chunk([], 'OTHER')]],
    ['STOP without a word', [chunk([], 'STOP')]],
    ['STOP after an empty text', [chunk([{ text: '' }]), stop({ usageMetadata: { promptTokenCount: 7 } })]],
    ['usage alone', [{ usageMetadata: { promptTokenCount: 7 } }]],
    ['no event', []],
  ])('%s is a retryable error without output before it', (_what, chunks) => {
    expect(replyOf(...chunks)).toMatchObject([{ type: 'error', retryable: true, problem: { code: 'upstream_error' } }]);
  });

  it('without a reason ends with usage in its last chunk, and else is incomplete', () => {
    const counts = { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 } };
    const last = { ...chunk([{ text: ' there' }]), ...counts };
    expect(replyOf(chunk([{ text: 'Hi' }]), last).at(-1)).toEqual({ type: 'finish', reason: 'unknown', raw: null });
    expect(replyOf(chunk([{ text: 'Hi' }]), chunk([{ text: ' there' }])).at(-1)).toMatchObject({ type: 'error' });
    expect(replyOf({ ...chunk([{ text: 'Hi' }]), ...counts }, last).at(-1)).toMatchObject({ type: 'error' });
    expect(replyOf(last).at(-1)).toMatchObject({ type: 'error' });
  });

  it.each([
    [
      { candidatesTokenCount: 20, totalTokenCount: 120 },
      { inputTokens: 100, outputTokens: 20 },
    ],
    [{ candidatesTokenCount: 20 }, { inputTokens: 0, outputTokens: 20 }],
    [
      { promptTokenCount: 10, cachedContentTokenCount: 60 },
      { inputTokens: 70, outputTokens: 0, cachedInputTokens: 60 },
    ],
  ])('counts usage of %j', (usageMetadata, usage) => {
    expect(replyOf(chunk([{ text: 'a' }]), stop({ usageMetadata }))).toContainEqual({ type: 'usage', usage });
  });

  it('a fault after text is reported after the text and its usage', () => {
    const usage = { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2 } };
    expect(typesOf(replyOf(chunk([{ text: 'Hm' }]), chunk([], 'MALFORMED_FUNCTION_CALL', usage)))).toEqual(['text', 'usage', 'error']);
  });

  it('an error in the stream ends it: in an event, in a bare object, in a list', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
    const ended = { type: 'error', retryable: true, problem: { detail: expect.stringContaining('The model is overloaded') } };
    expect(replyOf(chunk([{ text: 'Hm' }]), error, chunk([{ text: 'more' }]))).toMatchObject([{ type: 'text' }, ended]);
    const read = (text: string) => readCuts(gemini, [new TextEncoder().encode(text)], true);
    expect(read(`data: ${JSON.stringify(chunk([{ text: 'Hm' }]))}\n\n${JSON.stringify(error, null, 2)}\n`)).toMatchObject([
      { type: 'text' },
      ended,
    ]);
    expect(read(`[${JSON.stringify(chunk([{ text: 'Hm' }]))},\n${JSON.stringify(error)}]`)).toMatchObject([{ type: 'text' }, ended]);
    expect(gemini.createReply(access).takeWhole([error])).toMatchObject([ended]);
  });

  it('a reason in every chunk does not end the reply, and the last one counts', () => {
    expect(replyOf(chunk([{ text: 'a' }], 'STOP'), chunk([{ text: 'b' }], 'STOP'))).toMatchObject([
      { type: 'text' },
      { type: 'text' },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(replyOf(chunk([{ text: 'a' }], 1), chunk([], 'FINISH_REASON_UNSPECIFIED'), chunk([], 2)).at(-1)).toMatchObject({
      raw: 'MAX_TOKENS',
    });
  });

  it('counts all input and output, including cached and thinking tokens', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 155,
    };
    expect(replyOf(chunk([{ text: 'a' }]), stop({ usageMetadata }), { usageMetadata: { trafficType: 'ON_DEMAND' } })).toContainEqual({
      type: 'usage',
      usage: { inputTokens: 105, outputTokens: 50, reasoningTokens: 30, cachedInputTokens: 60 },
    });
  });

  it('is read from unusual servers: unknown parts, further candidates, [DONE], blanks', () => {
    const events = replyOf(
      { candidates: [{ index: 1, content: { parts: [{ text: 'no' }] } }, { content: { parts: [null, {}, 'x', { text: 'yes' }] } }] },
      { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }, groundingMetadata: {} }] },
      ' ',
      { candidates: 'none', promptFeedback: { safetyRatings: [] } },
      stop(),
      '[DONE]',
      chunk([{ text: 'late' }]),
    );
    expect(gather(events)).toMatchObject({ text: 'yes', reason: 'stop' });
    expect(events.filter(({ type }) => type === 'image')).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it('is an error if it is not a reply', () => {
    expect(replyOf('<html>')).toMatchObject([{ type: 'error' }]);
    expect(replyOf(chunk([{ text: 'a' }]), '{"candidates": [{')).toMatchObject([{ type: 'text' }, { type: 'error' }]);
    for (const body of [null, 'x', {}, { hello: 'world' }, [1]])
      expect(gemini.createReply(access).takeWhole(body)).toMatchObject([{ type: 'error' }]);
  });

  it('by one typed event, whatever byte is flipped and wherever it is cut', () => {
    const chunks = [
      chunk([{ text: 'Hm', thought: true }]),
      chunk([called('a', { args: { x: 'y' } }, { thoughtSignature: 'S' })]),
      chunk([called('b', { willContinue: true })]),
      chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.x[0]', stringValue: 'é', willContinue: true }], willContinue: true } }]),
      chunk([{ functionCall: {} }]),
      stop({ usageMetadata: { promptTokenCount: 1 } }),
    ];
    const bodies = [chunks.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join(''), JSON.stringify(chunks)];
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(), (body, place, mask, end) => {
        const bytes = new TextEncoder().encode(body);
        const at = 1 + (place % (bytes.length - 1));
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        const events = readCuts(gemini, [bytes.subarray(0, Math.max(2, end % (2 * bytes.length)))], true);
        expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1);
        expect(['finish', 'error']).toContain(events.at(-1)?.type);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe.each(['sse', 'list'] as const)('a conversation with the fake server, streamed as %s', (framing) => {
  const calls = [
    { name: 'get_weather', arguments: { city: 'Paris – 18°' } },
    { name: 'list_files', arguments: {} },
  ];
  const fake = fakeGemini(({ messages, tools }) => {
    if (messages.at(-1)?.role === 'tool') return { text: 'All done.' };
    return tools.length > 0 ? { reasoning: 'I look both up.', calls } : { reasoning: 'I greet.', text: 'Hello there.' };
  });
  const chat = createChatModel({
    clock: fakeClock(),
    rehearsal: rehearsalHttp,
    http: (asked) => fake.handle(framing === 'sse' ? asked : new Request(asked.url.replace('?alt=sse', ''), asked)),
  });
  const tools = calls.map(({ name }) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } }));
  const settings = { reasoningEffort: 'low' };
  chatModelContract(`gemini (${framing})`, () => ({
    model: chat,
    text: request({ settings }),
    twoCalls: request({ tools }),
    refused: request({ access: { ...access, headers: {} } }),
  }));

  it.each([model, 'gemini-2.5-flash'])('is accepted by %s with every signature, over two steps', async (which) => {
    const { length } = fake.refused;
    const first = await collect(chat, request({ model: which, tools, settings }));
    expect(gather(first)).toMatchObject({ reasoning: 'I look both up.', reason: 'tool-calls' });
    const parts = partsOf(first);
    const results = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []));
    const messages: Message[] = [
      ...request().messages,
      { role: 'assistant', model: `google/${which}`, parts },
      {
        role: 'tool',
        parts: results.map((callId) => ({
          type: 'tool-result',
          callId,
          requested: '',
          canonical: null,
          isError: false,
          content: [{ type: 'text', text: callId }],
        })),
      },
    ];
    const second = await collect(chat, request({ model: which, tools, settings, messages }));
    expect(gather(second)).toMatchObject({ text: 'All done.', reason: 'stop' });
    expect(fake.understood.at(-1)?.messages[1]).toMatchObject({
      role: 'assistant',
      calls,
      returned: ['I look both up.', expect.any(String)],
    });
    expect(fake.refused).toHaveLength(length);
  });
});

it('counts the places of sources in the text of the reply, not in its thoughts', () => {
  const grounding = {
    groundingChunks: [{ web: { uri: 'https://example.com/', title: 'Example' } }],
    groundingSupports: [{ segment: { startIndex: 2, endIndex: 6 }, groundingChunkIndices: [0] }],
  };
  const events = replyOf(chunk([{ text: 'A long thought about it.', thought: true }]), chunk([{ text: 'é: so' }]), {
    candidates: [{ content: { parts: [] }, groundingMetadata: grounding, finishReason: 'STOP' }],
  });
  expect(JSON.stringify(events)).toContain('"start":1,"end":5');
});
