import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanContent, forModel, modelContent } from '../../../src/core/tools/model-result.ts';
import { visibleJson, hiddenCharacter } from '../../../src/core/text/visible-text.ts';
import { contentText, textResult, type ContentBlock } from '../../../src/core/tools/tool.ts';

const shown = (...content: ContentBlock[]): string[] => modelContent({ isError: false, content }).map((block) => contentText([block]));
const note = (what: string): string => `[Removed before you read this result, since a person cannot see them: ${what}.]`;

describe('what a model reads of a result', () => {
  test.each([
    ['escape sequences', 'a\u001b[31mred\u001b[0m\u001b]0;title\u0007b', 'aredb', '3 escape sequences'],
    ['bidi controls', 'a\u202eb\u2066c', 'abc', '2 bidirectional controls'],
    ['tag characters', 'Hi\u{e0041}\u{e0042}', 'Hi', '2 tag characters'],
    ['runs without width', 'a\u200b\u200b\u200cb', 'ab', '3 zero-width characters'],
    ['a soft hyphen', 'so\u00adft', 'soft', '1 zero-width character'],
    ['control characters', 'a\u0000\u0008b\rc', 'abc', '3 control characters'],
    ['variation selectors', 'a\ufe01\u{e0100}b', 'ab', '2 variation selectors'],
    ['line separators', 'a\u2028b', 'a\nb', '1 line separator'],
    ['unpaired surrogates', 'a\ud800b', 'a\ufffdb', '1 unpaired surrogate'],
    ['several kinds', '\ufeffa\u001b[1mb\u0000', 'ab', '1 escape sequence, 1 zero-width character, 1 control character'],
  ])('has no %s, and says how many were removed', (_what, given, text, removed) => {
    expect(shown({ type: 'text', text: given })).toEqual([text, note(removed)]);
  });

  test.each(['plain\ttext\nof two lines', 'Windows\r\nlines\r\n', 'emoji 👩‍💻 ❤️ 1️⃣', 'می‌خواهم', 'Zażółć 日本語'])('keeps %j', (given) => {
    const content = textResult(given).content;
    expect(modelContent({ isError: false, content })).toBe(content);
  });

  test('counts what is removed in all blocks, and keeps data as it is', () => {
    const content: ContentBlock[] = [
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'n\u202e', title: 't\u001b[1m', description: 'd\u{e0041}', size: 3 },
      { type: 'resource', resource: { uri: 'a://b', text: 'x\u202ey', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'a://c', blob: 'AAAA' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ];
    expect(cleanContent(content)).toEqual([
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'n', title: 't', description: 'd', size: 3 },
      { type: 'resource', resource: { uri: 'a://b', text: 'xy', mimeType: 'text/plain' } },
      ...content.slice(2),
    ]);
    expect(shown(...content).at(-1)).toBe(note('2 bidirectional controls, 1 escape sequence, 1 tag character'));
  });

  test('says what a result without content is', () => {
    expect(shown()).toEqual(['[The tool returned no content. This is not an error.]']);
    expect(contentText(modelContent({ isError: true, content: [] }))).toBe('[The tool failed without an error message.]');
  });

  test.each([[{ a: 'b\u202e' }], [[1, 2]], ['text'], [7], [null], [false]])('has the data %j of a result without text', (data) => {
    const image: ContentBlock = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    expect(contentText(modelContent({ isError: false, content: [], structuredContent: data }))).toBe(visibleJson(data));
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    const behind = modelContent({ isError: false, content: [image], structuredContent: data }).slice(1);
    expect(behind).toEqual(isObject ? [] : [{ type: 'text', text: visibleJson(data) }]);
  });

  test('has no members that only clients know, and a text for blocks of an unknown type', () => {
    const content: ContentBlock[] = [
      { type: 'text', text: 'a', _meta: { a: 1 }, annotations: { priority: 1, own: 2 }, more: 'x'.repeat(10) },
      { type: 'resource', resource: { uri: 'a://b', text: 'c', _meta: { a: 1 }, size: 3 } },
      { type: 'other', block: { type: 'hologram', data: 'AAAA' } },
    ];
    expect(forModel({ isError: false, content, meta: { b: 1 } })).toEqual({
      isError: false,
      content: [
        { type: 'text', text: 'a', annotations: { priority: 1 } },
        { type: 'resource', resource: { uri: 'a://b', text: 'c' } },
        { type: 'text', text: expect.stringContaining('"hologram" is not supported') },
      ],
    });
  });
});

test('is shown as JSON text of the same value without invisible characters', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const written = visibleJson(value);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(written).not.toMatch(new RegExp(hiddenCharacter, 'u'));
    }),
  );
});
