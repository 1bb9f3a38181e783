import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap, extendAliasMap, grantOf } from '../../../src/core/toolset/alias-map.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { nameLookup } from '../../../src/core/toolset/old-names.ts';
import { rewriteNames } from '../../../src/core/names/rewrite-names.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const heldBack = { state: 'held' as const, trusted: false, pin: '' };
const known = knownTools(
  [
    toolOf('github', 'actions_get'),
    toolOf('github', 'search'),
    toolOf('docs', 'search'),
    toolOf('docs', 'read_page'),
    toolOf('shop', 'list_items'),
    toolOf('shop', 'pay'),
    toolOf('store', 'list_items'),
    toolOf('builtin', 'bash'),
    toolOf('late', 'open_door', { source: heldBack }),
    toolOf('ui', 'show_map', { kind: 'ui' }),
  ],
  ['sleepy'],
);
const entries = [
  {
    tool: 'github.actions_get',
    name: 'get_workflow',
    aliases: [
      'gh_workflow',
      { name: 'workflow', mode: 'function' },
      { name: 'fetch_workflow', mode: 'hidden' },
      { name: 'old_workflow', mode: 'deprecated' },
    ],
  },
  { tool: 'github.search', name: 'find_code', aliases: [] },
  { tool: 'docs.search', aliases: [] },
  { tool: 'docs.read_page' },
  { tool: 'shop.list_items', name: 'shop_items' },
  { tool: 'store.list_items', name: 'store_items' },
  { tool: 'shop.pay', name: 'shop_pay' },
  { tool: 'builtin.bash', name: 'terminal', aliases: ['shell'] },
  { tool: 'late.open_door', name: 'unlock' },
  { tool: 'ui.show_map', name: 'show' },
  { tool: 'sleepy.deploy', name: 'ship' },
];

async function lookupOf(server: string | null, options: { aliases?: boolean; allow?: string[] } = {}, tools: unknown[] = entries) {
  const { edition } = await compile({ tools }, known);
  return nameLookup(buildAliasMap(edition, { aliases: true, ...options }), server);
}

describe('a name in a text', () => {
  it.each([
    ['actions_get', 'get_workflow'],
    ['github.actions_get', 'get_workflow'],
    ['gh_workflow', 'get_workflow'],
    ['workflow', 'get_workflow'],
    ['fetch_workflow', 'get_workflow'],
    ['old_workflow', 'get_workflow'],
    ['bash', 'terminal'],
    ['shell', 'terminal'],
    ['builtin.bash', 'terminal'],
    ['docs.search', 'search'],
    ['github.search', 'find_code'],
    ['store.list_items', 'store_items'],
  ])('%j is an old name of %j', async (old, name) => {
    expect((await lookupOf(null))(old)).toBe(name);
  });

  it.each([
    ['a name of today', 'get_workflow'],
    ['a name of today that is another tool’s own', 'search'],
    ['its own name still', 'read_page'],
    ['shared by two tools', 'list_items'],
    ['in another spelling', 'ActionsGet'],
    ['of a held tool', 'open_door'],
    ['of a tool that was never listed', 'deploy'],
    ['of a UI tool', 'show_map'],
    ['of every object', 'constructor'],
    ['of every object', '__proto__'],
    ['nothing', ''],
  ])('that is %s is unchanged: %j', async (_what, name) => {
    expect((await lookupOf(null))(name)).toBeUndefined();
  });

  it('refers first to a tool of the server that wrote the text', async () => {
    expect((await lookupOf('github'))('search')).toBe('find_code');
    expect((await lookupOf('docs'))('search')).toBeUndefined();
    expect((await lookupOf('shop'))('list_items')).toBe('shop_items');
    expect((await lookupOf('store'))('list_items')).toBe('store_items');
    expect((await lookupOf('docs'))('list_items')).toBeUndefined();
  });

  it('may refer to another server’s tool', async () => {
    const lookup = await lookupOf('docs');
    expect(['actions_get', 'pay', 'shell'].map(lookup)).toEqual(['get_workflow', 'shop_pay', 'terminal']);
  });

  it('is unknown if the plan does not offer the tool', async () => {
    const lookup = await lookupOf(null, { allow: ['builtin.bash'] });
    expect(lookup('actions_get')).toBeUndefined();
    expect(lookup('shell')).toBe('terminal');
  });

  it('of several entries of one tool is unchanged, and so are the names of a single entry', async () => {
    const twice = [
      { tool: 'docs.read_page', name: 'one', aliases: ['first_page'] },
      { tool: 'docs.read_page', name: 'two', aliases: [] },
    ];
    const lookup = await lookupOf('docs', {}, twice);
    expect([lookup('read_page'), lookup('docs.read_page'), lookup('one')]).toEqual([undefined, undefined, undefined]);
    expect(lookup('first_page')).toBe('one');
  });

  it('becomes the own name if aliases are switched off, and so does the given name', async () => {
    const lookup = await lookupOf(null, { aliases: false, allow: ['builtin.bash', 'github.actions_get'] });
    expect(['shell', 'terminal', 'get_workflow', 'gh_workflow', 'bash'].map(lookup)).toEqual([
      'bash',
      'bash',
      'actions_get',
      'actions_get',
      undefined,
    ]);
  });

  it('becomes the own name if aliases are switched off and only one entry is allowed', async () => {
    const twice = [
      { tool: 'docs.read_page', name: 'one', aliases: ['first_page'] },
      { tool: 'docs.read_page', name: 'two', aliases: [] },
    ];
    const { edition } = await compile({ tools: twice }, known);
    const [first] = edition.tools;
    if (first === undefined) throw new Error('there are two');
    const map = buildAliasMap(edition, { aliases: false, allow: [grantOf({ edition }, first)] });
    const lookup = nameLookup(map, null);
    expect(map.tools).toHaveLength(1);
    expect([lookup('one'), lookup('first_page'), lookup('two')]).toEqual([map.tools[0]?.wireName, map.tools[0]?.wireName, undefined]);
  });

  it('keeps its meaning, whatever tools a conversation adds', async () => {
    const { edition } = await compile({ tools: entries }, known);
    const map = buildAliasMap(edition, { aliases: true });
    const own = {
      ...edition.tools[0],
      canonical: 'client.actions_get',
      wireName: 'actions_get',
      ownName: 'actions_get',
      server: 'client',
      aliases: [],
    };
    const extended = extendAliasMap(extendAliasMap(map, [own as unknown as EditionTool]), []);
    expect(nameLookup(extended, null)('actions_get')).toBe('get_workflow');
  });

  it('never leads to a cycle, even in an invalid edition', () => {
    const swapped = (ownName: string, wireName: string) =>
      ({
        canonical: `s.${ownName}`,
        ownName,
        wireName,
        server: 's',
        kind: 'mcp',
        description: '',
        inputSchema: {},
        aliases: [],
        state: 'ready',
        pin: '',
      }) as unknown as EditionTool;
    const tools = [swapped('a_one', 'b_two'), swapped('b_two', 'a_one'), swapped('c_three', 'a_one')];
    const map = buildAliasMap({ format: 1, workspace: 'w', toolset: 't', announce: 'none', tools }, { aliases: true });
    for (const server of ['s', null]) {
      const lookup = nameLookup(map, server);
      for (const text of ['`a_one` `b_two` `c_three`', 'a_one b_two c_three'])
        expect(rewriteNames(rewriteNames(text, lookup), lookup)).toBe(rewriteNames(text, lookup));
    }
  });

  it('leads only to current names, in any edition', () => {
    const names = ['ab', 'cd', 'ef', 'gh_i'];
    const tool = fc.record({
      server: fc.constantFrom('s', 't'),
      ownName: fc.constantFrom(...names),
      wireName: fc.constantFrom(...names),
      alias: fc.constantFrom(...names),
      state: fc.constantFrom('ready', 'held'),
    });
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 6 }), (drawn) => {
        const tools = drawn.map(
          ({ alias, ...rest }) =>
            ({
              ...rest,
              canonical: `${rest.server}.${rest.ownName}`,
              kind: 'mcp',
              aliases: [{ name: alias, mode: 'announced' }],
            }) as unknown as EditionTool,
        );
        const map = buildAliasMap({ format: 1, workspace: 'w', toolset: 't', announce: 'none', tools }, { aliases: true });
        const ready = new Set(tools.filter(({ state }) => state === 'ready').map(({ wireName }) => wireName as string));
        for (const server of ['s', 't', null]) {
          const lookup = nameLookup(map, server);
          for (const name of [...names, ...tools.map(({ canonical }) => canonical)]) {
            const now = lookup(name);
            if (now === undefined) continue;
            expect(ready.has(now)).toBe(true);
            expect(lookup(now)).toBeUndefined();
          }
        }
      }),
    );
  });
});
