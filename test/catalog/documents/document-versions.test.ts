import { expect, it } from 'vitest';
import { findEarlierVersion, keepReplacedVersion, listDocumentVersions } from '../../../src/catalog/documents/document-versions.ts';
import { readRow, storeRow, type DocumentRow } from '../../../src/catalog/documents/documents.ts';
import { catalogMigrations } from '../../../src/storage/schema.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';

it('a document of an earlier release has its newest version, and more once it changes', () => {
  const before = catalogMigrations.findIndex((migration) => migration.includes('document_versions'));
  const sql = fakeSql(catalogMigrations.slice(0, before));
  const row: DocumentRow = {
    ...{ kind: 'agent', name: 'helper', version: 7, deleted: false, sealed: null, createdAt: 0 },
    ...{ body: { instructions: 'one' }, updatedAt: 1_000 },
  };
  storeRow(sql, row);
  for (const migration of catalogMigrations.slice(before)) sql.exec(migration);
  const versions = () => listDocumentVersions(sql, 'agent', 'helper', { limit: 10 }).items.map(({ version }) => version);
  expect(versions()).toEqual([7]);
  const next = { ...row, version: 8, body: { instructions: 'two' }, updatedAt: 2_000 };
  keepReplacedVersion(sql, next);
  storeRow(sql, next);
  expect([versions(), readRow(sql, 'agent', 'helper')?.version]).toEqual([[8, 7], 8]);
  expect(findEarlierVersion(sql, 'agent', 'helper', 7)).toEqual({ version: 7, body: { instructions: 'one' }, updatedAt: 1_000 });
});
