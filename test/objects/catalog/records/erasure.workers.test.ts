/** After a deletion no table of the Catalog contains the texts and payloads, and no list shows them. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { objectName } from '../../../../src/storage/keys.ts';
import { bodyOf } from '../../../http/harness.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { send } from '../real-service.ts';
import { waitFor } from '../../../wait-for.ts';

let canary = '';
let count = 0;

const object = async () => testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
/** Every value of every table, as text. */
const stored = async (stub: DurableObjectStub): Promise<string> =>
  await runInDurableObject(stub, (_instance, { storage }) => {
    const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT GLOB '_cf*'";
    const text = (value: SqlStorageValue): string => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : String(value));
    return storage.sql
      .exec<{ name: string }>(tables)
      .toArray()
      .flatMap(({ name }) => [...storage.sql.exec(`SELECT * FROM "${name}"`).raw()].map((row) => `${name}: ${row.map(text).join(' | ')}`))
      .join('\n');
  });
const inCatalog = async (): Promise<string[]> => (await stored(await object())).split('\n').filter((line) => line.includes(canary));
const say = (session: string, input: string) => send('POST', `/v1/sessions/${session}/turns`, { input });
const webhook = (more: object = {}) => ({
  agent: 'erased',
  scheme: 'bearer',
  secret: 'a secret of a webhook 0123',
  session: canary,
  input: 'say {{text}}',
  ...more,
});
const deliver = (text: string) =>
  send('POST', '/hooks/default/erased', { text }, { authorization: 'Bearer a secret of a webhook 0123', 'x-note': canary });
/** Returns its id after its turn has ended. */
const delivered = async (text: string): Promise<{ id: string; session: string }> => {
  const answer = await deliver(text);
  expect(answer.status, await answer.clone().text()).toBe(202);
  const { delivery: id } = await bodyOf(answer);
  await waitFor(async () =>
    expect(await bodyOf(await send('GET', `/v1/webhooks/erased/deliveries/${id}`))).toMatchObject({ status: 'completed' }),
  );
  const { session } = await bodyOf(await send('GET', `/v1/webhooks/erased/deliveries/${id}`));
  return { id, session };
};

beforeAll(async () => {
  await send('PUT', '/v1/agents/erased', { model: 'rehearsal/default', instructions: 'Help.' });
});
beforeEach(() => {
  count += 1;
  canary = `canary-${count}-${crypto.randomUUID().slice(0, 8)}`;
});

describe('a deleted session', () => {
  beforeEach(async () => {
    // Nothing listens there, so callbacks stay pending.
    await send('PUT', '/v1/subscriptions/erased', {
      url: 'http://127.0.0.1:9/',
      secret: 'a secret of a subscription',
      events: ['turn.completed', 'turn.failed'],
    });
  });

  it('leaves nothing in callbacks, sent or pending', async () => {
    const { id } = await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default' }));
    for (const word of ['one', 'two']) expect((await say(id, `say ${canary} ${word}`)).status).toBe(200);
    await waitFor(async () =>
      expect(
        (await bodyOf(await send('GET', '/v1/callbacks?limit=100'))).items.filter(({ session }: { session: string }) => session === id),
      ).toHaveLength(2),
    );
    expect((await inCatalog()).length).toBeGreaterThan(0);
    // The first was given up, and the second is pending.
    await runInDurableObject(await object(), (_instance, { storage }) => {
      const waits =
        "UPDATE callbacks SET status = 'pending', ended_at = NULL, due_at = 4e12 WHERE number = (SELECT max(number) FROM callbacks WHERE session = ?)";
      storage.sql.exec(waits, id);
      storage.sql.exec('UPDATE callback_loads SET pending = pending + 1, ended = ended - 1, bytes = bytes + 10000');
    });
    expect((await send('DELETE', `/v1/sessions/${id}`)).status).toBe(204);
    expect(await inCatalog()).toEqual([]);
    const { items } = await bodyOf(await send('GET', '/v1/callbacks?limit=100'));
    const own = items.filter(({ session }: { session: string }) => session === id);
    expect(own).toHaveLength(2);
    const [waits, over] = await Promise.all(
      own.map(async (callback: { id: string }) => bodyOf(await send('GET', `/v1/callbacks/${callback.id}`))),
    );
    expect(waits).toMatchObject({ body: { type: 'turn.completed', data: { session: id, text: '', sessionDeleted: true } } });
    expect(over).toMatchObject({ body: null, status: 'dead' });
    expect((await send('POST', `/v1/callbacks/${over.id}/retry`)).status).toBe(409);
  });

  it('removes all its tables', async () => {
    const { id } = await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default', instructions: canary }));
    await say(id, `say ${canary}`);
    await send('PUT', `/v1/sessions/${id}/files/${canary}.txt`, canary, { 'content-type': 'text/plain' });
    const stub = () => testEnv.SESSION.get(testEnv.SESSION.idFromString(id));
    expect(await stored(stub())).toContain(canary);
    await send('DELETE', `/v1/sessions/${id}`);
    expect(await stored(stub())).not.toContain(canary);
    for (const path of ['', '/messages', '/events', `/files/${canary}.txt`, '/approvals'])
      expect((await send('GET', `/v1/sessions/${id}${path}`)).status).toBe(404);
    expect(await inCatalog()).toEqual([]);
  });

  it('leaves the audit of its calls, which holds hashes only', async () => {
    await send('PUT', '/v1/toolsets/erased', { tools: [{ tool: 'builtin.bash', name: 'shell', aliases: [] }] });
    const { id } = await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'erased' }));
    await say(id, `/shell echo ${canary}`);
    await send('DELETE', `/v1/sessions/${id}`);
    const { items } = await bodyOf(await send('GET', `/v1/audit?session=${id}`));
    expect(items).toMatchObject([{ kind: 'call', canonical: 'builtin.bash', verdict: 'ran' }]);
    expect(await inCatalog()).toEqual([]);
  });

  it('removes the payload of its delivery', async () => {
    await send('PUT', '/v1/webhooks/erased', webhook({ session: 'fixed' }));
    const { id, session } = await delivered(canary);
    expect((await inCatalog()).length).toBeGreaterThan(0);
    await send('DELETE', `/v1/sessions/${session}`);
    expect((await inCatalog()).filter((line) => !line.startsWith('deliveries:'))).toEqual([]);
    expect(await inCatalog()).toEqual([]);
    expect(await bodyOf(await send('GET', `/v1/webhooks/erased/deliveries/${id}`))).toMatchObject({ status: 'completed', payload: null });
    await send('DELETE', '/v1/webhooks/erased');
  });
});

describe('a deleted webhook', () => {
  it('removes its deliveries, their payloads, its callbacks and its secrets', async () => {
    const secret = `whsec_${btoa(canary)}`;
    await send('PUT', '/v1/webhooks/erased', webhook({ callbackUrl: 'http://127.0.0.1:9/', callbackSecret: secret }));
    const { id, session } = await delivered(canary);
    await send('DELETE', '/v1/webhooks/erased');
    const left = (await stored(await object()))
      .split('\n')
      .filter((line) => /^(deliver|callback_bodies|callbacks:|callback_attempts)/.test(line));
    expect(left.filter((line) => line.includes('| webhook | erased |') || line.startsWith('delivery_parts'))).toEqual([]);
    for (const path of ['', `/${id}`, `/${id}/replay`]) {
      const method = path.endsWith('replay') ? 'POST' : 'GET';
      expect((await send(method, `/v1/webhooks/erased/deliveries${path}`)).status).toBe(404);
    }
    expect((await bodyOf(await send('GET', '/v1/callbacks?kind=webhook&name=erased'))).items).toEqual([]);
    // Its sessions are deleted separately.
    expect((await send('GET', `/v1/sessions/${session}`)).status).toBe(200);
    await send('DELETE', `/v1/sessions/${session}`);
    expect(await inCatalog()).toEqual([]);
  });

  it('accepts nothing more, also in an isolate that has it cached', async () => {
    await send('PUT', '/v1/webhooks/erased', webhook());
    await delivered('x');
    await send('DELETE', '/v1/webhooks/erased');
    expect((await deliver(canary)).status).toBe(404);
    const catalog = (await object()) as unknown as { run(caller: string, method: string, args: object[]): Promise<{ ok: boolean }> };
    const late = {
      trigger: { kind: 'webhook', name: 'erased' },
      id: 'd3',
      event: null,
      payload: { isJson: true, text: canary, headers: {} },
      verdict: { become: 'ignored', reason: 'x', warnings: [] },
    };
    const refused = { ok: false, problem: { code: 'not_found' } };
    expect(await catalog.run('default', 'acceptDelivery', [late])).toMatchObject(refused);
    expect(await inCatalog()).toEqual([]);
  });

  it('that is created again under its name starts empty', async () => {
    await send('PUT', '/v1/webhooks/erased', webhook({ session: 'again' }));
    await delivered(canary);
    await send('DELETE', '/v1/webhooks/erased');
    await send('PUT', '/v1/webhooks/erased', webhook({ session: 'again' }));
    expect((await bodyOf(await send('GET', '/v1/webhooks/erased/deliveries'))).items).toEqual([]);
    await send('DELETE', '/v1/webhooks/erased');
  });

  it('with many rows is erased by the alarm, also after a crash', async () => {
    await send('PUT', '/v1/webhooks/erased', webhook({ session: 'many' }));
    await runInDurableObject(await object(), (_instance, { storage }) => {
      const insert = `INSERT INTO deliveries (kind, name, id, status, run, repeats, warnings, is_json, headers, bytes, received_at, run_at, attempts, held, ended_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
        SELECT 'webhook', 'erased', 'many-' || i, 'ignored', 1, 0, '[]', 0, ?, 0, 1, 1, 0, 0, 1e15 FROM n`;
      storage.sql.exec(insert, JSON.stringify([['x-note', canary]]));
    });
    await send('DELETE', '/v1/webhooks/erased');
    expect((await send('GET', '/v1/webhooks/erased/deliveries')).status).toBe(404);
    await runInDurableObject(await object(), (_, state) => state.abort('the process dies')).catch(() => undefined);
    await waitFor(async () => {
      await runDurableObjectAlarm(await object());
      expect(await inCatalog()).toEqual([]);
    });
  });
});

describe('a deleted schedule or subscription', () => {
  it('removes its runs and its callbacks', async () => {
    await send('PUT', '/v1/schedules/erased', { agent: 'erased', input: canary, interval: '1d', session: 'scheduled' });
    await send('POST', '/v1/schedules/erased/run');
    await send('DELETE', '/v1/schedules/erased');
    await send('DELETE', '/v1/subscriptions/erased');
    const left = (await stored(await object())).split('\n').filter((line) => /^(deliveries|delivery_parts|schedule_state)/.test(line));
    // A run that had not begun stays listed as cancelled, without its input.
    expect(
      left.filter((line) => line.includes(canary) || (line.includes('erased') && !line.includes('| cancelled | It was deleted'))),
    ).toEqual([]);
    expect((await bodyOf(await send('GET', '/v1/callbacks?kind=subscription&name=erased'))).items).toEqual([]);
    expect((await send('GET', '/v1/schedules/erased/runs')).status).toBe(404);
  });
});
