import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../../src/core/toolset/alias-map.ts';
import { fold } from '../../../src/core/names/fold.ts';
import type { NameConflict } from '../../../src/core/toolset/name-claims.ts';
import { isAlias } from '../../../src/core/names/names.ts';
import { Problem } from '../../../src/core/problem.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

type Entry = { tool: string; name?: string; aliases?: (string | { name: string; mode?: string })[] };

const known = knownTools([
  ...['bash', 'read_file', 'delete_file', 'use_skill', 'build-toolset'].map((name) => toolOf('builtin', name)),
  ...['search', 'find', 'get-logs'].map((name) => toolOf('a', name)),
  ...['search', 'get_logs', 'create_tool'].map((name) => toolOf('b', name)),
  toolOf('c', 'search'),
  toolOf('d', 'lookup', { aliases: ['find-it'] }),
]);

/** `[]` if it compiles. */
async function wholeConflictsOf(tools: Entry[]): Promise<NameConflict[]> {
  try {
    await compile({ tools }, known);
    return [];
  } catch (error) {
    if (error instanceof Problem && error.code === 'name_conflict') return error.extra.conflicts as NameConflict[];
    throw error;
  }
}

/** Without the claims, which have the positions of the entries. Tried in both orders, since the rest must not depend on the order. */
async function conflictsOf(tools: Entry[]): Promise<Omit<NameConflict, 'claims'>[]> {
  const verdict = async (entries: Entry[]) => (await wholeConflictsOf(entries)).map(({ claims: _claims, ...conflict }) => conflict);
  const conflicts = await verdict(tools);
  expect(await verdict(tools.toReversed())).toEqual(conflicts);
  return conflicts;
}

describe('a clash', () => {
  it.each<[string, Entry[], string, [string, string]]>([
    [
      'one alias for two tools',
      [
        { tool: 'a.find', aliases: ['x1'] },
        { tool: 'builtin.bash', aliases: ['x1'] },
      ],
      'x1',
      ['a.find', 'builtin.bash'],
    ],
    [
      'two given names alike',
      [
        { tool: 'a.find', name: 'go' },
        { tool: 'builtin.bash', name: 'go' },
      ],
      'go',
      ['a.find', 'builtin.bash'],
    ],
    [
      'an alias and a given name',
      [
        { tool: 'builtin.bash', name: 'go' },
        { tool: 'a.find', aliases: ['go'] },
      ],
      'go',
      ['builtin.bash', 'a.find'],
    ],
    [
      'names apart in case only',
      [
        { tool: 'a.find', name: 'runIt' },
        { tool: 'builtin.bash', name: 'RunIt' },
      ],
      'RunIt',
      ['a.find', 'builtin.bash'],
    ],
    [
      'names apart in separators only',
      [
        { tool: 'a.find', aliases: ['web-search'] },
        { tool: 'builtin.bash', aliases: ['web_search'] },
      ],
      'web_search',
      ['a.find', 'builtin.bash'],
    ],
    [
      "an alias that is another tool's own name",
      [
        { tool: 'builtin.bash', aliases: ['read_file'] },
        { tool: 'builtin.read_file', name: 'cat' },
      ],
      'read_file',
      ['builtin.read_file', 'builtin.bash'],
    ],
    [
      "a hidden alias that is another tool's own name",
      [
        { tool: 'builtin.bash', aliases: [{ name: 'find', mode: 'hidden' }] },
        { tool: 'a.find', name: 'locate' },
      ],
      'find',
      ['a.find', 'builtin.bash'],
    ],
    [
      'a chain',
      [
        { tool: 'builtin.bash', aliases: ['find'] },
        { tool: 'a.find', aliases: ['read_it'] },
      ],
      'find',
      ['a.find', 'builtin.bash'],
    ],
    [
      'two given names of tools that share an own name',
      [
        { tool: 'a.search', name: 'seek' },
        { tool: 'b.search', name: 'seek' },
      ],
      'seek',
      ['a.search', 'b.search'],
    ],
    [
      'a default name and an alias of the same tool elsewhere',
      [{ tool: 'a.search' }, { tool: 'a.search', name: 'other', aliases: ['search'] }],
      'search',
      ['a.search', 'a.search'],
    ],
    [
      'an own name that another entry has too',
      [
        { tool: 'a.search', aliases: ['search'] },
        { tool: 'b.search', name: 'b_find' },
      ],
      'search',
      ['b.search', 'a.search'],
    ],
    ['a name of a tool we add', [{ tool: 'builtin.bash', aliases: ['use_skill'] }], 'use_skill', ['builtin.use_skill', 'builtin.bash']],
    ['such a name in another spelling', [{ tool: 'builtin.bash', name: 'findTools' }], 'findTools', ['builtin.find_tools', 'builtin.bash']],
    [
      "a configuration tool's name",
      [{ tool: 'builtin.bash', aliases: ['build_toolset'] }],
      'build_toolset',
      ['builtin.build-toolset', 'builtin.bash'],
    ],
  ])('is %s', async (_what, tools, name, pair) => {
    const conflicts = await conflictsOf(tools);
    expect(conflicts).toEqual([{ name, tools: pair, suggestion: expect.any(String) }]);
    expect(isAlias(conflicts[0]?.suggestion ?? '')).toBe(true);
  });

  it('includes both halves of a swap', async () => {
    const conflicts = await conflictsOf([
      { tool: 'builtin.delete_file', aliases: ['read_file'] },
      { tool: 'builtin.read_file', aliases: ['delete_file'] },
    ]);
    expect(conflicts.map(({ name, tools }) => [name, ...tools])).toEqual([
      ['delete_file', 'builtin.delete_file', 'builtin.read_file'],
      ['read_file', 'builtin.read_file', 'builtin.delete_file'],
    ]);
  });

  it('names every tool that claims the name and suggests another name for each', async () => {
    const conflicts = await conflictsOf(['a', 'b', 'c'].map((server) => ({ tool: `${server}.search`, name: 'seek' })));
    expect(conflicts).toEqual([
      { name: 'seek', tools: ['a.search', 'b.search'], suggestion: 'b_seek' },
      { name: 'seek', tools: ['a.search', 'c.search'], suggestion: 'c_seek' },
    ]);
  });

  it('is also described in the detail', async () => {
    const tools = ['a', 'b'].map((server) => ({ tool: `${server}.search`, name: 'seek' }));
    const problem = await refusalOf({ tools }, known);
    expect(problem.detail).toBe('"seek" is claimed by a.search and by b.search; name b.search "b_seek" instead.');
    expect(problem.status).toBe(409);
  });
});

describe('the claims of a clash', () => {
  const claimsOf = async (tools: Entry[]) => (await wholeConflictsOf(tools)).map(({ claims }) => claims);

  it.each<[string, Entry[], unknown[]]>([
    [
      'a given name and an alias',
      [
        { tool: 'a.find', aliases: ['seek', 'go'] },
        { tool: 'builtin.bash', name: 'go' },
      ],
      [
        { tool: 'builtin.bash', name: 'go', entry: 'tools[1]', path: 'tools[1].name', as: 'name', suggestion: 'builtin_go' },
        { tool: 'a.find', name: 'go', entry: 'tools[0]', path: 'tools[0].aliases[1]', as: 'alias', suggestion: 'a_go' },
      ],
    ],
    [
      'two spellings',
      [
        { tool: 'a.find', name: 'goThere' },
        { tool: 'builtin.bash', name: 'go_there' },
      ],
      [
        { tool: 'a.find', name: 'goThere', entry: 'tools[0]', path: 'tools[0].name', as: 'name', suggestion: 'a_gothere' },
        { tool: 'builtin.bash', name: 'go_there', entry: 'tools[1]', path: 'tools[1].name', as: 'name', suggestion: 'builtin_go_there' },
      ],
    ],
    [
      'an own name, which stays protected',
      [{ tool: 'builtin.bash', aliases: ['find'] }, { tool: 'a.find' }],
      [
        { tool: 'a.find', name: 'find', entry: 'tools[1]', path: 'tools[1]', as: 'own-name', suggestion: null },
        { tool: 'builtin.bash', name: 'find', entry: 'tools[0]', path: 'tools[0].aliases[0]', as: 'alias', suggestion: 'builtin_find' },
      ],
    ],
    [
      'a reserved name',
      [{ tool: 'builtin.bash', name: 'use_skill' }],
      [
        { tool: 'builtin.use_skill', name: 'use_skill', entry: null, path: null, as: 'reserved', suggestion: null },
        {
          tool: 'builtin.bash',
          name: 'use_skill',
          entry: 'tools[0]',
          path: 'tools[0].name',
          as: 'name',
          suggestion: 'builtin_bash',
        },
      ],
    ],
  ])('are of %s', async (_what, tools, claims) => {
    expect(await claimsOf(tools)).toEqual([claims]);
  });

  it('each have a name that solves the conflict', async () => {
    const tools: Entry[] = [
      { tool: 'a.find', name: 'go' },
      { tool: 'builtin.bash', aliases: ['go'] },
    ];
    const [claims = []] = await claimsOf(tools);
    for (const { tool, path, suggestion } of claims) {
      const renamed = tools.map((entry) => {
        if (entry.tool !== tool || suggestion === null) return entry;
        return path?.endsWith('.name') === true ? { ...entry, name: suggestion } : { ...entry, aliases: [suggestion] };
      });
      expect(await wholeConflictsOf(renamed), path ?? '').toEqual([]);
    }
  });
});

describe('no clash', () => {
  it.each<[string, Entry[]]>([
    ['tools with one own name under two wire names', [{ tool: 'a.search' }, { tool: 'b.search', name: 'b_find' }]],
    ["an alias equal to its own tool's name", [{ tool: 'a.search', aliases: ['search', 'look'] }]],
    ['two spellings of one name in one entry', [{ tool: 'a.search', aliases: ['web-search', 'web_search'], name: 'webSearch' }]],
    ['a tool in two entries with two names', [{ tool: 'a.search' }, { tool: 'a.search', name: 'look', aliases: ['peek'] }]],
    ['own names that only spelling tells apart', [{ tool: 'a.get-logs' }, { tool: 'b.get_logs' }]],
    ['two own names alike', [{ tool: 'a.search' }, { tool: 'b.search' }, { tool: 'c.search' }]],
    ['the own name of a tool we add', [{ tool: 'b.create_tool' }]],
    ['a default alias that another entry has', [{ tool: 'd.lookup' }, { tool: 'builtin.bash', aliases: ['find_it'] }]],
    ['a tool we add, under its own name', [{ tool: 'builtin.use_skill' }, { tool: 'builtin.build-toolset', aliases: ['build_toolset'] }]],
  ])('is %s', async (_what, tools) => {
    expect(await conflictsOf(tools)).toEqual([]);
  });
});

describe('for any entries', () => {
  const name = fc.constantFrom(
    'search',
    'find',
    'look',
    'look-up',
    'look_up',
    'lookUp',
    'bash',
    'get_logs',
    'getLogs',
    'use_skill',
    'zz',
    'a_search',
    'b_search',
  );
  const alias = fc.record({ name: name.filter(isAlias), mode: fc.constantFrom('announced', 'function', 'hidden', 'deprecated') });
  const entry = fc.record(
    {
      tool: fc.constantFrom(...Array.from(known.all(), (tool) => tool.canonical as string)),
      name,
      aliases: fc.uniqueArray(alias, { maxLength: 3, selector: (one) => one.name }),
    },
    { requiredKeys: ['tool'] },
  ) as fc.Arbitrary<Entry>;
  const toolsets = fc.array(entry, { minLength: 1, maxLength: 7 });

  it('gives the same result in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        toolsets.chain((tools) => fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length }))),
        async ([tools, shuffled]) => {
          expect(await conflictsOf(shuffled)).toEqual(await conflictsOf(tools));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('compiles only if each name has one owner, and every name resolves to its tool', async () => {
    let compiled = 0;
    await fc.assert(
      fc.asyncProperty(toolsets, async (tools) => {
        if ((await conflictsOf(tools)).length > 0) return;
        compiled += 1;
        const { edition } = await compile({ tools }, known);
        expect(new Set(edition.tools.map((tool) => tool.wireName)).size).toBe(edition.tools.length);
        const map = buildAliasMap(edition, { aliases: true });
        for (const tool of edition.tools) {
          expect(resolveName(map, tool.wireName)).toMatchObject({ ok: true, tool, via: 'wire' });
          for (const alias of tool.aliases) expect(resolveName(map, alias.name)).toMatchObject({ ok: true, tool });
          const byCanonical = resolveName(map, tool.canonical);
          const entries = edition.tools.filter((other) => other.canonical === tool.canonical);
          if (entries.length === 1) expect(byCanonical).toMatchObject({ ok: true, tool, via: 'canonical' });
          else expect(byCanonical).toMatchObject({ ok: false, code: 'ambiguous_tool', candidates: entries.map((other) => other.wireName) });
        }
      }),
      { numRuns: 300 },
    );
    expect(compiled).toBeGreaterThan(20);
  });

  it('compiles after every suggestion is applied', async () => {
    let repaired = 0;
    await fc.assert(
      fc.asyncProperty(toolsets, async (tools) => {
        // One entry per tool: with more, "the second tool" would not identify the entry.
        const entries = [...new Map(tools.map((one) => [one.tool, one])).values()];
        const conflicts = await conflictsOf(entries);
        const suggestions = conflicts.map((conflict) => conflict.suggestion);
        const movers = conflicts.map((conflict) => `${conflict.tools[1]} ${conflict.name}`);
        expect(new Set(suggestions.map(fold)).size).toBe(new Set(movers).size);
        const fixed = conflicts.reduce(applySuggestion, entries);
        expect(await conflictsOf(fixed)).toEqual([]);
        repaired += conflicts.length > 0 ? 1 : 0;
      }),
      { numRuns: 300 },
    );
    expect(repaired).toBeGreaterThan(20);
  });
});

/** Applies a suggestion as an administrator would: wherever the entry contains the name, and as a given name if it is the default. */
function applySuggestion(
  entries: Entry[],
  { name, tools: [, mover], suggestion }: Pick<NameConflict, 'name' | 'tools' | 'suggestion'>,
): Entry[] {
  return entries.map((entry) => {
    if (entry.tool !== mover) return entry;
    const tool = known.get(entry.tool);
    const aliases = (entry.aliases ?? tool?.aliases ?? []).map((alias) => {
      const { name: called, mode = 'announced' } = typeof alias === 'string' ? { name: alias } : alias;
      return { name: called === name ? suggestion : called, mode };
    });
    const isDefault = entry.name === undefined && tool?.name === name && !aliases.some((alias) => alias.mode === 'announced');
    return { ...entry, aliases, ...((entry.name === name || isDefault) && { name: suggestion }) };
  });
}
