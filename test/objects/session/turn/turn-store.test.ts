import { expect, it } from 'vitest';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { TurnStore } from '../../../../src/objects/session/turn/turn-store.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { plan, pointer } from '../runner-session.ts';

const long = { ...plan, instructions: 'long '.repeat(1_000), agent: 'helper', edition: pointer };
const read = { agent: 'helper', edition: pointer };

it('stores only the agent, edition and trigger of the plan of an ended turn', () => {
  const turns = new TurnStore(fakeSql(sessionMigrations), () => 0);
  turns.accept('t1', long, []);
  turns.accept('t2', plan, []);
  turns.markStarted('t1', 0);
  expect(turns.open()?.plan).toEqual(long);
  turns.markEnded('t1', 'completed', 'stop', 1);
  expect(turns.get('t1')?.plan).toEqual(read);
  expect(turns.nextQueued()?.plan).toEqual(plan);
});

it('finds the turn of a key for a day, and then no longer', () => {
  let now = 0;
  const turns = new TurnStore(fakeSql(sessionMigrations), () => now);
  const kept = { turn: 't1', session: null, edition: pointer, completion: 'c1' };
  turns.rememberKey('k', 'h', kept);
  now = limits.idempotencyTtlMs;
  expect(turns.findByKey('k', 'h')).toEqual(kept);
  expect(() => turns.findByKey('k', 'other')).toThrow(expect.objectContaining({ code: 'idempotency_mismatch' }));
  now += 1;
  expect(turns.findByKey('k', 'other')).toBeNull();
});
