/**
 * Allow-lists, including the test cases of the naming ADR's design (`reference/seeds.md` §4.1, §4.2) over a toolset built like its tools:
 * the spellings that its tables listed are aliases here. Each difference is noted at its test.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { allowListWarnings, matchAllowList } from '../../../src/core/toolset/allow-list.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import type { UiTool } from '../../../src/core/tools/ui-tool.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

/** Tool kind → name of the function that a model calls. No list could reach two further functions. */
const functions = {
  mindmap: 'create_mindmap',
  quiz: 'create_quiz',
  flashcard: 'create_flashcards',
  demo: 'create_demo',
  search: 'web_search',
  diagram: 'create_diagram',
  timeline: 'create_timeline',
  summary: 'create_summary',
  calculator: 'create_calculator',
  archive: 'search_archive',
  comment: 'student_summary_add_comment',
  editor: 'edit_text',
} as const;
/** Tools that it only showed in its pages. */
const pages = ['pdf', 'webcam', 'homework', 'formula', 'chart'];
/** Other texts that it accepted as a kind. */
const otherNames: Record<string, string[]> = {
  flashcard: ['flashcards'],
  demo: ['html-interactive'],
  summary: ['open_student_summary'],
};

const pageOf = (name: string): ToolDefinition => {
  const ui: UiTool = { label: name, description: `Opens ${name}.`, category: 'upload', triggers: [] };
  return toolOf('ui', name, { kind: 'ui', description: ui.description, ui });
};
const hidden = (names: readonly string[]) => names.map((name) => ({ name, mode: 'hidden' }));
const { edition } = await compile(
  {
    tools: [
      ...Object.entries(functions).map(([kind, name]) => ({ tool: `study.${name}`, aliases: hidden([kind, ...(otherNames[kind] ?? [])]) })),
      ...pages.map((name) => ({ tool: `ui.${name}` })),
    ],
  },
  knownTools([...Object.values(functions).map((name) => toolOf('study', name)), ...pages.map(pageOf)]),
);
const names = buildAliasMap(edition, { aliases: true });
const allowed = (...list: string[]): string[] => matchAllowList(names, list).allow;
const unmatched = (...list: string[]): string[] =>
  matchAllowList(names, list).read.flatMap(({ name, canonicals }) => (canonicals.length === 1 ? [] : [name]));
const said = (...list: string[]): string[] => allowListWarnings(names, list, 'study').map(({ path, message }) => `${path}: ${message}`);

describe('matchAllowList', () => {
  it('ignores a leading verb if nothing else matches, and never takes one verb for another', async () => {
    const tools = ['create_mindmap', 'get_issue', 'create_issue', 'weather', 'delete_note', 'read_file', 'write_file', 'runReport'];
    const plain = await compile(
      { tools: tools.map((name) => ({ tool: `s.${name}` })) },
      knownTools(tools.map((name) => toolOf('s', name))),
    );
    const map = buildAliasMap(plain.edition, { aliases: true });
    const allowedBy = (...list: string[]): string[] => matchAllowList(map, list).allow;
    expect(allowedBy('MindMap')).toEqual(['s.create_mindmap']);
    expect(matchAllowList(map, ['MindMap', 'runReport', 'nothing']).accepted).toEqual({ MindMap: 's.create_mindmap' });
    expect(allowedBy('mind-map', 'report', 'File')).toEqual(['s.create_mindmap', 's.runReport', 's.read_file']);
    expect(allowedBy('get_weather', 'GetWeather')).toEqual(['s.weather']);
    expect(allowedBy('make_mindmap', 'issue', 'note', 'open_issue', 'get', '')).toEqual([]);
    expect(allowListWarnings(map, ['issue'], 's')[0]?.message).toContain('matches several tools');
  });

  it('has as many tools as the design that it is tested against', () => {
    expect(edition.tools).toHaveLength(17);
  });

  it('reads the kinds of the ADR in PascalCase', () => {
    expect(allowed('MindMap', 'Quiz', 'Flashcards', 'WebSearch')).toEqual([
      'study.create_mindmap',
      'study.create_quiz',
      'study.create_flashcards',
      'study.web_search',
    ]);
    expect(allowed('HtmlInteractive')).toEqual(['study.create_demo']);
    expect(allowed('open_student_summary')).toEqual(['study.create_summary']);
  });

  it('reads what the ADR could not: function names, snake_case of two words, surrounding white space', () => {
    expect(allowed('web_search')).toEqual(['study.web_search']);
    expect(allowed('mind_map')).toEqual(['study.create_mindmap']);
    expect(allowed('create_mindmap')).toEqual(['study.create_mindmap']);
    expect(allowed(' MindMap')).toEqual(['study.create_mindmap']);
    // In the ADR no list reached these, since they had no kind.
    expect(allowed('search_archive', 'CreateCalculator', 'comment')).toEqual([
      'study.search_archive',
      'study.create_calculator',
      'study.student_summary_add_comment',
    ]);
  });

  it('allows nothing for an empty list; the ADR allowed everything', () => {
    expect(allowed()).toEqual([]);
  });

  it('allows UI tools, which the ADR dropped: they are proposed but not sent to models', () => {
    expect(allowed('pdf', 'webcam', 'homework', 'formula', 'chart')).toEqual(pages.map((name) => `ui.${name}`));
    expect(said('pdf', 'webcam', 'homework', 'formula', 'chart')).toEqual([
      'tools: The list allows only UI tools, so models are offered no tools.',
    ]);
  });

  it('matches no tool names of another product', () => {
    expect(allowed('Task', 'Read', 'Write', 'Audio', 'Canvas')).toEqual([]);
    expect(unmatched('Task', 'Read', 'Write', 'Audio', 'Canvas')).toEqual(['Task', 'Read', 'Write', 'Audio', 'Canvas']);
  });

  it('keeps the order of a mixed list and reports unmatched names', () => {
    const list = ['Task', 'Read', 'MindMap', 'Quiz', 'pdf'];
    expect(allowed(...list)).toEqual(['study.create_mindmap', 'study.create_quiz', 'ui.pdf']);
    expect(unmatched(...list)).toEqual(['Task', 'Read']);
  });

  it('matches some tools of a mixed list of 18 names, not all', () => {
    const list =
      'Task Read Write WebSearch MindMap Quiz Flashcards Demo Search Summary PDF Webcam Homework Formula Chart Timeline Audio Canvas'.split(
        ' ',
      );
    expect(list).toHaveLength(18);
    // Search is a duplicate of WebSearch: each tool is allowed once; the ADR kept both.
    expect(allowed(...list)).toHaveLength(12);
    expect(unmatched(...list)).toEqual(['Task', 'Read', 'Write', 'Audio', 'Canvas']);
  });

  it('rejects members of every object, which the ADR accepted as tools', () => {
    const members = ['constructor', 'Constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'];
    expect(allowed(...members)).toEqual([]);
    expect(unmatched(...members)).toEqual(members);
  });

  it('rejects invalid names', () => {
    expect(allowed('', ' ', '-', '_._', '*', 'x'.repeat(5_000), 'study.', '\uFEFFquiz', 'quiz\u0000')).toEqual([]);
  });

  it('matches a known name in any case, with any separators and prefixes', () => {
    const known = edition.tools.flatMap(({ canonical, ownName, aliases }) =>
      [canonical, ownName, ...aliases.map(({ name }) => name)].map((name) => ({ name, canonical: canonical as string })),
    );
    const separator = fc.constantFrom('', '-', '_', '.', ' ', '__');
    const spelling = fc.record({
      which: fc.constantFrom(...known),
      upper: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      between: fc.array(separator, { minLength: 6, maxLength: 6 }),
      prefix: fc.constantFrom('', 'functions.', 'tools.', 'default_api:', 'Functions.'),
      edge: fc.constantFrom('', ' ', '\t', '\n '),
    });
    fc.assert(
      fc.property(spelling, ({ which: { name, canonical }, upper, between, prefix, edge }) => {
        const words = name.split(/[-_.]/);
        const spelt = words.map((word, index) => `${index === 0 ? '' : between[index % between.length]}${word}`).join('');
        const cased = Array.from(spelt, (letter, index) => (upper[index % upper.length] ? letter.toUpperCase() : letter)).join('');
        expect(allowed(`${edge}${prefix}${cased}${edge}`)).toEqual([canonical]);
      }),
    );
  });

  it('matches names as calls do, exact before folded', async () => {
    const tools = ['get-logs', 'get_logs'].map((name, index) => toolOf(index === 0 ? 'a' : 'b', name));
    const logs = buildAliasMap((await compile({ tools: tools.map(({ canonical }) => ({ tool: canonical })) }, knownTools(tools))).edition, {
      aliases: true,
    });
    expect(matchAllowList(logs, ['get-logs']).allow).toEqual(['a.get-logs']);
    expect(matchAllowList(logs, ['GetLogs'])).toMatchObject({
      allow: [],
      read: [{ name: 'GetLogs', canonicals: ['a.get-logs', 'b.get_logs'], grant: null }],
    });
    expect(allowListWarnings(logs, ['GetLogs'], 'logs')).toEqual([
      {
        path: 'tools[0]',
        message: '"GetLogs" matches several tools of the toolset "logs", so it allows none of them. Write one of a.get-logs, b.get_logs.',
      },
      { path: 'tools', message: 'No name in the list matches a tool, so this agent has no tools.' },
    ]);
  });

  describe('several entries of one tool with different presets', async () => {
    const searches = (...entries: object[]) =>
      compile(
        { tools: entries.map((entry) => ({ tool: 'study.web_search', aliases: [], ...entry })) },
        knownTools([toolOf('study', 'web_search')]),
      );
    const twice = (await searches({}, { name: 'quick_search', aliases: ['fast'] }, { name: 'deep_search' })).edition;
    const listed = (aliases: boolean, ...list: string[]) => {
      const full = buildAliasMap(twice, { aliases });
      const off = buildAliasMap(twice, { aliases: false, allow: matchAllowList(full, list).allow });
      const on = buildAliasMap(twice, { aliases: true, allow: matchAllowList(full, list).allow });
      expect(off.tools).toHaveLength(on.tools.length);
      return on.tools.map(({ wireName }) => wireName);
    };

    it.each([true, false])('allows only the entry with the given name (aliases: %s)', (aliases) => {
      expect(listed(aliases, 'QuickSearch')).toEqual(['quick_search']);
      expect(listed(aliases, 'fast')).toEqual(['quick_search']);
      expect(listed(aliases, 'deep-search', 'web_search')).toEqual(['web_search', 'deep_search']);
    });

    it('allows all of them by a name of the tool', () => {
      const all = ['web_search', 'quick_search', 'deep_search'];
      for (const list of [['study.web_search'], ['WebSearch'], ['study_web_search'], ['fast', 'study.web_search', 'deep_search']]) {
        expect(listed(true, ...list)).toEqual(all);
        expect(matchAllowList(buildAliasMap(twice, { aliases: true }), list).allow).toEqual(['study.web_search']);
      }
    });

    it('are distinguished in warnings about a list', () => {
      const names = buildAliasMap(twice, { aliases: true });
      expect(allowListWarnings(names, ['quick_search', 'deep_search'], 'study')).toEqual([]);
      expect(allowListWarnings(names, ['quick_search', 'fast', 'study.web_search'], 'study').map(({ path }) => path)).toEqual(['tools[1]']);
    });
  });

  it('matches aliases even if they are not announced to models', () => {
    const plain = buildAliasMap(edition, { aliases: false });
    expect(matchAllowList(plain, ['MindMap', 'HtmlInteractive']).allow).toEqual(['study.create_mindmap', 'study.create_demo']);
  });
});

describe('allowListWarnings', () => {
  it('returns nothing for a correct list', () => {
    expect(said('MindMap', 'pdf')).toEqual([]);
  });

  it('reports names without a match and suggests similar names', () => {
    expect(said('MindMap', 'creat_quiz', 'Audio')).toEqual([
      'tools[1]: "creat_quiz" matches no tool of the toolset "study"; did you mean create_quiz, create_calculator, create_demo, create_diagram, create_flashcards?',
      'tools[2]: "Audio" matches no tool of the toolset "study".',
    ]);
  });

  it('reports names of the same tool', () => {
    expect(said('MindMap', 'quiz', 'mind_map', 'MindMap')).toEqual([
      'tools[2]: "mind_map" is a duplicate of tools[0] (study.create_mindmap). Remove one of them.',
      'tools[3]: "MindMap" is a duplicate of tools[0] (study.create_mindmap). Remove one of them.',
    ]);
  });

  it('reports that an agent has no tools', () => {
    expect(said()).toEqual(['tools: The list is empty, so this agent has no tools. Leave `tools` out to allow the whole toolset.']);
    expect(said('Task').at(-1)).toBe('tools: No name in the list matches a tool, so this agent has no tools.');
  });

  it('reports that no allowed tool can be called now', () => {
    const held = { ...edition, tools: edition.tools.map((tool) => ({ ...tool, state: 'held' as const })) };
    expect(allowListWarnings(buildAliasMap(held, { aliases: true }), ['quiz'], 'study')).toEqual([
      { path: 'tools', message: 'None of the allowed tools can be called now: all are held or missing.' },
    ]);
  });

  it('bounds the number of searches for similar names', () => {
    const list = Array.from({ length: 60 }, (_, index) => `creat_quiz${'z'.repeat(index % 2)}`);
    expect(said(...list).filter((line) => line.includes('did you mean'))).toHaveLength(20);
  });
});
