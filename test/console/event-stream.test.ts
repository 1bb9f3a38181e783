import { describe, expect, it } from 'vitest';
import { addedText } from '../../src/console/api/event-stream.ts';
import { highlight } from '../../src/console/parts/text/highlight.ts';

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
