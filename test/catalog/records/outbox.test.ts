import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limits } from '../../../src/core/limits.ts';
import type { CatalogContext } from '../../../src/catalog/context.ts';
import { storeRow } from '../../../src/catalog/documents/documents.ts';
import { readPublished } from '../../../src/catalog/handlers/published.ts';
import { createOutbox, enqueuePublish } from '../../../src/catalog/records/outbox.ts';
import { kvKeys } from '../../../src/storage/keys.ts';
import { catalogMigrations } from '../../../src/storage/schema.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';
import { publishTimeoutMs } from '../../../src/catalog/records/outbox.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a late KV write does not replace a newer state', async () => {
  const sql = fakeSql(catalogMigrations);
  const log = { error: () => undefined, info: () => undefined, debug: () => undefined };
  // The outbox uses nothing else of its context.
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
  const outbox = createOutbox(context, {
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
  const first = outbox.runDue();
  await vi.advanceTimersByTimeAsync(publishTimeoutMs);
  await first;
  isSlow = false;
  write(2);
  await vi.advanceTimersByTimeAsync(limits.publishIntervalMs);
  await outbox.runDue();
  expect(published()).toMatchObject({ version: 2 });
  expect(outbox.nextDue()).toBeNull();

  held[0]?.();
  await vi.advanceTimersByTimeAsync(limits.publishIntervalMs);
  expect(published()).toMatchObject({ version: 1 });
  expect(wake).toHaveBeenCalledOnce();
  await outbox.runDue();
  expect(published()).toMatchObject({ version: 2 });
  expect(outbox.nextDue()).toBeNull();
});
