/** `DELETE /v1/keys/{id}?cancel=true` over real sessions: running, waiting and queued turns end durably. Without `cancel` they continue. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { CatalogRpc } from '../../../../src/objects/catalog/client/catalog-methods.ts';
import { objectName } from '../../../../src/storage/keys.ts';
import { bodyOf } from '../../../http/harness.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { send } from '../real-service.ts';
import { maxCancelledSessionsAtOnce } from '../../../../src/objects/catalog/keys/key-cancellations.ts';
import { waitFor } from '../../../wait-for.ts';

let keyId = '';
let headers: Record<string, string> = {};

const object = async () => testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
const asks = '/asks {"command":"echo ran >> /workspace/effects.txt"}';
const slow = '/shell sleep 25 && echo late >> /workspace/effects.txt';
const asKey = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
  send(method, path, body, { ...headers, ...more });
const create = async (): Promise<string> =>
  (await bodyOf(await asKey('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'cancelled' }))).id;
const say = async (session: string, input: string): Promise<void> => {
  const answer = await asKey('POST', `/v1/sessions/${session}/turns`, { input }, { prefer: 'respond-async' });
  expect(answer.status).toBe(202);
};
const view = async (session: string) => await bodyOf(await send('GET', `/v1/sessions/${session}`));
const statuses = async (session: string): Promise<string[]> => {
  const text = await (await send('GET', `/v1/sessions/${session}/events?after=0`)).body?.getReader().read();
  const frames = new TextDecoder().decode(text?.value).split('\n\n');
  return frames.flatMap((frame) => /"type":"turn-end".*"status":"(\w+)"/.exec(frame)?.[1] ?? []);
};
const remove = (query: string) => send('DELETE', `/v1/keys/${keyId}${query}`);

beforeAll(async () => {
  const tools = [
    { tool: 'builtin.bash', name: 'asks', aliases: [], approval: 'always' },
    { tool: 'builtin.bash', name: 'shell', aliases: [] },
  ];
  expect((await send('PUT', '/v1/toolsets/cancelled', { tools })).status).toBe(201);
});

beforeEach(async () => {
  const created = await bodyOf(await send('POST', '/v1/keys', { name: 'leaked', scopes: ['chat', 'tools'] }));
  keyId = created.id;
  headers = { authorization: `Bearer ${created.key}` };
});

describe('revoking a key', () => {
  it('without `cancel` keeps running, waiting and queued turns', async () => {
    const [waiting, running] = [await create(), await create()];
    for (const input of [asks, 'hello']) await say(waiting, input);
    await say(running, slow);
    expect((await remove('')).status).toBe(204);
    await waitFor(async () => expect(await view(waiting)).toMatchObject({ turn: { status: 'waiting' }, queued: 1 }));
    expect(await view(running)).toMatchObject({ turn: { status: 'running' } });
    await send('POST', `/v1/sessions/${running}/cancel`);
  });

  it('with `cancel=true` ends running, waiting and queued turns, and returns their number', async () => {
    const [waiting, running, idle] = [await create(), await create(), await create()];
    for (const input of [asks, 'hello', slow]) await say(waiting, input);
    for (const input of [slow, 'hello']) await say(running, input);
    const answer = await remove('?cancel=true');
    expect([answer.status, await bodyOf(answer)]).toEqual([200, { cancelledTurns: 5, isDone: true }]);
    expect(await statuses(waiting)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await statuses(running)).toEqual(['cancelled', 'cancelled']);
    expect(await view(idle)).toMatchObject({ turn: null, queued: 0 });
    expect((await asKey('GET', `/v1/sessions/${waiting}`)).status).toBe(401);
    for (const session of [waiting, running]) expect((await send('GET', `/v1/sessions/${session}/files/effects.txt`)).status).toBe(404);
  });

  it('with `cancel=true` does not affect sessions of other keys', async () => {
    const other = await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'cancelled' }));
    await send('POST', `/v1/sessions/${other.id}/turns`, { input: asks }, { prefer: 'respond-async' });
    expect(await bodyOf(await remove('?cancel=true'))).toEqual({ cancelledTurns: 0, isDone: true });
    await waitFor(async () => expect(await view(other.id)).toMatchObject({ turn: { status: 'waiting' } }));
  });

  it('can cancel after a revocation, and twice', async () => {
    const session = await create();
    await say(session, asks);
    await remove('');
    expect(await bodyOf(await remove('?cancel=true'))).toEqual({ cancelledTurns: 1, isDone: true });
    expect(await bodyOf(await remove('?cancel=true'))).toMatchObject({ isDone: true });
    expect(await statuses(session)).toEqual(['cancelled']);
  });

  it('processes more sessions than fit in one batch', async () => {
    const sessions = await Promise.all(Array.from({ length: maxCancelledSessionsAtOnce * 2 + 3 }, create));
    await Promise.all(sessions.map((session) => say(session, asks)));
    expect(await bodyOf(await remove('?cancel=true'))).toEqual({ cancelledTurns: sessions.length, isDone: true });
    for (const session of sessions) expect(await view(session)).toMatchObject({ turn: { status: 'cancelled' } });
  });

  it('continues after a crash of the Catalog', async () => {
    const session = await create();
    await say(session, asks);
    await waitFor(async () => expect(await view(session)).toMatchObject({ turn: { status: 'waiting' } }));
    const catalog = (await object()) as unknown as CatalogRpc;
    await catalog.run({ workspace: 'default', keyId: 'root' }, 'revokeKey', [keyId, { cancel: true }]);
    await evictDurableObject(await object());
    expect(await view(session)).toMatchObject({ turn: { status: 'waiting' } });
    await runDurableObjectAlarm(await object());
    await waitFor(async () => expect(await view(session)).toMatchObject({ turn: { status: 'cancelled' } }));
  });

  it('makes a second pass when no isolate trusts the key any more', async () => {
    const session = await create();
    await remove('?cancel=true');
    // Other isolates may trust the key until then.
    await runInDurableObject(await object(), (_instance, { storage }) => {
      const row = storage.sql.exec('SELECT pass, due_at FROM key_cancellations WHERE key_id = ?', keyId).one();
      expect(row).toMatchObject({ pass: 2 });
      expect(Number(row.due_at) - Date.now()).toBeGreaterThan(limits.principalTtlMs);
      storage.sql.exec('UPDATE key_cancellations SET due_at = 0 WHERE key_id = ?', keyId);
    });
    await runDurableObjectAlarm(await object());
    await waitFor(async () =>
      runInDurableObject(await object(), (_instance, { storage }) =>
        expect(storage.sql.exec('SELECT 1 FROM key_cancellations WHERE key_id = ?', keyId).toArray()).toEqual([]),
      ),
    );
    expect(await view(session)).toMatchObject({ turn: null });
  });

  it('ends the turn of a chat that names no session', async () => {
    const chat = { model: 'rehearsal/default', toolset: 'cancelled', stream: true, messages: [{ role: 'user', content: slow }] };
    const answer = await asKey('POST', '/v1/chat/completions', chat);
    const session = answer.headers.get('x-moniker-session') ?? '';
    const text = answer.text().catch(() => '');
    await remove('?cancel=true');
    await waitFor(async () => expect(await view(session)).toMatchObject({ turn: { status: 'cancelled' } }));
    await text;
  });

  it.each(['yes', '1', ''])('rejects cancel=%s', async (value) => {
    expect((await remove(`?cancel=${value}`)).status).toBe(422);
  });
});
