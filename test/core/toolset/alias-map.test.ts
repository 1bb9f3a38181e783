import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap, extendAliasMap, resolveName, wireNameOf, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import { offeredTools } from '../../../src/core/turn/offered-tools.ts';
import type { Edition, EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { WireName } from '../../../src/core/names/names.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const known = knownTools(
  [
    toolOf('builtin', 'bash'),
    toolOf('builtin', 'read_file'),
    toolOf('github', 'search'),
    toolOf('docs', 'search'),
    toolOf('wiki', 'search'),
    toolOf('admin', 'tools.list'),
    toolOf('odd', 'Summarize Detection'),
  ],
  ['sleepy'],
);

const document = {
  tools: [
    {
      tool: 'builtin.bash',
      name: 'terminalRun',
      aliases: [
        'bash',
        'shell',
        { name: 'sh', mode: 'function' },
        { name: 'term', mode: 'hidden' },
        { name: 'run_shell', mode: 'deprecated', note: 'use shell' },
      ],
    },
    { tool: 'builtin.read_file' },
    { tool: 'github.search', aliases: ['find_code'] },
    { tool: 'docs.search', name: 'find_docs' },
    { tool: 'admin.tools.list' },
    { tool: 'sleepy.deploy' },
  ],
};

const edition: Edition = (await compile(document, known)).edition;
const map = buildAliasMap(edition, { aliases: true });
const short = (names: AliasMap, requested: string): unknown[] => {
  const answer = resolveName(names, requested);
  return answer.ok
    ? [answer.via, answer.canonical, answer.wireName]
    : [answer.code, ...(answer.code === 'unknown_tool' ? answer.suggestions : answer.candidates)];
};

describe('resolveName', () => {
  it.each<[string, ...unknown[]]>([
    ['terminalRun', 'wire', 'builtin.bash', 'terminalRun'],
    ['builtin.bash', 'canonical', 'builtin.bash', 'terminalRun'],
    ['shell', 'alias', 'builtin.bash', 'terminalRun'],
    ['bash', 'alias', 'builtin.bash', 'terminalRun'],
    ['sh', 'alias', 'builtin.bash', 'terminalRun'],
    ['term', 'alias', 'builtin.bash', 'terminalRun'],
    ['run_shell', 'alias', 'builtin.bash', 'terminalRun'],
    ['find_code', 'wire', 'github.search', 'find_code'],
    ['tools.list', 'own', 'admin.tools.list', expect.stringMatching(/^tools_list_/)],
    ['admin.tools.list', 'canonical', 'admin.tools.list', expect.stringMatching(/^tools_list_/)],
    ['search', 'ambiguous_tool', 'find_code', 'find_docs'],
    ['Search', 'ambiguous_tool', 'find_code', 'find_docs'],
    ['ReadFile', 'folded', 'builtin.read_file', 'read_file'],
    ['functions.read_file', 'folded', 'builtin.read_file', 'read_file'],
    ['Terminal-Run', 'folded', 'builtin.bash', 'terminalRun'],
    ['builtin_bash', 'folded', 'builtin.bash', 'terminalRun'],
    ['mcp__github__search', 'folded', 'github.search', 'find_code'],
    ['deploy', 'wire', 'sleepy.deploy', 'deploy'],
    ['read_fil', 'unknown_tool', 'read_file'],
    ['wiki.search', 'unknown_tool', 'find_code', 'find_docs'],
    ['', 'unknown_tool'],
    ['___', 'unknown_tool'],
    ['constructor', 'unknown_tool'],
    ['__proto__', 'unknown_tool'],
  ])('resolves %j to %j %j', (requested, ...expected) => {
    expect(short(map, requested)).toEqual(expected);
    const answer = resolveName(map, requested);
    expect(answer.requested).toBe(requested);
  });

  it('never suggests a name because of a hidden alias', () => {
    const hiding = buildAliasMap(
      { ...edition, tools: edition.tools.filter((tool) => tool.canonical === 'builtin.bash') },
      { aliases: true },
    );
    expect(short(hiding, 'run_shel')).toEqual(['unknown_tool', 'terminalRun']);
    expect(short(hiding, 'terk')).toEqual(['unknown_tool']);
  });

  it('answers the same however many names were looked up before', () => {
    const fresh = buildAliasMap(edition, { aliases: true });
    const names = ['terminalRun', 'builtin.bash', 'shell', 'search', 'find_docs', 'no such tool', 'SHELL'];
    const first = names.map((name) => resolveName(fresh, name));
    for (let index = 0; index < 20; index++) expect(names.map((name) => resolveName(fresh, name))).toEqual(first);
    expect(first.map((answer) => (answer.ok ? answer.via : answer.code))).toContain('wire');
    // In the other order, another name is the first one that a table is built for.
    const other = buildAliasMap(edition, { aliases: true });
    for (let index = 0; index < 20; index++) expect(names.toReversed().map((name) => resolveName(other, name))).toEqual(first.toReversed());
  });

  it('rejects a name longer than any other without searching for similar ones', () => {
    const unsearched = {
      ...map,
      get tools(): never {
        throw new Error('it was searched');
      },
    };
    expect(() => resolveName(unsearched, 'read_fiel')).toThrow('it was searched');
    expect(short(unsearched, 'read_file'.repeat(1_000))).toEqual(['unknown_tool']);
  });

  it("prefers a wire name over another tool's own name", async () => {
    const { edition: one } = await compile({ tools: [{ tool: 'github.search' }, { tool: 'docs.search', name: 'find_docs' }] }, known);
    const names = buildAliasMap(one, { aliases: true });
    expect(short(names, 'search')).toEqual(['wire', 'github.search', 'search']);
    // In another spelling it is not exact, so both match.
    expect(short(names, 'SEARCH')).toEqual(['ambiguous_tool', 'search', 'find_docs']);
  });
});

describe("a plan's rights", () => {
  const allowed = buildAliasMap(edition, { aliases: true, allow: ['builtin.read_file', 'docs.search', 'not.there'] });

  it('make every other name unknown in every spelling', () => {
    for (const name of ['terminalRun', 'builtin.bash', 'shell', 'term', 'Terminal_Run', 'github.search', 'find_code']) {
      expect(resolveName(allowed, name)).toMatchObject({ ok: false, code: 'unknown_tool' });
    }
    expect(offeredTools(allowed).map((tool) => tool.name)).toEqual(['read_file', 'find_docs']);
    expect(wireNameOf(allowed, 'builtin.bash')).toBeUndefined();
  });

  it('remove ambiguity with tools that are not allowed', () => {
    expect(short(allowed, 'search')).toEqual(['own', 'docs.search', 'find_docs']);
  });

  it('allow nothing for an empty list and everything without a list', () => {
    expect(offeredTools(buildAliasMap(edition, { aliases: true, allow: [] }))).toEqual([]);
    expect(offeredTools(buildAliasMap(edition, { aliases: true, allow: null }))).toEqual(offeredTools(map));
  });

  it('suggest only allowed tools', () => {
    expect(short(allowed, 'terminalRum')).toEqual(['unknown_tool']);
  });
});

describe('a table with tools added', () => {
  const added = [toolOf('client', 'lookUp'), toolOf('client', 'mindMap')];
  const extended = extendAliasMap(
    map,
    added.map(({ canonical, server, name, description, inputSchema }) => ({
      canonical,
      wireName: WireName.parse(name),
      ownName: name,
      server,
      kind: 'client' as const,
      description,
      inputSchema,
      aliases: [],
      state: 'ready' as const,
      pin: '',
    })),
  );

  it('resolves its own tools as before and the added ones in any spelling', () => {
    for (const name of ['terminalRun', 'builtin.bash', 'shell', 'tools.list', 'Search', 'ReadFile', 'nothing', ''])
      expect(short(extended, name)).toEqual(short(map, name));
    expect(short(extended, 'lookUp')).toEqual(['wire', 'client.lookUp', 'lookUp']);
    expect(short(extended, 'client.mindMap')).toEqual(['canonical', 'client.mindMap', 'mindMap']);
    expect(short(extended, 'mind_map')).toEqual(['folded', 'client.mindMap', 'mindMap']);
    expect(short(extended, 'look_upp')).toEqual(['unknown_tool', 'lookUp']);
    expect(short(map, 'lookUp')).toEqual(['unknown_tool']);
  });

  it('appends the added tools and leaves the base table unchanged', () => {
    expect(extended.tools.map(({ wireName }) => wireName)).toEqual([...map.tools.map(({ wireName }) => wireName), 'lookUp', 'mindMap']);
    expect(map.tools).toBe(edition.tools);
  });

  it('reports an ambiguity if a tool of each table has the name', () => {
    const twin = extendAliasMap(map, [{ ...extended.own[0], wireName: WireName.parse('twin'), ownName: 'read_file' } as EditionTool]);
    expect(short(twin, 'read_file')).toEqual(['wire', 'builtin.read_file', 'read_file']);
    expect(short(twin, 'readFile')).toEqual(['ambiguous_tool', 'read_file', 'twin']);
  });

  it('works without a base table', () => {
    const alone = extendAliasMap(null, extended.own);
    expect(short(alone, 'look-up')).toEqual(['folded', 'client.lookUp', 'lookUp']);
    expect(alone.tools).toEqual(extended.own);
  });
});

describe('entries of one tool', () => {
  const entry = (name: string, arguments_?: unknown) => ({
    tool: 'docs.search',
    name,
    aliases: [],
    ...(arguments_ !== undefined && { arguments: arguments_ }),
  });
  const namesOf = async (...tools: unknown[]) => {
    const described = knownTools([toolOf('docs', 'search', { inputSchema: { type: 'object', properties: { q: { type: 'string' } } } })]);
    return buildAliasMap((await compile({ tools }, described)).edition, { aliases: true });
  };

  it('resolve by canonical name to the only entry without presets', async () => {
    const names = await namesOf(entry('fixed', { preset: { q: 'x' } }), entry('plain'), entry('other', { preset: { q: 'y' } }));
    expect(short(names, 'docs.search')).toEqual(['canonical', 'docs.search', 'plain']);
  });

  it('are ambiguous by canonical name if several have no presets, or none', async () => {
    expect(short(await namesOf(entry('one'), entry('two')), 'docs.search')).toEqual(['ambiguous_tool', 'one', 'two']);
    const preset = await namesOf(entry('one', { preset: { q: 'x' } }), entry('two', { preset: { q: 'y' } }));
    expect(short(preset, 'docs.search')).toEqual(['ambiguous_tool', 'one', 'two']);
  });
});

describe('wireNameOf', () => {
  it('returns the current name of a tool, and the first one if it has several entries', async () => {
    expect(wireNameOf(map, 'builtin.bash')).toBe('terminalRun');
    expect(wireNameOf(map, 'terminalRun')).toBeUndefined();
    const twice = await compile(
      {
        tools: [
          { tool: 'docs.search', name: 'one' },
          { tool: 'docs.search', name: 'two' },
        ],
      },
      known,
    );
    expect(wireNameOf(buildAliasMap(twice.edition, { aliases: true }), 'docs.search')).toBe('one');
  });

  it.each([true, false])(
    'keeps the name of an entry that the plan leaves out, whatever other entries it has (aliases: %s)',
    async (aliases) => {
      const entries = ['one', 'two', 'three'].map((name) => ({ tool: 'docs.search', name, aliases: [`old-${name}`] }));
      const { edition: thrice } = await compile({ tools: entries }, known);
      const narrow = buildAliasMap(thrice, { aliases, allow: ['docs.search one', 'docs.search two'] });
      const [one, two] = narrow.tools.map(({ wireName }) => wireName);
      expect(narrow.tools).toHaveLength(2);
      const named = (said: string) => wireNameOf(narrow, 'docs.search', said);
      expect([named('three'), named('old-three')]).toEqual([undefined, undefined]);
      expect([named(one ?? ''), named(two ?? ''), named('of-long-ago')]).toEqual([one, two, one]);
      if (aliases) expect([named('old-one'), named('old-two')]).toEqual(['one', 'two']);
      const alone = buildAliasMap(thrice, { aliases, allow: ['docs.search two'] });
      expect(['one', 'of-long-ago'].map((said) => wireNameOf(alone, 'docs.search', said))).toEqual([undefined, two]);
    },
  );
});

describe('with aliases switched off', () => {
  const off = buildAliasMap(edition, { aliases: false });

  it('names tools by their own names, made legal and unique', () => {
    const names = offeredTools(off).map((tool) => tool.name);
    expect(names).toEqual(['bash', 'read_file', 'github_search', 'docs_search', expect.stringMatching(/^tools_list_/)]);
    expect(new Set(names).size).toBe(names.length);
    expect(offeredTools(buildAliasMap(edition, { aliases: false })).map((tool) => tool.name)).toEqual(names);
  });

  it('resolves canonical names but no aliases or given names', () => {
    expect(resolveName(off, 'builtin.bash')).toMatchObject({ ok: true, via: 'canonical' });
    expect(resolveName(off, 'bash')).toMatchObject({ ok: true, via: 'wire', canonical: 'builtin.bash' });
    for (const name of ['shell', 'term', 'terminalRun', 'find_docs', 'run_shell', 'Shell'])
      expect(resolveName(off, name)).toMatchObject({ ok: false, code: 'unknown_tool' });
    expect(resolveName(off, 'search')).toMatchObject({ ok: false, code: 'ambiguous_tool' });
  });

  it('gives names that do not depend on the other allowed tools', () => {
    const one = buildAliasMap(edition, { aliases: false, allow: ['docs.search'] });
    expect(wireNameOf(one, 'docs.search')).toBe(wireNameOf(off, 'docs.search'));
  });

  it('keeps entries of one tool apart', async () => {
    const twice = await compile(
      {
        tools: [
          { tool: 'docs.search', name: 'one' },
          { tool: 'docs.search', name: 'two' },
        ],
      },
      known,
    );
    const names = offeredTools(buildAliasMap(twice.edition, { aliases: false })).map((tool) => tool.name);
    expect(new Set(names).size).toBe(2);
  });
});

it('never splits a name: names with every separator resolve only to their own tool', async () => {
  const part = fc.stringMatching(/^[A-Za-z0-9_.-]{1,6}$/);
  const server = fc.stringMatching(/^[a-z][a-z0-9-]{0,4}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(server, part), { minLength: 1, maxLength: 12, selector: ([a, b]) => `${a}.${b}` }),
      async (pairs) => {
        const tools = pairs.map(([one, name]) => toolOf(one, name));
        const entries = tools.map((tool, index) => ({ tool: tool.canonical, name: `wire${index}x`, aliases: [] }));
        const compiled = await compile({ tools: entries }, knownTools(tools)).catch(() => null);
        // An own name may equal a given name; that is refused, which another test covers.
        if (compiled === null) return;
        const names = buildAliasMap(compiled.edition, { aliases: true });
        for (const [index, tool] of tools.entries()) {
          expect(resolveName(names, tool.canonical)).toMatchObject({
            ok: true,
            canonical: tool.canonical,
            via: 'canonical',
            wireName: `wire${index}x`,
          });
          for (const joined of [`${tool.server}_${tool.name}`, `${tool.server}__${tool.name}`, `${tool.server}/${tool.name}`]) {
            const answer = resolveName(names, joined);
            if (answer.ok && answer.via !== 'folded')
              expect([answer.tool.wireName, answer.tool.ownName, answer.canonical]).toContain(joined);
          }
        }
      },
    ),
  );
});
