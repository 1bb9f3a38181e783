/** UI tools and the toolsets that list them: each change of one is a new revision of those, and its removal breaks none. */
import { describe, expect, it } from 'vitest';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] };
const study = { tools: [{ tool: 'ui.camera' }, { tool: 'builtin.bash' }] };

async function workspaceWithCamera() {
  const { workspace, catalog, directory } = await emptyWorkspace();
  await catalog.put('ui-tool', 'ui.camera', camera);
  await catalog.put('toolset', 'study', study);
  const seen = async (name = 'study') => {
    const { pointer, names } = await directory.toolset(workspace, name);
    return {
      revision: pointer.revision,
      tools: names.tools.map(({ canonical, state, ui }) => `${canonical} ${state} ${ui?.label ?? ''}`.trim()),
    };
  };
  return { catalog, seen };
}

describe('a UI tool in a toolset', () => {
  it('is as it was written last, in a new revision of the same version', async () => {
    const { catalog, seen } = await workspaceWithCamera();
    expect(await seen()).toEqual({
      revision: 1,
      tools: ['ui.camera ready Camera', 'builtin.bash ready'],
    });
    expect((await catalog.put('ui-tool', 'ui.camera', { ...camera, label: 'Lens' })).warnings).toEqual([]);
    expect(await seen()).toMatchObject({ revision: 2, tools: ['ui.camera ready Lens', 'builtin.bash ready'] });
  });

  it('is missing once it was deleted, and there again when it is written again', async () => {
    const { catalog, seen } = await workspaceWithCamera();
    await catalog.remove('ui-tool', 'ui.camera');
    expect(await seen()).toMatchObject({
      revision: 2,
      tools: ['ui.camera missing', 'builtin.bash ready'],
    });
    await expect(catalog.get('ui-tool', 'ui.camera')).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('ui-tool', 'ui.camera', camera);
    expect(await seen()).toMatchObject({ revision: 3, tools: ['ui.camera ready Camera', 'builtin.bash ready'] });
  });

  it('does not keep the toolset from anything else when it was deleted', async () => {
    const { catalog, seen } = await workspaceWithCamera();
    await catalog.remove('ui-tool', 'ui.camera');
    await catalog.put('tool-aliases', 'builtin.bash', { aliases: ['terminal'] });
    expect(await seen()).toMatchObject({ revision: 3 });
    const again = await catalog.put('toolset', 'study', { ...study, description: 'Of a school.' });
    expect(again.warnings).toMatchObject([
      { path: 'tools[0].tool', message: expect.stringContaining('ui.camera cannot be called: it was deleted') },
    ]);
  });

  it('is unknown once nothing lists it any more', async () => {
    const { catalog } = await workspaceWithCamera();
    await catalog.remove('ui-tool', 'ui.camera');
    await catalog.put('toolset', 'study', { tools: [{ tool: 'builtin.bash' }] });
    await expect(catalog.tool('ui.camera')).rejects.toMatchObject({ code: 'unknown_tool' });
    await expect(catalog.put('toolset', 'study', study)).rejects.toMatchObject({ extra: { issues: [{ path: 'tools[0].tool' }] } });
  });

  it('has a name that says what it is', async () => {
    const { catalog } = await emptyWorkspace();
    for (const name of ['camera', 'builtin.bash', 'ui.', 'ui.X', 'ui.constructor.x', '__proto__'])
      await expect(catalog.put('ui-tool', name, camera), name).rejects.toMatchObject({ extra: { issues: [{ path: 'name' }] } });
  });
});
