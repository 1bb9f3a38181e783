import { expect, it } from 'vitest';
import { listRows, storeRow } from '../../../../src/objects/catalog/documents/documents.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

it('a page of documents ends by the number of their bytes, not of their characters', () => {
  const sql = fakeSql(catalogMigrations);
  // Three bytes each: two of these documents exceed a page.
  const body = { text: '€'.repeat(limits.listPageBytes / 5) };
  for (const name of ['a', 'b', 'c'])
    storeRow(sql, { kind: 'skill', name, version: 1, deleted: false, body, sealed: null, createdAt: 0, updatedAt: 0 });
  const first = listRows(sql, 'skill', { limit: 10 });
  expect(first.items.map(({ name }) => name)).toEqual(['a']);
  const second = listRows(sql, 'skill', { limit: 10, cursor: first.nextCursor ?? '' });
  expect(second.items.map(({ name }) => name)).toEqual(['b']);
});
