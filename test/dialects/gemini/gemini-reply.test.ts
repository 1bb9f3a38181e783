/** Replies in Gemini's API: as chunks and as one document, with what models need back, and failures. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { Problem } from '../../../src/core/problem.ts';
import { geminiDialect } from '../../../src/dialects/gemini/dialect.ts';
import { unpackThoughts } from '../../../src/dialects/gemini/signature.ts';
import type { AnswerIdentity } from '../../../src/dialects/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../../../src/dialects/reply-encoder.ts';
import { SseParser } from '../../../src/net/sse.ts';
import { endCall, feedCall, finish, native, refuse, say, startCall, think } from '../events.ts';
import { runs } from '../../selection.ts';

type Json = Record<string, unknown>;
type Chunk = { candidates: { content: { parts: Json[] }; finishReason?: string }[]; usageMetadata?: Json };

const identity: AnswerIdentity = { id: 'gen_1', model: 'claude/sonnet', created: 0, echo: { includeThoughts: true } };
const usage = { inputTokens: 12, outputTokens: 7, reasoningTokens: 3, cachedInputTokens: 4 };
const chunksOf = (events: readonly ChatEvent[], as = identity): Chunk[] => {
  const encoder = createReplyEncoder(geminiDialect, as);
  const parser = new SseParser();
  return events.flatMap((event) => parser.take(encoder.encode(event)).map(({ data }) => JSON.parse(data) as Chunk));
};
const partsIn = (chunks: readonly Chunk[]): Json[] => chunks.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);
const documentOf = (events: readonly ChatEvent[], as = identity) => toReplyDocument(geminiDialect, events, as) as unknown as Chunk;
const calls = (...names: string[]) =>
  names.flatMap((name, index) => [startCall(index, name), feedCall(index, '{"a":'), feedCall(index, '1}'), endCall(index, '{"a":1}')]);
const call = (index: number, name: string) => ({ functionCall: { id: `id_${index}`, name, args: { a: 1 } } });
const data = { api: 'anthropic', type: 'thinking', signature: 'x' };
const mark = { type: 'native', provider: 'p', data };

describe('a reply', () => {
  it('is a chunk for each piece of text and each whole call, and a last one with the reason and the usage', () => {
    const chunks = chunksOf([say('Hel'), say('lo'), ...calls('look', 'find'), { type: 'usage', usage }, finish('tool-calls')]);
    expect(chunks).toHaveLength(5);
    expect(partsIn(chunks)).toEqual([{ text: 'Hel' }, { text: 'lo' }, call(0, 'look'), call(1, 'find'), { text: '' }]);
    expect(chunks.at(-1)).toEqual({
      candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 12,
        candidatesTokenCount: 4,
        totalTokenCount: 19,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 4,
      },
      modelVersion: 'claude/sonnet',
      responseId: 'gen_1',
    });
  });

  it('is one candidate as a document', () => {
    const { candidates } = documentOf([think('Hm.'), say('Hel'), say('lo'), ...calls('look'), finish('length')]);
    expect(candidates).toEqual([
      {
        content: { parts: [{ text: 'Hm.', thought: true }, { text: 'Hello' }, call(0, 'look')], role: 'model' },
        finishReason: 'MAX_TOKENS',
        index: 0,
      },
    ]);
  });

  it('shows thoughts only if the request includes them, and carries what their model needs in any case', () => {
    const events = [think('Hm.'), native('p', data), ...calls('look'), finish('tool-calls')];
    const [shown] = partsIn(chunksOf(events));
    expect(shown).toEqual({ text: 'Hm.', thought: true });
    const hidden = partsIn(chunksOf(events, { ...identity, echo: {} }));
    expect(hidden).toEqual([{ ...call(0, 'look'), thoughtSignature: expect.any(String) }, { text: '' }]);
    expect(unpackThoughts(hidden[0]?.thoughtSignature)).toEqual({ before: [{ type: 'reasoning', text: 'Hm.' }, mark], after: [] });
  });

  it('has the data behind a call on the call, and the rest on a last part', () => {
    const events = [...calls('look'), native('p', data), say('x'), native('p', data), finish()];
    for (const parts of [partsIn(chunksOf(events)), partsIn([documentOf(events)])]) {
      expect(unpackThoughts(parts[0]?.thoughtSignature)).toEqual({ before: [], after: [mark] });
      const rest = parts.find(({ text }) => text === '');
      expect(unpackThoughts(rest?.thoughtSignature)).toEqual({ before: [mark], after: [] });
    }
  });

  it('keeps data of the provider in its own form where the request is not translated', () => {
    const own = { ...identity, isOwnWire: true as const };
    const signature = (of: string) => native('g', { api: 'gemini', of, thoughtSignature: 'c2ln' });
    const events = [
      ...[think('Hm.'), signature('thought'), ...calls('look'), signature('call'), say('x'), signature('text')],
      ...[native('g', { api: 'gemini', part: { executableCode: { code: '1' } } }), finish()],
    ];
    expect(partsIn(chunksOf(events, own))).toEqual([
      { text: 'Hm.', thought: true },
      { text: '', thought: true, thoughtSignature: 'c2ln' },
      { ...call(0, 'look'), thoughtSignature: 'c2ln' },
      { text: 'x' },
      { text: '', thoughtSignature: 'c2ln' },
      { executableCode: { code: '1' } },
      { text: '' },
    ]);
  });

  it('marks arguments that are no JSON object, and writes a call that never ended', () => {
    const cut: ChatEvent[] = [startCall(0, 'look'), feedCall(0, '{"a":'), finish('length')];
    expect(partsIn([documentOf(cut)])).toEqual([{ functionCall: { id: 'id_0', name: 'look', args: expect.any(Object) } }]);
    const odd: ChatEvent[] = [
      startCall(0, 'look'),
      feedCall(0, '[1]'),
      { type: 'call-end', call: 0, state: 'invalid', arguments: null, raw: '[1]' } as ChatEvent,
      finish(),
    ];
    expect(partsIn(chunksOf(odd))[0]).toEqual({ functionCall: { id: 'id_0', name: 'look', args: { INVALID_JSON: '[1]' } } });
  });

  it.each([
    ['stop', 'STOP'],
    ['tool-calls', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
    ['error', 'OTHER'],
  ] as const)('that ends by %s has the reason %s', (reason, expected) => {
    expect(documentOf([say('x'), finish(reason)]).candidates[0]?.finishReason).toBe(expected);
  });

  it('says with its reason that the model refused', () => {
    expect(documentOf([refuse('No.'), finish()]).candidates[0]).toMatchObject({
      content: { parts: [{ text: 'No.' }] },
      finishReason: 'SAFETY',
    });
  });

  it('has images and sources, whose places count bytes', () => {
    const events: ChatEvent[] = [
      say('Zürich.'),
      { type: 'citations', citations: [{ url: 'https://a.example', title: 'A', start: 0, end: 6 }, { url: 'https://b.example' }] },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      finish(),
    ];
    expect(partsIn(chunksOf(events))[1]).toEqual({ inlineData: { mimeType: 'image/png', data: 'aGk=' } });
    expect(documentOf(events).candidates[0]).toMatchObject({
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { web: { uri: 'https://b.example' } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 7, text: 'Zürich' }, groundingChunkIndices: [0] }],
      },
    });
  });

  it('has the same parts in pieces and as a document, for any order of events', () => {
    const piece = fc.constantFrom<ChatEvent[][]>([say('a')], [think('b')], [native('p', data)], [refuse('c')]);
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.constant('call')), { maxLength: 12 }), (list) => {
        let index = 0;
        const events = list.flatMap((one) => {
          if (one !== 'call') return one;
          index += 1;
          return [startCall(index, 'f'), endCall(index, '{}')];
        });
        const joined = (parts: readonly Json[]) => ({
          text: parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join(''),
          thoughts: parts.map(({ text, thought }) => (thought === true ? text : '')).join(''),
          calls: parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall])),
          natives: parts
            .flatMap((part) => Object.values(unpackThoughts(part.thoughtSignature) ?? {}).flat())
            .filter(({ type }) => type === 'native').length,
        });
        const whole = joined(partsIn([documentOf([...events, finish()])]));
        expect(joined(partsIn(chunksOf([...events, finish()])))).toEqual(whole);
        expect(whole.natives).toBe(list.filter((one) => one !== 'call' && one[0]?.type === 'native').length);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('a failure', () => {
  const failed = (problem: Problem) => geminiDialect.errorBody(problem.toBody(), 'req_1').error as Json & { details: Json[] };

  it('has Google’s form, with the places of faults and the time to wait', () => {
    expect(failed(new Problem('invalid_request', 'No.', { issues: [{ path: 'contents[0]', message: 'is empty' }] }))).toEqual({
      code: 422,
      message: 'No.',
      status: 'INVALID_ARGUMENT',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'invalid_request',
          domain: 'moniker',
          metadata: { requestId: 'req_1' },
        },
        { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'contents[0]', description: 'is empty' }] },
      ],
    });
    expect(failed(new Problem('rate_limited', 'Slow.', { retryAfterMs: 1200 }))).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      details: [{}, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' }],
    });
  });

  it('in the middle of a stream is its last chunk', () => {
    const problem = new Problem('upstream_error', 'Broken.').toBody();
    const chunks = chunksOf([say('x'), { type: 'error', problem, retryable: false }]) as unknown as Json[];
    expect(chunks.at(-1)).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE', message: 'Broken.' } });
  });
});
