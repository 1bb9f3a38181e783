/** A Catalog that ends itself after a deletion must not cut off a response: the caller would repeat a write that was made. */
import { describe, expect, it } from 'vitest';
import { createDatabaseCloser, requestClose } from '../../../../src/objects/catalog/records/close-database.ts';
import { fakeClock } from '../../../fakes/runtime.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

function createCatalog() {
  const clock = fakeClock();
  const sql = fakeSql(['CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)']);
  const state = { inProgress: 0, aborted: 0, started: 0 };
  const syncs: (() => void)[] = [];
  const closer = createDatabaseCloser({
    sql,
    clock,
    isIdle: () => state.inProgress === 0,
    sync: () => new Promise((resolve) => syncs.push(resolve)),
    abort: () => (state.aborted += 1),
  });
  requestClose(sql);
  closer.arm();
  const finishSync = async (): Promise<void> => {
    syncs.shift()?.();
    await clock.advance(0);
  };
  return {
    state,
    clock,
    arm: () => closer.arm(),
    /** A whole request: its response is under way when it has started. */
    request: async () => {
      const closing = closer.closing();
      if (closing !== null) await closing;
      state.started += 1;
      closer.arm();
    },
    finishSync,
    /** The responses that are under way arrive. */
    deliver: async () => {
      for (let checks = 0; checks < 5; checks += 1) await clock.advance(20);
      await finishSync();
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

  it('ends it while requests keep arriving, and starts none whose response would be lost', async () => {
    const { state, clock, request, finishSync, deliver } = createCatalog();
    for (let requests = 0; requests < 25; requests += 1) {
      await request();
      await clock.advance(10);
    }
    expect(state.started).toBe(25);
    void request();
    await finishSync();
    void request();
    await deliver();
    expect(state).toEqual({ inProgress: 0, aborted: 1, started: 25 });
  });

  it('lets responses out that a process which was stopped for a moment has not sent yet', async () => {
    const { state, clock, finishSync } = createCatalog();
    await clock.advance(250);
    await finishSync();
    // Every timer is due by now; between two of them, the process sends what is ready.
    for (let checks = 0; checks < 5; checks += 1) {
      expect(state.aborted).toBe(0);
      await clock.advance(10_000);
    }
    await finishSync();
    expect(state.aborted).toBe(1);
  });

  it('waits while work is in progress, and then starts the requests that waited', async () => {
    const { state, clock, arm, request, finishSync, deliver } = createCatalog();
    await clock.advance(250);
    void request();
    state.inProgress = 1;
    await finishSync();
    await deliver();
    expect(state).toEqual({ inProgress: 1, aborted: 0, started: 1 });
    state.inProgress = 0;
    arm();
    // The request to close is kept until it is done.
    await clock.advance(250);
    await finishSync();
    await deliver();
    expect(state.aborted).toBe(1);
  });
});
