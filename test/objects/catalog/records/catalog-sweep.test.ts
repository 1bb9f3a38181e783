import { expect, it } from 'vitest';
import { createCatalogSweep } from '../../../../src/objects/catalog/records/catalog-sweep.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { openStorage } from '../triggers/deliveries/deliveries-of.ts';

it('forgets a server that was deleted long ago with its imports and the count of its sign-ins, but no sign-in that was stored since', async () => {
  const { context, advance } = openStorage();
  const { sql, now } = context;
  const removed = 'INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES (?, ?, 2, 1, ?, ?, ?)';
  for (const name of ['gone', 'late']) sql.exec(removed, 'server', name, '{}', now(), now());
  sql.exec("INSERT INTO server_grants (server, sealed, revision) VALUES ('gone', NULL, 3), ('late', 'sealed', 4)");
  sql.exec(
    "INSERT INTO imported (kind, name, source, marks, imported_at) VALUES ('server', 'gone', 'a', '{}', 0), ('server', 'here', 'a', '{}', 0)",
  );
  sql.exec("INSERT INTO meta (key, value) VALUES ('sweep', '0')");
  advance(limits.tombstoneTtlMs + 400 * 24 * 60 * 60_000);
  await createCatalogSweep(context, { kv: () => ({ delete: async () => undefined }), removeSession: async () => true }).runDue();
  expect(sql.exec('SELECT name FROM documents').toArray()).toEqual([]);
  expect(sql.exec('SELECT name FROM imported').toArray()).toEqual([{ name: 'here' }]);
  expect(sql.exec('SELECT server, revision FROM server_grants').toArray()).toEqual([{ server: 'late', revision: 4 }]);
});
