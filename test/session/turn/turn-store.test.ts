import { expect, it } from 'vitest';
import { sessionMigrations } from '../../../src/session/object/schema.ts';
import { TurnStore } from '../../../src/session/turn/turn-store.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';
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

it('deletes the rest of the plans of turns that ended in an earlier release', () => {
  const sql = fakeSql(sessionMigrations.slice(0, 11));
  const insert = 'INSERT INTO turns (id, state, plan, accepted_at) VALUES (?, ?, ?, 0)';
  sql.exec(insert, 't1', 'ended', JSON.stringify(long));
  sql.exec(insert, 't2', 'ended', JSON.stringify(plan));
  sql.exec(insert, 't3', 'waiting', JSON.stringify(long));
  sql.exec(sessionMigrations[11] ?? '');
  const turns = new TurnStore(sql, () => 0);
  expect(['t1', 't2', 't3'].map((id) => turns.get(id)?.plan)).toEqual([read, {}, long]);
});
