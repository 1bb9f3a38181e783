import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundResult, cutMiddle, cutUtf8 } from '../../src/core/result-bound.ts';
import { textResult, type ToolResult } from '../../src/core/tool.ts';
import { utf8Length } from '../../src/core/utf8.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });

describe('bounding a result', () => {
  it('leaves alone what fits', () => {
    const result: ToolResult = { ...textResult('hello'), structuredContent: { a: 1 } };
    expect(boundResult(result)).toBe(result);
  });

  it('cuts text by bytes and says how much is missing', () => {
    const { content } = boundResult(textResult('é'.repeat(10)), 7);
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^ééé\n\[Cut: 14 of 20 bytes are not shown/) }]);
  });

  it('counts all blocks together and names those that are left out', () => {
    const { content } = boundResult(
      {
        isError: false,
        content: [
          { type: 'text', text: '12345' },
          { type: 'image', data: 'x'.repeat(100), mimeType: 'image/png' },
          { type: 'text', text: 'late' },
        ],
      },
      20,
    );
    expect(content).toEqual([
      { type: 'text', text: '12345' },
      { type: 'text', text: '[Left out: image of 100 bytes, over the limit of a result.]' },
      { type: 'text', text: expect.stringContaining('[Cut: 4 of 4 bytes') },
    ]);
  });

  it('counts what is left out of very many blocks instead of naming each', () => {
    const blocks = Array.from({ length: 50_000 }, () => ({ type: 'text' as const, text: 'x'.repeat(100) }));
    const { content } = boundResult({ isError: false, content: blocks }, 1000);
    expect(utf8Length(JSON.stringify(content))).toBeLessThan(5000);
    expect(content.at(-1)).toEqual({ type: 'text', text: '[Left out: 49980 more blocks, over the limit of a result.]' });
  });

  it('drops a structured form that is too large, with a note', () => {
    const bounded = boundResult({ ...textResult('short'), structuredContent: { a: 'x'.repeat(100) } }, 50);
    expect(bounded.structuredContent).toBeUndefined();
    expect(bounded.content[1]).toEqual({ type: 'text', text: expect.stringContaining('structured form') });
  });

  it('keeps code, issues and the error mark', () => {
    const bounded = boundResult(
      {
        isError: true,
        code: 'invalid_arguments',
        content: [{ type: 'text', text: 'x'.repeat(100) }],
        issues: [{ path: 'a', message: 'b' }],
      },
      10,
    );
    expect(bounded).toMatchObject({ isError: true, code: 'invalid_arguments', issues: [{ path: 'a' }] });
  });

  it('cuts at code points: a prefix within the bound, the next one would not fit', () => {
    fc.assert(
      fc.property(anyText, fc.nat(300), (text, maxBytes) => {
        const cut = cutUtf8(text, maxBytes);
        expect(text.startsWith(cut)).toBe(true);
        expect(utf8Length(cut)).toBeLessThanOrEqual(maxBytes);
        const next = text.codePointAt(cut.length);
        if (next !== undefined) expect(utf8Length(cut + String.fromCodePoint(next))).toBeGreaterThan(maxBytes);
      }),
    );
  });

  it('keeps head and tail of a long text, broken at no character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 4, max: 300 }), (text, maxBytes) => {
        const cut = cutMiddle(text, maxBytes);
        if (utf8Length(text) <= maxBytes) {
          expect(cut).toBe(text);
          return;
        }
        const parts = /^(.*)\n\[… (\d+) of (\d+) bytes left out …\]\n(.*)$/s.exec(cut);
        const [head = '', missing, total, tail = ''] = parts?.slice(1) ?? [];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(utf8Length(head) + utf8Length(tail)).toBeLessThanOrEqual(maxBytes);
        expect(utf8Length(head) + utf8Length(tail) + Number(missing)).toBe(Number(total));
      }),
    );
  });
});
