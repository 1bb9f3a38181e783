/** A workspace that is deleted while the service is killed again and again: nothing of it stays in any file of the data folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { waitFor } from '../wait-for.ts';

const canary = 'canary-of-a-workspace-7f3a';
/** Longer than the deletion waits for the caches of keys and documents. */
const settleMs = 240_000;
const kills = 4;

let dataDir = '';
let service: RunningService;
beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

/** Files that contain the text. Files may be removed while they are read. */
function holding(): string[] {
  return readdirSync(join(dataDir, 'state'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        return readFileSync(path).includes(canary);
      } catch {
        return false;
      }
    });
}

it('is erased from every file, and its name is free again', { timeout: settleMs * 2 }, async () => {
  const inside = { 'x-moniker-workspace': 'gone' };
  await service.call('PUT', '/v1/workspaces/gone', { settings: { requestLog: { bodies: true } } });
  const { json: created } = await service.call('POST', '/v1/keys', { name: canary, scopes: ['admin'] }, inside);
  const own = { authorization: `Bearer ${created.key}` };
  const call = (method: string, path: string, body?: unknown) => service.call(method, path, body, own);
  await call('PUT', '/v1/toolsets/demo', { description: canary, tools: [{ tool: 'builtin.bash', aliases: ['shell'] }] });
  await call('PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: canary, toolset: 'demo' });
  await call('PUT', '/v1/secrets/token', { value: canary, hosts: ['a.example.com'] });
  const chat = { messages: [{ role: 'user', content: canary }] };
  for (let index = 0; index < 30; index += 1) {
    const { json } = await call('POST', '/v1/sessions', { agent: 'helper' });
    await call('POST', `/v1/sessions/${json.id}/turns`, { input: `/shell {"command": "echo ${canary} > notes.txt"}` });
    if (index % 10 === 0) await call('POST', '/v1/chat/completions', { model: 'agent/helper', ...chat });
  }
  await call('POST', '/v1/chat/completions', { model: 'rehearsal/default', ...chat });
  await waitFor(() => expect(holding().length).toBeGreaterThan(30));

  expect((await service.call('DELETE', '/v1/workspaces/gone')).status).toBe(202);
  for (let index = 0; index < kills; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, 400 * index));
    await service.stop('SIGKILL');
    service = await startService(dataDir);
    const { json } = await service.call('GET', '/v1/workspaces/gone');
    expect(json.status).toBe('deleting');
    expect((await service.call('GET', '/v1/agents', undefined, own)).status).toBe(401);
  }
  const waitUntilDeleted = async (): Promise<void> => {
    for (const end = Date.now() + settleMs; ; ) {
      const { json } = await service.call('GET', '/v1/workspaces/gone');
      if (json.status === 'deleted') return;
      if (Date.now() > end) throw new Error(`The workspace is not deleted: ${JSON.stringify(json)}\n${service.printed().slice(-3_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  };
  await waitUntilDeleted();
  await waitFor(() => expect(holding()).toEqual([]));
  expect((await service.call('PUT', '/v1/workspaces/gone', {})).status).toBe(201);
  expect((await service.call('GET', '/v1/agents', undefined, inside)).json.items).toEqual([]);
  expect((await service.call('GET', '/v1/agents', undefined, own)).status).toBe(401);
});
