import { describe, expect, it } from 'vitest';
import { fieldsOf, readFields } from '../../src/console/session/form-fields.ts';
import { markdownNodes, parseMarkdown } from '../../src/console/text/markdown.ts';
import { type TextNode, visibleNodes, visibleProse } from '../../src/console/text/visible-nodes.ts';

/** Nodes as text: `p[strong[a] b]`; links with their address. */
function show(nodes: readonly TextNode[]): string {
  return nodes
    .map((node) => {
      if (typeof node === 'string') return node;
      const { tag, attributes, children } = node;
      return `${tag}${attributes.class ? `.${attributes.class}` : ''}${attributes.href ? `(${attributes.href})` : ''}[${show(children)}]`;
    })
    .join('');
}
const markdown = (text: string) => show(markdownNodes(parseMarkdown(text, null)));

describe('markdown', () => {
  it.each([
    ['**a** `b`', 'p[strong[a] code[b]]'],
    ['# Title', 'p.heading level-1[Title]'],
    ['- a\n- [x] b', 'ul[li[span[a]]li[☑ span[b]]]'],
    ['3. c', 'ol[li[span[c]]]'],
    ['| a |\n|---|\n| b |', 'div.table[table[thead[tr[th[a]]]tbody[tr[td[b]]]]]'],
    ['> q', 'blockquote[p[q]]'],
    ['```js\nx\n```', 'pre[code[x]]'],
    ['a &lt; b &amp;', 'p[a < b &]'],
    ['<b onclick=x>bold</b>', 'p[<b onclick=x>bold</b>]'],
    ['<script>x</script>', 'p.verbatim[<script>x</script>]'],
    ['![cat](https://evil.example/p.png)', 'p[span.not-loaded[Image, not loaded: cat]]'],
    ['[open](javascript:alert(1))', 'p[span[openspan.muted[ (javascript:alert(1))]]]'],
    ['[bank](https://evil.example/x)', 'p[span[a(https://evil.example/x)[bank]span.muted[ (evil.example)]]]'],
    ['https://a.example', 'p[span[a(https://a.example/)[https://a.example]]]'],
  ])('renders %j without a script, a style or a remote image', (text, expected) => expect(markdown(text)).toBe(expected));

  it('gives the same for a text that grows as for the whole text', () => {
    const whole = '# A\n\ntext with **bold**\n\n- one\n- two\n\n```\ncode\n\nmore\n```\n\nend [l](https://a.example/)';
    let parsed: ReturnType<typeof parseMarkdown> | null = null;
    for (let length = 1; length <= whole.length; length += 1) parsed = parseMarkdown(whole.slice(0, length), parsed);
    expect(parsed && show(markdownNodes(parsed))).toBe(markdown(whole));
  });

  it('shows text that is too long or too deep unformatted', () => {
    expect(markdown(`**a**${'b'.repeat(200_000)}`)).toMatch(/^pre\[code\[\*\*a/);
    expect(markdown('>'.repeat(20_000))).not.toBe('');
  });
});

describe('hidden characters', () => {
  it('are shown in names, also within emoji; prose keeps emoji', () => {
    expect(show(visibleNodes('a\u202eb\u001b[31m'))).toBe('aspan.hidden-character[U+202E]bspan.hidden-character[U+001B][31m');
    expect(show(visibleProse('a\u202eb'))).toBe('aspan.hidden-character[U+202E]b');
    expect(show(visibleProse('👩\u200d💻 ❤\ufe0f'))).toBe('👩\u200d💻 ❤\ufe0f');
    for (const text of ['👨\u200d👩\u200d👧 ⚠\ufe0f 1\ufe0f⃣ ❤\ufe0f\u200d🔥', 'می\u200cخواهم', 'क्\u200dष'])
      expect(show(visibleProse(text))).toBe(text);
    expect(show(visibleProse('a\u200db'))).toBe('aspan.hidden-character[U+200D]b');
    expect(show(visibleProse('می\u200c\u200cخ a\ufe0f'))).toMatch(/U\+200C.* a.*U\+FE0F/);
  });

  it('of a long run are counted', () => {
    expect(show(visibleNodes('\u200b'.repeat(100)))).toMatch(/and 92 more\]$/);
  });
});

describe('the fields of a form', () => {
  const schema = {
    properties: {
      name: { type: 'string' },
      age: { type: 'integer' },
      ok: { type: 'boolean' },
      size: { enum: ['s', 'm'], enumNames: ['small', 'medium'] },
      tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    },
    required: ['name'],
  };
  const form = (values: Record<string, string[]>) => ({
    get: (key: string) => values[key]?.[0] ?? null,
    getAll: (key: string) => values[key] ?? [],
  });

  it('are read from a schema and give the content', () => {
    const fields = fieldsOf(schema);
    expect(fields.map(({ kind }) => kind)).toEqual(['text', 'integer', 'boolean', 'choice', 'choices']);
    const values = { name: ['x'], age: ['7'], ok: ['on'], size: ['m'], tags: ['a'] };
    expect(readFields(fields, form(values))).toEqual({ name: 'x', age: 7, ok: true, size: 'm', tags: ['a'] });
    expect(readFields(fields, form({ name: ['x'] }))).toEqual({ name: 'x', ok: false, tags: [] });
    expect(readFields(fields, form({}))).toBe('name is required.');
    expect(readFields(fields, form({ name: ['x'], age: ['old'] }))).toBe('age must be a number.');
  });

  it('of something that is no schema are none', () => {
    expect([fieldsOf(null), fieldsOf('x'), fieldsOf({ properties: [] })]).toEqual([[], [], []]);
  });
});
