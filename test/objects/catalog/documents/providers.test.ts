import { describe, expect, it } from 'vitest';
import { providerWriter } from '../../../../src/objects/catalog/documents/providers.ts';
import { readSettings } from '../../../../src/core/people/settings.ts';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

describe('a provider in place of one of the settings', () => {
  const settings = readSettings({ OPENAI_API_KEY: 'sk-of-the-settings' });
  // The writer needs no other member for a document without a key.
  const context = { sql: fakeSql(catalogMigrations), settings, workspace: 'default' } as CatalogContext;

  it.each([
    ['openai', ['apiKey']],
    ['rehearsing', []],
  ])('%s: warns that the key of the settings is not used: %j', async (name, expected) => {
    const { warnings = [] } = await providerWriter.prepare(context, name, { kind: 'openai' }, null, { by: 'k1' });
    expect(warnings.map(({ path }) => path)).toEqual(expected);
  });
});
