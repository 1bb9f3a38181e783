/** The list over all webhooks, and the counts of refused signatures. */
import { describe, expect, it } from 'vitest';
import { acceptDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { listWebhookDeliveries } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { addRefusals, dropRefusals, listRefusals } from '../../../../../src/objects/catalog/triggers/deliveries/refusals.ts';
import { eraseTarget } from '../../../../../src/objects/catalog/records/erasure.ts';
import type { WebhookDeliveryQuery } from '../../../../../src/ports/triggers.ts';
import { nightly, openStorage, run, type Storage } from './deliveries-of.ts';

const dayMs = 24 * 60 * 60_000;
const of = (name: string) => ({ trigger: { kind: 'webhook', name } as const });

function ids({ context }: Storage, query: Partial<WebhookDeliveryQuery> = {}): string[] {
  const found: string[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < 50 && cursor !== null; page += 1) {
    const { items, nextCursor } = listWebhookDeliveries(context, { limit: 2, ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...items.map(({ webhook, id }) => `${webhook}:${id}`));
    cursor = nextCursor;
  }
  return found;
}

describe('deliveries of all webhooks', () => {
  function make() {
    const storage = openStorage();
    for (const [id, name] of [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'a'],
    ] as const) {
      acceptDelivery(storage.context, run(id, id, of(name)));
      acceptDelivery(storage.context, run(id, id, { trigger: nightly }));
      storage.advance(1_000);
    }
    acceptDelivery(storage.context, { ...run('4', '4', of('b')), verdict: { become: 'ignored', reason: 'The filter.', warnings: [] } });
    return storage;
  }

  it('are listed newest first, each once, without payloads and runs of schedules', () => {
    const storage = make();
    expect(ids(storage)).toEqual(['b:4', 'a:3', 'b:2', 'a:1']);
    const [item] = listWebhookDeliveries(storage.context, { limit: 1 }).items;
    expect(item).toMatchObject({ webhook: 'b', id: '4', status: 'ignored', reason: 'The filter.' });
    expect(item).not.toHaveProperty('payload');
  });

  it('are filtered by webhook, status and time', () => {
    const storage = make();
    expect(ids(storage, { webhook: 'a' })).toEqual(['a:3', 'a:1']);
    expect(ids(storage, { status: 'pending' })).toEqual(['a:3', 'b:2', 'a:1']);
    expect(ids(storage, { status: 'ignored', webhook: 'a' })).toEqual([]);
    expect(ids(storage, { from: Date.UTC(2026, 0, 1) + 1_000 })).toEqual(['b:4', 'a:3', 'b:2']);
    expect(() => ids(storage, { cursor: 'x' })).toThrow('cursor');
  });

  it('continue on the next page after many rows that no filter matches', () => {
    const storage = openStorage();
    acceptDelivery(storage.context, run('first', 'first', of('a')));
    const insert = `INSERT INTO deliveries (kind, name, id, status, run, repeats, warnings, is_json, bytes, received_at, run_at, attempts, held)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      SELECT 'schedule', 's', i, 'completed', 1, 0, '[]', 0, 0, ?, 0, 0, 0 FROM n`;
    storage.context.sql.exec(insert, storage.context.now());
    const first = listWebhookDeliveries(storage.context, { limit: 10 });
    expect([first.items.length, first.nextCursor === null]).toEqual([0, false]);
    expect(ids(storage)).toEqual(['a:first']);
  });

  it('of a deleted webhook are not listed while they are being erased', () => {
    const storage = make();
    storage.context.sql.exec("INSERT INTO erasures VALUES ('webhook', 'a', 5, 0, 0)");
    expect(ids(storage)).toEqual(['b:4', 'b:2']);
  });
});

describe('refused signatures', () => {
  function make() {
    const storage = openStorage();
    for (const name of ['a', 'b']) {
      const query =
        "INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES ('webhook', ?, 1, 0, '{}', 0, 0)";
      storage.context.sql.exec(query, name);
    }
    return storage;
  }

  it('are added up by webhook and day, of webhooks that exist', () => {
    const storage = make();
    const { context } = storage;
    addRefusals(context, [
      { webhook: 'a', count: 2 },
      { webhook: 'gone', count: 5 },
    ]);
    storage.advance(1_000);
    addRefusals(context, [{ webhook: 'a', count: 3 }]);
    storage.advance(dayMs);
    addRefusals(context, [{ webhook: 'b', count: 1 }]);
    expect(listRefusals(context, {})).toEqual([
      { webhook: 'b', day: '2026-01-02', count: 1, lastAt: '2026-01-02T00:00:01.000Z' },
      { webhook: 'a', day: '2026-01-01', count: 5, lastAt: '2026-01-01T00:00:01.000Z' },
    ]);
    expect(listRefusals(context, { webhook: 'a' }).map(({ webhook }) => webhook)).toEqual(['a']);
    expect(listRefusals(context, { from: context.now() }).map(({ webhook }) => webhook)).toEqual(['b']);
  });

  it('are kept for 30 days, and deleted with their webhook', () => {
    const storage = make();
    const { context } = storage;
    for (let day = 0; day < 100; day += 1) {
      addRefusals(context, [{ webhook: 'a', count: 1 }]);
      storage.advance(dayMs);
      dropRefusals(context);
    }
    const count = () => context.sql.exec<{ n: number }>('SELECT count(*) AS n FROM refused_deliveries').one().n;
    expect(count()).toBe(30);
    storage.advance(-90 * dayMs);
    addRefusals(context, [{ webhook: 'a', count: 1 }]);
    expect(count()).toBe(1);
    eraseTarget(context, { kind: 'webhook', name: 'a' });
    expect(count()).toBe(0);
  });
});
