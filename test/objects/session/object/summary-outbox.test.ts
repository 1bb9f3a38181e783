/** What lists show of a session: few updates, each whole, sent again after failures and crashes. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { decide } from '../../../../src/objects/session/pending/decide.ts';
import { acceptResults } from '../../../../src/objects/session/turn/accept-results.ts';
import { summaryBatchWaits } from '../../../../src/objects/session/object/summary-outbox.ts';
import { calls, finish, makeRoom, reply, silence } from '../runner-session.ts';

type Room = Awaited<ReturnType<typeof makeRoom>>;

const says = (text: string) => () => reply({ type: 'text', text }, finish);
const shown = (room: Room) =>
  room.updates.map(({ summary, waits }) => [summary.status, ...waits.map(({ kind, state, decidedBy }) => `${kind} ${state} ${decidedBy}`)]);
const askedIds = (room: Room) => room.room.waits.pendingApprovals().map(({ callId }) => callId);

describe('a session', () => {
  it('sends one update for a turn without questions, with title, status and usage', async () => {
    const room = await makeRoom([says('Hello.'), says('Again.')]);
    room.accept('Good morning.');
    await room.settle();
    expect(room.updates).toEqual([
      {
        ...{ id: 's', keyId: 'root', agent: null, model: 'a/b', toolset: null, createdAt: expect.any(Number), waits: [] },
        open: { pendingQuestions: 0, queuedTurns: 0 },
        summary: {
          ...{ revision: 2, status: 'completed', title: 'Good morning.', activeAt: room.clock.now() },
          usage: { inputTokens: 0, outputTokens: 0 },
        },
      },
    ]);
    room.accept('And now?');
    await room.settle();
    expect(room.updates.at(-1)?.summary).toMatchObject({ title: 'Good morning.', revision: 3 });
    expect(room.updates).toHaveLength(2);
    expect(room.alarm.at).toBeNull();
  });

  it('is shown as running when a turn takes longer', async () => {
    const room = await makeRoom([silence]);
    room.accept('t1');
    await room.settle();
    expect(room.updates).toEqual([]);
    room.clock.advance(limits.turnAlarmMs);
    await room.ring();
    expect(shown(room)).toEqual([['running']]);
  });

  it('sends the questions of a turn and the decisions with their makers', async () => {
    const room = await makeRoom([calls(['asks', { a: 1 }]), says('Done.')]);
    room.accept('t1');
    await room.settle();
    expect(shown(room).at(-1)).toEqual(['waiting', 'approval pending null']);
    const [callId = ''] = askedIds(room);
    expect(room.updates.flatMap(({ waits }) => waits)).toMatchObject([{ callId, turn: 't1', canonical: 'builtin.bash', round: 1 }]);
    await decide(room.decisionContext(), callId, 'approve', { by: 'k1', remember: false });
    await room.settle();
    expect(
      shown(room)
        .filter(([, wait]) => wait !== undefined)
        .at(-1),
    ).toEqual([expect.any(String), 'approval approved k1']);
    expect(shown(room).at(-1)?.[0]).toBe('completed');
  });

  it('sends what the client is to run, and that it ended with its turn', async () => {
    const tool = { name: 'ask_me', description: 'Asks.', inputSchema: { type: 'object' } };
    const asking = calls(['ask_me', {}]);
    const room = await makeRoom([asking, asking], { clientTools: [tool] });
    room.accept('t1');
    await room.settle();
    const first = room.updates.at(-1)?.waits[0];
    expect(first).toMatchObject({ kind: 'client-tool', state: 'pending', canonical: 'client.ask_me' });
    const content = [{ type: 'text' as const, text: 'yes' }];
    await acceptResults(room.room, [{ callId: first?.callId ?? '', content, isError: false }], 'k2');
    await room.settle();
    room.room.runner.cancel();
    await room.settle();
    const all = room.updates.flatMap(({ waits }) => waits.map(({ state, decidedBy }) => `${state} ${decidedBy}`));
    expect([...new Set(all)]).toEqual(['pending null', 'answered k2', 'expired null']);
  });

  it('sends again what the Catalog did not take, also after a crash', async () => {
    const room = await makeRoom([calls(['asks', {}])]);
    room.listeners.isAway = true;
    room.accept('t1');
    await room.settle();
    expect(room.updates).toEqual([]);
    await room.restart();
    room.listeners.isAway = false;
    room.clock.advance(limits.noticeRetryMs);
    await room.ring();
    expect(shown(room)).toEqual([['waiting', 'approval pending null']]);
    await room.ring();
    expect(room.updates).toHaveLength(1);
  });

  it('sends many questions in several updates', async () => {
    const room = await makeRoom([]);
    for (let index = 0; index <= summaryBatchWaits; index += 1) {
      const asked = {
        callId: `c${index}`,
        canonical: 'x.y',
        entry: 'y',
        ask: 'rule' as const,
        target: null,
        reason: 'It asks',
        question: { effects: [], effectCount: 0, binding: [] },
      };
      room.room.waits.addForDirectCall({ ...asked, round: 1, expiresAt: room.clock.now() + 1_000 }, null, {});
    }
    room.room.summary.noteChange();
    await room.settle();
    expect(room.updates.map(({ waits }) => waits.length)).toEqual([summaryBatchWaits, 1]);
  });
});
