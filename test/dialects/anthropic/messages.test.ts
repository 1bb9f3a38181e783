import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { packNative } from '../../../src/core/model/native-token.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createAnswerDocument, createAnswerEncoder } from '../../../src/dialects/answer.ts';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import type { AnswerIdentity } from '../../../src/dialects/dialect.ts';
import { encodeFrame } from '../../../src/dialects/native.ts';
import { createReplyEncoder, toReplyDocument } from '../../../src/dialects/reply-encoder.ts';
import {
  endCall,
  feedCall,
  finish,
  logOf,
  native,
  say,
  sessionId,
  startCall,
  stepStart,
  textDelta,
  think,
  thoughtDelta,
  turn,
  turnStart,
} from '../events.ts';
import { accumulate, checkOrder, eventsOf, type StreamEvent } from '../messages-stream.ts';
import { runs } from '../../selection.ts';

const identity: AnswerIdentity = { id: 'msg_1', model: 'claude/sonnet', created: 1_760_000_000 };
const usage = { inputTokens: 12, outputTokens: 7 };

function streamOf(events: readonly ChatEvent[], as: AnswerIdentity = identity): string {
  const encoder = createReplyEncoder(anthropicMessages, as);
  return events.map((event) => encoder.encode(event)).join('');
}
const documentOf = (events: readonly ChatEvent[], as: AnswerIdentity = identity): Record<string, unknown> =>
  toReplyDocument(anthropicMessages, events, as);
/** One line per event, without the frame around the blocks. */
const linesOf = (stream: string): string[] =>
  eventsOf(stream)
    .filter(({ type }) => type.startsWith('content_block'))
    .map(({ type, index, content_block: block, delta }) => {
      if (type === 'content_block_stop') return `${index} stop`;
      return `${index} ${JSON.stringify(block ?? delta)}`;
    });

describe('a reply as a stream of the Messages API', () => {
  it('has the wire’s frame: start, ping, blocks, delta, stop', () => {
    expect(streamOf([say('Hel'), say('lo'), { type: 'usage', usage }, finish()])).toBe(
      [
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude/sonnet","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}',
        'event: ping\ndata: {"type":"ping"}',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}}',
        'event: message_stop\ndata: {"type":"message_stop"}',
        '',
      ].join('\n\n'),
    );
  });

  it('opens one block at a time if calls interleave: the second waits for the end of the first', () => {
    const events = [
      say('Both.'),
      startCall(0, 'a'),
      feedCall(0, '{"x"'),
      startCall(1, 'b'),
      feedCall(1, '{"y":'),
      feedCall(0, ':1}'),
      say('Aside.'),
      feedCall(1, '2'),
      endCall(0, '{"x":1}'),
      feedCall(1, '}'),
      endCall(1, '{"y":2}'),
      finish('tool-calls'),
    ];
    expect(linesOf(streamOf(events))).toEqual([
      '0 {"type":"text","text":""}',
      '0 {"type":"text_delta","text":"Both."}',
      '0 stop',
      '1 {"type":"tool_use","id":"id_0","name":"a","input":{}}',
      '1 {"type":"input_json_delta","partial_json":"{\\"x\\""}',
      '1 {"type":"input_json_delta","partial_json":":1}"}',
      '1 stop',
      '2 {"type":"tool_use","id":"id_1","name":"b","input":{}}',
      '2 {"type":"input_json_delta","partial_json":"{\\"y\\":2"}',
      '2 {"type":"input_json_delta","partial_json":"}"}',
      '2 stop',
      '3 {"type":"text","text":""}',
      '3 {"type":"text_delta","text":"Aside."}',
      '3 stop',
    ]);
  });

  it('writes a call as soon as its name is certain', () => {
    const stream = streamOf([startCall(0, 'a'), feedCall(0, '{"x')]);
    expect(linesOf(stream).at(-1)).toBe('0 {"type":"input_json_delta","partial_json":"{\\"x"}');
  });

  it('ends with an error event if the reply fails, which is the only event without earlier output', () => {
    const problem = new Problem('upstream_error', 'It fell silent.', { upstreamStatus: 529 }).toBody();
    const failed: ChatEvent = { type: 'error', problem, retryable: true };
    const error = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'It fell silent.', details: { error_code: 'upstream_error' } },
      request_id: null,
    };
    expect(eventsOf(streamOf([failed]))).toEqual([error]);
    expect(eventsOf(streamOf([say('He'), failed, say('llo')])).slice(2)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'He' } },
      error,
    ]);
    expect(() => documentOf([say('He'), failed])).toThrow('It fell silent.');
  });

  it.each([
    ['stop', 'end_turn'],
    ['tool-calls', 'tool_use'],
    ['length', 'max_tokens'],
    ['content-filter', 'refusal'],
    ['unknown', 'end_turn'],
  ] as const)('that ends by %s stops with %s', async (reason, stop) => {
    const events = [say('x'), finish(reason)];
    expect(documentOf(events)).toMatchObject({ stop_reason: stop, stop_sequence: null });
    expect((await accumulate(streamOf(events))).stop_reason).toBe(stop);
  });

  it('is a refusal if the provider reports one in its own field', () => {
    expect(documentOf([{ type: 'text', text: 'No.', refusal: true }, finish()])).toMatchObject({
      content: [{ type: 'text', text: 'No.' }],
      stop_reason: 'refusal',
    });
  });

  it('reports cached and thinking tokens in their own fields', () => {
    const whole = { inputTokens: 100, outputTokens: 9, cachedInputTokens: 80, reasoningTokens: 4 };
    expect(documentOf([say('x'), { type: 'usage', usage: whole }, finish()]).usage).toEqual({
      input_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 80,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    });
  });

  it('writes free text of a call as an object, in one piece', async () => {
    const events: ChatEvent[] = [
      { type: 'call-start', call: 0, name: 'patch', nativeId: 'c', custom: true },
      feedCall(0, 'say "'),
      feedCall(0, 'hi"'),
      { type: 'call-end', call: 0, state: 'ok', arguments: { input: 'say "hi"' }, raw: 'say "hi"' },
      finish('tool-calls'),
    ];
    const content = [{ type: 'tool_use', id: 'c', name: 'patch', input: { input: 'say "hi"' } }];
    expect(documentOf(events)).toMatchObject({ content });
    expect(await accumulate(streamOf(events))).toMatchObject({ content });
  });

  it('never writes invalid arguments as an empty object', () => {
    const cut: ChatEvent = { type: 'call-end', call: 0, state: 'truncated', arguments: null, raw: '{"path":"/tm' };
    expect(documentOf([startCall(0, 'rm'), feedCall(0, '{"path":"/tm'), cut, finish('length')]).content).toEqual([
      { type: 'tool_use', id: 'id_0', name: 'rm', input: { INVALID_JSON: '{"path":"/tm' } },
    ]);
  });
});

describe('provider data', () => {
  it('is the signature of the thinking before it, otherwise a redacted block in its position', () => {
    const item = { api: 'openai-responses', item: { id: 'rs_1' } };
    const token = packNative({ type: 'native', provider: 'openai', data: item });
    const events = [think('Hm.'), native('openai', item), say('Yes.'), native('openai', item), finish()];
    expect(documentOf(events).content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: token },
      { type: 'text', text: 'Yes.' },
      { type: 'redacted_thinking', data: token },
    ]);
  });

  it('is marked as ours without a signature', () => {
    expect(documentOf([think('Hm.'), finish()]).content).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: 'moniker.unsigned' }]);
  });

  it('is unchanged if the request is forwarded unchanged', async () => {
    const citations = [{ type: 'char_location', cited_text: 'x' }];
    const search = { type: 'server_tool_use', id: 'srvid_1', name: 'web_search', input: { query: 'x' } };
    const events = [
      think('Hm.'),
      native('claude', { api: 'anthropic', type: 'thinking', signature: 'sig' }),
      native('claude', { api: 'anthropic', type: 'thinking', signature: 'hidden' }),
      native('claude', { api: 'anthropic', type: 'block', block: { type: 'redacted_thinking', data: 'opaque' } }),
      say('One.'),
      native('claude', { api: 'anthropic', type: 'text', citations }),
      say('Two.'),
      native('claude', { api: 'anthropic', type: 'block', block: search }),
      native('claude', { api: 'anthropic', type: 'tool_use', id: 'id_0', fields: { caller: {} } }),
      finish(),
    ];
    const own: AnswerIdentity = { ...identity, isOwnWire: true };
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'thinking', thinking: '', signature: 'hidden' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'text', text: 'One.', citations },
      { type: 'text', text: 'Two.' },
      search,
    ];
    expect(documentOf(events, own).content).toEqual(content);
    expect((await accumulate(streamOf(events, own))).content).toEqual(content);
  });
});

describe('a session’s answer', () => {
  const whole = { turn, after: 0, earlier: null };
  const over: SessionEventBody = { type: 'turn-end', turn, status: 'completed', reason: 'stop', usage };
  const encode = (events: readonly SessionEvent[]) => {
    const encoder = createAnswerEncoder(whole, identity, sessionId, anthropicMessages);
    return events.flatMap((event) => encoder.encode(event));
  };
  const streamed = (events: readonly SessionEvent[]): string => encode(events).map(encodeFrame).join('');
  const documented = (events: readonly SessionEvent[]): Record<string, unknown> => {
    const answer = createAnswerDocument(whole, identity, sessionId, anthropicMessages);
    for (const event of events) answer.take(event);
    return answer.document();
  };

  it('has the texts of its steps as one block, separated by a blank line, and its thoughts in their positions', async () => {
    const events = logOf(
      turnStart,
      stepStart(1),
      textDelta(1, 'Let me look.'),
      stepStart(2),
      textDelta(2, 'Here.'),
      stepStart(3),
      thoughtDelta(3, 'Hm.'),
      textDelta(3, 'Done.'),
      over,
    );
    const content = [
      { type: 'text', text: 'Let me look.\n\nHere.' },
      { type: 'thinking', thinking: 'Hm.', signature: 'moniker.unsigned' },
      { type: 'text', text: '\n\nDone.' },
    ];
    expect(documented(events).content).toEqual(content);
    expect((await accumulate(streamed(events))).content).toEqual(content);
  });

  it('writes its first event immediately, and names each frame', () => {
    const frames = encode(logOf(turnStart, stepStart(1), textDelta(1, 'x'), over));
    expect(frames.map(({ id, event }) => `${id} ${event}`)).toEqual([
      '1 message_start',
      '1.1 ping',
      '3 content_block_start',
      '3.1 content_block_delta',
      '4 content_block_stop',
      '4.1 message_delta',
      '4.2 message_stop',
    ]);
  });

  it('thinks in a new block when its step restarts', async () => {
    const restart: SessionEventBody = { type: 'step-restart', turn, step: 1, from: 3 };
    const events = logOf(
      turnStart,
      stepStart(1),
      thoughtDelta(1, 'Half a'),
      restart,
      thoughtDelta(1, 'Whole.'),
      textDelta(1, 'Yes.'),
      over,
    );
    const stream = streamed(events);
    checkOrder(eventsOf(stream));
    expect((await accumulate(stream)).content).toEqual([
      { type: 'thinking', thinking: 'Half a', signature: 'moniker.unsigned' },
      { type: 'thinking', thinking: 'Whole.', signature: 'moniker.unsigned' },
      { type: 'text', text: 'Yes.' },
    ]);
  });
});

describe('any reply', () => {
  const json = fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.integer()), {
    maxKeys: 3,
  });
  const piece = fc.oneof(
    fc.record({
      is: fc.constantFrom('text' as const, 'reasoning' as const),
      said: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    }),
    fc.record({ is: fc.constant('call' as const), input: json }),
    fc.record({ is: fc.constant('native' as const), data: json }),
  );
  /** Calls begin in order; everything else may interleave, as a provider may send it. */
  const reply = fc.tuple(fc.array(piece, { maxLength: 12 }), fc.infiniteStream(fc.nat({ max: 6 }))).map(([pieces, numbers]) => {
    const next = (): number => numbers.next().value ?? 0;
    const running: ChatEvent[][] = [];
    const events: ChatEvent[] = [];
    const runOn = (): void => {
      const queue = running[next() % Math.max(1, running.length)];
      const event = queue?.shift();
      if (event !== undefined) events.push(event);
    };
    for (const one of pieces) {
      if ('said' in one) events.push(one.is === 'text' ? say(one.said) : think(one.said));
      else if ('data' in one) events.push(native('other', one.data));
      else {
        const call = running.length;
        const text = JSON.stringify(one.input);
        const cut = 1 + next();
        events.push(startCall(call, `tool_${call}`));
        running.push([
          feedCall(call, text.slice(0, cut)),
          ...(text.length > cut ? [feedCall(call, text.slice(cut))] : []),
          endCall(call, text),
        ]);
      }
      runOn();
      runOn();
    }
    return [...events, ...running.flat(), { type: 'usage' as const, usage }, finish(running.length > 0 ? 'tool-calls' : 'stop')];
  });

  it('streamed to the stock client equals the document; blocks never overlap', async () => {
    await fc.assert(
      fc.asyncProperty(reply, async (events) => {
        const stream = streamOf(events);
        checkOrder(eventsOf(stream));
        expect(await accumulate(stream)).toMatchObject(documentOf(events));
      }),
      { numRuns: runs(300) },
    );
  });

  it('is the same message however its texts were cut', () => {
    const cutUp = (events: readonly ChatEvent[], at: number): ChatEvent[] =>
      events.flatMap((event) => {
        if (!('text' in event) || event.text.length <= at) return [event];
        return [
          { ...event, text: event.text.slice(0, at) },
          { ...event, text: event.text.slice(at) },
        ];
      });
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 5 }), (events, at) => {
        expect(documentOf(cutUp(events, at))).toEqual(documentOf(events));
        expect(joined(eventsOf(streamOf(cutUp(events, at))))).toEqual(joined(eventsOf(streamOf(events))));
      }),
    );
  });

  it('of 64 interleaved calls writes the waiting ones in one piece each', () => {
    const long = (pieces: number): ChatEvent[] => {
      const calls = Array.from({ length: 64 }, (_, call) => call);
      const fed = Array.from({ length: pieces }, (_, number) =>
        calls.map((call) => feedCall(call, number === 0 ? '{"a":"' : 'x'.repeat(20))),
      ).flat();
      const ends = calls.flatMap((call): ChatEvent[] => {
        const raw = `{"a":"${'x'.repeat(20 * (pieces - 1))}"}`;
        return [feedCall(call, '"}'), { type: 'call-end', call, state: 'ok', arguments: {}, raw }];
      });
      return [...calls.map((call) => startCall(call, `t${call}`)), ...fed, ...ends, finish('tool-calls')];
    };
    const events = eventsOf(streamOf(long(200)));
    checkOrder(events);
    // The first one streams; each other waited, and is one piece plus what followed.
    expect(events.filter(({ type }) => type === 'content_block_delta')).toHaveLength(201 + 63 * 2);
  });
});

/** Without the boundaries of deltas. */
function joined(events: readonly StreamEvent[]): unknown[] {
  const list: { type: string; text: string; event: unknown }[] = [];
  for (const { type, index, delta, ...rest } of events) {
    const { type: kind, ...fields } = (delta ?? { type: '' }) as Record<string, unknown> & { type: string };
    const last = list.at(-1);
    const key = `${type} ${index} ${kind}`;
    const text = type === 'content_block_delta' ? Object.values(fields).join('') : JSON.stringify(delta ?? null);
    if (type === 'content_block_delta' && kind !== 'signature_delta' && last?.type === key) last.text += text;
    else list.push({ type: key, text, event: rest });
  }
  return list;
}
