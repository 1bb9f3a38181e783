import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { storeRow } from '../../../../src/objects/catalog/documents/documents.ts';
import { readPublished } from '../../../../src/objects/catalog/handlers/published.ts';
import { createPublisher, enqueuePublish } from '../../../../src/objects/catalog/records/publications.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { publishTimeoutMs } from '../../../../src/objects/catalog/records/publications.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a late KV write does not replace a newer state', async () => {
  const sql = fakeSql(catalogMigrations);
  const log = { error: () => undefined, info: () => undefined, debug: () => undefined };
  // The publisher uses nothing else of its context.
  const context = { workspace: 'default', sql, now: () => Date.now(), log } as unknown as CatalogContext;
  const stored = new Map<string, string>();
  const held: (() => void)[] = [];
  let isSlow = true;
  const put = (key: string, value: string): Promise<void> =>
    new Promise((resolve) => {
      const land = (): void => {
        stored.set(key, value);
        resolve();
      };
      if (isSlow) held.push(land);
      else land();
    });
  const wake = vi.fn(async () => undefined);
  const publisher = createPublisher(context, {
    kv: () => ({ put }) as unknown as KVNamespace,
    read: readPublished,
    wake,
    publishMembers: async () => undefined,
    programsChanged: () => undefined,
  });
  const write = (version: number): void => {
    const body = { model: `rehearsal/m${version}` };
    storeRow(sql, { kind: 'agent', name: 'helper', version, deleted: false, body, sealed: null, createdAt: 0, updatedAt: 0 });
    enqueuePublish(context, 'agent', 'helper');
  };
  const published = (): unknown => JSON.parse(stored.get(kvKeys.published('agent', 'default', 'helper')) ?? 'null');

  write(1);
  const first = publisher.runDue();
  await vi.advanceTimersByTimeAsync(publishTimeoutMs);
  await first;
  isSlow = false;
  write(2);
  await vi.advanceTimersByTimeAsync(limits.publishIntervalMs);
  await publisher.runDue();
  expect(published()).toMatchObject({ version: 2 });
  expect(publisher.nextDue()).toBeNull();

  held[0]?.();
  await vi.advanceTimersByTimeAsync(limits.publishIntervalMs);
  expect(published()).toMatchObject({ version: 1 });
  expect(wake).toHaveBeenCalledOnce();
  await publisher.runDue();
  expect(published()).toMatchObject({ version: 2 });
  expect(publisher.nextDue()).toBeNull();
});
