import fc from 'fast-check';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Response as OpenAiResponse, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { packNative } from '../../../src/core/model/native-token.ts';
import { Problem } from '../../../src/core/problem.ts';
import { toCompletionId } from '../../../src/core/text/reference.ts';
import type { AnswerIdentity } from '../../../src/dialects/dialect.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../../../src/dialects/reply-encoder.ts';
import { endCall, feedCall, finish, refuse, say, startCall, think } from '../events.ts';

const identity: AnswerIdentity = { id: 'resp_1', model: 'agent/helper', created: 1_760_000_000 };
const usage: ChatEvent = { type: 'usage', usage: { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1 } };
const call = (index: number, name: string, pieces: readonly string[], custom = false): ChatEvent[] => [
  { type: 'call-start', call: index, name, nativeId: `call_${name}`, ...(custom && { custom: true }) },
  ...pieces.map((piece): ChatEvent => ({ type: 'call-delta', call: index, text: piece })),
  { type: 'call-end', call: index, state: 'ok', arguments: {}, raw: pieces.join('') },
];

// Of the events each test looks at a part.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Event = any;

function eventsOf(events: readonly ChatEvent[], of = identity): Event[] {
  const encoder = createReplyEncoder(openAiResponses, of);
  const frames = events.map((event) => encoder.encode(event)).join('');
  return frames.split('\n\n').flatMap((frame) => {
    if (frame === '') return [];
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
    const event = JSON.parse(data ?? '');
    expect(event.type).toBe(name);
    return [event];
  });
}

/** As the stock client accumulates them; it throws if events do not fit together. */
function accumulate(events: readonly Event[]): OpenAiResponse {
  let snapshot: OpenAiResponse | undefined;
  for (const event of events) snapshot = accumulateResponse(event as ResponseStreamEvent, snapshot);
  if (snapshot === undefined) throw new Error('no response');
  return snapshot;
}

const documentOf = (events: readonly ChatEvent[], of = identity): Event => toReplyDocument(openAiResponses, events, of);

describe('a reply as events', () => {
  it('matches the golden text reply', () => {
    const list = eventsOf([say('Hel'), say('lo'), usage, finish()]);
    const at = { item_id: 'msg_1_0', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] };
    const item = { type: 'message', id: 'msg_1_0', status: 'completed', role: 'assistant', content: [part] };
    expect(list.map(({ type }) => type).slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(list.slice(2, -1)).toEqual([
      { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', sequence_number: 3, ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', sequence_number: 4, ...at, delta: 'Hel', logprobs: [] },
      { type: 'response.output_text.delta', sequence_number: 5, ...at, delta: 'lo', logprobs: [] },
      { type: 'response.output_text.done', sequence_number: 6, ...at, text: 'Hello', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 7, ...at, part },
      { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item },
    ]);
    expect(list.at(-1)).toEqual({
      type: 'response.completed',
      sequence_number: 9,
      response: documentOf([say('Hello'), usage, finish()]),
    });
    expect(list[0].response).toMatchObject({ id: 'resp_1', status: 'in_progress', output: [], usage: null });
  });

  it('has every field that the stock client’s types require', () => {
    expect(documentOf([say('Hello'), usage, finish()])).toEqual({
      id: 'resp_1',
      object: 'response',
      created_at: 1_760_000_000,
      status: 'completed',
      background: false,
      completed_at: null,
      error: null,
      frequency_penalty: 0,
      incomplete_details: null,
      access_programs: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      model: 'agent/helper',
      output: [expect.objectContaining({ type: 'message' })],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 5,
      },
    });
  });

  it('repeats the request’s fields, and has item ids that are short and without the session', () => {
    const { echo } = openAiResponses.readRequest({ model: 'a/b', input: 'x', instructions: 'Be brief.', temperature: 0.5 });
    const id = toCompletionId('openai-responses', 'cmpl_1', 'ab'.repeat(32));
    const [created] = eventsOf([finish()], { ...identity, id, echo });
    expect(created.response).toMatchObject({ id, instructions: 'Be brief.', temperature: 0.5 });
    expect(documentOf([say('x'), finish()], { ...identity, id }).output[0].id).toBe('msg_cmpl_1_0');
  });

  it('gives interleaved calls separate items, with {} for no arguments', () => {
    const events: ChatEvent[] = [
      say('Let me see.'),
      startCall(0, 'a', 'c0'),
      feedCall(0, '{"n":'),
      startCall(2, 'b', 'c2'),
      feedCall(0, '1}'),
      endCall(0, '{"n":1}'),
      endCall(2, ''),
      finish('tool-calls'),
    ];
    const { output, status } = documentOf(events);
    expect(status).toBe('completed');
    expect(output.slice(1)).toEqual([
      { type: 'function_call', id: 'fc_1_1', call_id: 'c0', name: 'a', arguments: '{"n":1}', status: 'completed' },
      { type: 'function_call', id: 'fc_1_2', call_id: 'c2', name: 'b', arguments: '{}', status: 'completed' },
    ]);
    expect(accumulate(eventsOf(events).slice(0, -1)).output).toEqual(output);
  });

  it('keeps a refusal next to the text before it', () => {
    const events: ChatEvent[] = [say('Well. '), refuse('No.'), finish()];
    expect(documentOf(events).output).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'Well. ' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ]);
    expect(eventsOf(events).map(({ type }) => type)).toContain('response.refusal.done');
  });

  it('writes reasoning as a summary, in its position', () => {
    const events: ChatEvent[] = [think('Hm, '), think('yes.'), say('Yes.'), finish()];
    expect(documentOf(events).output).toMatchObject([
      { type: 'reasoning', id: 'rs_1_0', summary: [{ type: 'summary_text', text: 'Hm, yes.' }] },
      { type: 'message', id: 'msg_1_1' },
    ]);
    expect(eventsOf(events).flatMap(({ type }) => (/reasoning/.test(type) ? [type] : []))).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ]);
  });

  it('carries provider data as encrypted content: of the reasoning before it, otherwise in its position', () => {
    const native = (n: number): ChatEvent => ({ type: 'native', provider: 'claude', data: { api: 'anthropic', n } });
    const token = (n: number) => packNative({ type: 'native', provider: 'claude', data: { api: 'anthropic', n } });
    const events: ChatEvent[] = [think('Hm'), native(1), say('a'), native(2), say('b'), finish()];
    expect(documentOf(events).output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm' }], encrypted_content: token(1) },
      { type: 'message', content: [{ text: 'a' }] },
      { type: 'reasoning', summary: [], encrypted_content: token(2) },
      { type: 'message', content: [{ text: 'b' }] },
    ]);
  });

  it('keeps the provider’s own items unchanged if the request is forwarded unchanged', () => {
    const item = { type: 'reasoning', id: 'rs_theirs', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'theirs' };
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const native = (data: object): ChatEvent => ({ type: 'native', provider: 'x', data: { api: 'openai-responses', ...data } });
    const own = { ...identity, isOwnWire: true } as const;
    const events = [
      { type: 'reasoning', text: 'H', nativeId: 'rs_theirs' } as const,
      { type: 'reasoning', text: 'm' } as const,
      native({ item }),
      native({ item: search }),
      say('a'),
      native({ message: { phase: 'commentary' } }),
      finish(),
    ];
    expect(documentOf(events, own).output).toMatchObject([
      item,
      search,
      { type: 'message', phase: 'commentary', content: [{ text: 'a' }] },
    ]);
    expect(accumulate(eventsOf(events, own)).output).toEqual(documentOf(events, own).output);
    // The provider's encryption is bound to the item id; elsewhere ids are ours.
    const names = eventsOf(events, own).flatMap(({ type, item }) => (type === 'response.output_item.added' ? [item.id] : []));
    expect(names[0]).toBe('rs_theirs');
    expect(documentOf(events).output).toMatchObject([{ type: 'reasoning', id: 'rs_1_0' }, {}, {}, {}]);
  });

  it('reports a call of a free-text tool as custom, also from a model that only supports functions', () => {
    const { echo } = openAiResponses.readRequest({ model: 'a/b', input: 'x', tools: [{ type: 'custom', name: 'shell' }] });
    const of = { ...identity, echo };
    const events = [...call(0, 'shell', ['{"inp', 'ut":"ls -', 'l"}']), ...call(1, 'other', ['free ', 'text'], true), finish('tool-calls')];
    expect(documentOf(events, of).output).toEqual([
      { type: 'custom_tool_call', id: 'ctc_1_0', call_id: 'call_shell', name: 'shell', input: 'ls -l' },
      { type: 'custom_tool_call', id: 'ctc_1_1', call_id: 'call_other', name: 'other', input: 'free text' },
    ]);
    const deltas = eventsOf(events, of).filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta)).toEqual(['ls -l', 'free ', 'text']);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content-filter', 'content_filter'],
  ] as const)('cut by %s is incomplete, and states the reason', (reason, told) => {
    const cut: ChatEvent[] = [
      say('Hel'),
      { type: 'call-start', call: 0, name: 'a', nativeId: 'c0' },
      { type: 'call-delta', call: 0, text: '{"n":' },
      { type: 'call-end', call: 0, state: 'truncated', arguments: null, raw: '{"n":' },
      finish(reason),
    ];
    expect(eventsOf(cut).at(-1)).toMatchObject({ type: 'response.incomplete', response: { incomplete_details: { reason: told } } });
    expect(documentOf(cut)).toMatchObject({
      status: 'incomplete',
      output: [{ status: 'completed' }, { arguments: '{"n":', status: 'incomplete' }],
    });
    expect(documentOf([say('Hel'), finish(reason)]).output).toMatchObject([{ status: 'incomplete' }]);
  });

  it('that fails reports the failure twice, as OpenAI does, and nothing after it', () => {
    const problem = new Problem('upstream_error', 'The provider x fell silent.').toBody();
    const list = eventsOf([say('He'), { type: 'error', problem, retryable: false }, say('llo')]);
    expect(list.slice(-2)).toMatchObject([
      {
        type: 'error',
        code: 'upstream_error',
        message: 'The provider x fell silent.',
        error: { code: 'upstream_error', type: 'server_error' },
      },
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error', message: 'The provider x fell silent.' },
          output: [{ status: 'incomplete', content: [{ text: 'He' }] }],
        },
      },
    ]);
    expect(list.map(({ sequence_number: n }) => n)).toEqual([...list.keys()]);
    expect(() => documentOf([say('He'), { type: 'error', problem, retryable: false }])).toThrow(/fell silent/);
  });

  it('that fails outside the log has the number after the last', () => {
    const [frame] = openAiResponses.failureFrames(new Problem('not_found', 'It is gone.').toBody(), 7);
    expect(JSON.parse(frame?.data ?? '')).toMatchObject({ type: 'error', sequence_number: 7, error: { code: 'not_found' } });
  });
});

type Piece = { kind: 'text' | 'refusal' | 'reasoning' | 'native' | 'call'; said: string };

/** A reply with these pieces, each cut at the given positions. */
function replyOf(pieces: readonly Piece[], cuts: readonly number[]): ChatEvent[] {
  const events = pieces.flatMap(({ kind, said }, index): ChatEvent[] => {
    const cut = (cuts[index % Math.max(1, cuts.length)] ?? 0) % (said.length + 1);
    const parts = [said.slice(0, cut), said.slice(cut)];
    if (kind === 'native') return [{ type: 'native', provider: 'x', data: { said } }];
    if (kind === 'call') return call(index, `f${index}`, parts);
    if (kind === 'reasoning') return parts.map((part) => ({ type: 'reasoning', text: part }));
    return parts.map((part) => ({ type: 'text', text: part, ...(kind === 'refusal' && { refusal: true as const }) }));
  });
  return [...events, usage, finish()];
}

it('adds up to the document for any cuts, event by event and in the last one', () => {
  const kind = fc.constantFrom('text', 'refusal', 'reasoning', 'native', 'call' as const) as fc.Arbitrary<Piece['kind']>;
  const piece = fc.record({ kind, said: fc.string({ unit: 'grapheme', minLength: 1 }) });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 8 }), (pieces, cuts) => {
      const whole = documentOf(replyOf(pieces, []));
      const list = eventsOf(replyOf(pieces, cuts));
      expect(documentOf(replyOf(pieces, cuts))).toEqual(whole);
      expect(list.at(-1)?.response).toEqual(whole);
      expect(accumulate(list.slice(0, -1)).output).toEqual(whole.output);
      expect(list.map(({ sequence_number: n }) => n)).toEqual([...list.keys()]);
    }),
  );
});
