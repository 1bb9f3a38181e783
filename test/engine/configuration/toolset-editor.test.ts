/** The toolsets that the configuration tools work on are those the key may use at the time of the call. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/core/people/principal.ts';
import type { Alias } from '../../../src/core/names/names.ts';
import type { Toolset } from '../../../src/core/toolset/toolset.ts';
import { createToolsetEditor } from '../../../src/engine/configuration/toolset-editor.ts';
import type { CatalogPort } from '../../../src/ports/catalog.ts';
import type { ToolsetEditor } from '../../../src/ports/toolset-editor.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const document = (tool: string): Toolset => ({ announce: 'prompt', tools: [{ tool }] });

let catalog: NodeCatalog;
beforeEach(async () => {
  catalog = createNodeCatalog({ definitions: [toolOf('git', 'status'), toolOf('git', 'log'), toolOf('docker', 'ps')] });
  await catalog.put('toolset', 'mine', { tools: [{ tool: 'git.status' }, { tool: 'git.log' }] });
  await catalog.put('toolset', 'other', { tools: [{ tool: 'docker.ps' }] });
});

async function keyOf(scopes: Scope[], toolsets?: string[]): Promise<string> {
  const { record } = await catalog.createKey({ name: 'test', scopes, ...(toolsets !== undefined && { toolsets }) });
  return record.id;
}
const deskOf = async (scopes: Scope[], toolsets?: string[]) => createToolsetEditor(catalog, await keyOf(scopes, toolsets));

const everything: readonly [string, (editor: ToolsetEditor) => Promise<unknown>][] = [
  ['tools', (editor) => editor.tools()],
  ['servers', (editor) => editor.servers()],
  ['toolsets', (editor) => editor.toolsets()],
  ['toolset', (editor) => editor.toolset('mine')],
  ['write', (editor) => editor.write('new', document('git.log'), null)],
  ['rename', (editor) => editor.rename('mine', 'new', 1)],
  ['brokenCalls', (editor) => editor.brokenCalls('mine', document('git.log'), document('git.status'))],
  ['remove', (editor) => editor.remove('mine', 1)],
  ['equipment', (editor) => editor.equipment()],
  ['equip', (editor) => editor.equip({ mode: 'normal' })],
];

describe('a key without the scope', () => {
  it.each(everything)('gets an error for %s', async (_name, ask) => {
    await expect(ask(await deskOf(['chat', 'tools', 'approve']))).rejects.toMatchObject({ code: 'forbidden' });
    expect((await catalog.list('toolset', { limit: 10 })).items.map(({ name, version }) => [name, version])).toEqual([
      ['mine', 1],
      ['other', 1],
    ]);
  });

  it.each(everything)('that was revoked since gets an error for %s', async (_name, ask) => {
    const id = await keyOf(['toolsets']);
    await catalog.revokeKey(id);
    await expect(ask(createToolsetEditor(catalog, id))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('has access with the scope, and with admin', async () => {
    for (const scope of ['toolsets', 'admin'] as const)
      expect(await (await deskOf([scope])).toolset('mine')).toMatchObject({ name: 'mine' });
  });
});

describe('a key bound to toolsets', () => {
  let bound: ToolsetEditor;
  beforeEach(async () => {
    bound = await deskOf(['toolsets'], ['mine', 'new']);
  });

  it('sees those of its toolsets that exist, and the tools in them', async () => {
    expect((await bound.toolsets()).map(({ name }) => name)).toEqual(['mine']);
    expect((await bound.tools()).map(({ canonical }) => canonical)).toEqual(['git.log', 'git.status']);
    expect(await bound.toolset('other')).toBeNull();
  });

  it('writes only its own, and learns nothing about the others from errors', async () => {
    expect((await bound.write('new', document('git.log'), null)).document).toMatchObject({ name: 'new', version: 1 });
    for (const name of ['other', 'nowhere'])
      for (const ask of [
        () => bound.write(name, document('git.log'), null),
        () => bound.remove(name, 1),
        () => bound.equip({ toolset: name }),
        () => bound.rename('mine', name, 1),
        () => bound.rename(name, 'new', 1),
      ])
        await expect(ask()).rejects.toMatchObject({ code: 'forbidden', detail: expect.stringContaining('is not bound to the toolset') });
  });

  it('has nothing equipped that it may not use', async () => {
    const equipped: CatalogPort = { ...catalog, equipment: async () => ({ toolset: 'other', mode: 'normal' }) };
    const editor = createToolsetEditor(equipped, await keyOf(['toolsets'], ['mine']));
    expect(await editor.equipment()).toEqual({ toolset: null, mode: 'configuration' });
  });
});

describe('a write', () => {
  it('requires the version that was read', async () => {
    const editor = await deskOf(['toolsets']);
    await expect(editor.write('mine', document('git.log'), null)).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(editor.write('mine', document('git.log'), 7)).rejects.toMatchObject({ code: 'precondition_failed' });
    expect((await editor.write('mine', document('git.log'), 1)).document.version).toBe(2);
    await expect(editor.remove('mine', 1)).rejects.toMatchObject({ code: 'precondition_failed' });
  });

  it("can waive approvals only with an administrator's key", async () => {
    const waiving: Toolset = { announce: 'prompt', tools: [{ tool: 'git.log', approval: 'never' }] };
    await expect((await deskOf(['toolsets'])).write('new', waiving, null)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await (await deskOf(['admin'])).write('new', waiving, null)).document.version).toBe(1);
    await expect((await deskOf(['toolsets'])).rename('new', 'newer', 1)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('resources and prompts of a toolset', () => {
  const offering = (offers: Partial<Toolset>): Toolset => ({ ...document('git.log'), ...offers });

  it('can be offered without approval only by an administrator', async () => {
    const waiving = {
      resources: [{ resource: 'git.*', approval: 'never' }],
      prompts: [{ prompt: 'git.review', approval: 'never' }],
    } as const;
    for (const [member, entries] of Object.entries(waiving)) {
      const toolset = offering({ [member]: entries });
      await expect((await deskOf(['toolsets'])).write(member, toolset, null)).rejects.toThrow(
        /requires an unbound key with the scope "admin"/,
      );
      await (await deskOf(['admin'])).write(member, toolset, null);
      // Others may keep it unchanged, or remove it.
      await (await deskOf(['toolsets'])).write(member, { ...toolset, description: 'x' }, 1);
      await (await deskOf(['toolsets'])).write(member, document('git.log'), 2);
    }
  });

  it('are with a bound key at most those of its toolsets', async () => {
    await catalog.put('toolset', 'mine', { tools: [{ tool: 'git.log' }], resources: ['git.file:///a', 'git.b*'], prompts: [] });
    const bound = await deskOf(['toolsets'], ['mine']);
    for (const wider of [
      offering({}),
      offering({ resources: ['git.*'], prompts: [] }),
      offering({ resources: ['git.file:///*'], prompts: [] }),
      offering({ resources: ['docker.x'], prompts: [] }),
      offering({ resources: [{ resource: 'git.file:///a', approval: 'policy' }], prompts: [] }),
      offering({ resources: [], prompts: ['git.review'] }),
      offering({ resources: ['git.file:///a'] }),
    ])
      await expect(bound.write('mine', wider, 2), JSON.stringify(wider)).rejects.toMatchObject({ code: 'forbidden' });
    const narrower = offering({ resources: ['git.file:///a'], prompts: [] });
    expect((await bound.write('mine', narrower, 2)).document.body).toMatchObject({ resources: ['git.file:///a'], prompts: [] });
  });

  it('have names that differ', async () => {
    const clashing = offering({
      prompts: [
        { prompt: 'git.a', name: 'x_1' },
        { prompt: 'git.b', aliases: ['x_1' as Alias] },
      ],
    });
    await expect((await deskOf(['admin'])).write('new', clashing, null)).rejects.toMatchObject({
      extra: { issues: [{ path: 'prompts[1]', message: expect.stringContaining('"x_1" is a name of prompts[0]') }] },
    });
  });

  it('of servers that do not exist are stored, with a warning', async () => {
    const { warnings } = await (await deskOf(['admin'])).write(
      'new',
      offering({ resources: ['gone.*', 'builtin.x'], prompts: ['git.*'] }),
      null,
    );
    expect(warnings.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'resources[0] offers nothing, since there is no MCP server "gone"',
      'resources[1] offers nothing, since there is no MCP server "builtin"',
    ]);
  });
});

it('reads tools and rights once, however often they are needed', async () => {
  const asked: string[] = [];
  const counting: CatalogPort = {
    ...catalog,
    tools: (page) => {
      asked.push('tools');
      return catalog.tools(page);
    },
    keyRights: (id) => {
      asked.push('rights');
      return catalog.keyRights(id);
    },
  };
  const editor = createToolsetEditor(counting, 'root');
  expect(asked).toEqual([]);
  await Promise.all([editor.tools(), editor.tools(), editor.servers(), editor.toolsets()]);
  expect(asked.sort()).toEqual(['rights', 'tools']);
});

it('reports the health of servers as far as their documents have it', async () => {
  await catalog.put('server', 'web', {
    kind: 'static',
    url: 'https://web.example/call',
    tools: [{ name: 'get', description: 'Gets.', inputSchema: { type: 'object' } }],
  });
  const health = { status: 'failing', reason: 'It answers 503.', checkedAt: null, listedAt: null, failures: 2 };
  const told: CatalogPort = {
    ...catalog,
    list: async (kind, page) => {
      const listed = await catalog.list(kind, page);
      return kind === 'server' ? { ...listed, items: listed.items.map((item) => ({ ...item, body: { ...item.body, health } })) } : listed;
    },
  };
  await catalog.put('server', 'late', { kind: 'mcp', url: 'https://late.example/mcp' });
  const servers = await createToolsetEditor(told, 'root').servers();
  expect([...servers].toSorted()).toMatchObject([
    ['late', { status: 'failing' }],
    ['web', { status: 'failing', reason: 'It answers 503.' }],
  ]);
  expect(await createToolsetEditor(told, await keyOf(['toolsets'], ['mine'])).servers()).toEqual(new Map());
});
