/** Operations of each kind, and the sizes of the Catalog before and after: every table and the database are as large again after the retention. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, vi } from 'vitest';
import { workspaceDocument } from '../../../../src/ports/catalog.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { dayMs, openForSweeps } from './sweep-room.ts';
import { printStatistics } from '../../../statistics.ts';

/** Pages that are allocated to empty tables and indexes. */
const spareBytes = 256 * 1024;

type Room = Awaited<ReturnType<typeof openForSweeps>>;
/** `some`: operations that take longer. */
type Kind = [what: string, times: 'many' | 'some', operation: (room: Room, index: number) => Promise<unknown>];

const owner = ({ workspace }: Room) => ({ workspace, keyId: 'k1', scopes: ['chat' as const] });
const putAndRemove = (kind: 'agent' | 'skill' | 'secret' | 'provider' | 'webhook' | 'toolset', body: object) => {
  return async ({ catalog }: Room, index: number): Promise<void> => {
    await catalog.put(kind, `gone-${index}`, { ...body });
    await catalog.remove(kind, `gone-${index}`);
  };
};
const hook = { agent: 'helper', scheme: 'bearer', secret: 'a token of a webhook', input: '{{text}}' };
const skill = { content: '---\nname: gone\ndescription: Is gone.\n---\nText.\n' };

export const kinds: readonly Kind[] = [
  ['writes of a toolset', 'many', ({ putToolset }, index) => putToolset('daily', index)],
  ['toolsets', 'some', putAndRemove('toolset', { tools: [{ tool: 'builtin.bash', aliases: [] }] })],
  [
    'writes of an agent',
    'many',
    ({ catalog }, index) => catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: `${index}` }),
  ],
  ['agents', 'some', putAndRemove('agent', { model: 'rehearsal/default', instructions: 'x'.repeat(2_000) })],
  ['secrets', 'some', putAndRemove('secret', { value: 'v'.repeat(500), hosts: ['api.example.com'] })],
  ['webhooks', 'some', putAndRemove('webhook', hook)],
  [
    'skills',
    'some',
    async ({ catalog }, index) => {
      await catalog.put('skill', `gone-${index}`, { content: skill.content.replace('name: gone', `name: gone-${index}`) });
      await catalog.remove('skill', `gone-${index}`);
    },
  ],
  [
    'keys with equipment and private tools',
    'some',
    async ({ catalog }, index) => {
      const { record } = await catalog.createKey({ name: `gone-${index}`, scopes: ['tools', 'toolsets'] });
      await catalog.setEquipment(record.id, { toolset: 'daily', mode: 'normal' });
      await catalog.put('private-tool', `${record.id}/made.sum`, {
        description: 'Adds.',
        parameters: [],
        implementation: `return ${index};`,
      });
      await catalog.revokeKey(record.id, { cancel: index % 2 === 0 });
    },
  ],
  ['nonces', 'many', ({ catalog }, index) => catalog.consumeNonce(`nonce-${index}`, Date.now() + 60_000)],
  [
    'taint marks',
    'many',
    ({ catalog }, index) =>
      catalog.addTaintMarks({ names: [`answer-${index}`], taint: { private: 'a', untrusted: null }, ttlMs: dayMs, answersOf: 'k1' }),
  ],
  [
    'deliveries',
    'many',
    ({ workspace }, index) =>
      wire(testEnv)
        .triggers(workspace)
        .acceptDelivery({
          trigger: { kind: 'webhook', name: 'hook' },
          id: `delivery-${index}`,
          event: 'push',
          payload: { text: 'x'.repeat(3_000), isJson: false, headers: { 'x-note': 'x' } },
          verdict: { become: 'ignored', reason: 'filter', warnings: [] },
        }),
  ],
  [
    'refused deliveries',
    'many',
    ({ workspace }) =>
      wire(testEnv)
        .triggers(workspace)
        .addRefusals([{ webhook: 'hook', count: 1 }]),
  ],
  [
    'deleted sessions',
    'some',
    async (room) => {
      const { sessions } = wire(testEnv);
      const { id } = await sessions.create(owner(room), { model: 'rehearsal/default', listed: true });
      await sessions.get(id).remove(owner(room));
    },
  ],
  ['unused sessions', 'some', (room) => wire(testEnv).sessions.create(owner(room), { model: 'rehearsal/default', listed: true })],
];

async function sizes({ sql, object }: Room): Promise<{ rows: Record<string, number>; bytes: number }> {
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT GLOB '_cf*'";
  const tables = (await sql(query)).map(({ name }) => String(name));
  return await runInDurableObject(object(), (_instance, { storage }) => ({
    rows: Object.fromEntries(tables.map((name) => [name, storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`).one().n])),
    bytes: storage.sql.databaseSize,
  }));
}

/** Runs the alarm at this time until it deletes nothing more, in a service that ran until then. */
async function settleAt(room: Room, time: number): Promise<void> {
  const { sql, setMeta, object } = room;
  let before = '';
  for (let run = 0, same = 0; run < 200 && same < 3; run += 1) {
    await setMeta('sweep', 0);
    await setMeta('sweep-time', time - dayMs);
    await sql('UPDATE audit_state SET swept_at = ?, sweep_due = 0', time - dayMs);
    vi.useFakeTimers({ toFake: ['Date'], now: time });
    await runDurableObjectAlarm(object());
    // Rows that are deleted when the next one is added.
    await room.catalog.consumeNonce('last', time + 1);
    await room.catalog.addTaintMarks({ names: ['last'], taint: { private: null, untrusted: null }, ttlMs: 1 });
    vi.useRealTimers();
    const after = JSON.stringify((await sizes(room)).rows);
    same = after === before ? same + 1 : 0;
    before = after;
  }
}

/** The second time is later than the retention of what the first run only marked. */
async function settle(room: Room): Promise<void> {
  for (const days of [120, 160]) await settleAt(room, Date.now() + days * dayMs);
}

/** Operations of these kinds in one workspace. */
export async function testSizes(what: string, chosen: readonly Kind[], counts: { many: number; some: number }): Promise<void> {
  const room = await openForSweeps();
  const retention = { versions: 2, sessionDays: 30, auditDays: 30 };
  await room.catalog.put('workspace', workspaceDocument, { settings: { retention } });
  await room.catalog.put('agent', 'helper', { model: 'rehearsal/default', instructions: 'Help.' });
  await room.catalog.put('webhook', 'hook', hook);
  for (const index of [1, 2, 3]) await room.putToolset('daily', 2_000_000 + index);
  for (const [, , operation] of chosen) await operation(room, 1_000_000);
  await settle(room);
  const before = await sizes(room);
  for (const [, times, operation] of chosen) for (let index = 0; index < counts[times]; index += 1) await operation(room, index);
  const during = await sizes(room);
  await settle(room);
  const after = await sizes(room);
  printStatistics(`${what}: ${before.bytes} B before, ${during.bytes} B with them, ${after.bytes} B after the retention`);
  expect(after.rows).toEqual(before.rows);
  expect(after.bytes).toBeLessThan(before.bytes + spareBytes);
}
