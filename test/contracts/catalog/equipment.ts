/** The contract of equipment: the toolset that a key has equipped over MCP, through renames and removals. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CatalogParts, MakeWorkspace } from './workspace.ts';

export function equipmentContract(make: MakeWorkspace): void {
  let catalog: CatalogParts['catalog'];
  beforeEach(async () => {
    ({ catalog } = await make());
  });

  describe('the equipment of a key', () => {
    const one = { tools: [{ tool: 'builtin.bash' }] };

    it('is empty at first, which is configuration mode; it belongs to one key', async () => {
      await catalog.put('toolset', 'kit', one);
      expect(await catalog.equipment('anna')).toEqual({ toolset: null, mode: 'configuration' });
      expect(await catalog.setEquipment('anna', { toolset: 'kit', mode: 'normal' })).toEqual({ toolset: 'kit', mode: 'normal' });
      expect(await catalog.setEquipment('anna', { mode: 'configuration' })).toEqual({ toolset: 'kit', mode: 'configuration' });
      expect(await catalog.equipment('bert')).toEqual({ toolset: null, mode: 'configuration' });
    });

    it('is empty without such a toolset, also when one of its name is created later', async () => {
      expect(await catalog.setEquipment('anna', { toolset: 'nothing', mode: 'normal' })).toEqual({ toolset: null, mode: 'configuration' });
      await catalog.put('toolset', 'kit', one);
      await catalog.setEquipment('anna', { toolset: 'kit', mode: 'normal' });
      await catalog.remove('toolset', 'kit');
      await catalog.put('toolset', 'kit', one);
      expect(await catalog.equipment('anna')).toEqual({ toolset: null, mode: 'configuration' });
    });

    it('remains when its toolset is renamed, which keeps everything in it', async () => {
      const document = { description: 'Mine.', tools: [{ tool: 'builtin.bash', name: 'sh', approval: 'always' }] };
      const { document: made } = await catalog.put('toolset', 'kit', document);
      await catalog.setEquipment('anna', { toolset: 'kit', mode: 'normal' });
      const renamed = await catalog.renameToolset('kit', 'tools', made.version);
      expect(renamed.document).toMatchObject({ name: 'tools', version: 1, body: { ...document, name: 'tools' } });
      expect(await catalog.equipment('anna')).toEqual({ toolset: 'tools', mode: 'normal' });
      await expect(catalog.get('toolset', 'kit')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('is unchanged by a rename to a taken name, or of an outdated version', async () => {
      await catalog.put('toolset', 'kit', one);
      await catalog.put('toolset', 'other', one);
      await expect(catalog.renameToolset('kit', 'other', 1)).rejects.toMatchObject({ code: 'precondition_failed' });
      await expect(catalog.renameToolset('kit', 'free', 7)).rejects.toMatchObject({ code: 'precondition_failed' });
      await expect(catalog.renameToolset('gone', 'free', 1)).rejects.toMatchObject({ code: 'not_found' });
      await expect(catalog.get('toolset', 'free')).rejects.toMatchObject({ code: 'not_found' });
      expect(await catalog.get('toolset', 'kit')).toMatchObject({ version: 1 });
    });
  });
}
