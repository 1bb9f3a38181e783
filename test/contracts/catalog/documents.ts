/** The contract of documents: their versions, conditions, dry runs, lists and faults, whatever their kind. */
import { beforeEach, describe, expect, it } from 'vitest';
import { clash, pages, refusal, shell, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function documentsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('documents', () => {
    it('counts versions from 1 and makes none for an identical document', async () => {
      const first = await catalog.put('toolset', 'support', shell('run'));
      expect(first).toMatchObject({
        created: true,
        changed: true,
        document: { name: 'support', version: 1, body: { name: 'support', announce: 'prompt' } },
      });
      const again = await catalog.put('toolset', 'support', shell('run'));
      expect(again).toMatchObject({ created: false, changed: false, document: { version: 1 } });
      const other = await catalog.put('toolset', 'support', shell('execute'));
      expect(other).toMatchObject({ created: false, changed: true, document: { version: 2 } });
      expect(await catalog.get('toolset', 'support')).toEqual(other.document);
    });

    it('keeps every version of a toolset, and never reuses a number', async () => {
      await catalog.put('toolset', 'support', shell('one'));
      await catalog.put('toolset', 'support', shell('two'));
      await catalog.remove('toolset', 'support');
      await expect(catalog.get('toolset', 'support')).rejects.toMatchObject({ code: 'not_found' });
      await expect(directory.toolset(workspace, 'support')).rejects.toMatchObject({ code: 'not_found' });
      expect(await catalog.put('toolset', 'support', shell('three'))).toMatchObject({ created: true, document: { version: 4 } });
      expect((await catalog.get('toolset', 'support', 1)).body).toMatchObject({ tools: [{ name: 'one' }] });
      await expect(catalog.get('toolset', 'support', 3)).rejects.toMatchObject({ code: 'not_found' });
      expect((await catalog.versions('toolset', 'support', { limit: 10 })).items.map(({ version, removed }) => [version, removed])).toEqual(
        [
          [4, false],
          [3, true],
          [2, false],
          [1, false],
        ],
      );
      await expect(catalog.versions('toolset', 'other', { limit: 10 })).rejects.toMatchObject({ code: 'not_found' });
    });

    it('keeps earlier versions of an agent until it is removed', async () => {
      const first = await catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: 'one' });
      await catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: 'two' });
      await catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: 'two' });
      expect(await catalog.get('agent', 'helper', 1)).toMatchObject({ version: 1, body: first.document.body });
      expect(await catalog.get('agent', 'helper', 2)).toMatchObject({ version: 2, body: { instructions: 'two' } });
      await expect(catalog.get('agent', 'helper', 3)).rejects.toMatchObject({ code: 'not_found' });
      const numbers = async () => (await pages((page) => catalog.versions('agent', 'helper', page), 1)).map(({ version }) => version);
      expect(await numbers()).toEqual([2, 1]);
      await catalog.remove('agent', 'helper');
      await expect(catalog.versions('agent', 'helper', { limit: 10 })).rejects.toMatchObject({ code: 'not_found' });
      await catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: 'three' });
      expect(await numbers()).toEqual([4]);
      await expect(catalog.get('agent', 'helper', 1)).rejects.toMatchObject({ code: 'not_found' });
      await catalog.remove('agent', 'helper');
    });

    it('rejects a write whose condition fails, and returns the current version', async () => {
      await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
      const lost = await refusal(catalog.put('agent', 'helper', { model: 'rehearsal/other' }, { ifMatch: 7 }));
      expect(lost).toMatchObject({ code: 'precondition_failed', detail: expect.stringContaining('version 1') });
      await expect(catalog.put('agent', 'helper', { model: 'rehearsal/other' }, { ifNoneMatch: true })).rejects.toMatchObject({
        code: 'precondition_failed',
      });
      await expect(catalog.put('agent', 'other', { model: 'rehearsal/other' }, { ifMatch: '*' })).rejects.toMatchObject({
        code: 'precondition_failed',
      });
      await expect(catalog.remove('agent', 'helper', { ifMatch: 2 })).rejects.toMatchObject({ code: 'precondition_failed' });
      expect(await catalog.put('agent', 'helper', { model: 'rehearsal/other' }, { ifMatch: 1 })).toMatchObject({
        document: { version: 2 },
      });
      await catalog.remove('agent', 'helper', { ifMatch: 2 });
      await expect(catalog.remove('agent', 'helper')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('checks a dry run like a write and stores nothing', async () => {
      expect(await catalog.put('toolset', 'support', shell('run'), { dryRun: true })).toMatchObject({
        created: true,
        document: { version: 1 },
      });
      await expect(catalog.get('toolset', 'support')).rejects.toMatchObject({ code: 'not_found' });
      await expect(catalog.put('toolset', 'support', clash(), { dryRun: true })).rejects.toMatchObject({ code: 'name_conflict' });
    });

    it('lists by name in pages, and rejects cursors of other lists', async () => {
      for (const name of ['c', 'a', 'e', 'b', 'd']) await catalog.put('agent', name, { model: 'rehearsal/default' });
      await catalog.remove('agent', 'd');
      expect((await pages((page) => catalog.list('agent', page), 2)).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'e']);
      const { nextCursor } = await catalog.list('agent', { limit: 1 });
      await expect(catalog.list('toolset', { limit: 1, cursor: nextCursor ?? '' })).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(catalog.list('agent', { limit: 1, cursor: '../etc' })).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('reports each fault of a body at its path', async () => {
      const problem = await refusal(
        catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.bash', shiny: true, notes: [{ name: 'x' }] }] }),
      );
      expect(problem.code).toBe('invalid_request');
      expect(problem.extra.issues).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ path: 'tools[0].shiny' }),
          expect.objectContaining({ path: 'tools[0].notes[0].note' }),
        ]),
      );
      await expect(catalog.put('agent', 'helper', { model: 'nothing/' })).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}
