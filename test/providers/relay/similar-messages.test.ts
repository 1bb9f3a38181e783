/** Messages that differ from an earlier one only in a piece of text: read as if they were parsed. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json/wire-value.ts';
import { messagesWire } from '../../../src/providers/anthropic/watch.ts';
import { chatWire } from '../../../src/providers/openai-chat/watch.ts';
import { responsesWire } from '../../../src/providers/openai-responses/watch.ts';
import { SimilarMessages } from '../../../src/providers/relay/similar-messages.ts';
import type { WatchedWire } from '../../../src/providers/relay/wire-watch.ts';

const chunk = (delta: object, more: object = {}) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null }],
  usage: null,
  ...more,
});
const args = (text: string, more: object = {}) => chunk({ tool_calls: [{ index: 0, function: { arguments: text }, ...more }] });
const block = (delta: object) => ({ type: 'content_block_delta', index: 1, delta });
const piece = (delta: string, sequence_number: number, obfuscation: string) => ({
  type: 'response.output_text.delta',
  ...{ sequence_number, item_id: 'i', output_index: 0, content_index: 0, delta, logprobs: [], obfuscation },
});
const frame = (body: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`;

/** Learns the first message, and returns what of the others is read as similar, and how much of their text. */
function read(wire: WatchedWire, first: Json, others: string, name = 'message') {
  const similar = new SimilarMessages(wire.pieceOf);
  similar.learn({ raw: frame(first, name === 'message' ? undefined : name), name, body: first });
  const bodies: Json[] = [];
  let at = 0;
  for (let found = similar.match(others, at); found !== null; found = similar.match(others, at)) {
    bodies.push(found.body);
    expect(found.name).toBe(name);
    expect(others.startsWith(found.raw, at)).toBe(true);
    at += found.raw.length;
  }
  return { bodies, isAll: at === others.length };
}

describe('messages like an earlier one', () => {
  it('are read as one message with all of their text', () => {
    const texts = [' fox', ' "quoted"\n', ' \u{1f98a} é', '\\', 'content'];
    const expected = texts.join('');
    const chat = read(chatWire, chunk({ content: 'The' }), texts.map((content) => frame(chunk({ content }))).join(''));
    expect(chat).toEqual({ bodies: [chunk({ content: expected })], isAll: true });
    const deltas = texts.map((text) => frame(block({ type: 'text_delta', text }), 'content_block_delta')).join('');
    const messages = read(messagesWire, block({ type: 'text_delta', text: 'The' }), deltas, 'content_block_delta');
    expect(messages).toEqual({ bodies: [block({ type: 'text_delta', text: expected })], isAll: true });
    const events = texts.map((text, index) => frame(piece(text, 5 + index, `p${index}`), 'response.output_text.delta')).join('');
    const responses = read(responsesWire, piece('The', 4, 'abc'), events, 'response.output_text.delta');
    expect(responses).toEqual({ bodies: [piece(expected, 9, 'abc')], isAll: true });
  });

  it('are read one by one if they are pieces of a call', () => {
    expect(read(chatWire, args('{"a'), frame(args('":')) + frame(args(' "b"}')))).toEqual({
      bodies: [args('":'), args(' "b"}')],
      isAll: true,
    });
    const json = (text: string) => block({ type: 'input_json_delta', partial_json: text });
    const parts = frame(json('":'), 'content_block_delta') + frame(json('1}'), 'content_block_delta');
    expect(read(messagesWire, json('{"a'), parts, 'content_block_delta').bodies).toEqual([json('":'), json('1}')]);
  });

  it('are parsed if they differ in more, or are not whole', () => {
    const said = chunk({ content: 'The' });
    const finished = { ...said, choices: [{ index: 0, delta: { content: ' end' }, finish_reason: 'stop' }] };
    const others = [
      frame(finished),
      frame(chunk({ content: ' fox', reasoning: 'so' })),
      frame(chunk({ content: ' fox' }, { error: { message: 'overloaded' } })),
      frame(args('{', { id: 'call_1' })),
      frame(chunk({ content: ' fox' })).slice(0, -1),
      frame(chunk({ content: ' fox' })).replace(' fox', '\u0007'),
      frame(chunk({ content: ' fox' })).replace(' fox', '\\x'),
      'data: [DONE]\n\n',
    ];
    for (const other of others) expect(read(chatWire, said, other).bodies, other).toEqual([]);
  });

  it('are not compared with a message whose text stands in another place, too', () => {
    const body = block({ type: 'text_delta', text: 'text_delta' });
    const { bodies } = read(
      messagesWire,
      body,
      frame(block({ type: 'text_delta', text: 'x' }), 'content_block_delta'),
      'content_block_delta',
    );
    expect(bodies).toEqual([]);
  });
});
