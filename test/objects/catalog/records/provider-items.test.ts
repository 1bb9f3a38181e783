import { describe, expect, it } from 'vitest';
import type { NotedItem } from '../../../../src/core/records/provider-item.ts';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { listProviderItems, noteProviderItems } from '../../../../src/objects/catalog/records/provider-items.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

const dayMs = 86_400_000;

function opened() {
  const sql = fakeSql(catalogMigrations);
  const clock = { now: 1_000 };
  // Nothing else of the context is used.
  const context = { sql, now: () => clock.now, record: (work: () => unknown) => work() } as unknown as CatalogContext;
  const note = (key: string, id: string, more: Partial<NotedItem> = {}) =>
    noteProviderItems(context, key, [{ kind: 'file', provider: 'p', id, ...more }])[0];
  const list = (key: string, more: Partial<Parameters<typeof listProviderItems>[2]> = {}) => {
    const found = listProviderItems(context, key, { kind: 'file', providers: ['p', 'q'], order: 'desc', limit: 10, ...more });
    return found && { ids: found.items.map(({ id }) => id), hasMore: found.hasMore };
  };
  const rows = () => sql.exec<{ count: number }>('SELECT count(*) AS count FROM provider_items').one().count;
  return { clock, note, list, rows };
}

describe('the record of what keys made at providers', () => {
  it('lists each kind for its key, in both orders, at the providers that are asked for', () => {
    const { note, list } = opened();
    for (const id of ['a', 'b', 'c']) note('k1', id, { purpose: id === 'b' ? 'batch' : 'vision' });
    note('k1', 'a', { provider: 'q' });
    note('k1', 'x', { kind: 'batch' });
    note('k2', 'a');
    expect(list('k1')).toEqual({ ids: ['a', 'c', 'b', 'a'], hasMore: false });
    expect(list('k1', { providers: ['p'], limit: 2 })).toEqual({ ids: ['c', 'b'], hasMore: true });
    expect(list('k1', { order: 'asc', after: { provider: 'p', id: 'b' } })).toEqual({ ids: ['c', 'a'], hasMore: false });
    expect(list('k1', { purpose: 'batch' })).toEqual({ ids: ['b'], hasMore: false });
    expect(list('k1', { kind: 'batch' })).toEqual({ ids: ['x'], hasMore: false });
    expect(list('k2')).toEqual({ ids: ['a'], hasMore: false });
    expect(list('k2', { after: { provider: 'p', id: 'b' } })).toBeNull();
    expect(list('k1', { providers: [] })).toEqual({ ids: [], hasMore: false });
  });

  it('keeps what is known of an item, and whether it was counted', () => {
    const { note, rows } = opened();
    expect(note('k', 'out', { batch: 'b1', model: 'm' })).toEqual({ isCounted: false, batch: 'b1', model: 'm' });
    expect(note('k', 'out')).toEqual({ isCounted: false, batch: 'b1', model: 'm' });
    expect(note('k', 'out', { state: 'counted' })?.isCounted).toBe(true);
    expect(note('k', 'out')).toEqual({ isCounted: true, batch: 'b1', model: 'm' });
    expect(note('other', 'out')).toEqual({ isCounted: false, batch: null, model: null });
    expect(rows()).toBe(2);
  });

  it('lists neither what was deleted nor what has expired, and continues behind it', () => {
    const { clock, note, list } = opened();
    note('k', 'a');
    note('k', 'b', { expiresAt: 5_000 });
    note('k', 'c');
    note('k', 'c', { state: 'deleted' });
    expect(list('k')).toEqual({ ids: ['b', 'a'], hasMore: false });
    expect(list('k', { after: { provider: 'p', id: 'c' } })).toEqual({ ids: ['b', 'a'], hasMore: false });
    clock.now = 5_000;
    expect(list('k')).toEqual({ ids: ['a'], hasMore: false });
    clock.now = 367 * dayMs;
    expect(list('k')).toEqual({ ids: [], hasMore: false });
  });

  it('has the newest 2,000 of a kind for each key', () => {
    const { note, list, rows } = opened();
    note('other', 'a');
    note('k', 'batch', { kind: 'batch' });
    for (let index = 0; index < 2_010; index += 1) note('k', `f${index}`);
    expect(rows()).toBe(2_002);
    expect(list('k', { order: 'asc', limit: 1 })).toEqual({ ids: ['f10'], hasMore: true });
    expect(list('other')?.ids).toEqual(['a']);
  });
});
