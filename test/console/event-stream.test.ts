import { describe, expect, it } from 'vitest';
import { addedText, createEventReader } from '../../src/console/api/event-stream.ts';
import { highlight } from '../../src/console/parts/highlight.ts';

const stream = ': comment\nevent: a\nid: 7\ndata: one\ndata:two\n\ndata: {"x":1}\r\n\r\nevent: empty\n\ndata: cut';
const expected = [
  { id: '7', event: 'a', data: 'one\ntwo' },
  { id: '7', event: 'message', data: '{"x":1}' },
  { id: '7', event: 'empty', data: '' },
];

describe('createEventReader', () => {
  it.each([1, 2, 3, 7, 1000])('reads events from chunks of %i characters', (size) => {
    const read = createEventReader();
    const events = [];
    for (let from = 0; from < stream.length; from += size) events.push(...read(stream.slice(from, from + size)));
    expect(events).toEqual(expected);
  });
});

describe('addedText', () => {
  const event = (data: unknown) => ({ id: '', event: 'message', data: typeof data === 'string' ? data : JSON.stringify(data) });
  it.each([
    [{ choices: [{ delta: { content: 'a' } }] }, 'a'],
    [{ type: 'content_block_delta', delta: { type: 'text_delta', text: 'b' } }, 'b'],
    [{ type: 'response.output_text.delta', delta: 'c' }, 'c'],
    [{ type: 'text-delta', text: 'd' }, 'd'],
    [{ type: 'response.function_call_arguments.delta', delta: '{}' }, ''],
    [{ choices: [] }, ''],
    ['[DONE]', ''],
    ['null', ''],
  ])('%j adds %j', (data, text) => {
    expect(addedText(event(data))).toBe(text);
  });
});

describe('highlight', () => {
  it('keeps the text and marks keys, strings, numbers and literals', () => {
    const code = '{"a": [1.5, "b\\"", true, null]}';
    const tokens = highlight(code, 'json');
    expect(tokens.map(({ text }) => text).join('')).toBe(code);
    expect(tokens.filter(({ kind }) => kind !== 'plain').map(({ kind }) => kind)).toEqual([
      'key',
      'number',
      'string',
      'literal',
      'literal',
    ]);
  });
});
