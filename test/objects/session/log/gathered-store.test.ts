import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { createGatheredStore } from '../../../../src/objects/session/log/transcript-log.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { calls, finish, makeRoom, reply } from '../runner-session.ts';

const called = (name: string): SessionEventBody => ({
  type: 'tool-result',
  turn: 't1',
  step: 1,
  callId: 'c',
  name,
  canonical: `a.${name}`,
  via: null,
  isError: false,
  content: [],
});

describe('the tools that a session has gathered', () => {
  it('survive their process, in order, each once', () => {
    const sql = fakeSql(sessionMigrations);
    const first = createGatheredStore(sql);
    for (const name of ['z', 'b', 'z', 'a']) first.apply(called(name));
    const second = createGatheredStore(sql);
    expect(second.list()).toEqual(first.list());
    second.apply(called('b'));
    second.apply(called('c'));
    expect(
      createGatheredStore(sql)
        .list()
        .map(({ canonical }) => canonical),
    ).toEqual(['a.z', 'a.b', 'a.a', 'a.c']);
  });

  it('are cached once they are known, since every step needs them', () => {
    const sql = fakeSql(sessionMigrations);
    const store = createGatheredStore(sql);
    store.apply(called('a'));
    const before = store.list();
    sql.exec('DELETE FROM gathered');
    expect(store.list()).toBe(before);
  });

  it('are those that its turns have called, also after a restart and a compaction', async () => {
    const room = await makeRoom([calls(['read', {}], ['bash', { command: 'ls' }], ['nothing', {}]), () => reply(finish)]);
    room.accept('turn_1');
    await room.settle();
    const gathered = [
      { canonical: 'builtin.read', name: 'read' },
      { canonical: 'builtin.bash', name: 'bash' },
    ];
    expect(room.room.transcript.gathered()).toEqual(gathered);
    const { log, transcript } = room.room;
    const compaction = { type: 'compaction' as const, turn: 'turn_2', through: 'turn_1', summary: 'They read.' };
    log.append(compaction);
    transcript.apply(compaction);
    await room.restart();
    expect(room.room.transcript.summary()).toBe('They read.');
    expect(room.room.transcript.gathered()).toEqual(gathered);
  });
});
