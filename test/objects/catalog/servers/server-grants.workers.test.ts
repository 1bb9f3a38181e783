import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { createMasterKey } from '../../../../src/storage/keys/master-key.ts';
import { openValue } from '../../../../src/storage/keys/secret-box.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';

describe('a stored sign-in', () => {
  it('is sealed for its server and workspace', async () => {
    const { catalog, object, settings, workspace } = await emptyWorkspace();
    expect(await catalog.saveServerGrant('docs', { value: '{"accessToken":"a token of docs"}', revision: 0 })).toBe(true);
    const sealed = await runInDurableObject(object, (_instance, { storage }) =>
      String(storage.sql.exec("SELECT sealed FROM server_grants WHERE server = 'docs'").one().sealed),
    );
    expect(sealed).not.toContain('a token of docs');
    const master = createMasterKey(settings.masterKey);
    const place = { workspace, kind: 'grant', name: 'docs' } as const;
    expect(await openValue(master, place, sealed)).toContain('a token of docs');
    for (const other of [
      { ...place, name: 'other' },
      { ...place, workspace: 'other' },
      { ...place, kind: 'secret' as const },
    ]) {
      await expect(openValue(master, other, sealed)).rejects.toMatchObject({ code: 'internal' });
    }
  });

  it('is written by only one of several concurrent writers', async () => {
    const { catalog } = await emptyWorkspace();
    const writers = Array.from({ length: 10 }, (_, index) => catalog.saveServerGrant('docs', { value: `of ${index}`, revision: 0 }));
    const written = await Promise.all(writers);
    expect(written.filter((one) => one)).toHaveLength(1);
    expect(await catalog.serverGrant('docs')).toEqual({ value: `of ${written.indexOf(true)}`, revision: 1 });
    expect(await catalog.saveServerGrant('docs', { value: null, revision: 1 })).toBe(true);
    expect(await catalog.serverGrant('docs')).toEqual({ value: null, revision: 2 });
  });
});
