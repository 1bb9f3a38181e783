/** The contract of toolsets: compiled when they are written, pinned by version, revoked and retired. */
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { clash, refusal, shell, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function toolsetsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('toolsets', () => {
    it('are compiled when written: a clash is rejected and leaves the stored version', async () => {
      await catalog.put('toolset', 'support', shell('run'));
      const problem = await refusal(catalog.put('toolset', 'support', clash()));
      expect(problem).toMatchObject({ code: 'name_conflict', extra: { conflicts: [expect.objectContaining({ name: 'same' })] } });
      const { names, pointer } = await directory.toolset(workspace, 'support');
      expect(pointer).toMatchObject({ toolset: 'support', version: 1, revision: 1 });
      expect(resolveName(names, 'run')).toMatchObject({ ok: true, canonical: 'builtin.bash', via: 'wire' });
    });

    it('are seen changed at once by the caller that changed them, while a pinned version stays', async () => {
      await catalog.put('toolset', 'support', shell('one'));
      const old = await directory.toolset(workspace, 'support');
      await catalog.put('toolset', 'support', shell('two'));
      expect(resolveName((await directory.toolset(workspace, 'support')).names, 'two')).toMatchObject({ ok: true });
      const pinned = await directory.toolset(workspace, 'support', 1);
      expect(pinned.pointer).toEqual(old.pointer);
      expect(resolveName(pinned.names, 'one')).toMatchObject({ ok: true });
      expect((await directory.edition(workspace, old.pointer)).names.edition).toEqual(old.names.edition);
      await expect(directory.toolset(workspace, 'support', 9)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('revoke tools for all of their versions, until they are given back', async () => {
      const both = { tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.read_file' }] };
      const states = async (version?: number) =>
        (await directory.toolset(workspace, 'support', version)).names.tools.map(({ state }) => state);
      await catalog.put('toolset', 'support', both);
      const { pointer } = await directory.toolset(workspace, 'support');
      const written = await catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.read_file' }] }, { revoke: true });
      expect(written.document).toMatchObject({ version: 2, body: { revoked: ['builtin.bash'] } });
      expect(await directory.toolset(workspace, 'support', 1)).toMatchObject({ pointer, standing: { revoked: ['builtin.bash'] } });
      expect([await states(1), await states()]).toEqual([['held', 'ready'], ['ready']]);
      // A turn that has begun with the first version reads it again by its hash.
      expect((await directory.edition(workspace, pointer)).names.tools[0]).toMatchObject({ state: 'held', held: { reason: 'revoked' } });
      await expect(catalog.put('toolset', 'support', both)).rejects.toMatchObject({ code: 'invalid_request' });
      await catalog.remove('toolset', 'support');
      await catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.read_file' }] });
      expect(await states(1)).toEqual(['held', 'ready']);
      await catalog.put('toolset', 'support', { ...both, revoked: [] });
      expect([await states(1), await states()]).toEqual([
        ['ready', 'ready'],
        ['ready', 'ready'],
      ]);
    });

    it('retire versions, which then say so to all readers', async () => {
      await catalog.put('toolset', 'support', shell('one'));
      await catalog.put('toolset', 'support', shell('two'));
      const standing = async () => (await directory.toolset(workspace, 'support')).standing;
      expect(await standing()).toEqual({});
      await catalog.retireVersion('support', 1, true);
      expect(await standing()).toEqual({ retired: [1] });
      expect((await directory.toolset(workspace, 'support', 1)).standing).toEqual({ retired: [1] });
      expect((await catalog.get('toolset', 'support', 1)).retired).toBe(true);
      expect((await catalog.versions('toolset', 'support', { limit: 9 })).items).toMatchObject([
        { version: 2 },
        { retired: { by: expect.any(String) } },
      ]);
      for (const version of [1, 2])
        await expect(catalog.retireVersion('support', version, true)).rejects.toMatchObject({ code: 'conflict' });
      await expect(catalog.retireVersion('support', 3, true)).rejects.toMatchObject({ code: 'not_found' });
      await catalog.retireVersion('support', 1, false);
      expect(await standing()).toEqual({});
    });
  });
}
