import { expect, it } from 'vitest';
import { createSessionTables, markDeleting, readSessionState } from '../../../../src/objects/session/object/open-session.ts';
import { Timers } from '../../../../src/objects/session/object/timers.ts';
import { fakeSql, fakeTransactions } from '../../../fakes/sql-storage.ts';

it('a deletion that has begun goes on by the alarm, whatever the session waited for', () => {
  const alarms: (number | null)[] = [];
  const sql = fakeSql([]);
  const setAlarm = async (at: number | null) => void alarms.push(at);
  // The parts that a deletion uses.
  const storage = { sql, ...fakeTransactions(sql), setAlarm, deleteAlarm: () => setAlarm(null) } as unknown as DurableObjectStorage;
  createSessionTables(storage, { id: 's1', workspace: 'default', keyId: 'k1', setup: { listed: true }, createdAt: 0 } as never);
  const timers = new Timers(storage);
  timers.set('expire', 500);
  timers.set('turn', 100);
  markDeleting({ timers } as unknown as Parameters<typeof markDeleting>[0], storage, 'k1', 9_000);
  expect(readSessionState(storage)).toBe('leaving');
  // It may ring earlier, and is then set to what is left.
  expect(alarms.at(-1)).toBeLessThanOrEqual(9_000);
  expect(sql.exec('SELECT kind, due FROM timers').toArray()).toEqual([{ kind: 'erase', due: 9_000 }]);
});
