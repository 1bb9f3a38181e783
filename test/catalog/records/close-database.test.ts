/** A Catalog that ends itself after a deletion must not cut off a response: the caller would repeat a write that was made. */
import { describe, expect, it } from 'vitest';
import { createDatabaseCloser, requestClose } from '../../../src/catalog/records/close-database.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';

function createCatalog() {
  const clock = fakeClock();
  const sql = fakeSql(['CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)']);
  const state = { inProgress: 0, requests: 0, aborted: 0 };
  const syncs: (() => void)[] = [];
  const arm = createDatabaseCloser({
    sql,
    clock,
    isIdle: () => state.inProgress === 0,
    requests: () => state.requests,
    sync: () => new Promise((resolve) => syncs.push(resolve)),
    abort: () => (state.aborted += 1),
  });
  requestClose(sql);
  arm();
  return {
    state,
    clock,
    /** A whole request: its response is under way when this returns. */
    request: () => {
      state.requests += 1;
      arm();
    },
    finishSync: async () => {
      syncs.shift()?.();
      await clock.advance(0);
    },
    /** The responses that are under way arrive. */
    deliver: async () => {
      for (let checks = 0; checks < 5; checks += 1) await clock.advance(20);
    },
  };
}

describe('closing the database after a deletion', () => {
  it('ends the object when nothing happens', async () => {
    const { state, clock, finishSync, deliver } = createCatalog();
    await clock.advance(250);
    await finishSync();
    expect(state.aborted).toBe(0);
    await deliver();
    expect(state.aborted).toBe(1);
  });

  it('waits for the response of a request that started and ended meanwhile', async () => {
    const { state, clock, request, finishSync, deliver } = createCatalog();
    await clock.advance(250);
    request();
    await finishSync();
    await deliver();
    expect(state.aborted).toBe(0);
    await clock.advance(250);
    await finishSync();
    request();
    await deliver();
    expect(state.aborted).toBe(0);
    // The request to close is kept until it is done.
    await clock.advance(250);
    await finishSync();
    await deliver();
    expect(state.aborted).toBe(1);
  });

  it('lets responses out that a process which was stopped for a moment has not sent yet', async () => {
    const { state, clock, finishSync } = createCatalog();
    await clock.advance(250);
    await finishSync();
    // Every timer is due by now; between two of them, the process sends what is ready.
    for (let checks = 0; checks < 4; checks += 1) {
      await clock.advance(10_000);
      expect(state.aborted).toBe(0);
    }
    await clock.advance(10_000);
    expect(state.aborted).toBe(1);
  });

  it('waits while a request runs', async () => {
    const { state, clock, finishSync, deliver } = createCatalog();
    state.inProgress = 1;
    await clock.advance(250);
    await finishSync();
    await deliver();
    expect(state.aborted).toBe(0);
    state.inProgress = 0;
    await clock.advance(250);
    await finishSync();
    await deliver();
    expect(state.aborted).toBe(1);
  });
});
