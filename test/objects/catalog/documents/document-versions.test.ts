import { expect, it } from 'vitest';
import {
  findEarlierVersion,
  keepReplacedVersion,
  listDocumentVersions,
} from '../../../../src/objects/catalog/documents/document-versions.ts';
import { readRow, storeRow, type DocumentRow } from '../../../../src/objects/catalog/documents/documents.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

it('a document has its newest version, and more once it changes', () => {
  const sql = fakeSql(catalogMigrations);
  const row: DocumentRow = {
    ...{ kind: 'agent', name: 'helper', version: 7, deleted: false, sealed: null, createdAt: 0 },
    ...{ body: { instructions: 'one' }, updatedAt: 1_000 },
  };
  storeRow(sql, row);
  const versions = () => listDocumentVersions(sql, 'agent', 'helper', { limit: 10 }).items.map(({ version }) => version);
  expect(versions()).toEqual([7]);
  const next = { ...row, version: 8, body: { instructions: 'two' }, updatedAt: 2_000 };
  keepReplacedVersion(sql, next);
  storeRow(sql, next);
  expect([versions(), readRow(sql, 'agent', 'helper')?.version]).toEqual([[8, 7], 8]);
  expect(findEarlierVersion(sql, 'agent', 'helper', 7)).toEqual({ version: 7, body: { instructions: 'one' }, updatedAt: 1_000 });
});
