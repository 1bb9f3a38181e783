/** Versions of a toolset in the Catalog: each keeps its document and its edition, and can be named by a pin. */
import { describe, expect, it } from 'vitest';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const first = { tools: [{ tool: 'builtin.bash', name: 'shell' }] };
const second = { tools: [{ tool: 'builtin.read_file' }] };

async function workspaceWithTwo() {
  const made = await emptyWorkspace();
  await made.catalog.put('toolset', 'demo', first);
  await made.catalog.put('toolset', 'demo', second);
  return made;
}

describe('a version of a toolset', () => {
  it('can be read, and its names used, after newer ones were written', async () => {
    const { workspace, catalog, directory } = await workspaceWithTwo();
    expect((await catalog.get('toolset', 'demo', 1)).body).toMatchObject(first);
    const wireNames = async (version?: number) =>
      (await directory.toolset(workspace, 'demo', version)).names.tools.map(({ wireName }) => wireName);
    expect([await wireNames(1), await wireNames(2), await wireNames()]).toEqual([['shell'], ['read_file'], ['read_file']]);
  });

  it('can be read and restored after the toolset was removed, and used only after that', async () => {
    const { workspace, catalog, directory } = await workspaceWithTwo();
    await catalog.remove('toolset', 'demo');
    await expect(directory.toolset(workspace, 'demo', 1)).rejects.toMatchObject({ code: 'not_found' });
    await expect(catalog.get('toolset', 'demo', 3)).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('removed by version 3'),
    });
    await expect(catalog.get('toolset', 'demo', 9)).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('has no version 9'),
    });
    const { body } = await catalog.get('toolset', 'demo', 1);
    expect(await catalog.put('toolset', 'demo', body)).toMatchObject({ document: { version: 4 }, created: true });
    expect((await directory.toolset(workspace, 'demo')).pointer.version).toBe(4);
  });

  it('is checked for an agent’s pin when the agent is written', async () => {
    const { catalog } = await workspaceWithTwo();
    const warningsFor = async (toolset: string) =>
      (await catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset, tools: ['shell', 'read_file'] })).warnings.map(
        ({ path }) => path,
      );
    expect(await warningsFor('demo@1')).toEqual(['tools[1]']);
    expect(await warningsFor('demo')).toEqual(['tools[0]']);
    expect(await warningsFor('demo@2')).toEqual(['tools[0]']);
    expect(await warningsFor('demo@9')).toEqual(['toolset']);
    expect(await warningsFor('other@1')).toEqual(['toolset']);
  });
});
