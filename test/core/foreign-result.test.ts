import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanResult } from '../../src/core/tools/clean-result.ts';
import { visibleJson, hiddenCharacter } from '../../src/core/text/visible-text.ts';
import { contentText, type ContentBlock, type ToolResult } from '../../src/core/tools/tool.ts';

const told = (...content: ContentBlock[]): ContentBlock[] => cleanResult({ isError: false, content }).content;
const text = (given: string): string => contentText(told({ type: 'text', text: given }));

describe('the result of an external tool', () => {
  test.each([
    ['escape sequences', 'a\u001b[31mred\u001b[0m\u001b]0;title\u0007b', 'aredb'],
    ['bidi controls', 'a\u202eb\u2066c', 'abc'],
    ['tag characters', 'Hi\u{e0041}\u{e0042}', 'Hi'],
    ['runs without width', 'a\u200b\u200b\u200cb', 'ab'],
    ['control characters', 'a\u0000\u0008b', 'ab'],
  ])('has no %s', (_what, given, seen) => {
    expect(text(given)).toBe(seen);
  });

  test.each(['plain\ttext\nof two lines', 'emoji 👩‍💻 ❤️ 1️⃣', 'می‌خواهم', 'Zażółć 日本語'])('keeps %s', (given) => {
    expect(text(given)).toBe(given);
  });

  test('keeps its number of blocks', () => {
    const long = `${'word \n'.repeat(20_000)}${' '.repeat(500)}end`;
    expect(text(long)).toBe(long);
  });

  test('is cleaned in links and resources, except for their bytes', () => {
    expect(
      told(
        {
          ...{ type: 'resource_link', uri: 'file:///etc/passwd', name: 'n\u202e', title: 't\u001b[1m', description: 'd\u{e0041}', size: 3 },
          annotations: { audience: ['user'] },
        },
        { type: 'resource', resource: { uri: 'a://b', text: 'x\u202ey', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'a://c', blob: 'AAAA' } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ),
    ).toEqual([
      {
        ...{ type: 'resource_link', uri: 'file:///etc/passwd', name: 'n', title: 't', description: 'd', size: 3 },
        annotations: { audience: ['user'] },
      },
      { type: 'resource', resource: { uri: 'a://b', text: 'xy', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'a://c', blob: 'AAAA' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]);
  });

  test('keeps its structured form unchanged', () => {
    const result: ToolResult = { isError: false, content: [], structuredContent: { name: 'a\u202eb' } };
    expect(cleanResult(result)).toEqual(result);
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
