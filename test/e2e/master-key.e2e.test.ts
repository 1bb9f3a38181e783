/** The rotation of the master key from outside: nothing that was stored is lost, also after the previous key is gone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rotateMasterKey } from '../../src/local/launch/keys.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { selection } from '../selection.ts';
import { waitUntil } from '../wait-for.ts';

const secret = `whsec_${btoa('a secret of the rotation test')}`;
let dataDir = '';
let service: RunningService;

const restart = async (): Promise<void> => {
  await service.stop();
  service = await startService(dataDir);
};
const state = async () => (await service.call('GET', '/v1/master-key')).json;
const keysFile = (): string => readFileSync(join(dataDir, 'keys'), 'utf8');
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
});

afterAll(async () => {
  await service?.stop();
  removeDataDir(dataDir);
});

const rotations = selection === 'all' ? 2 : 1;

it('keeps secrets, keys, sessions and the audit when the master key is rotated', async () => {
  await service.call('PUT', '/v1/secrets/TOKEN', { value: 'a-secret-of-the-test', hosts: ['api.example.com'] });
  await service.call('PUT', '/v1/providers/one', {
    kind: 'openai-compatible',
    baseUrl: 'https://p.example.com/v1',
    apiKey: 'provider-key',
  });
  await service.call('PUT', '/v1/subscriptions/ops', { url: 'https://ops.example.com/', secret });
  await service.call('PUT', '/v1/agents/talker', { model: 'rehearsal/default' });
  const first = (await service.call('POST', '/v1/keys', { name: 'first', scopes: ['chat', 'tools'] })).json;
  const named = async (key: string) => {
    const again = { ...bearer(key), 'idempotency-key': 'the-same-session' };
    return (await service.call('POST', '/v1/sessions', { agent: 'talker' }, again)).json.id;
  };
  const session = await named(first.key);
  const fingerprints = [(await state()).current];
  expect((await service.call('POST', '/v1/master-key/reseal')).status).toBe(409);

  for (let rotation = 1; rotation <= rotations; rotation += 1) {
    rotateMasterKey(dataDir, {});
    expect(() => rotateMasterKey(dataDir, {})).toThrow(/not finished/);
    await restart();
    // Served with both keys, from the first request on.
    expect((await service.call('GET', '/v1/me', undefined, bearer(first.key))).json.id).toBe(first.id);
    await waitUntil(async () => (await state()).reseal.status === 'done' && !keysFile().includes('PREVIOUS'));
    const { current, retired, reseal } = await state();
    expect(retired).toEqual(fingerprints);
    fingerprints.push(current);
    expect(reseal).toMatchObject({ left: 0, workspaces: [{ workspace: 'default', isDone: true, unreadable: [], fault: null }] });
    expect(reseal.done).toBeGreaterThanOrEqual(3);
    // The previous key is no longer in the settings.
    await restart();
    expect((await state()).previous).toBeNull();
    expect((await service.call('GET', '/v1/me', undefined, bearer(first.key))).json.id).toBe(first.id);
    expect(await named(first.key)).toBe(session);
    // Keeps its value, which is opened for it.
    expect((await service.call('PATCH', '/v1/subscriptions/ops', { url: `https://ops.example.com/${rotation}` })).status).toBe(200);
    expect((await service.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true, broken: null });
  }

  const forged = `${first.key.slice(0, -1)}${first.key.endsWith('a') ? 'b' : 'a'}`;
  expect((await service.call('GET', '/v1/me', undefined, bearer(forged))).json.reason).toBe('forged');
  const rotated = (await service.call('POST', `/v1/keys/${first.id}/rotate`, { overlapSeconds: 60 })).json;
  for (const key of [first.key, rotated.key]) expect((await service.call('GET', '/v1/me', undefined, bearer(key))).status).toBe(200);
});
