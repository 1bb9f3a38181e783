/** The audit of a local installation: rows that are changed in a database file are found, and calls do not touch the Catalog. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

let dataDir = '';
let service: RunningService;

const callsMade = 50;

/** Opens the database files of a class, while the service is stopped. */
function databases(className: string): DatabaseSync[] {
  return readdirSync(join(dataDir, 'state'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sqlite') && entry.name !== 'metadata.sqlite')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(className))
    .map((path) => new DatabaseSync(path));
}
const verify = async () => (await service.call('GET', '/v1/audit/verify')).json;

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
  await service.call('PUT', '/v1/toolsets/audited', { tools: [{ tool: 'builtin.bash', aliases: [] }] });
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

describe('the audit of a local installation', () => {
  it('has one entry for each of many parallel calls, on pages without gaps', async () => {
    const body = { name: 'bash', arguments: { command: 'echo x > a.txt' } };
    const answers = await Promise.all(Array.from({ length: callsMade }, () => service.call('POST', '/v1/toolsets/audited/calls', body)));
    expect(answers.map(({ status, json }) => [status, json.isError])).toEqual(answers.map(() => [200, false]));
    const ids = new Set<string>();
    for (let cursor = ''; ; ) {
      const { json } = await service.call('GET', `/v1/audit?kind=call&limit=7${cursor}`);
      for (const { id, verdict } of json.items) {
        expect([ids.has(id), verdict]).toEqual([false, 'ran']);
        ids.add(id);
      }
      if (json.nextCursor === null) break;
      cursor = `&cursor=${json.nextCursor}`;
    }
    expect(ids.size).toBe(callsMade);
    const { items: changes } = (await service.call('GET', '/v1/audit?kind=change&limit=200')).json;
    // The intent and the outcome of each call, and the changes.
    expect(await verify()).toMatchObject({ ok: true, checked: callsMade * 2 + changes.length, broken: null, nextCursor: null });
  });

  it('refuses filters and cursors that are invalid', async () => {
    const { nextCursor } = (await service.call('GET', '/v1/audit?limit=1')).json;
    const reversed = 'from=2026-02-01T00:00:00Z&to=2026-01-31T23:59:59Z';
    for (const query of ['from=yesterday', 'verdict=maybe', 'code=nonsense', 'cursor=nonsense', 'limit=0', 'agents=helper', reversed])
      expect((await service.call('GET', `/v1/audit?${query}`)).status, query).toBe(422);
    expect((await service.call('GET', `/v1/audit/verify?cursor=${nextCursor}`)).status).toBe(422);
    expect((await service.call('GET', `/v1/sessions?cursor=${nextCursor}`)).status).toBe(422);
  });

  it('shows a row that was changed in a file', async () => {
    await service.stop();
    const shards = databases('AuditShard');
    const counts = shards.map((shard) => Number(shard.prepare('SELECT count(*) AS n FROM audit_log').get()?.n));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(callsMade * 2);
    const victim = shards.find((_shard, index) => (counts[index] ?? 0) >= 2);
    const shard = victim?.prepare('SELECT shard FROM meta').get()?.shard;
    const outcome = "SELECT max(number) AS number FROM audit_log WHERE entry ->> '$.verdict' = 'ran'";
    const number = Number(victim?.prepare(outcome).get()?.number);
    victim?.prepare("UPDATE audit_log SET entry = replace(entry, 'root', 'nobody') WHERE number = ?").run(number);
    for (const database of shards) database.close();
    const [catalog] = databases('Catalog');
    const entries = catalog?.prepare("SELECT DISTINCT entry ->> '$.kind' AS kind FROM audit_log").all();
    expect(entries).toEqual([{ kind: 'change' }]);
    catalog?.close();
    service = await startService(dataDir);
    expect(await verify()).toMatchObject({ ok: false, broken: { id: `${shard}.${number}`, number, reason: 'altered' } });
    // The rows are still listed.
    expect((await service.call('GET', '/v1/audit?key=nobody')).json.items).toMatchObject([{ id: `${shard}.${number}` }]);
  });
});
