/** Making tools on behalf of a key: only from what its plan offers, with approval before anything is changed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { buildAliasMap, extendAliasMap, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { Scope } from '../../../src/core/people/principal.ts';
import type { Problem } from '../../../src/core/problem.ts';
import { createToolsetEditor } from '../../../src/engine/configuration/toolset-editor.ts';
import { createToolMaker } from '../../../src/engine/configuration/tool-maker.ts';
import type { MakeRequest, ToolMaker } from '../../../src/ports/tool-maker.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { v8Syntax } from '../../fakes/v8-syntax.ts';

const text = { type: 'object', properties: { text: { type: 'string' } } };
const definitions = [
  toolOf('builtin', 'bash', { kind: 'builtin', aliases: ['shell'] }),
  toolOf('builtin', 'read_file', { kind: 'builtin' }),
  toolOf('docs', 'search', { inputSchema: text }),
  toolOf('web', 'search', { inputSchema: text }),
];
const count: MakeRequest = {
  name: 'count_lines',
  description: 'Counts lines.',
  parameters: [{ name: 'path', type: 'string' }],
  implementation: 'return (await tools.open({ path: args.path })).output.split("\\n").length',
};

let catalog: NodeCatalog;
let offered: AliasMap;
beforeEach(async () => {
  catalog = createNodeCatalog({ definitions });
  await catalog.put('toolset', 'desk', {
    tools: [
      { tool: 'builtin.read_file', name: 'open', aliases: ['peruse'] },
      { tool: 'web.search' },
      { tool: 'docs.search', name: 'lookup', arguments: { preset: { text: 'a' } } },
      { tool: 'docs.search', name: 'lookup_b', arguments: { preset: { text: 'b' } } },
    ],
  });
  offered = (await catalog.directory.toolset('default', 'desk')).names;
});

async function keyWith(scopes: Scope[], more: { toolsets?: string[]; agents?: string[] } = {}): Promise<string> {
  return (await catalog.createKey({ name: 'k', scopes, ...more })).record.id;
}
const makerOf = (keyId: string, names: AliasMap | null = offered): ToolMaker =>
  createToolMaker({ catalog, keyId, sandbox: v8Syntax, editor: createToolsetEditor(catalog, keyId), offered: names });
const root = () => makerOf('root');
const make = async (request: MakeRequest, maker = root()) => (await maker.prepare(request)).store();
const refusal = async (request: MakeRequest, maker = root()): Promise<string> => {
  try {
    await maker.prepare(request);
  } catch (error) {
    return `${(error as Problem).code}: ${(error as Problem).detail}`;
  }
  throw new Error('It was prepared, and was to be refused.');
};
const calling = (call: string): MakeRequest => ({ ...count, implementation: `return await ${call}({})` });

describe("a tool made from a plan's tools", () => {
  it('is stored with their canonical names, whatever the plan calls them', async () => {
    expect(await make(count)).toMatchObject({
      ...{ canonical: 'made.count_lines', version: 1, uses: ['builtin.read_file'] },
      ...{ outcome: 'made', shared: false },
    });
    expect((await catalog.get('private-tool', 'root/made.count_lines')).body).toMatchObject({ names: { open: 'builtin.read_file' } });
    const made = await catalog.directory.privateMade('default', 'root');
    expect(made?.names.tools[0]?.made?.uses[0]).toMatchObject({
      canonical: 'builtin.read_file',
      aliases: [{ name: 'open', mode: 'hidden' }],
    });
  });

  it.each([
    ['tools.open', 'builtin.read_file'],
    ['tools.Peruse', 'builtin.read_file'],
    ['tools["builtin.read_file"]', 'builtin.read_file'],
    // Its wire name is the own name of two.
    ['tools.search', 'web.search'],
    ['tools.lookup_b', 'docs.search'],
    ['tools["docs.search"]', 'docs.search'],
  ])('may call %s, which is %s there', async (call, canonical) => {
    expect((await make(calling(call))).uses).toEqual([canonical]);
  });

  it.each([
    ['tools.bash', 'implementation: line 1: "bash" is not one of the offered tools; available tools: open, search, lookup, lookup_b'],
    ['tools["builtin.bash"]', '"builtin.bash" is not one of the offered tools'],
    ['tools.peruze', '"peruze" is not one of the offered tools; did you mean open?'],
    ['tools[args.path]', 'list the tools that it may call in `uses`'],
  ])('may not call %s; the error lists what is available', async (call, why) => {
    expect(await refusal(calling(call))).toContain(why);
    expect((await catalog.list('private-tool', { limit: 10 })).items).toEqual([]);
  });

  it('calls the built-in tool of a name that several tools have, and what it called before, with a warning', async () => {
    const asks = calling('tools.search');
    const one = extendAliasMap(null, offered.tools.slice(1, 2));
    expect(await make(asks, makerOf('root', one))).toMatchObject({ uses: ['web.search'], warnings: [] });
    const several = ['docs', 'web'].map((server) => ({
      ...offered.tools[1],
      server,
      canonical: `${server}.search`,
      wireName: `${server}_x`,
    }));
    const more = extendAliasMap(null, several as unknown as AliasMap['tools']);
    expect(await make({ ...asks, description: 'Asks.' }, makerOf('root', more))).toMatchObject({
      ...{ uses: ['web.search'], outcome: 'replaced' },
      warnings: [expect.stringMatching(/"search" means web\.search, and is a name of docs\.search too/)],
    });
    expect(await refusal({ ...asks, name: 'other_tool' }, makerOf('root', more))).toContain('did you mean');
    const builtin = { ...several[0], kind: 'builtin', server: 'builtin', canonical: 'builtin.search', wireName: 'builtin_x' };
    const withBuiltin = extendAliasMap(null, [...several, builtin] as unknown as AliasMap['tools']);
    expect(await refusal({ ...asks, name: 'other_tool' }, makerOf('root', withBuiltin))).toContain('builtin.search');
  });

  it('calls no client tools, which belong to one conversation', async () => {
    const own = {
      ...offered.tools[0]!,
      canonical: 'client.pick',
      wireName: 'pick',
      ownName: 'pick',
      kind: 'client',
    } as AliasMap['tools'][number];
    const names = extendAliasMap(buildAliasMap(offered.edition, { aliases: true }), [own]);
    expect(await refusal(calling('tools.pick'), makerOf('root', names))).toContain('client.pick cannot be called by code');
  });

  it('calls nothing if the plan has no tools', async () => {
    expect(await refusal(count, makerOf('root', null))).toContain('no tools are available to code');
    expect(await make({ ...count, implementation: 'return 1' }, makerOf('root', null))).toMatchObject({ uses: [] });
  });

  it('calls what it declares if its code cannot be parsed', async () => {
    expect((await make({ ...count, implementation: 'return await tools[args.path]({})', uses: ['peruse', 'lookup'] })).uses).toEqual([
      'builtin.read_file',
      'docs.search',
    ]);
  });

  it.each<[string, Partial<MakeRequest>]>([
    ['name: "bash" is the name of builtin.bash', { name: 'bash' }],
    ['name: "shell" is an alias of builtin.bash', { name: 'made.shell' }],
    ['"a b" would be stored as "made.a b", which is not valid: must be "made." and 2 to 64', { name: 'a b' }],
    ['aliases[0]: "shell" is an alias of builtin.bash', { aliases: ['shell'] }],
    ['parameters[0].type', { parameters: [{ name: 'n', type: 'date' }] }],
    ['implementation: is not valid JavaScript', { implementation: 'return (' }],
  ])('is rejected: %s', async (why, change) => {
    expect(await refusal({ ...count, ...change })).toContain(why);
  });
});

describe('its changes', () => {
  it('are reported before they are made: a new tool, a replaced one, a toolset, or none', async () => {
    const changes = async (request: MakeRequest) => (await root().prepare(request)).changes;
    expect(await changes(count)).toEqual([{ change: 'create-tool', name: 'made.count_lines' }]);
    await make(count);
    expect(await changes(count)).toEqual([]);
    expect(await changes({ ...count, description: 'Counts.' })).toEqual([{ change: 'replace-tool', name: 'made.count_lines' }]);
    const shares = { change: 'share-tool', name: 'made.count_lines' };
    expect(await changes({ ...count, share: true })).toEqual([shares]);
    expect(await changes({ ...count, toolset: 'desk' })).toEqual([{ change: 'write-toolset', name: 'desk' }, shares]);
    await make({ ...count, toolset: 'desk' });
    expect(await changes({ ...count, toolset: 'desk' })).toEqual([]);
    expect(await changes({ ...count, share: true, description: 'Counts.' })).toEqual([
      { change: 'replace-tool', name: 'made.count_lines' },
    ]);
    expect(await refusal(count)).toContain('"count_lines" is already the name of the shared tool');
  });

  it('are the same when made twice, as by a turn that died in between', async () => {
    expect(await make({ ...count, toolset: 'desk' })).toMatchObject({ outcome: 'made', version: 1, toolset: { name: 'desk', version: 2 } });
    expect(await make({ ...count, toolset: 'desk' })).toMatchObject({
      outcome: 'unchanged',
      version: 1,
      toolset: { name: 'desk', version: 2 },
    });
    expect(await make({ ...count, share: true, description: 'Counts.' })).toMatchObject({ outcome: 'replaced', version: 2 });
  });

  it('are not made if another caller was faster', async () => {
    const prepared = await root().prepare(count);
    await make({ ...count, description: 'Another tool.' });
    await expect(prepared.store()).rejects.toMatchObject({ code: 'precondition_failed' });
  });

  it('include the tool if only the toolset cannot take it, with the reason', async () => {
    await catalog.put('toolset', 'taken', { tools: [{ tool: 'builtin.bash', aliases: ['count_lines'] }] });
    const made = await make({ ...count, toolset: 'taken' });
    expect(made).toMatchObject({ outcome: 'made', toolset: { name: 'taken', fault: expect.stringContaining('count_lines') } });
    expect((await catalog.get('toolset', 'taken')).version).toBe(1);
  });
});

describe('the rights for making tools', () => {
  it('let any key whose plan has create_tool make new tools', async () => {
    for (const [index, more] of [{}, { toolsets: ['desk'] }, { agents: ['helper'] }].entries())
      expect(await make({ ...count, name: `tool_${index}` }, makerOf(await keyWith(['chat'], more)))).toMatchObject({ outcome: 'made' });
  });

  it('let only administrators write the code of a tool that a secret is bound to', async () => {
    await catalog.put('secret', 'GH', { value: 'v', hosts: ['api.example.com'], tools: ['made.count_lines'] });
    for (const scopes of [['chat'], ['toolsets']] as const)
      expect(await refusal(count, makerOf(await keyWith([...scopes])))).toMatch(/^forbidden: Writing made\.count_lines/);
    expect(await refusal(count, makerOf(await keyWith(['admin'], { toolsets: ['desk'] })))).toMatch(/^forbidden/);
    expect(await make(count, makerOf(await keyWith(['admin'])))).toMatchObject({ outcome: 'made' });
  });

  it.each<[string, Scope[], { toolsets?: string[]; agents?: string[] }]>([
    ['without the scope', ['chat', 'approve'], {}],
    ['bound to toolsets', ['toolsets'], { toolsets: ['desk'] }],
    ['bound to agents', ['toolsets'], { agents: ['helper'] }],
  ])('do not let a key %s replace a shared tool', async (_what, scopes, more) => {
    await make({ ...count, share: true });
    expect(await refusal({ ...count, share: true, description: 'Other.' }, makerOf(await keyWith(scopes, more)))).toMatch(/^forbidden: /);
  });

  it('let a key with the scope share a tool, and a key bound to toolsets share a new one', async () => {
    for (const [index, more] of [{}, { toolsets: ['desk'] }].entries()) {
      const request = { ...count, name: `tool_${index}`, share: true };
      expect(await make(request, makerOf(await keyWith(['toolsets'], more)))).toMatchObject({ outcome: 'made', shared: true });
    }
    expect(await refusal({ ...count, share: true }, makerOf(await keyWith(['chat', 'tools', 'approve'])))).toMatch(
      /^forbidden: .*"toolsets"/,
    );
  });

  it('turn a private tool into the shared one when its key shares it', async () => {
    await make(count);
    await make({ ...count, share: true });
    expect((await catalog.directory.privateMade('default', 'root'))?.names.tools).toEqual([]);
    expect((await catalog.list('private-tool', { limit: 10 })).items).toEqual([]);
  });

  it('let a key replace a tool if it may do so over REST, and not once it was revoked', async () => {
    await make({ ...count, share: true });
    const keyId = await keyWith(['toolsets']);
    expect(await make({ ...count, share: true, description: 'Other.' }, makerOf(keyId))).toMatchObject({ outcome: 'replaced' });
    await catalog.revokeKey(keyId);
    expect(await refusal({ ...count, share: true, description: 'Third.' }, makerOf(keyId))).toMatch(/^forbidden/);
  });

  it.each<[string, Scope[], { toolsets?: string[] }]>([
    ['that may not write toolsets', ['chat'], {}],
    ['that is bound to others', ['toolsets'], { toolsets: ['other'] }],
  ])('let a key %s list it in no toolset, and then nothing is stored', async (_what, scopes, more) => {
    expect(await refusal({ ...count, toolset: 'desk' }, makerOf(await keyWith(scopes, more)))).toMatch(/^(forbidden|not_found)/);
    for (const kind of ['made-tool', 'private-tool'] as const) expect((await catalog.list(kind, { limit: 10 })).items).toEqual([]);
  });

  it('do not create a missing toolset', async () => {
    expect(await refusal({ ...count, toolset: 'gone' })).toMatch(/^not_found: There is no toolset "gone"/);
  });
});
