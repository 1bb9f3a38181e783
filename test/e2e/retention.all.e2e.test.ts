/** The retention of a local installation: old sessions and versions are deleted from its files, also when it dies in the middle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { waitFor } from '../wait-for.ts';

let dataDir = '';
let service: RunningService;

const dayMs = 24 * 60 * 60_000;
const ageMs = 40 * dayMs;
/** More than one run deletes. */
const oldSessions = 45;
const canary = 'canary-of-an-old-session-77c1';

const files = (): string[] =>
  readdirSync(join(dataDir, 'state'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const holding = (text: string): string[] =>
  files().filter((path) => {
    try {
      return readFileSync(path).includes(text);
    } catch {
      // Removed meanwhile.
      return false;
    }
  });

/** Makes everything but one session older, while the service is stopped. Returns how many sessions were changed. */
function age(spared: string): number {
  let sessions = 0;
  for (const path of files().filter((file) => file.endsWith('.sqlite') && !file.endsWith('metadata.sqlite'))) {
    const database = new DatabaseSync(path);
    const has = (table: string): boolean => database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined;
    if (has('toolset_versions')) {
      database.prepare('UPDATE sessions SET created_at = created_at - ?1, active_at = active_at - ?1').run(ageMs);
      database.exec("UPDATE meta SET value = '0' WHERE key = 'sweep'");
    } else if (has('turns') && !path.includes(spared)) {
      for (const [table, column] of ['meta.created_at', 'turns.accepted_at', 'events.at'].map((name) => name.split('.')))
        database.prepare(`UPDATE ${table} SET ${column} = ${column} - ?`).run(ageMs);
      sessions += 1;
    }
    database.close();
  }
  return sessions;
}

/** Without the session that a start creates for its example. */
const listed = async (): Promise<string[]> => {
  const { items } = (await service.call('GET', '/v1/sessions?limit=100')).json;
  return items.filter(({ agent }: { agent?: string }) => agent === undefined).map(({ id }: { id: string }) => id);
};
/** A change sets the alarm of the workspace. */
const change = (text: string) => service.call('PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: text });

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

describe('the retention of a local installation', () => {
  it('deletes unused sessions and old versions, and continues after the process died', async () => {
    await service.call('PUT', '/v1/workspaces/default', { settings: { retention: { sessionDays: 30, versions: 2 } } });
    for (const name of ['one', 'two', 'three', 'four']) {
      const { status, text } = await service.call('PUT', '/v1/toolsets/daily', { tools: [{ tool: 'builtin.bash', name, aliases: [] }] });
      expect(status, text).toBeLessThan(300);
    }
    const create = async (): Promise<string> => {
      const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', instructions: canary });
      expect((await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: `say ${canary}` })).status).toBe(200);
      return json.id;
    };
    const spared = await create();
    for (let index = 0; index < oldSessions; index += 1) await create();
    await waitFor(async () =>
      expect((await service.call('GET', '/v1/sessions?status=completed&limit=100')).json.items).toHaveLength(oldSessions + 1),
    );
    await service.stop();
    expect(age(spared)).toBeGreaterThanOrEqual(oldSessions);

    service = await startService(dataDir);
    await change('one');
    await waitFor(async () => expect((await listed()).length).toBeLessThan(oldSessions));
    await service.stop('SIGKILL');
    service = await startService(dataDir);
    await change('two');
    await waitFor(async () => expect(await listed()).toEqual([spared]));

    expect((await service.call('GET', `/v1/sessions/${spared}/messages`)).json.items).toHaveLength(2);
    expect(
      (await service.call('GET', '/v1/toolsets/daily/versions')).json.items.map(({ version }: { version: number }) => version),
    ).toEqual([4, 3]);
    const { items } = (await service.call('GET', '/v1/audit?kind=change&limit=200')).json;
    const deleted = items.filter(({ resource }: { resource: string }) => resource === 'session');
    expect(deleted.length).toBeGreaterThanOrEqual(oldSessions);
    expect(new Set(deleted.map(({ keyId }: { keyId: string }) => keyId))).toEqual(new Set(['system']));
    expect((await service.call('DELETE', `/v1/sessions/${spared}`)).status).toBe(204);
    await service.stop();
    // SQLite leaves copies of rows that it moved between pages.
    const catalogs = files().filter((path) => path.endsWith('.sqlite') && path.includes('Catalog') && !path.endsWith('metadata.sqlite'));
    expect(holding(canary).filter((path) => !path.includes('Catalog'))).toEqual([]);
    for (const path of catalogs) {
      const database = new DatabaseSync(path);
      database.exec('VACUUM');
      database.close();
    }
    expect(holding(canary)).toEqual([]);
    service = await startService(dataDir);
    expect((await service.call('GET', '/v1/agents/helper')).json.instructions).toBe('two');
  });
});
