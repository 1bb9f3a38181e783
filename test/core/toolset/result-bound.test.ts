import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { boundResult, codeBounds, cutMiddle, contentToStore, mediaBytes, modelBounds } from '../../../src/core/toolset/result-bound.ts';
import { contentText, textResult, type ContentBlock, type ToolResult } from '../../../src/core/tools/tool.ts';
import { cutToBytes, utf8Length } from '../../../src/core/text/utf8.ts';

const bytes = (text: number, media = text) => ({ text, media });
const anyText = fc.string({ unit: 'binary', maxLength: 200 });

describe('bounding a result', () => {
  it('leaves results that fit unchanged', () => {
    const result: ToolResult = { ...textResult('hello'), structuredContent: { a: 1 } };
    expect(boundResult(result)).toBe(result);
  });

  it('cuts text by bytes and says how much is missing', () => {
    const { content } = boundResult(textResult('é'.repeat(10)), bytes(7));
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^ééé\n\[Cut: 14 of 20 bytes are not shown/) }]);
  });

  it('counts text and media separately, all blocks together, and lists the omitted ones', () => {
    const { content } = boundResult(
      {
        isError: false,
        content: [
          { type: 'text', text: '12345' },
          { type: 'image', data: 'x'.repeat(100), mimeType: 'image/png' },
          { type: 'text', text: 'late' },
          { type: 'text', text: 'more than fits' },
          { type: 'image', data: 'small', mimeType: 'image/png' },
        ],
      },
      bytes(20, 50),
    );
    expect(content).toEqual([
      { type: 'text', text: '12345' },
      { type: 'text', text: '[Left out: image of 109 bytes, over the result limit.]' },
      { type: 'text', text: 'late' },
      { type: 'text', text: expect.stringContaining('more than f\n[Cut: 3 of 14 bytes') },
      { type: 'image', data: 'small', mimeType: 'image/png' },
    ]);
  });

  it('counts omitted blocks instead of listing very many', () => {
    const blocks = Array.from({ length: 50_000 }, () => ({ type: 'text' as const, text: 'x'.repeat(100) }));
    const { content } = boundResult({ isError: false, content: blocks }, bytes(1000));
    expect(utf8Length(JSON.stringify(content))).toBeLessThan(5000);
    expect(content.at(-1)).toEqual({ type: 'text', text: '[Left out: 49980 more blocks, over the result limit.]' });
  });

  it('omits blocks after the first thousand, however small', () => {
    const blocks = (count: number): ToolResult => ({
      isError: false,
      content: Array.from({ length: count }, () => ({ type: 'text' as const, text: '' })),
    });
    const most = blocks(limits.maxResultBlocks);
    expect(boundResult(most)).toBe(most);
    const { content } = boundResult(blocks(100_000), modelBounds, 'call_1');
    expect(content).toHaveLength(limits.maxResultBlocks + 1);
    const place = JSON.stringify({ callId: 'call_1', offset: limits.maxResultBlocks });
    expect(content.at(-1)).toEqual({
      type: 'text',
      text: `[Left out: 99000 more blocks, over the result limit. To read them: fetch_result ${place}]`,
    });
    expect(contentToStore(blocks(100_000), { isError: false, content })).toHaveLength(100_000);
  });

  it('counts the size of block types', () => {
    const mimeType = 'x'.repeat(limits.maxResultMediaBytes + 1);
    for (const block of [
      { type: 'image' as const, data: 'AA==', mimeType },
      { type: 'resource_link' as const, uri: 'a:b', name: 'n', mimeType },
      { type: 'resource' as const, resource: { uri: 'a:b', text: 't', mimeType } },
      { type: 'resource' as const, resource: { uri: 'a:b', blob: 'AA==', mimeType } },
    ])
      expect(boundResult({ isError: false, content: [block] }).content[0]).toMatchObject({ text: expect.stringContaining('[Left out: ') });
  });

  it('drops a structured form that is too large, with a note', () => {
    const bounded = boundResult({ ...textResult('short'), structuredContent: { a: 'x'.repeat(100) } }, bytes(50));
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
      bytes(10),
    );
    expect(bounded).toMatchObject({ isError: true, code: 'invalid_arguments', issues: [{ path: 'a' }] });
  });

  it('cuts at code points: the longest prefix within the limit', () => {
    fc.assert(
      fc.property(anyText, fc.nat(300), (text, maxBytes) => {
        const cut = cutToBytes(text, maxBytes);
        expect(text.startsWith(cut)).toBe(true);
        expect(utf8Length(cut)).toBeLessThanOrEqual(maxBytes);
        const next = text.codePointAt(cut.length);
        if (next !== undefined) expect(utf8Length(cut + String.fromCodePoint(next))).toBeGreaterThan(maxBytes);
      }),
    );
  });

  it('keeps the head and tail of a long text without splitting characters', () => {
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

  it('passes blocks of a type that is not known here, by their size as JSON', () => {
    const block = { type: 'hologram', data: 'x'.repeat(100) } as never;
    const result = { isError: false, content: [block] };
    expect(boundResult(result, bytes(1_000)).content).toEqual([block]);
    expect(boundResult(result, bytes(64)).content).toEqual([{ type: 'text', text: expect.stringContaining('[Left out: hologram of') }]);
  });
});

describe('a stored result', () => {
  const noted = (text: string): { callId: string; offset: number } => JSON.parse(/fetch_result (\{[^}]*\})/.exec(text)?.[1] ?? 'null');

  it('says how to continue exactly where the shown text ends', () => {
    const block = fc.oneof(
      anyText.map((text): ContentBlock => ({ type: 'text', text: text.toWellFormed() })),
      fc.constant<ContentBlock>({ type: 'image', data: 'xx', mimeType: 'image/png' }),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), fc.integer({ min: 0, max: 300 }), (content, maxBytes) => {
        const result: ToolResult = { isError: false, content };
        const shown = boundResult(result, bytes(maxBytes), 'call_1');
        const kept = contentToStore(result, shown);
        const cut = shown.content.find((part, index) => content[index] !== part && content[index]?.type === 'text');
        expect(kept === null).toBe(shown === result);
        if (cut === undefined) return;
        const { callId, offset } = noted(contentText([cut]));
        expect(callId).toBe('call_1');
        const whole = contentText(kept ?? []);
        const before = shown.content.slice(0, shown.content.indexOf(cut));
        const start = before.reduce((sum, part, index) => sum + contentText([content[index] ?? part]).length + 1, 0);
        const head = contentText([cut]).split('\n[Cut:')[0] ?? '';
        expect(offset).toBe(start + head.length);
        expect(whole.slice(start, offset)).toBe(head);
      }),
    );
  });

  it('names no tool if nothing is stored, nor for an image that no model can get', () => {
    expect(contentText(boundResult(textResult('x'.repeat(100)), bytes(10)).content)).not.toContain('fetch_result');
    const image: ToolResult = {
      isError: false,
      content: [{ type: 'image', data: 'x'.repeat(limits.maxResultMediaBytes), mimeType: 'image/png' }],
    };
    const shown = boundResult(image, modelBounds, 'call_1');
    expect(contentText(shown.content)).not.toContain('fetch_result');
    expect(contentToStore(image, shown)).toBeNull();
  });

  it('has the images that did not fit next to others', () => {
    const image: ContentBlock = { type: 'image', data: 'x'.repeat(limits.maxResultMediaBytes - 100), mimeType: 'image/png' };
    const result: ToolResult = { isError: false, content: [image, image] };
    const shown = boundResult(result, modelBounds, 'call_1');
    expect(shown.content[0]).toBe(image);
    expect(noted(contentText(shown.content.slice(1)))).toEqual({ callId: 'call_1', offset: contentText([image]).length + 1 });
    expect(contentToStore(result, shown)).toEqual(result.content);
  });

  it('cuts the text of a resource like other text, and passes its file', () => {
    const note: ContentBlock = { type: 'resource', resource: { uri: 'file:///a', text: 'x'.repeat(100) } };
    const file: ContentBlock = { type: 'resource', resource: { uri: 'file:///b', blob: 'x'.repeat(50_000) } };
    const { content } = boundResult({ isError: false, content: [note, file] }, bytes(50, limits.maxResultMediaBytes), 'call_1');
    expect(content).toEqual([
      {
        type: 'resource',
        resource: { uri: 'file:///a', text: expect.stringMatching(/^x{41}\n\[Cut: 59 of 100 bytes .*"offset":41\}\]$/s) },
      },
      file,
    ]);
    expect(mediaBytes(note)).toBe(0);
  });

  it('passes megabytes to code', () => {
    const result: ToolResult = {
      isError: false,
      content: [{ type: 'image', data: 'x'.repeat(1_000_000), mimeType: 'image/png' }],
      structuredContent: { a: 'x'.repeat(1_000_000) },
    };
    expect(boundResult(result, codeBounds)).toBe(result);
  });

  it('is the structured form if only that was too long', () => {
    const result: ToolResult = { ...textResult('short'), structuredContent: { a: 'x'.repeat(100) } };
    const shown = boundResult(result, bytes(50), 'call_1');
    const whole = contentText(contentToStore(result, shown) ?? []);
    expect(JSON.parse(whole.slice(noted(contentText(shown.content)).offset))).toEqual(result.structuredContent);
  });

  it('says where to continue if more blocks are omitted than noted', () => {
    const blocks = Array.from({ length: 100 }, (_, index) => ({ type: 'text' as const, text: `block ${index}` }));
    const result: ToolResult = { isError: false, content: blocks };
    const shown = boundResult(result, bytes(10), 'call_1');
    const last = shown.content.at(-1);
    const { offset } = noted(last === undefined ? '' : contentText([last]));
    expect(contentText(contentToStore(result, shown) ?? []).slice(offset)).toMatch(/^block 11\nblock 12/);
  });
});
