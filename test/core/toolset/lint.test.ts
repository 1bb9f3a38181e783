import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { countWarnings, definitionsAtFirst, type LintedTool, lintTools } from '../../../src/core/toolset/lint.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import { describeCorpus, readJson } from '../../fixtures.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { printStatistics } from '../../statistics.ts';

function toolNamed(wireName: string, description: string, more: Partial<LintedTool> = {}): LintedTool {
  return { canonical: `s.${wireName}`, wireName, ownName: wireName, description, state: 'ready', kind: 'mcp', aliases: [], ...more };
}
const advice = (...tools: LintedTool[]): string[] => lintTools(tools).map(({ path, message }) => `${path}: ${message}`);

describe('advice about tools', () => {
  it('is empty for well described and named tools', () => {
    expect(advice(toolNamed('read_file', 'Reads a file.'), toolNamed('write_file', 'Writes a file.'))).toEqual([]);
  });

  it('covers names longer than 40 characters, including function aliases', () => {
    const long = 'a'.repeat(41);
    const aliases = [
      { name: `b${long}`, mode: 'function' },
      { name: `c${long}`, mode: 'hidden' },
    ];
    expect(advice(toolNamed('a'.repeat(40), 'One.'), toolNamed(long, 'Two.', { aliases }))).toEqual([
      expect.stringMatching(/^tools\[1\]: "a{41}" \(s\.a+\) has 41 characters/),
      expect.stringMatching(/^tools\[1\]: "ba{41}" .* has 42 characters/),
    ]);
  });

  it('covers empty and long descriptions', () => {
    expect(advice(toolNamed('one', ' \n'), toolNamed('two', 'x'.repeat(2_001)), toolNamed('three', 'x'.repeat(2_000)))).toEqual([
      expect.stringMatching(/^tools\[0\]: s\.one has no description/),
      expect.stringMatching(/^tools\[1\]: the description of s\.two has 2001 characters/),
    ]);
  });

  it('skips UI tools and tools without a definition', () => {
    expect(advice(toolNamed('a', '', { state: 'missing' }), toolNamed('b', '', { kind: 'ui' }))).toEqual([]);
    expect(advice(toolNamed('c', '', { state: 'held' }))).toHaveLength(1);
  });

  it('is counted beyond a limit per kind', () => {
    const many = Array.from({ length: limits.maxReportedWarnings + 3 }, (_, index) => toolNamed(`tool_${index}`, ''));
    expect(advice(...many).slice(-2)).toEqual([expect.stringMatching(/^tools\[19\]: /), 'tools: and 3 more tools without a description']);
  });
});

describe('warnings about equal descriptions', () => {
  const warned = (one: [string, string], two: [string, string]): string[] => advice(toolNamed(...one), toolNamed(...two));
  const text =
    'Searches the knowledge base of the company for articles that fit the words of the query and returns the titles, links and a short extract of each.';

  it('name both tools', () => {
    expect(warned(['search_docs', text], ['lookup', text.toUpperCase().replaceAll(' ', '\n')])).toEqual([
      expect.stringMatching(/^tools\[1\]: "lookup" \(s\.lookup\) has the same description as "search_docs" \(s\.search_docs\)/),
    ]);
    expect(warned(['by_lunar_date', '根据农历时间来获取八字信息。'], ['lunar', '根据农历时间来获取八字信息'])).toHaveLength(1);
  });

  it.each<[[string, string], [string, string]]>([
    [
      ['create_issue', 'Create a new issue in a GitHub repository'],
      ['create_label', 'Create a new label in a GitHub repository'],
    ],
    [
      ['search', 'Search'],
      ['find', 'Search'],
    ],
    [
      ['by_lunar_date', '根据农历时间、性别来获取八字信息。'],
      ['by_solar_date', '根据阳历时间、性别来获取八字信息。'],
    ],
    [
      ['search_docs', text],
      ['lookup', `${text} Fast.`],
    ],
  ])('do not cover %j and %j, which differ', (one, two) => {
    expect(warned(one, two)).toEqual([]);
    expect(warned(two, one)).toEqual([]);
  });

  it('cover every repeated text in any spelling, in any order', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 3, maxLength: 40 });
    fc.assert(
      fc.property(words, fc.nat(200), fc.nat(200), (description, before, between) => {
        const others = (count: number, kind: string) =>
          Array.from({ length: count }, (_, index) => toolNamed(`${kind}${index}`, `${kind} number ${index} of many`));
        const first = toolNamed('first', description.join(' '));
        const again = toolNamed('again', `${description.join(', ').toUpperCase()}!`);
        const tools = [...others(before, 'one'), first, ...others(between, 'two'), again];
        expect(advice(...tools)).toEqual([
          expect.stringContaining(`tools[${tools.length - 1}]: "again" (s.again) has the same description as "first"`),
        ]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('advice about the number of definitions', () => {
  it.each([
    [40, []],
    [41, [expect.stringMatching(/^41 definitions .*Cursor accepts 40/)]],
    [128, [expect.stringMatching(/^128 definitions .*Cursor accepts 40/)]],
    [129, [expect.stringMatching(/^129 definitions .*OpenAI and Copilot accept 128/)]],
  ])('for %i of them is %j', (count, messages) => {
    expect(countWarnings(count).map(({ message }) => message)).toEqual(messages);
  });

  it('counts the definitions of the first step', () => {
    const tools = Array.from({ length: 70 }, (_, index) => toolNamed(`tool_${index}`, `Does ${index}.`));
    const withFunction = toolNamed('more', 'More.', { alwaysOffered: true, aliases: [{ name: 'again', mode: 'function' }] });
    expect(definitionsAtFirst([...tools, withFunction])).toBe(3);
    expect(definitionsAtFirst([...tools, withFunction], 71)).toBe(72);
    // If all tools are always sent, there is nothing to find.
    expect(definitionsAtFirst([...tools, withFunction].map((tool) => ({ ...tool, alwaysOffered: true })))).toBe(72);
    const ownFunction = toolNamed('run', 'Runs.', { aliases: [{ name: 'run', mode: 'function' }] });
    expect(definitionsAtFirst([ownFunction])).toBe(1);
    expect(definitionsAtFirst(tools.map((tool) => ({ ...tool, state: 'held' })))).toBe(0);
  });

  it('is part of the warnings of a toolset write', async () => {
    const tools = Array.from({ length: 50 }, (_, index) => toolOf('s', `tool_${index}`));
    const { warnings } = await compile({ tools: tools.map(({ canonical }) => ({ tool: canonical })) }, knownTools(tools));
    expect(warnings).toEqual([expect.stringMatching(/^tools: 50 definitions are offered from the start/)]);
  });
});

describeCorpus('mcp-tools/index.json', (path) => {
  const index = readJson<{ servers: { server: string; file: string }[] }>(path);
  const tools = index.servers.flatMap(({ server, file }) =>
    readJson<(Partial<ToolDefinition> & { name: string })[]>(path.replace(basename(path), file)).map(({ name, description = '' }) =>
      toolNamed(name, description, { canonical: `${server}.${name}` }),
    ),
  );

  it('has few tools with the description of another', () => {
    const pairs = lintTools(tools).filter(({ message }) => message.includes('has the same description as'));
    printStatistics(`${tools.length} descriptions, ${pairs.length} equal to another:\n${pairs.map(({ message }) => message).join('\n')}`);
    expect(pairs).toHaveLength(8);
  });
});
