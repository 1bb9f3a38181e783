/** The contract of agents: what turns read, and the warnings about their tools. */
import { beforeEach, describe, expect, it } from 'vitest';
import { shell, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function agentsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('agents', () => {
    it('are read back as they were written', async () => {
      await catalog.put('agent', 'helper', { model: 'rehearsal/default', tools: [] });
      expect(await directory.agent(workspace, 'helper')).toMatchObject({
        name: 'helper',
        model: 'rehearsal/default',
        instructions: '',
        tools: [],
      });
      await catalog.remove('agent', 'helper');
      await expect(directory.agent(workspace, 'helper')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('have warnings about their list when written, and against the current toolset when read by themselves', async () => {
      await catalog.put('toolset', 'support', shell('run'));
      const agent = { model: 'rehearsal/default', toolset: 'support', tools: ['Run', 'nonesuch'] };
      const unmatched = [{ path: 'tools[1]', message: '"nonesuch" matches no tool of the toolset "support".' }];
      expect((await catalog.put('agent', 'helper', agent)).warnings).toEqual(unmatched);
      expect((await catalog.get('agent', 'helper')).warnings).toEqual(unmatched);
      expect((await catalog.list('agent', { limit: 1 })).items[0]).not.toHaveProperty('warnings');
      await catalog.put('toolset', 'support', shell('nonesuch'));
      expect((await catalog.get('agent', 'helper')).warnings?.map(({ path }) => path)).toEqual(['tools[0]']);
      await catalog.put('agent', 'helper', { ...agent, tools: ['nonesuch'] });
      expect(await catalog.get('agent', 'helper')).not.toHaveProperty('warnings');
    });
  });
}
