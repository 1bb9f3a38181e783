import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import type { Edition } from '../../../src/core/toolset/edition-tool.ts';
import { explainHit } from '../../../src/core/toolset/explain.ts';
import { namesOfEntries } from '../../../src/core/toolset/settle-names.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { announceBlock } from '../../../src/core/toolset/model-definitions.ts';
import type { WireName } from '../../../src/core/names/names.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

const terminal = toolOf('local', 'terminalRun', { kind: 'local', aliases: ['bash', 'shell', 'run'] });
const bash = toolOf('builtin', 'bash', { kind: 'builtin', aliases: ['shell', 'exec'] });
const known = knownTools([
  terminal,
  bash,
  toolOf('github', 'search', { description: 'Searches issues.' }),
  toolOf('jira', 'search', { description: 'Searches tickets.' }),
  toolOf('notes', 'create_tool'),
  toolOf('study', 'create_flashcard'),
  toolOf('web', 'web_search'),
  toolOf('a', 'terminalCd'),
  toolOf('modes', 'it', {
    aliases: ['open_it', { name: 'old_it', mode: 'deprecated', note: 'use open_it' }, { name: 'quiet', mode: 'hidden' }],
  }),
]);
const wireNames = (edition: Edition): string[] => edition.tools.map(({ wireName }) => wireName);
const meant = (edition: Edition, name: string): string => {
  const found = resolveName(buildAliasMap(edition, { aliases: true }), name);
  return found.ok ? found.canonical : found.code;
};

describe('default aliases', () => {
  it('include names of built-in tools that the toolset does not list', async () => {
    const { edition, warnings } = await compile({ tools: [{ tool: 'local.terminalRun' }] }, known);
    expect(['bash', 'shell', 'run', 'terminalRun'].map((name) => meant(edition, name))).toEqual(Array(4).fill('local.terminalRun'));
    expect(warnings.join('\n')).not.toContain('left out');
  });

  it('are left out with a warning if another tool of the toolset has the name, in any order', async () => {
    const entries = [{ tool: 'local.terminalRun' }, { tool: 'builtin.bash' }];
    for (const tools of [entries, entries.toReversed()]) {
      const { edition, warnings } = await compile({ tools }, known);
      expect(['bash', 'shell', 'exec', 'run'].map((name) => meant(edition, name))).toEqual([
        'builtin.bash',
        'unknown_tool',
        'builtin.bash',
        'local.terminalRun',
      ]);
      expect(warnings.filter((text) => text.includes('left out'))).toHaveLength(3);
      expect(warnings.join('\n')).toContain('"bash", a default alias of local.terminalRun, is left out: builtin.bash claims that name too');
    }
  });

  it('give way to names that the toolset gives', async () => {
    const { edition } = await compile({ tools: [{ tool: 'local.terminalRun' }, { tool: 'web.web_search', aliases: ['run'] }] }, known);
    expect(meant(edition, 'run')).toBe('web.web_search');
  });

  it('have the modes that were set for the tool', async () => {
    const { edition } = await compile({ tools: [{ tool: 'modes.it' }] }, known);
    expect(edition.tools[0]?.aliases).toEqual([
      { name: 'open_it', mode: 'announced' },
      { name: 'old_it', mode: 'deprecated', note: 'use open_it' },
      { name: 'quiet', mode: 'hidden' },
    ]);
  });

  it('leave the wire names of an earlier edition unchanged', async () => {
    const toolset = Toolset.parse({ tools: [{ tool: 'builtin.bash' }, { tool: 'github.search' }] });
    const input = { workspace: 'default', name: 'test', toolset };
    // As an edition of release 0.1.0, where the first default alias became the wire name.
    const before = (await compileEdition({ ...input, known })).edition.tools.map((tool, index) =>
      index === 0 ? { ...tool, wireName: 'shell' as WireName } : tool,
    );
    const changed = knownTools([{ ...bash, aliases: ['terminal'] }, toolOf('github', 'search', { aliases: ['shell', 'find'] })]);
    const { edition } = await compileEdition({ ...input, known: changed, before });
    expect(wireNames(edition)).toEqual(['shell', 'search']);
    expect(['shell', 'terminal', 'find'].map((name) => meant(edition, name))).toEqual(['builtin.bash', 'builtin.bash', 'github.search']);
    expect(wireNames((await compileEdition({ ...input, known: changed })).edition)).toEqual(['bash', 'search']);
  });
});

describe('own names that tools share', () => {
  it('get the name of the server, with a warning for each', async () => {
    const entries = [{ tool: 'github.search' }, { tool: 'jira.search' }];
    for (const tools of [entries, entries.toReversed()]) {
      const { edition, warnings } = await compile({ tools }, known);
      expect(wireNames(edition).toSorted()).toEqual(['github_search', 'jira_search']);
      expect(meant(edition, 'search')).toBe('ambiguous_tool');
      expect(warnings).toHaveLength(2);
      expect(warnings.join('\n')).toContain(
        '"search" is the own name of jira.search and of github.search, so jira.search is called "jira_search"; set name',
      );
    }
  });

  it('are named the same in views of the document, and explained', async () => {
    const document = Toolset.parse({ nameMap: { issues: 'github.search' }, tools: [{ tool: 'github.search' }, { tool: 'jira.search' }] });
    expect(namesOfEntries(document, known).map(({ wireName, aliases }) => [wireName, aliases.map(({ name }) => name)])).toEqual([
      ['github_search', ['issues']],
      ['jira_search', []],
    ]);
    const map = buildAliasMap((await compile(document, known)).edition, { aliases: true });
    const hit = resolveName(map, 'jira_search');
    if (!hit.ok) throw new Error('It resolves.');
    expect(explainHit(map, hit).because).toBe(
      '"jira_search" is the wire name of jira.search, derived from its server and its own name "search", which another tool has too.',
    );
  });

  it('get it too if a tool that we add has the name', async () => {
    const { edition } = await compile({ tools: [{ tool: 'notes.create_tool' }] }, known);
    expect(wireNames(edition)).toEqual(['notes_create_tool']);
  });

  it('get a hash if the name with the server is used', async () => {
    const { edition } = await compile(
      { tools: [{ tool: 'github.search' }, { tool: 'jira.search' }, { tool: 'web.web_search', name: 'githubSearch' }] },
      known,
    );
    expect(wireNames(edition)).toEqual([expect.stringMatching(/^search_[0-9a-f]{10}$/), 'jira_search', 'githubSearch']);
  });
});

it('warns of an alias that differs from the name of another tool in spelling only', async () => {
  const { warnings } = await compile(
    { tools: [{ tool: 'a.terminalCd' }, { tool: 'web.web_search', aliases: [{ name: 'terminalcd', mode: 'hidden' }] }] },
    known,
  );
  expect(warnings).toEqual([
    'tools[1]: "terminalcd" differs from "terminalCd" (a.terminalCd) in spelling only; any other spelling is ambiguous',
  ]);
});

it('uses own names as wire names with `names: "primary"`, and announces the aliases', async () => {
  const { edition } = await compile(
    { names: 'primary', announce: 'prompt', tools: [{ tool: 'local.terminalRun' }, { tool: 'web.web_search', aliases: ['find'] }] },
    known,
  );
  expect(wireNames(edition)).toEqual(['terminalRun', 'web_search']);
  expect(['run', 'shell', 'find'].map((name) => meant(edition, name))).toEqual([
    'local.terminalRun',
    'local.terminalRun',
    'web.web_search',
  ]);
  const block = announceBlock(buildAliasMap(edition, { aliases: true }));
  expect(block).toContain('- terminalRun = local.terminalRun (aliases: bash, shell, run)');
  expect(block).toContain('- web_search = web.web_search (aliases: find)');
});

describe('the name map of a workspace', () => {
  const nameMap = {
    websearch: 'web_search',
    'Mind Map': 'study.create_flashcard',
    find: 'search',
    exec: 'web_search',
    absent: 'no_such_tool',
    use_skill: 'web_search',
    cards: 'create_flashcard',
  };
  const mapped = { ...known, nameMap };

  it('adds hidden aliases to the tools that a toolset has, and changes no wire name', async () => {
    const tools = [{ tool: 'web.web_search' }, { tool: 'study.create_flashcard' }, { tool: 'github.search' }, { tool: 'builtin.bash' }];
    const [plain, { edition, warnings }] = [await compile({ tools }, known), await compile({ tools }, mapped)];
    expect(wireNames(edition)).toEqual(wireNames(plain.edition));
    expect(['WebSearch', 'mind_map', 'find', 'exec', 'use_skill'].map((name) => meant(edition, name))).toEqual([
      'web.web_search',
      'study.create_flashcard',
      'github.search',
      'builtin.bash',
      'unknown_tool',
    ]);
    expect(warnings.filter((text) => text.includes('a name of the workspace'))).toHaveLength(2);
  });

  it('applies where a toolset turns default aliases off, and not to tools that share the meant name', async () => {
    const tools = [
      { tool: 'github.search', aliases: [] },
      { tool: 'jira.search', aliases: [] },
      { tool: 'web.web_search', aliases: [] },
    ];
    const { edition, warnings } = await compile({ tools }, mapped);
    expect(['find', 'exec'].map((name) => meant(edition, name))).toEqual(['unknown_tool', 'web.web_search']);
    expect(warnings.join('\n')).toContain('"find", a name of the workspace, is left out: "search" matches several tools');
  });

  it('gives way to the map of a toolset', async () => {
    const tools = [{ tool: 'web.web_search' }, { tool: 'study.create_flashcard' }];
    const { edition, warnings } = await compile({ nameMap: { Cards: 'web_search' }, tools }, mapped);
    expect(meant(edition, 'cards')).toBe('web.web_search');
    expect(warnings.join('\n')).not.toContain('"cards"');
  });

  it('never makes a toolset invalid, whatever it names', async () => {
    const names = fc.constantFrom(
      'search',
      'github_search',
      'jira_search',
      'bash',
      'shell',
      'web_search',
      'terminal-run',
      'x',
      'a.b',
      'Web Search',
    );
    const entries = fc.uniqueArray(fc.constantFrom('github.search', 'jira.search', 'web.web_search', 'local.terminalRun', 'builtin.bash'), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, names), entries, async (map, listed) => {
        const document = { tools: listed.map((tool) => ({ tool })) };
        const plain = await compile(document, known);
        const { edition } = await compile(document, { ...known, nameMap: map });
        expect(wireNames(edition)).toEqual(wireNames(plain.edition));
        for (const { wireName, canonical, aliases } of plain.edition.tools)
          for (const name of [wireName, canonical, ...aliases.map((alias) => alias.name)])
            expect(meant(edition, name)).toBe(meant(plain.edition, name));
      }),
    );
  });
});

describe('a name map', () => {
  const tools = [
    { tool: 'study.create_flashcard', aliases: ['flashcard'] },
    { tool: 'web.web_search', name: 'search' },
  ];

  it('adds hidden aliases in any spelling', async () => {
    const nameMap = { flashcards: 'flashcard', websearch: 'search', 'Mind Map': 'create_flashcard', Search: 'web.web_search' };
    const { edition } = await compile({ nameMap, tools }, known);
    expect(wireNames(edition)).toEqual(['flashcard', 'search']);
    expect(['flashcards', 'MindMap', 'WebSearch'].map((name) => meant(edition, name))).toEqual([
      'study.create_flashcard',
      'study.create_flashcard',
      'web.web_search',
    ]);
    expect(edition.tools[0]?.aliases).toEqual([
      { name: 'flashcard', mode: 'announced' },
      { name: 'flashcards', mode: 'hidden' },
      { name: 'mind_map', mode: 'hidden' },
    ]);
  });

  it('turns a default alias into a name of the toolset, which is never left out', async () => {
    const entries = [{ tool: 'local.terminalRun' }, { tool: 'builtin.bash' }];
    const { edition } = await compile({ nameMap: { shell: 'terminalRun' }, tools: entries }, known);
    expect(meant(edition, 'shell')).toBe('local.terminalRun');
  });

  it('is refused with the path of each wrong name', async () => {
    const problem = await refusalOf({ nameMap: { cards: 'flashcrd', '1x': 'search', constructor: 'search' }, tools }, known);
    const issues = problem.extra.issues as { path: string; message: string }[];
    expect(new Map(issues.map(({ path, message }) => [path, message]))).toEqual(
      new Map([
        ['nameMap["cards"]', '"flashcrd" is no tool of this toolset; did you mean flashcard?'],
        ['nameMap["1x"]', expect.stringContaining('cannot be a name')],
        ['nameMap["constructor"]', expect.stringContaining('cannot be a name')],
      ]),
    );
  });

  it('is refused if a name is that of another tool', async () => {
    const problem = await refusalOf({ nameMap: { search: 'flashcard' }, tools }, known);
    expect(problem.code).toBe('name_conflict');
  });
});
