import { recordOf } from '../../../src/core/json/wire-value.ts';
import { describe, expect, it } from 'vitest';
import { checkEntryResult, showResult } from '../../../src/core/toolset/entry-result.ts';
import { EntryResult, maxPicks } from '../../../src/core/toolset/toolset.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { contentText, errorResult, textResult, type JsonSchema, type ToolResult } from '../../../src/core/tools/tool.ts';
import { utf8Length } from '../../../src/core/text/utf8.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const pick = (...pointers: string[]) => EntryResult.parse({ pick: pointers });
const value = { items: [{ name: 'a', secret: 's1' }, { name: 'b' }], 'a/b': { '~x': 1 }, '': 'empty', total: 2 };
const json: ToolResult = { ...textResult(JSON.stringify(value)), structuredContent: value };
const texts = (result: ToolResult): string[] => result.content.map((block) => contentText([block]));

const check = (outputSchema: JsonSchema | undefined, result: EntryResult) =>
  checkEntryResult({ source: { result }, definition: toolOf('s', 'tool', outputSchema && { outputSchema }), path: 'tools[2]' });

describe('picking', () => {
  it('shows the picked parts as an object and as JSON text, and says where the whole result is', () => {
    const { shown, kept } = showResult(json, pick('/items/0/name', '/total'), 'call_1');
    expect(shown.structuredContent).toEqual({ '/items/0/name': 'a', '/total': 2 });
    expect(texts(shown)).toEqual([
      '{"/items/0/name":"a","/total":2}',
      '[Only these parts of the result are shown. To read the whole result: fetch_result {"callId":"call_1","offset":0}]',
    ]);
    expect(kept).toEqual(json.content);
  });

  it('reads JSON text without a structured form, also after other text', () => {
    const result: ToolResult = { isError: false, content: [...textResult('Here it is:').content, ...textResult(' [{"n": 1}]').content] };
    expect(showResult(result, pick('/0/n'), null).shown.structuredContent).toEqual({ '/0/n': 1 });
  });

  it('stores the structured form if no text contains it', () => {
    const result: ToolResult = { isError: false, content: textResult('Two items.').content, structuredContent: value };
    const { kept } = showResult(result, pick('/total'), 'c');
    expect(contentText(kept ?? [])).toBe(`Two items.\n${JSON.stringify(value)}`);
  });

  it('follows RFC 6901: escapes, the empty key, the whole, indexes without leading zeros, own members only', () => {
    const found = (pointer: string): unknown => recordOf(showResult(json, pick(pointer, '/total'), null).shown.structuredContent)[pointer];
    expect(found('/a~1b/~0x')).toBe(1);
    expect(found('/')).toBe('empty');
    expect(found('')).toEqual(value);
    for (const nothing of ['/items/01/name', '/items/-', '/items/9', '/items/length', '/constructor', '/__proto__', '/total/x'])
      expect(found(nothing), nothing).toBeUndefined();
  });

  it('lists pointers without a match, and shows everything if none matches', () => {
    expect(texts(showResult(json, pick('/total', '/none'), null).shown)[1]).toBe(
      '[Only these parts of the result are shown. Not in this result: "/none".]',
    );
    const none = showResult(json, pick('/none', '/nor/this'), 'c');
    expect(none.shown.structuredContent).toEqual(value);
    expect(texts(none.shown)).toEqual([JSON.stringify(value), '[Not in this result: "/none", "/nor/this". The whole result is shown.]']);
    expect(none.kept).toBeNull();
    const plain = showResult(textResult('no JSON here'), pick('/a'), null).shown;
    expect(texts(plain)).toEqual(['no JSON here', '[Not in this result: "/a". The whole result is shown.]']);
  });

  it('never makes a result larger, even with nested parts', () => {
    let nested: unknown = 1;
    for (let depth = 0; depth < maxPicks; depth += 1) nested = { a: nested, pad: 'x'.repeat(limits.maxToolReplyBytes / 100) };
    const pointers = Array.from({ length: maxPicks }, (_, depth) => '/a'.repeat(depth));
    const { shown, kept } = showResult({ ...textResult('big'), structuredContent: { a: nested } }, pick(...pointers), 'call_1');
    expect(contentText(kept ?? []).length).toBeLessThan(3 * limits.maxToolReplyBytes);
    expect(texts(shown).at(-1)).toMatch(
      / Left out because the result would be too large: "\/a", .* and 39 more\. To read the whole result: fetch_result /,
    );
    expect(Object.keys(recordOf(shown.structuredContent))).toEqual([]);
  });

  it('shows one part, however large', () => {
    const { shown, kept } = showResult(
      { ...textResult('big'), structuredContent: { a: 'x'.repeat(limits.maxToolReplyBytes) } },
      pick('/a'),
      'c',
    );
    expect(texts(shown)[0]).toContain('To read the rest: fetch_result {"callId":"c"');
    expect(contentText(kept ?? []).length).toBeGreaterThan(limits.maxToolReplyBytes);
  });

  it('lists only some of many unmatched pointers', () => {
    const pointers = Array.from({ length: maxPicks - 1 }, (_, index) => `/${index}${'/b'.repeat(500)}`);
    const { shown } = showResult(json, pick('/total', ...pointers), null);
    expect(texts(shown)[1]).toMatch(/^\[Only these parts of the result are shown\. Not in this result: "\/0\/b.*…", .* and 39 more\.\]$/);
    expect(contentText(shown.content).length).toBeLessThan(2000);
  });

  it('leaves errors unchanged', () => {
    const error = { ...errorResult('tool_error', '{"total": 1}'), structuredContent: { total: 1 } };
    expect(showResult(error, pick('/total'), 'c')).toEqual({ shown: error, kept: null });
  });
});

describe('the bytes of a result', () => {
  it('are limited by the entry, with a note on how to read the rest', () => {
    const long = textResult('x'.repeat(1_000));
    const { shown, kept } = showResult(long, EntryResult.parse({ maxBytes: 256 }), 'c');
    expect(texts(shown)[0]).toBe(
      `${'x'.repeat(256)}\n[Cut: 744 of 1000 bytes are not shown. To read the rest: fetch_result {"callId":"c","offset":256}]`,
    );
    expect(kept).toEqual(long.content);
    expect(showResult(long, undefined, 'c')).toEqual({ shown: long, kept: null });
  });

  it('are limited for picked parts too, and every note has the right offset', () => {
    const picked = 'p'.repeat(1_000);
    const whole = textResult(JSON.stringify({ picked, rest: 'r' }));
    const { shown, kept } = showResult(whole, EntryResult.parse({ pick: ['/picked'], maxBytes: 300 }), 'c');
    expect(shown.structuredContent).toBeUndefined();
    const keptText = contentText(kept ?? []);
    const offsets = [...contentText(shown.content).matchAll(/"offset":(\d+)/g)].map((match) => Number(match[1]));
    const shownPart = `{"/picked":"${picked}"}`;
    expect(offsets).toHaveLength(2);
    expect(keptText.slice(0, offsets[0])).toBe(shownPart.slice(0, 300));
    expect(keptText.slice(offsets[1])).toBe(contentText(whole.content));
    expect(utf8Length(texts(shown)[0] ?? '')).toBeLessThan(300 + 150);
  });
});

describe('pointers checked against an outputSchema', () => {
  const schema = {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/$defs/item' } },
      free: { type: 'object', additionalProperties: { type: 'string' } },
      either: { anyOf: [{ type: 'null' }, { type: 'object', properties: { x: {} } }] },
    },
    $defs: { item: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/item' } } } },
  };
  it('give a warning if the schema does not contain them', () => {
    const rules = pick(
      '/items/0/name',
      '/items/3/next/next/name',
      '/free/any',
      '/either/x',
      '',
      '/itms',
      '/items/x',
      '/items/0/name/y',
      '/either/y',
    );
    expect(check(schema, rules).map(({ path }) => path)).toEqual([5, 6, 7, 8].map((index) => `tools[2].result.pick[${index}]`));
    expect(check(undefined, rules)).toEqual([]);
    expect(check({ type: 'object' }, pick('/a/b'))).toEqual([]);
  });

  it('are allowed for every item where only some items of an array are described, or all by a list', () => {
    expect(check({ type: 'array', prefixItems: [{ type: 'object' }] }, pick('/0/name'))).toEqual([]);
    expect(check({ type: 'array', items: [{ type: 'object' }] }, pick('/0/name'))).toEqual([]);
    expect(check({ type: 'array', prefixItems: [{ type: 'object' }], items: false }, pick('/0/name'))).toEqual([]);
    expect(check({ type: 'array', prefixItems: [{ type: 'object' }] }, pick('/name'))).toHaveLength(1);
  });

  it('end in a schema that refers only to itself', () => {
    expect(check({ $ref: '#' }, pick('/a'))).toHaveLength(0);
    const twice = { anyOf: [{ $ref: '#/$defs/twice' }, { $ref: '#/$defs/twice' }] };
    expect(check({ ...twice, $defs: { twice } }, pick('/a'))).toHaveLength(0);
  });
});
