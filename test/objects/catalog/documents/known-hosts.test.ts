import { expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { knowHosts, knownHostRules } from '../../../../src/objects/catalog/documents/known-hosts.ts';
import { createCatalogSweep } from '../../../../src/objects/catalog/records/catalog-sweep.ts';
import { openStorage } from '../triggers/deliveries/deliveries-of.ts';

it('forgets the hosts that were approved longest ago, beyond a maximum and after a year, and the audit names them', async () => {
  const { context, advance } = openStorage();
  const hosts = () => knownHostRules(context).map(({ host }) => host);
  const nameOf = (index: number) => `h${String(index).padStart(4, '0')}.example`;
  knowHosts(context, ['old.example'], 'k1');
  advance(1_000);
  knowHosts(
    context,
    Array.from({ length: limits.maxKnownHosts }, (_, index) => nameOf(index)),
    'k2',
  );
  expect(hosts()).toHaveLength(limits.maxKnownHosts);
  expect(hosts()).not.toContain('old.example');
  const [newest] = context.sql.exec<{ text: string }>('SELECT * FROM audit_log ORDER BY rowid DESC LIMIT 1').toArray();
  expect(JSON.stringify(newest)).toContain('old.example');
  advance(limits.knownHostTtlMs);
  context.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('sweep', '0')");
  await createCatalogSweep(context, { kv: () => ({ delete: async () => undefined }), removeSession: async () => true }).runDue();
  expect(hosts()).toEqual([]);
});
