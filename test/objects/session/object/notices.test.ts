/** Notices about turns: every end, once and in order, also after crashes; and none without a subscriber. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { textResult } from '../../../../src/core/tools/tool.ts';
import { decide } from '../../../../src/objects/session/pending/decide.ts';
import { acceptResults } from '../../../../src/objects/session/turn/accept-results.ts';
import { calls, finish, makeRoom, reply, silence } from '../runner-session.ts';
import { noticeBatchRows } from '../../../../src/objects/session/object/notices.ts';

type Room = Awaited<ReturnType<typeof makeRoom>>;

const trigger = { kind: 'webhook', name: 'hook', delivery: 'd-1', run: 1 } as const;
const says = (text: string) => () => reply({ type: 'text', text }, finish);
const told = (room: Room) => room.told.map(({ turn, type, status, reason }) => `${turn} ${type} ${status} ${reason}`);
const stored = (room: Room) => room.sql.exec('SELECT sequence FROM notices').toArray().length;
const approve = (room: Room, callId: string) => decide(room.decisionContext(), callId, 'approve', { by: 'k1', remember: false });
const askedIds = (room: Room) => room.room.waits.pendingApprovals().map(({ callId }) => callId);

describe('a session stores a notice of a turn', () => {
  it('of a trigger when it has ended, with its outcome', async () => {
    const room = await makeRoom([says('All done.')]);
    room.accept('t1', { trigger, agent: 'doer' });
    await room.settle();
    expect(room.told).toEqual([
      {
        ...{ session: 's', sequence: 1, type: 'turn.completed', turn: 't1', at: room.clock.now(), agent: 'doer', trigger },
        ...{ status: 'completed', reason: 'stop', text: 'All done.', usage: { inputTokens: 0, outputTokens: 0 } },
      },
    ]);
    expect(stored(room)).toBe(0);
  });

  it.each([
    ['is cancelled', 't1 turn.failed cancelled cancelled', async (room: Room) => void room.room.runner.cancel()],
    ['takes too long', 't1 turn.failed failed timeout', async (room: Room) => room.clock.advance(limits.turnTimeoutMs)],
  ])('when the turn %s', async (_what, line, end) => {
    const room = await makeRoom([silence]);
    room.accept('t1', { trigger });
    await room.settle();
    await end(room);
    await room.settle();
    expect(told(room)).toEqual([line]);
  });

  it('names the problem of a turn that failed', async () => {
    const room = await makeRoom([
      () => {
        throw new Error('an internal failure');
      },
    ]);
    room.accept('t1', { trigger });
    await room.settle();
    expect(room.told).toMatchObject([{ type: 'turn.failed', status: 'failed', problem: { code: 'internal' } }]);
    expect(JSON.stringify(room.told)).not.toContain('an internal failure');
  });

  it('reports a turn that died too often to resume', async () => {
    const room = await makeRoom(Array.from({ length: 20 }, () => silence));
    room.accept('t1', { trigger });
    for (let deaths = 0; deaths < 20 && room.told.length === 0; deaths += 1) await room.restart();
    expect(told(room)).toEqual(['t1 turn.failed failed recovery_limit']);
  });

  it('that was cancelled while it waited, by a process that had not run it', async () => {
    const room = await makeRoom([calls(['asks', {}])]);
    room.accept('t1', { trigger });
    await room.settle();
    await room.restart();
    room.room.runner.cancel();
    await room.settle();
    expect(told(room)).toEqual(['t1 approval.required waiting approval_required', 't1 turn.failed cancelled cancelled']);
  });

  it('that never started, when its session is deleted', async () => {
    const room = await makeRoom([silence]);
    for (const turn of ['t1', 't2', 't3']) room.accept(turn, { trigger: { ...trigger, delivery: turn } });
    await room.settle();
    await room.room.runner.stop();
    room.room.notices.abandonQueued();
    await room.settle();
    expect(told(room)).toEqual(['t1', 't2', 't3'].map((turn) => `${turn} turn.failed cancelled cancelled`));
    expect(room.told.at(-1)).toMatchObject({ text: '', trigger: { delivery: 't3' } });
    room.room.notices.abandonQueued();
    expect(stored(room)).toBe(0);
  });
});

describe('when a question is open', () => {
  it('one notice is sent with the questions, and another only for a new question', async () => {
    const room = await makeRoom([
      calls(['asks', { command: 'a' }], ['asks', { command: 'b' }]),
      calls(['asks', { command: 'c' }]),
      says('Done.'),
    ]);
    room.accept('t1', { trigger });
    await room.settle();
    expect(room.told).toMatchObject([
      { type: 'approval.required', status: 'waiting', pending: [{ arguments: { command: 'a' } }, { arguments: { command: 'b' } }] },
    ]);
    const [first = '', second = ''] = askedIds(room);
    await approve(room, first);
    await room.settle();
    await room.restart();
    // One of them is still open.
    expect(room.told.length).toBe(1);
    await approve(room, second);
    await room.settle();
    expect(room.told.slice(1)).toMatchObject([
      { type: 'turn.resumed', status: 'running', trigger },
      { type: 'approval.required', pending: [{ arguments: { command: 'c' } }] },
    ]);
    await approve(room, askedIds(room)[0] ?? '');
    await room.settle();
    expect(told(room).slice(3)).toEqual(['t1 turn.resumed running ', 't1 turn.completed completed stop']);
  });

  it('the end is notified when the approval has expired', async () => {
    const room = await makeRoom([calls(['asks', {}]), says('No decision came.')]);
    room.accept('t1', { trigger });
    await room.settle();
    await room.clock.advance(limits.approvalTtlMs);
    await room.ring();
    await room.settle();
    expect(told(room).slice(1)).toEqual(['t1 turn.resumed running ', 't1 turn.completed completed stop']);
    expect(room.told.at(-1)).toMatchObject({ text: 'No decision came.' });
  });

  it('the next process sends the notice when the process died before the wait was stored', async () => {
    const room = await makeRoom([calls(['asks', {}])]);
    room.listeners.isAway = true;
    room.accept('t1', { trigger });
    await room.settle();
    // As after a crash between the question and the wait.
    room.sql.exec("UPDATE turns SET state = 'running', reason = NULL, asked_event = 0");
    room.sql.exec('DELETE FROM notices');
    room.listeners.isAway = false;
    await room.restart();
    expect(told(room)).toEqual(['t1 approval.required waiting approval_required']);
  });

  it('no notice is sent for client tools alone', async () => {
    const lookUp = { name: 'look_up', description: '', inputSchema: { type: 'object' } };
    const room = await makeRoom([calls(['look_up', {}]), says('Done.')], { clientTools: [lookUp] });
    room.accept('t1', { trigger });
    await room.settle();
    expect([room.room.turns.isWaiting(), room.told]).toEqual([true, []]);
    const [call] = room.events().flatMap((event) => (event.type === 'client-tool-required' ? [event.callId] : []));
    acceptResults(room.room, [{ callId: call ?? '', ...textResult('found'), isError: false }], 'root');
    await room.settle();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });
});

describe('the subscribers', () => {
  it('are looked up, and without any nothing is stored', async () => {
    const room = await makeRoom([says('One.'), says('Two.')]);
    const writes: string[] = [];
    const { exec } = room.sql;
    Object.assign(room.sql, {
      exec: (query: string, ...bindings: never[]) => {
        writes.push(query);
        return exec.call(room.sql, query, ...bindings);
      },
    });
    for (const turn of ['t1', 't2']) {
      room.accept(turn, { agent: 'doer' });
      await room.settle();
    }
    expect(room.told).toEqual([]);
    expect(writes.filter((query) => /INTO notices|'notice'/.test(query))).toEqual([]);
  });

  it('are matched by event and agent', async () => {
    const room = await makeRoom([says('One.'), says('Two.'), calls(['asks', {}])]);
    room.listeners.heads = [
      { events: ['turn.failed'], agents: ['doer'] },
      { events: ['turn.completed'], agents: ['other'] },
    ];
    room.accept('t1', { agent: 'doer' });
    await room.settle();
    room.accept('t2', { agent: 'other' });
    await room.settle();
    room.accept('t3', { agent: 'doer' });
    await room.settle();
    room.room.runner.cancel();
    await room.settle();
    expect(told(room)).toEqual(['t2 turn.completed completed stop', 't3 turn.failed cancelled cancelled']);
  });

  it('are assumed while they are unknown', async () => {
    const room = await makeRoom([says('One.')]);
    room.listeners.heads = null;
    room.accept('t1');
    await room.settle();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });

  it('are looked up at each step: a subscription during a turn receives its end', async () => {
    const room = await makeRoom([calls(['bash', {}]), says('Done.')], {
      execute: async () => {
        room.listeners.heads = [{}];
        return textResult('ran');
      },
    });
    room.accept('t1');
    await room.settle();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });
});

describe('a turn that started before the first subscription', () => {
  it('that ran resumes, and its end is sent to the subscribers', async () => {
    const room = await makeRoom([silence, says('Done.')]);
    room.listeners.heads = [{}];
    room.accept('t1', { agent: 'doer' });
    await room.settle();
    await room.restart();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });

  it('that waited resumes after the decision', async () => {
    const room = await makeRoom([calls(['asks', {}]), says('Done.')]);
    room.accept('t1', { agent: 'doer' });
    await room.settle();
    room.listeners.heads = [{}];
    await room.restart();
    expect(told(room)).toEqual([]);
    await approve(room, askedIds(room)[0] ?? '');
    await room.settle();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });
});

describe('while the Catalog is unavailable', () => {
  it('notices wait in order and are sent by the alarm, also by another process', async () => {
    const room = await makeRoom([says('One.'), says('Two.'), says('Three.')]);
    room.listeners.isAway = true;
    for (const turn of ['t1', 't2']) {
      room.accept(turn, { trigger });
      await room.settle();
    }
    expect([room.told, stored(room)]).toEqual([[], 2]);
    room.die();
    await room.clock.advance(limits.noticeRetryMs);
    await room.ring();
    expect([room.told, stored(room)]).toEqual([[], 2]);
    room.listeners.isAway = false;
    room.accept('t3', { trigger });
    await room.settle();
    expect(room.told.map(({ turn, sequence, text }) => [turn, sequence, text])).toEqual([
      ['t1', 1, 'One.'],
      ['t2', 2, 'Two.'],
      ['t3', 3, 'Three.'],
    ]);
  });

  it('the alarm is set as soon as a notice is stored', async () => {
    const room = await makeRoom([says('One.')]);
    room.listeners.isAway = true;
    room.accept('t1', { trigger });
    await room.settle();
    expect(room.room.timers.due(room.clock.now() + limits.noticeRetryMs)).toContain('notice');
    expect(room.alarm.at).not.toBeNull();
    room.listeners.isAway = false;
    await room.clock.advance(limits.noticeRetryMs);
    await room.ring();
    expect([told(room), room.room.timers.due(Number.MAX_SAFE_INTEGER)]).toEqual([['t1 turn.completed completed stop'], []]);
  });

  it('a storage error is retried with the next alarm', async () => {
    const room = await makeRoom([says('One.')]);
    const { exec } = room.sql;
    let faults = 1;
    Object.assign(room.sql, {
      exec: (query: string, ...bindings: never[]) => {
        if (query.startsWith('SELECT sequence, type') && faults-- > 0) throw new Error('disk I/O error');
        return exec.call(room.sql, query, ...bindings);
      },
    });
    room.accept('t1', { trigger });
    await room.settle();
    expect([room.told, stored(room)]).toEqual([[], 1]);
    await room.clock.advance(limits.noticeRetryMs);
    await room.ring();
    expect(told(room)).toEqual(['t1 turn.completed completed stop']);
  });

  it('a response after the session was deleted and created again deletes no new notice', async () => {
    const room = await makeRoom([says('One.')]);
    room.listeners.isAway = true;
    room.accept('t1', { trigger });
    await room.settle();
    const answer = Promise.withResolvers<void>();
    const sent: number[] = [];
    room.listeners.take = async (notices) => {
      sent.push(...notices.map(({ at }) => at));
      await answer.promise;
    };
    const late = room.room.notices.outbox.flush();
    await room.settle();
    const before = room.clock.now();
    await room.clock.advance(1);
    room.sql.exec('DELETE FROM notices');
    room.sql.exec("INSERT INTO notices (sequence, type, turn, event, at) VALUES (1, 'turn.completed', 't1', 9, ?)", before + 1);
    answer.resolve();
    await late;
    expect([sent, stored(room)]).toEqual([[before, before + 1], 0]);
  });

  it('many notices are sent in batches', async () => {
    const count = noticeBatchRows * 2 + 1;
    const room = await makeRoom(Array.from({ length: count }, () => says('x')));
    room.listeners.isAway = true;
    for (let turn = 0; turn < count; turn += 1) {
      room.accept(`t${turn}`, { trigger });
      await room.settle();
    }
    const sizes: number[] = [];
    room.listeners.take = async (notices) => void sizes.push(notices.length);
    await room.room.notices.outbox.flush();
    expect([sizes, stored(room)]).toEqual([[noticeBatchRows, noticeBatchRows, 1], 0]);
  });
});
