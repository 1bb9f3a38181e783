import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { decide } from '../../../../src/objects/session/pending/decide.ts';
import { abortedResults, acceptResults } from '../../../../src/objects/session/turn/accept-results.ts';
import { readAnswer } from '../../../../src/objects/session/log/turn-reader.ts';
import { calls, ends, finish, makeRoom, reply, types } from '../runner-session.ts';

const said = (callId: string, text: string, isError = false) => ({ callId, content: [{ type: 'text' as const, text }], isError });
const lookUp = { name: 'look_up', description: '', inputSchema: { type: 'object' } };

async function waiting(made = calls(['read', {}], ['look_up', { q: 1 }], ['look_up', { q: 2 }])) {
  const room = await makeRoom([made, () => reply({ type: 'text', text: 'done' }, finish)], { clientTools: [lookUp] });
  room.accept('t1');
  await room.settle();
  const ids = room.events().flatMap((event) => (event.type === 'client-tool-required' ? [event.callId] : []));
  return { room, ids };
}

describe("results of the client's own tools", () => {
  it('resume the turn when all are present, each once, in any order and process', async () => {
    const { room, ids } = await waiting();
    const [one = '', two = ''] = ids;
    const answer = await readAnswer({ ...room.room, clock: room.clock, isDeleted: () => false }, 't1');
    expect(answer).toMatchObject({ status: 'waiting', reason: 'client_tool_required', toolCalls: [{ canonical: 'builtin.read' }] });
    expect(answer.pending?.map(({ callId, kind }) => `${kind} ${callId}`)).toEqual(ids.map((id) => `client-tool ${id}`));
    expect(await acceptResults(room.room, [said(two, 'b')], 'root')).toMatchObject({
      turn: 't1',
      status: 'waiting',
      pending: [{ callId: one }],
    });
    await room.restart();
    expect(await acceptResults(room.room, [said(two, 'b')], 'root')).toMatchObject({ status: 'waiting' });
    expect(await acceptResults(room.room, [said(one, 'a')], 'root')).toMatchObject({ status: 'running', pending: [] });
    await room.settle();
    expect(await acceptResults(room.room, [said(one, 'a'), said(two, 'b')], 'root')).toMatchObject({ status: 'completed', pending: [] });
    expect(types(room.events()).filter((type) => type === 'tool-result')).toHaveLength(3);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
    await Promise.all(room.work);
    expect(room.sent.map(({ canonical, verdict }) => `${canonical} ${verdict}`).sort()).toEqual([
      'builtin.read ran',
      'client.look_up ran',
      'client.look_up ran',
    ]);
  });

  it('are refused when they differ from the stored ones, and when their calls are not pending', async () => {
    const { room, ids } = await waiting();
    const [one = '', two = ''] = ids;
    await acceptResults(room.room, [said(one, 'a')], 'root');
    await expect(acceptResults(room.room, [said(two, 'b'), said(one, 'other')], 'root')).rejects.toMatchObject({ code: 'conflict' });
    await expect(acceptResults(room.room, [said('call_unknown', 'x')], 'root')).rejects.toMatchObject({ code: 'not_found' });
    // None of the refused results was stored.
    expect(room.room.turns.stateOf('t1')).toBe('waiting');
    room.room.runner.cancel();
    await expect(acceptResults(room.room, [said(two, 'b')], 'root')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are refused when one request has two for one call', async () => {
    const { room, ids } = await waiting(calls(['look_up', {}]));
    const [one = ''] = ids;
    await expect(acceptResults(room.room, [said(one, 'a'), said(one, 'b')], 'root')).rejects.toMatchObject({ code: 'conflict' });
    expect(room.room.turns.stateOf('t1')).toBe('waiting');
    expect(await acceptResults(room.room, [said(one, 'b')], 'root')).toMatchObject({ status: 'running' });
  });

  it('are refused when one request has two different ones for one call', async () => {
    const { room, ids } = await waiting(calls(['look_up', {}]));
    const [one = ''] = ids;
    await expect(acceptResults(room.room, [said(one, 'a'), said(one, 'b')], 'root')).rejects.toMatchObject({ code: 'conflict' });
    expect(room.room.turns.stateOf('t1')).toBe('waiting');
  });

  it('count once when they come twice in one request', async () => {
    const { room, ids } = await waiting(calls(['look_up', {}]));
    await acceptResults(room.room, [said(ids[0] ?? '', 'a'), said(ids[0] ?? '', 'a')], 'root');
    await room.settle();
    expect(types(room.events()).filter((type) => type === 'tool-result')).toHaveLength(1);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it("are limited in size like any tool's, and may be errors", async () => {
    const { room, ids } = await waiting(calls(['look_up', {}]));
    await acceptResults(room.room, [said(ids[0] ?? '', 'x'.repeat(2 * limits.maxResultBytes), true)], 'root');
    const result = room.events().find((event) => event.type === 'tool-result');
    expect(result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(JSON.stringify(result).length).toBeLessThan(limits.maxResultBytes + 2_000);
    expect(room.room.results.hasAny()).toBe(true);
  });

  it('do not resume a turn that also waits for approval', async () => {
    const { room, ids } = await waiting(calls(['look_up', {}], ['asks', {}]));
    expect(room.room.turns.current()).toMatchObject({ reason: 'approval_required' });
    await acceptResults(room.room, [said(ids[0] ?? '', 'a')], 'root');
    expect(room.room.turns.stateOf('t1')).toBe('waiting');
    await decide(room.decisionContext(), room.room.waits.pendingApprovals()[0]?.callId ?? '', 'approve', { by: 'k', remember: false });
    await room.settle();
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('can be omitted by a client that continues without them', async () => {
    const { room, ids } = await waiting();
    room.room.runner.applyExternal('t1', (state) => [
      ...abortedResults(room.room, state),
      { type: 'turn-input', turn: 't1', input: [{ type: 'text', text: 'never mind' }] },
    ]);
    await room.settle();
    expect(room.events().flatMap((event) => (event.type === 'tool-result' && event.code === 'aborted' ? [event.callId] : []))).toEqual(ids);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
    await expect(acceptResults(room.room, [said(ids[0] ?? '', 'a')], 'root')).rejects.toMatchObject({ code: 'not_found' });
  });
});
