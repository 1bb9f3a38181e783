import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonStreamReader } from '../../src/net/json-stream.ts';

const utf8 = new TextEncoder();

function read(text: string, size = Number.POSITIVE_INFINITY): string[] {
  const bytes = utf8.encode(text);
  const reader = new JsonStreamReader();
  const elements: string[] = [];
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length))
    elements.push(...reader.push(bytes.subarray(at, at + Math.min(size, bytes.length))).map(({ data }) => data));
  return [...elements, ...reader.end().map(({ data }) => data)];
}

describe('a stream of JSON values', () => {
  it.each([
    ['objects', '[{"a":1},{"b":[{}]}]', ['{"a":1}', '{"b":[{}]}']],
    ['the framing of Gemini', '[{\n  "a": 1\n}\n,\r\n{"b":2}\n]', ['{\n  "a": 1\n}', '{"b":2}']],
    ['brackets, commas and quotes in strings', '[{"a":"]},{\\"[\\\\"},{"b":"\\\\"}]', ['{"a":"]},{\\"[\\\\"}', '{"b":"\\\\"}']],
    ['values that are no objects', '[1, "a,]", null,[2],true ]', ['1', '"a,]"', 'null', '[2]', 'true']],
    ['an empty list', ' [ ] ', []],
    ['nothing behind its end', '[{"a":1}] [{"b":2}]', ['{"a":1}']],
    ['no element that breaks off', '[{"a":1},{"b":', ['{"a":1}']],
    ['text beyond ASCII', '\ufeff[{"a":"東京 😀"}]', ['{"a":"東京 😀"}']],
    ['nothing of a body without values', ' \n\r\n ', []],
    ['a value of several lines that is no element of a list', '{\n  "a": [1,\n2]\n}', ['{\n  "a": [1,\n2]\n}']],
    ['a line each', '{"a":"\\n"}\r\n\n{"b":[{}]}\n', ['{"a":"\\n"}', '{"b":[{}]}']],
    ['values without anything between them', '{"a":"}{"}{"b":1}', ['{"a":"}{"}', '{"b":1}']],
    ['lists and other values that are lines', '{"a":1}\n[1,2]\nnull\n', ['{"a":1}', '[1,2]', 'null']],
    ['a line that is not JSON', '{"a":1}\nBad gateway, ]\n{"b":1}\n', ['{"a":1}', 'Bad gateway, ]', '{"b":1}']],
    ['no line that breaks off', '{"a":1}\n{"b":', ['{"a":1}']],
    ['lines with text beyond ASCII', '\ufeff{"a":"東京 😀"}\n{"b":"é"}\n', ['{"a":"東京 😀"}', '{"b":"é"}']],
  ])('gives %s', (_what, text, expected) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3]) expect(read(text, size), `by ${size}`).toEqual(expected);
  });

  it('returns an object at its last brace, before what separates it from the next', () => {
    for (const text of ['[{"a":1}', '{"a":1}']) expect(read(text)).toEqual(['{"a":1}']);
  });

  it('returns the same elements for any chunking', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.integer({ min: 1, max: 9 }), fc.boolean(), (values, size, pretty) => {
        const text = JSON.stringify(values, null, pretty ? 2 : 0);
        expect(read(text, size).map((element) => JSON.parse(element))).toEqual(JSON.parse(text));
        const objects = values.map((value) => ({ value }));
        const lines = objects.map((object) => `${JSON.stringify(object, null, pretty ? 2 : 0)}\n`).join('');
        expect(read(lines, size).map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(objects)));
      }),
    );
  });

  it('accepts any amount of whitespace, and rejects an element without an end', () => {
    const reader = new JsonStreamReader(1000);
    for (let at = 0; at < 100; at++) expect(reader.push(utf8.encode(at === 0 ? '[' : ' '.repeat(100)))).toEqual([]);
    expect(() => {
      for (let at = 0; at < 100; at++) reader.push(utf8.encode('{"aaaaaaaa":'));
    }).toThrow(/larger than 1000 bytes/);
  });
});
