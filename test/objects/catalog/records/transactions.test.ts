/** The caches of both kinds of transactions, and their invalidation after a failure. */
import { limits } from '../../../../src/core/limits/limits.ts';
import { describe, expect, it } from 'vitest';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { madeToolDefinitions } from '../../../../src/objects/catalog/tools/made-tool-definitions.ts';
import { createTransactions } from '../../../../src/objects/catalog/records/transactions.ts';
import { changeBacklog, checkBacklog } from '../../../../src/objects/catalog/triggers/deliveries/backlog.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql, fakeTransactions } from '../../../fakes/sql-storage.ts';

function open(): CatalogContext {
  const sql = fakeSql(catalogMigrations);
  // Tools and the backlog use nothing else of it.
  const context: CatalogContext = { sql, ...createTransactions(fakeTransactions(sql), () => context) } as unknown as CatalogContext;
  return context;
}

const fail = (): never => {
  throw new Error('the disk is full');
};

const trigger = { kind: 'webhook', name: 'hook' } as const;

describe('a transaction that records', () => {
  it('keeps caches of tools, also when it fails', () => {
    const context = open();
    const made = madeToolDefinitions(context);
    expect(context.record(() => 'kept')).toBe('kept');
    expect(() => context.record(fail)).toThrow('the disk is full');
    expect(madeToolDefinitions(context)).toBe(made);
  });

  it.each(['record', 'transact'] as const)('that fails does not change counts (%s)', (kind) => {
    const context = open();
    checkBacklog(context, trigger);
    const tooMuch = () => {
      changeBacklog(context, trigger, 1, limits.maxPendingDeliveryBytes);
      return fail();
    };
    expect(() => context[kind](tooMuch)).toThrow('the disk is full');
    expect(() => checkBacklog(context, trigger)).not.toThrow();
  });
});

it('a writing transaction invalidates caches of tools, also after a rollback', () => {
  const context = open();
  const before = madeToolDefinitions(context);
  context.transact(() => undefined);
  const after = madeToolDefinitions(context);
  expect(after).not.toBe(before);
  let within: unknown = null;
  const readThenFail = () => {
    within = madeToolDefinitions(context);
    return fail();
  };
  expect(() => context.transact(readThenFail)).toThrow('the disk is full');
  expect(madeToolDefinitions(context)).not.toBe(within);
});
