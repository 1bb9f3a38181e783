import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonArrayReader } from '../../src/net/json-array.ts';

const utf8 = new TextEncoder();

function read(text: string, size = Number.POSITIVE_INFINITY): string[] {
  const bytes = utf8.encode(text);
  const reader = new JsonArrayReader();
  const elements: string[] = [];
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length))
    elements.push(...reader.push(bytes.subarray(at, at + Math.min(size, bytes.length))));
  return elements;
}

describe('a JSON array read incrementally', () => {
  it.each([
    ['objects', '[{"a":1},{"b":[{}]}]', ['{"a":1}', '{"b":[{}]}']],
    ['the framing of Gemini', '[{\n  "a": 1\n}\n,\r\n{"b":2}\n]', ['{\n  "a": 1\n}', '{"b":2}']],
    ['brackets, commas and quotes in strings', '[{"a":"]},{\\"[\\\\"},{"b":"\\\\"}]', ['{"a":"]},{\\"[\\\\"}', '{"b":"\\\\"}']],
    ['values that are no objects', '[1, "a,]", null,[2],true ]', ['1', '"a,]"', 'null', '[2]', 'true']],
    ['an empty list', ' [ ] ', []],
    ['nothing behind its end', '[{"a":1}] [{"b":2}]', ['{"a":1}']],
    ['no element that breaks off', '[{"a":1},{"b":', ['{"a":1}']],
    ['text beyond ASCII', '\ufeff[{"a":"東京 😀"}]', ['{"a":"東京 😀"}']],
    ['nothing that is no list', '{"a":1}', []],
  ])('gives %s', (_what, text, expected) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3]) expect(read(text, size), `by ${size}`).toEqual(expected);
  });

  it('returns an object at its last brace, before the comma arrives', () => {
    expect(read('[{"a":1}')).toEqual(['{"a":1}']);
  });

  it('returns the same elements for any chunking', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.integer({ min: 1, max: 9 }), fc.boolean(), (values, size, pretty) => {
        const text = JSON.stringify(values, null, pretty ? 2 : 0);
        expect(read(text, size).map((element) => JSON.parse(element))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts any amount of whitespace, and rejects an element without an end', () => {
    const reader = new JsonArrayReader(1000);
    for (let at = 0; at < 100; at++) expect(reader.push(utf8.encode(at === 0 ? '[' : ' '.repeat(100)))).toEqual([]);
    expect(() => {
      for (let at = 0; at < 100; at++) reader.push(utf8.encode('{"aaaaaaaa":'));
    }).toThrow(/larger than 1000 bytes/);
  });
});
