/** Which tools code names: read from its text, past strings, comments, templates and regular expressions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCodeUses } from '../../src/core/made/code-uses.ts';

const named = (code: string): string[] => readCodeUses(code).names.map(({ name }) => name);

describe('readCodeUses', () => {
  it.each([
    ['await tools.read_file({ path: args.path })', ['read_file']],
    ['await tools["docs.search"]({}); tools[\'a\'](); tools[`b`]()', ['docs.search', 'a', 'b']],
    ['tools?.a(); tools?.["b"]()', ['a', 'b']],
    ['tools\n  // of files\n  ./* the */read_file()', ['read_file']],
    ['globalThis.tools.a()', ['a']],
    ['tools.a(); tools.b(); tools.a()', ['a', 'b']],
    ['tools.builtin.read_file({}); tools.a.call(null, {}); list.map(tools.b.bind(null))', ['builtin.read_file', 'a', 'b']],
    ['tools.a({}).then(f)', ['a']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the string is code to be parsed
    ['return `x ${await tools.a({ q: `${tools.b()} tools.c` })} tools.d ${tools.e()}`', ['a', 'b', 'e']],
    ["return \"tools.a\" + 'tools.b\\'tools.c' // tools.d\n/* tools.e */", []],
    ['x = /tools.a["\']/.test(y) ? tools.b : tools.c', ['b', 'c']],
    ['x = y / tools.a / z', ['a']],
    ['if (x) /"/.test(tools.a); else f(y) / 2 / tools.b', ['a', 'b']],
    ['const f = () => { return /[/"]tools.a/g }; tools.b', ['b']],
    ['mytools.a(); my.tools.b(); tools2.c()', []],
    ['f({ tools: 1, other: tools.a })', ['a']],
    ['tools.naïve(); tools.$a_1()', ['naïve', '$a_1']],
  ])('finds in %j the names %j', (code, names) => {
    expect(readCodeUses(code)).toEqual({ names: names.map((name) => expect.objectContaining({ name })), unread: null });
  });

  it.each([
    'tools[args.name]()',
    'const t = tools',
    'Object.keys(tools)',
    'f({ tools })',
    'const { a } = tools',
    'tools["a" + b]()',
    'tools["\\x61"]()',
    'tools.#a',
    'g(...tools)',
  ])('reports the line of %j as not readable', (code) => {
    expect(readCodeUses(`// one\n${code}`).unread).toBe(2);
  });

  it('gives each name its line', () => {
    const code = 'const text = `\n\n`;\n/*\n*/ tools.a();\n"\\\n"; tools.b()';
    expect(readCodeUses(code).names).toEqual([
      { name: 'a', line: 5 },
      { name: 'b', line: 7 },
    ]);
  });

  it('ignores comments and strings between calls', () => {
    const noise = fc.constantFrom(
      '/* tools.x */ ',
      '// tools.x "`\n',
      '"tools.x \' ` /*"; ',
      "'tools.x // \\' '; ",
      '`tools.x " /* `; ',
      'y = /tools.x"\'`[/]/g; ',
      '\n',
      'y = 1 / 2; ',
    );
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the string is code to be parsed
    const call = fc.constantFrom('tools.a(); ', 'tools["b"](); ', '`${tools.c()}`; ');
    fc.assert(
      fc.property(fc.array(fc.oneof(noise, call), { maxLength: 40 }), (parts) => {
        const code = parts.join('');
        const expected = [
          ...new Set(
            parts.flatMap((part) =>
              (['a', 'b', 'c'] as const).filter((name) => part.includes(name === 'b' ? 'tools["b"]' : `tools.${name}()`)),
            ),
          ),
        ];
        expect(readCodeUses(code)).toEqual({ names: expected.map((name) => expect.objectContaining({ name })), unread: null });
      }),
    );
  });

  it('finds only names that any text contains', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({
        unit: fc.constantFrom('`', '$', '{', '}', '/', '*', '"', "'", '\\', '\n', '(', ')', '[', ']', 'tools', '.', 'a'),
        maxLength: 400,
      }),
    );
    fc.assert(
      fc.property(text, (code) => {
        expect(named(code).every((name) => code.includes(name))).toBe(true);
      }),
    );
  });
});
