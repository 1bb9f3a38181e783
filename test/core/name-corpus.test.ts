/** Names, alias sets and servers, recorded or written to break things (`../shared/fixtures`). */
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { matchAllowList } from '../../src/core/toolset/allow-list.ts';
import { buildAliasMap, resolveName } from '../../src/core/toolset/alias-map.ts';
import { offeredTools } from '../../src/core/turn/offered-tools.ts';
import { compileEdition } from '../../src/core/toolset/edition.ts';
import { fold } from '../../src/core/names/fold.ts';
import type { NameConflict } from '../../src/core/toolset/name-claims.ts';
import { isWireName, parseAlias, parseWireName, toWireName } from '../../src/core/names/names.ts';
import { nameWarning } from '../../src/core/names/reserved-names.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { describeCorpus, readJson, readJsonLines, sharedFixtures } from '../fixtures.ts';
import { compile, knownTools, refusalOf, toolOf } from '../fakes/known-tools.ts';

const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

describeCorpus('security/tool-names.jsonl', (path) => {
  type Row = { id: string; name: string; expect: 'accept' | 'reject' | 'either' | 'warn'; reason?: string };
  /** Rows for which the alias rule (trim first; begin with a letter) has another result. */
  const otherwise = new Map<string, Row['expect']>([
    ['valid-015', 'reject'], // _private: a given name may begin with "_", an alias may not
    ['shape-035', 'accept'], // " git": trimmed
    ['shape-036', 'accept'], // "git ": trimmed
    ['shape-039', 'accept'], // "git_status\n": trimmed, so that no line feed is left
  ]);

  const rows = readJsonLines<Row>(path);
  it('has all its rows', () => expect(rows).toHaveLength(110));
  it.each(rows)('$id is as expected ($expect)', async ({ id, name, expect: row }) => {
    const verdict = otherwise.get(id) ?? row;
    const parsed = parseAlias(name);
    if (verdict === 'reject' || verdict === 'either') {
      expect(parsed).toMatchObject({ ok: false, reason: expect.stringMatching(/ cannot be an alias: ./) });
      if (!parsed.ok) expect(parsed.reason).toMatch(/^[\x20-\x7e…]*$/);
    } else {
      expect(parsed.ok).toBe(true);
      expect(parsed.ok && parsed.alias).toMatch(/^[a-z][a-z0-9_-]{1,63}$/);
      expect(parsed.ok && nameWarning(parsed.alias) !== null).toBe(verdict === 'warn');
    }

    // Writing a toolset gives the same result, at the alias's path.
    const known = knownTools([toolOf('s', 'a_tool')]);
    const document = { tools: [{ tool: 's.a_tool', aliases: [name] }] };
    const aboutLength = parsed.ok && parsed.alias.length > 40 ? 1 : 0; // Legal everywhere, but too long for some clients.
    if (parsed.ok) expect((await compile(document, known)).warnings).toHaveLength((verdict === 'warn' ? 1 : 0) + aboutLength);
    else expect((await refusalOf(document, known)).extra.issues).toEqual([{ path: 'tools[0].aliases[0]', message: parsed.reason }]);

    // Whatever a server names its tool, the shown name is legal, and both names can be called.
    if (name !== '') expect(toWireName(`s.${name}`, name)).toMatch(legal);
    expect(resolveName(buildAliasMap((await compile({ tools: [{ tool: 's.a_tool' }] }, known)).edition, { aliases: true }), name).ok).toBe(
      false,
    );
  });

  it('accepts a leading underscore and capitals in a given name', () => {
    expect(parseWireName('_private').ok).toBe(true);
    expect(parseWireName('GIT_STATUS').ok).toBe(true);
  });
});

describeCorpus('security/alias-sets.json', (path) => {
  type Row = { canonical: string; server?: string; alias?: string | null };
  type AliasSet = { id: string; tools?: Row[]; generate?: { tools: number }; expect: string };

  const sets = readJson<AliasSet[]>(path);
  const toolsOf = (set: AliasSet): ToolDefinition[] =>
    (
      set.tools ??
      Array.from({ length: set.generate?.tools ?? 0 }, (_, index): Row => ({ canonical: `s.tool_${index}`, alias: `alias-${index}` }))
    ).map((row) => {
      const [server = '', name = ''] = row.server === undefined ? row.canonical.split('.') : [row.server, row.canonical];
      return toolOf(server, name);
    });
  const documentOf = (set: AliasSet): { tools: { tool: string; aliases: string[] }[] } => {
    const rows: Row[] = set.tools ?? toolsOf(set).map((_, index) => ({ canonical: '', alias: `alias-${index}` }));
    const tools = toolsOf(set).map((tool, index) => {
      const alias = rows[index]?.alias;
      return { tool: tool.canonical as string, aliases: alias === null || alias === undefined ? [] : [alias] };
    });
    return { tools };
  };
  const setOf = (id: string): AliasSet => {
    const set = sets.find((one) => one.id === id);
    if (set === undefined) throw new Error(`The corpus has no set ${id}.`);
    return set;
  };

  it('has all its sets', () => expect(sets).toHaveLength(14));

  /** `separator-collision` (warn) is refused here: it is a conflict, and the error suggests the fix. */
  it.each(['dup-alias', 'alias-shadows-other-canonical', 'alias-swap', 'alias-chain', 'separator-collision'])(
    '%s is refused in either order, naming both tools',
    async (id) => {
      const set = setOf(id);
      const known = knownTools(toolsOf(set));
      const { tools } = documentOf(set);
      const problem = await refusalOf({ tools }, known);
      expect(problem.code).toBe('name_conflict');
      const conflicts = problem.extra.conflicts as NameConflict[];
      for (const conflict of conflicts) expect(conflict.tools.toSorted()).toEqual(tools.map((entry) => entry.tool).toSorted());
      for (const conflict of conflicts) expect(parseAlias(conflict.suggestion)).toEqual({ ok: true, alias: conflict.suggestion });
      const turned = await refusalOf({ tools: tools.toReversed() }, known);
      // The claims have the positions of the entries.
      const withoutClaims = (all: NameConflict[]) => all.map(({ claims: _claims, ...conflict }) => conflict);
      expect(turned.detail).toBe(problem.detail);
      expect(withoutClaims(turned.extra.conflicts as NameConflict[])).toEqual(withoutClaims(conflicts));
    },
  );

  it('same-tool-two-servers-no-alias compiles with the names of the servers in the wire names', async () => {
    const set = setOf('same-tool-two-servers-no-alias');
    const { edition, warnings } = await compile(documentOf(set), knownTools(toolsOf(set)));
    expect(edition.tools.map(({ wireName }) => wireName)).toEqual(edition.tools.map(({ server, ownName }) => `${server}_${ownName}`));
    expect(warnings.filter((text) => text.includes('is the own name of'))).toHaveLength(edition.tools.length);
  });

  it('case-fold-collision is refused for its capitals', async () => {
    const set = setOf('case-fold-collision');
    const problem = await refusalOf(documentOf(set), knownTools(toolsOf(set)));
    expect(problem.extra.issues).toEqual([{ path: 'tools[1].aliases[0]', message: expect.stringContaining('capitals') }]);
  });

  it.each(['alias-equals-own-canonical', 'namespace-ambiguity', 'truncation-collision', 'five-hundred-tools'])(
    '%s compiles, every name with one owner',
    async (id) => {
      const set = setOf(id);
      const { edition, warnings } = await compile(documentOf(set), knownTools(toolsOf(set)));
      const map = buildAliasMap(edition, { aliases: true });
      const names = offeredTools(map).map((tool) => tool.name);
      expect(new Set(names).size).toBe(edition.tools.length);
      for (const tool of edition.tools) {
        expect(tool.wireName).toMatch(legal);
        for (const name of [tool.wireName, tool.canonical, tool.ownName])
          expect(resolveName(map, name)).toMatchObject({ ok: true, canonical: tool.canonical });
      }
      expect(warnings).toEqual(id === 'truncation-collision' ? Array(2).fill(expect.stringContaining('64 characters')) : []);
    },
  );

  it('server-listed-later-takes-alias: the alias stays with its tool, and the new tool is reported', async () => {
    const set = setOf('server-listed-later-takes-alias');
    const { edition, warnings } = await compile(documentOf(set), knownTools([...toolsOf(set), toolOf('late', 'deploy')]));
    expect(resolveName(buildAliasMap(edition, { aliases: true }), 'deploy')).toMatchObject({ ok: true, canonical: 'trusted.x' });
    expect(warnings).toEqual([expect.stringContaining('late.deploy')]);
  });

  it('alias-to-removed-tool: refused by its canonical name, without a fallback to a tool of the same name', async () => {
    const set = setOf('alias-to-removed-tool');
    const problem = await refusalOf(documentOf(set), knownTools([toolOf('a', 'other'), toolOf('b', 'x')]));
    expect(problem.extra.issues).toEqual([{ path: 'tools[0].tool', message: expect.stringContaining('the server "a" has no tool "x"') }]);
    const { edition } = await compile(documentOf(set), knownTools(toolsOf(set)));
    expect(resolveName(buildAliasMap(edition, { aliases: true }), 'yy')).toMatchObject({ ok: true, canonical: 'a.x' });
  });

  it('alias-disabled-flag: the canonical name works, the alias is unknown', async () => {
    const set = setOf('alias-disabled-flag');
    const off = buildAliasMap((await compile(documentOf(set), knownTools(toolsOf(set)))).edition, { aliases: false });
    expect(resolveName(off, 'a.x')).toMatchObject({ ok: true, via: 'canonical' });
    expect(resolveName(off, 'yy')).toMatchObject({ ok: false, code: 'unknown_tool' });
  });
});

describeCorpus('mcp-tools/index.json', (path) => {
  type Index = {
    servers: { server: string; file: string; tools: number }[];
    totalTools: number;
    collisions: { name: string; servers: string[] }[];
    nearCollisions: { normalised: string; names: Record<string, string[]> }[];
  };
  const index = readJson<Index>(path);
  /** Servers whose folder name is not a valid server name (`12306-mcp`) are added as an administrator would. */
  const serverName = (server: string): string => (/^[a-z]/.test(server) ? server : `s-${server}`);
  const listed = index.servers.map(({ server, file }) => {
    const definitions = readJson<(Partial<ToolDefinition> & { name: string })[]>(path.replace(basename(path), file));
    return { server: serverName(server), tools: definitions.map(({ name, ...rest }) => toolOf(serverName(server), name, rest)) };
  });
  const all = listed.flatMap(({ tools }) => tools);

  it('contains the listed number of tools', () => expect(all).toHaveLength(index.totalTools));

  it.each(listed)('$server compiles with legal names and resolves in every spelling', async ({ tools }) => {
    const { edition } = await compile({ tools: tools.map((tool) => ({ tool: tool.canonical })) }, knownTools(tools));
    const map = buildAliasMap(edition, { aliases: true });
    expect(new Set(offeredTools(map).map((tool) => tool.name)).size).toBe(tools.length);
    for (const tool of edition.tools) {
      expect(tool.wireName).toMatch(legal);
      if (isWireName(tool.ownName)) expect(tool.wireName).toBe(tool.ownName);
      expect(resolveName(map, tool.wireName)).toMatchObject({ ok: true, via: 'wire', tool });
      expect(resolveName(map, tool.canonical)).toMatchObject({ ok: true, via: 'canonical', tool });
      expect(resolveName(map, tool.ownName)).toMatchObject({ ok: true, tool });
      for (const spelling of [pascal(tool.ownName), tool.ownName.replace(/[_ ]/g, '-'), `functions.${tool.ownName}`]) {
        const answer = resolveName(map, spelling);
        if (answer.ok) expect(answer.tool).toBe(tool);
        else expect(answer.code).toBe('ambiguous_tool');
      }
    }
  });

  it('get the names of their servers where own names are shared, exactly as in the index', async () => {
    const known = knownTools(all);
    // All at once, since shared names between batches would be missed; only the parser limits the number of entries.
    const toolset = { announce: 'prompt' as const, tools: all.map((tool) => ({ tool: tool.canonical as string })) };
    const { edition, warnings } = await compileEdition({ workspace: 'default', name: 'all', known, toolset });
    expect(new Set(edition.tools.map((tool) => tool.wireName)).size).toBe(all.length);
    const renamed = edition.tools.filter(({ wireName, ownName }) => isWireName(ownName) && wireName !== ownName);
    expect([...new Set(renamed.map(({ ownName }) => ownName))].toSorted()).toEqual(index.collisions.map(({ name }) => name).toSorted());
    expect(renamed).toHaveLength(index.collisions.reduce((sum, { servers }) => sum + servers.length, 0));
    expect(renamed.every(({ wireName, server, ownName }) => wireName === `${server}_${ownName}`)).toBe(true);

    // Near collisions are warnings.
    const spelling = warnings
      .filter(({ message }) => message.includes('in spelling only'))
      .map(({ message }) => fold(message.split('"')[1] ?? ''));
    expect([...new Set(spelling)].toSorted()).toEqual(index.nearCollisions.map(({ normalised }) => normalised).toSorted());

    const map = buildAliasMap(edition, { aliases: true });
    expect(resolveName(map, 'get_issue_comments')).toMatchObject({ ok: false, code: 'unknown_tool' });
    for (const tool of edition.tools) expect(resolveName(map, tool.canonical)).toMatchObject({ ok: true, tool });
  });
});

describeCorpus('security/naughty-strings.json', (path) => {
  const strings = readJson<string[]>(path);
  const base = knownTools([toolOf('s', 'plain_tool', { aliases: ['plain'] })]);

  it('as called names match nothing and cause no error', async () => {
    const map = buildAliasMap((await compile({ tools: [{ tool: 's.plain_tool' }] }, base)).edition, { aliases: true });
    for (const text of strings) {
      expect(resolveName(map, text)).toMatchObject({ ok: false, code: 'unknown_tool', requested: text });
      expect(fold(fold(text))).toBe(fold(text));
    }
    expect(matchAllowList(map, strings)).toEqual({
      accepted: {},
      allow: [],
      read: strings.map((name) => ({ name, canonicals: [], grant: null })),
    });
  });

  it("as tools' own names become legal, unique wire names", async () => {
    const own = [...new Set(strings)].filter((text) => text !== '');
    const tools = own.map((name) => toolOf('naughty', name));
    const wires = tools.map((tool) => toWireName(tool.canonical, tool.name));
    for (const wire of wires) expect(wire).toMatch(legal);
    expect(new Set(wires).size).toBe(own.length);

    const short = tools.filter((tool) => tool.canonical.length <= 192);
    const { edition } = await compile({ tools: short.map((tool) => ({ tool: tool.canonical, aliases: [] })) }, knownTools(tools));
    const map = buildAliasMap(edition, { aliases: true });
    for (const tool of edition.tools) {
      expect(resolveName(map, tool.wireName)).toMatchObject({ ok: true, tool });
      expect(resolveName(map, tool.canonical)).toMatchObject({ ok: true, tool });
    }
  });

  it('as aliases and given names are refused with a printable reason, or legal', () => {
    for (const text of strings) {
      for (const parsed of [parseAlias(text), parseWireName(text)]) {
        if (parsed.ok) expect('alias' in parsed ? parsed.alias : parsed.wireName).toMatch(legal);
        else expect(parsed.reason).toMatch(/^[\x20-\x7e…]{1,300}$/);
      }
    }
  });

  it('as canonical names in a document are issues at their path', async () => {
    const some = strings.filter((text) => text !== '' && text.length <= 192);
    const problem = await refusalOf({ tools: some.map((tool) => ({ tool })) }, base);
    expect((problem.extra.issues as { path: string }[]).map((issue) => issue.path)).toEqual(some.map((_, index) => `tools[${index}].tool`));
  });
});

function pascal(name: string): string {
  return name.replace(/(?:^|[-_. ])([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

describe('the corpus', () => {
  it('is complete or absent', () => {
    const found = ['security/tool-names.jsonl', 'security/alias-sets.json', 'mcp-tools/index.json', 'security/naughty-strings.json'].map(
      (file) => sharedFixtures(file) !== null,
    );
    expect(new Set(found).size).toBe(1);
  });
});
