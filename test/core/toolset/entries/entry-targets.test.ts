/** Entries with several targets and stored results: what is refused, and what is compiled. */
import { describe, expect, it } from 'vitest';
import { rebound } from '../../../../src/core/toolset/entries/entry-targets.ts';
import { Toolset } from '../../../../src/core/toolset/toolset.ts';
import type { ToolDefinition } from '../../../../src/core/tools/tool.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../../fakes/known-tools.ts';

const query = (more: Record<string, unknown> = {}, required = ['q']) => ({
  type: 'object',
  properties: { q: { type: 'string' }, ...more },
  required,
  additionalProperties: false,
});
const source = (own: Partial<NonNullable<ToolDefinition['source']>> = {}) => ({
  state: 'ready' as const,
  trusted: true,
  pin: 'a'.repeat(64),
  ...own,
});
const reads = { readOnlyHint: true };
const search = (server: string, own: Partial<ToolDefinition> = {}) =>
  toolOf(server, 'search', { inputSchema: query({ page: { type: 'integer' } }), annotations: reads, source: source(), ...own });

const known = {
  ...knownTools(
    [
      search('github'),
      search('backup'),
      search('more', { inputSchema: query({ page: { type: 'number' }, sort: { type: 'string' } }) }),
      search('narrow', { inputSchema: query() }),
      search('typed', { inputSchema: query({ page: { type: 'integer', maximum: 9 } }) }),
      search('strict', { inputSchema: query({ page: { type: 'integer' }, token: { type: 'string' } }, ['q', 'token']) }),
      search('claims', { source: source({ trusted: false }) }),
      search('writes', { annotations: { readOnlyHint: false } }),
      search('deletes', { annotations: { destructiveHint: true }, kind: 'static' }),
      search('users'),
      toolOf('builtin', 'bash', { kind: 'builtin' }),
      toolOf('local', 'search', { kind: 'local', inputSchema: query({ page: { type: 'integer' } }) }),
    ],
    ['down'],
  ),
  isPerUser: (server: string) => server === 'users',
};

const pair = ['github.search', 'backup.search'];
const issuesOf = (entry: unknown): string[] => {
  const parsed = Toolset.safeParse({ tools: [entry] });
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
};
const faultsOf = async (entry: unknown): Promise<string[]> =>
  ((await refusalOf({ tools: [entry] }, known)).extra.issues as { path: string; message: string }[]).map(
    ({ path, message }) => `${path}: ${message}`,
  );

describe('the targets of a written entry', () => {
  it.each<[string, unknown, RegExp]>([
    ['an empty list', { tool: [] }, /^tools\.0\.tool/],
    ['17 targets', { tool: Array.from({ length: 17 }, (_none, index) => `s${index}.search`) }, /^tools\.0\.tool/],
    ['a name twice', { tool: ['github.search', 'github.search'] }, /^tools\.0\.tool\.1: "github\.search" is listed twice/],
    ['a pattern among them', { tool: ['github.search', 'backup.*'] }, /^tools\.0\.tool\.1: names several tools/],
    ['a reference beside them', { tool: pair, refId: 'a'.repeat(64) }, /^tools\.0\.refId: names one tool/],
    ['a choice of one', { tool: 'github.search', choose: 'in-order' }, /^tools\.0\.choose: needs several tools/],
    [
      'weights that are all 0',
      { tool: pair, choose: { weights: { 'github.search': 0, 'backup.search': 0 } } },
      /choose\.weights: are all 0/,
    ],
    ['a negative weight', { tool: pair, choose: { weights: { 'github.search': -1, 'backup.search': 1 } } }, /choose/],
    ['half a weight', { tool: pair, choose: { weights: { 'github.search': 0.5, 'backup.search': 1 } } }, /choose/],
    ['a missing weight', { tool: pair, choose: { weights: { 'github.search': 1 } } }, /choose\.weights: has no weight for backup\.search/],
    [
      'a weight of another tool',
      { tool: pair, choose: { weights: { 'github.search': 1, 'backup.search': 1, 'x.y': 1 } } },
      /weights\.x\.y: is no target/,
    ],
    ['callers of another tool', { tool: pair, choose: { callers: { 'x.y': [{ key: 'k' }] } } }, /callers\.x\.y: is no target/],
    ['callers without a field', { tool: pair, choose: { callers: { 'backup.search': [{}] } } }, /choose/],
    ['a cache of 0 seconds', { tool: 'github.search', cache: { ttl: 0 } }, /cache\.ttl/],
    ['a cache of more than a day', { tool: 'github.search', cache: { ttl: 86_401 } }, /cache\.ttl/],
    ['a cache for everyone', { tool: 'github.search', cache: { ttl: 60, per: 'world' } }, /cache\.per/],
  ])('cannot have %s', (_what, entry, expected) => {
    expect(issuesOf(entry).join('\n')).toMatch(expected);
  });

  it.each<[string, unknown, string]>([
    ['is unknown', { tool: ['github.search', 'nosuch.search'] }, 'tools[0].tool[1]: there is no server "nosuch"'],
    [
      'lacks an argument',
      { tool: ['github.search', 'narrow.search'] },
      'tools[0].tool[1]: narrow.search has no argument "page", which github.search accepts',
    ],
    [
      'takes fewer values',
      { tool: [...pair, 'typed.search'] },
      'tools[0].tool[2]: the argument "page" of typed.search does not accept every value that github.search accepts',
    ],
    [
      'requires more',
      { tool: ['github.search', 'strict.search'] },
      'tools[0].tool[1]: strict.search requires the argument "token", which a call of github.search may leave out',
    ],
    [
      'runs here',
      { tool: ['local.search', 'github.search'] },
      'tools[0].tool[0]: local.search is not a tool of a server; only those can be one of several targets',
    ],
    [
      'lacks a preset argument',
      { tool: ['more.search', 'github.search'], arguments: { preset: { sort: 'x' } } },
      'tools[0].arguments.preset.sort',
    ],
  ])('are refused if one %s', async (_what, entry, expected) => {
    expect((await faultsOf(entry)).some((fault) => fault.startsWith(expected))).toBe(true);
  });

  it('may have more arguments than the first, and a required one that the entry always sets', async () => {
    const { edition } = await compile({ tools: [{ tool: ['github.search', 'more.search'] }] }, known);
    expect(edition.tools[0]?.targets?.others.map(({ canonical }) => canonical)).toEqual(['more.search']);
    const own = {
      ...known,
      ...knownTools([
        search('github', { inputSchema: query({ page: { type: 'integer' }, token: { type: 'string' } }) }),
        search('strict', { inputSchema: query({ page: { type: 'integer' }, token: { type: 'string' } }, ['q', 'token']) }),
      ]),
    };
    const preset = { arguments: { preset: { token: 't' } } };
    await expect(compile({ tools: [{ tool: ['github.search', 'strict.search'], ...preset }] }, own)).resolves.toBeDefined();
  });

  it('leave out one whose server has listed nothing, with a warning', async () => {
    const { edition, warnings } = await compile({ tools: [{ tool: ['github.search', 'down.search'] }] }, known);
    expect(edition.tools[0]?.targets).toBeUndefined();
    expect(warnings.join('\n')).toContain('tools[0].tool[1]: down.search is not known yet and gets no calls');
  });

  it('keep what a list of one name compiles to', async () => {
    const [one, list] = await Promise.all([
      compile({ tools: [{ tool: 'github.search' }] }, known),
      compile({ tools: [{ tool: ['github.search'] }] }, known),
    ]);
    expect(list.edition).toEqual(one.edition);
  });

  it('are refused if one was revoked', async () => {
    const problem = await refusalOf({ tools: [{ tool: pair }], revoked: ['backup.search'] }, known);
    expect(problem.extra.issues).toMatchObject([{ path: 'tools[0].tool[1]' }]);
  });
});

describe('a compiled entry with several targets', () => {
  it('has the strictest annotations of all', async () => {
    const annotationsOf = async (tool: string[]) => {
      const [first] = (await compile({ tools: [{ tool }] }, known)).edition.tools;
      return [first, ...(first?.targets?.others ?? [])].map((one) => [
        one?.annotations?.readOnlyHint,
        one?.annotations?.destructiveHint,
        one?.trusted,
      ]);
    };
    expect(await annotationsOf(pair)).toEqual([
      [true, undefined, true],
      [true, undefined, true],
    ]);
    expect(await annotationsOf(['github.search', 'claims.search'])).toEqual([
      [true, undefined, undefined],
      [true, undefined, undefined],
    ]);
    expect(await annotationsOf(['github.search', 'writes.search'])).toEqual([
      [false, undefined, true],
      [false, undefined, true],
    ]);
    expect(await annotationsOf(['github.search', 'deletes.search'])).toEqual([
      [false, true, true],
      [false, true, true],
    ]);
  });

  it('has an output schema only if all have the same', async () => {
    const outputSchema = { type: 'object' };
    const own = knownTools([search('github', { outputSchema }), search('backup'), search('same', { outputSchema })]);
    const schemaOf = async (tool: string[]) => (await compile({ tools: [{ tool }] }, own)).edition.tools[0]?.outputSchema;
    expect([await schemaOf(['github.search', 'same.search']), await schemaOf(pair)]).toEqual([outputSchema, undefined]);
  });

  it('names another tool after a rebind, wherever the entry names it', () => {
    const entry = { tool: pair, choose: { weights: { 'github.search': 1, 'backup.search': 2 } } };
    expect(rebound(entry, 'backup.search', 'new.search')).toEqual({
      tool: ['github.search', 'new.search'],
      choose: { weights: { 'github.search': 1, 'new.search': 2 } },
    });
    expect(rebound({ tool: 'a.b' }, 'a.b', 'c.d')).toEqual({ tool: 'c.d' });
  });
});

describe('the cache of an entry', () => {
  it.each<[string, unknown, string]>([
    [
      'a tool that writes',
      { tool: 'writes.search', cache: { ttl: 60 } },
      'tools[0].cache: writes.search is no tool of a server that only reads',
    ],
    [
      'a tool that only claims to read',
      { tool: 'claims.search', cache: { ttl: 60 } },
      'tools[0].cache: claims.search says that it only reads, but its annotations are not accepted',
    ],
    ['a further target that writes', { tool: ['github.search', 'writes.search'], cache: { ttl: 60 } }, 'tools[0].cache: writes.search'],
    ['a tool in code', { tool: 'builtin.bash', cache: { ttl: 60 } }, 'tools[0].cache: builtin.bash'],
    [
      'accounts of users, for the workspace',
      { tool: 'users.search', cache: { ttl: 60, per: 'workspace' } },
      'tools[0].cache.per: each user has an account',
    ],
  ])('is refused for %s', async (_what, entry, expected) => {
    expect((await faultsOf(entry))[0]).toMatch(new RegExp(`^${expected.replaceAll(/[.[\]]/g, '\\$&')}`));
  });

  it('is kept in the edition for a tool that reads', async () => {
    const { edition } = await compile(
      {
        tools: [
          { tool: pair, cache: { ttl: 60 } },
          { tool: 'users.search', name: 'mine', cache: { ttl: 5 } },
        ],
      },
      known,
    );
    expect(edition.tools.map(({ cache }) => cache)).toEqual([{ ttl: 60 }, { ttl: 5 }]);
    expect(edition.tools[0]?.targets?.others[0]?.cache).toEqual({ ttl: 60 });
  });
});
