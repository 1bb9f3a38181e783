import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGathering } from '../../../src/core/tools/gathered-tools.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createGatheredStore } from '../../../src/session/log/transcript-log.ts';
import { sessionMigrations } from '../../../src/session/object/schema.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';
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

/** Events as earlier releases wrote them. */
function journal(file: string): SessionEvent[] {
  const [, ...lines] = readFileSync(`${import.meta.dirname}/../journals/${file}`, 'utf8')
    .trim()
    .split('\n');
  // Our own files, written by the releases of `journals.test.ts`.
  return lines.map((line) => JSON.parse(line) as SessionEvent);
}

describe('the tools that a session has gathered', () => {
  it.each([
    ['format-1-left-in-its-calls.jsonl', ['builtin.read read']],
    ['format-2-decided-and-left.jsonl', ['builtin.bash asks', 'builtin.read read']],
  ])('include those that it called before the list existed: %s', (file, called) => {
    const events = journal(file);
    const sql = fakeSql(sessionMigrations.slice(0, 4));
    for (const { id, at, ...body } of events) sql.exec('INSERT INTO events (id, at, body) VALUES (?, ?, ?)', id, at, JSON.stringify(body));
    for (const statement of sessionMigrations[4]?.split(';\n') ?? []) sql.exec(statement);
    const gathering = createGathering();
    for (const event of events) gathering.apply(event);
    expect(createGatheredStore(sql).list()).toEqual(gathering.list());
    expect(gathering.list().map(({ canonical, name }) => `${canonical} ${name}`)).toEqual(called);
  });

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
