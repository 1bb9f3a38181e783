/** The contract of secrets: readable for what they are bound to, and never shown. */
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function secretsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('secrets', () => {
    it('are readable for the hosts and tools that they are bound to, and never shown', async () => {
      const { document } = await catalog.put('secret', 'GH', { value: 'the-token', hosts: ['api.example.com', '*.example.org'] });
      expect(document.body).toEqual({ hosts: ['api.example.com', '*.example.org'] });
      expect(await directory.secret(workspace, 'GH', { host: 'api.example.com' })).toBe('the-token');
      expect(await directory.secret(workspace, 'GH', { host: 'eu.example.org' })).toBe('the-token');
      const refused = await refusal(directory.secret(workspace, 'GH', { host: 'evil.example.net' }));
      expect(refused.code).toBe('forbidden');
      expect(refused.detail).not.toContain('the-token');
      await expect(directory.secret(workspace, 'GH', { tool: 'local.thing' })).rejects.toMatchObject({ code: 'forbidden' });
      await expect(directory.secret(workspace, 'NOPE', { host: 'api.example.com' })).rejects.toMatchObject({ code: 'not_found' });
    });

    it('change with their value only, and are gone when removed', async () => {
      await catalog.put('secret', 'GH', { value: 'one', hosts: ['api.example.com'] });
      expect(await catalog.put('secret', 'GH', { value: 'one', hosts: ['api.example.com'] })).toMatchObject({
        changed: false,
        document: { version: 1 },
      });
      expect(await catalog.put('secret', 'GH', { value: 'two', hosts: ['api.example.com'] })).toMatchObject({
        changed: true,
        document: { version: 2 },
      });
      expect(await directory.secret(workspace, 'GH', { host: 'api.example.com' })).toBe('two');
      await catalog.remove('secret', 'GH');
      await expect(directory.secret(workspace, 'GH', { host: 'api.example.com' })).rejects.toMatchObject({ code: 'not_found' });
    });
  });
}
