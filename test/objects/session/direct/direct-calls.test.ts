import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../../src/core/toolset/alias-map.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { textResult, type ToolResult } from '../../../../src/core/tools/tool.ts';
import { decide, showPending } from '../../../../src/objects/session/pending/decide.ts';
import { compile, knownTools, toolOf } from '../../../fakes/known-tools.ts';
import { makeRoom } from '../runner-session.ts';
import { maxPendingApprovals } from '../../../../src/objects/session/direct/direct-call-approvals.ts';

const once = { by: 'k1', remember: false };

async function open() {
  const ran: string[] = [];
  const hold: { on: boolean; release(): void } = { on: false, release: () => undefined };
  const room = await makeRoom([], {
    execute: (_args, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      if (!hold.on) return Promise.resolve(textResult('ran'));
      return new Promise<ToolResult>((resolve) => (hold.release = () => resolve(textResult('late'))));
    },
  });
  return { room, ran, hold };
}

describe('a direct call that requires approval', () => {
  it('has one approval however often it is sent, runs once when approved, and then requires a new one', async () => {
    const { room, ran } = await open();
    const [first, again] = [await room.call({ name: 'asks', arguments: { n: 1 } }), await room.call({ name: 'asks', arguments: { n: 1 } })];
    expect(first.result).toMatchObject({ isError: true, code: 'approval_required' });
    const callId = first.pending?.[0]?.callId ?? '';
    expect(again.pending).toEqual(first.pending);
    expect(first.pending).toMatchObject([{ kind: 'approval', canonical: 'builtin.bash', arguments: { n: 1 } }]);
    expect(await decide(room.decisionContext(), callId, 'approve', once)).toEqual({
      callId,
      decision: 'approve',
      turn: null,
      status: null,
    });
    const both = await Promise.all([1, 2].map(() => room.call({ name: 'asks', arguments: { n: 1 } })));
    expect(both.map(({ result }) => result.code ?? 'ran').sort()).toEqual(['approval_required', 'ran']);
    expect(ran).toEqual([callId]);
    expect(room.room.waits.get('approval', callId)?.state).toBe('used');
    await expect(decide(room.decisionContext(), callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is not covered by the approval of another call or of other arguments', async () => {
    const { room, ran } = await open();
    const { pending } = await room.call({ name: 'asks', arguments: { n: 1 } });
    await decide(room.decisionContext(), pending?.[0]?.callId ?? '', 'approve', once);
    expect((await room.call({ name: 'asks', arguments: { n: 2 } })).result.code).toBe('approval_required');
    expect((await room.call({ name: 'http_request', arguments: { url: 'https://a.example/' } })).result.code).toBe('approval_required');
    expect(ran).toEqual([]);
  });

  it('is stored, shown and approved with the arguments as the tool receives them', async () => {
    const { room } = await open();
    const known = knownTools([toolOf('builtin', 'bash', { kind: 'builtin' })]);
    const rules = { preset: { token: { secret: 'GH' } }, rename: { id: 'resource_id' }, alias: { ref: 'resource_id' } };
    const { edition } = await compile({ tools: [{ tool: 'builtin.bash', name: 'asks', approval: 'always', arguments: rules }] }, known);
    room.names = buildAliasMap(edition, { aliases: true });
    const { pending } = await room.call({ name: 'asks', arguments: { id: '7' } });
    expect(pending).toMatchObject([{ arguments: { resource_id: '7', token: { secret: 'GH' } } }]);
    expect(showPending(room.decisionContext())).toMatchObject([{ arguments: { resource_id: '7', token: { secret: 'GH' } } }]);
    for (const name of ['resource_id', 'ref', 'Ref'])
      expect((await room.call({ name: 'asks', arguments: { [name]: '7', token: 'mine' } })).pending).toEqual(pending);
  });

  it('is not covered by its approval once the tool of that name has changed', async () => {
    const { room, ran } = await open();
    const { pending } = await room.call({ name: 'asks' });
    await decide(room.decisionContext(), pending?.[0]?.callId ?? '', 'approve', once);
    const changed = knownTools([toolOf('builtin', 'bash', { kind: 'builtin', description: 'Does something else.' })]);
    const { edition } = await compile({ tools: [{ tool: 'builtin.bash', name: 'asks', approval: 'always' }] }, changed);
    const before = room.names;
    room.names = buildAliasMap(edition, { aliases: true });
    expect((await room.call({ name: 'asks' })).result.code).toBe('approval_required');
    expect(ran).toEqual([]);
    room.names = before;
    expect((await room.call({ name: 'asks' })).result).toEqual(textResult('ran'));
  });

  it('reports a denial once, and then creates a new approval', async () => {
    const { room } = await open();
    const { pending } = await room.call({ name: 'asks' });
    await decide(room.decisionContext(), pending?.[0]?.callId ?? '', 'deny', once);
    expect((await room.call({ name: 'asks' })).result.code).toBe('denied');
    const anew = await room.call({ name: 'asks' });
    expect(anew.result.code).toBe('approval_required');
    expect(anew.pending?.[0]?.callId).not.toBe(pending?.[0]?.callId);
  });

  it('waits through a restart, and no longer than its expiry', async () => {
    const { room, ran } = await open();
    const { pending } = await room.call({ name: 'asks' });
    const callId = pending?.[0]?.callId ?? '';
    await room.restart();
    expect((await room.call({ name: 'asks' })).pending?.[0]?.callId).toBe(callId);
    await room.clock.advance(limits.approvalTtlMs);
    await room.ring();
    expect(room.room.waits.get('approval', callId)?.state).toBe('expired');
    expect((await room.call({ name: 'asks' })).pending?.[0]?.callId).not.toBe(callId);
    expect(ran).toEqual([]);
  });

  it('is refused when too many approvals are pending', async () => {
    const { room } = await open();
    for (let n = 0; n < maxPendingApprovals; n += 1) await room.call({ name: 'asks', arguments: { n } });
    await expect(room.call({ name: 'asks', arguments: { n: -1 } })).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('is refused when the pending arguments are too large to show on one page', async () => {
    const { room } = await open();
    const large = 'x'.repeat(limits.maxArgumentBytes - 1_000);
    const ask = (n: number) => room.call({ name: 'asks', arguments: { n, large } });
    const { pending } = await ask(0);
    for (let n = 1; n < 9; n += 1) await ask(n);
    await expect(ask(9)).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(room.call({ name: 'asks' })).rejects.toMatchObject({ code: 'rate_limited' });
    expect(JSON.stringify(showPending(room.decisionContext())).length).toBeLessThan(16 * 1024 * 1024);
    await decide(room.decisionContext(), pending?.[0]?.callId ?? '', 'deny', once);
    expect((await room.call({ name: 'asks' })).result.code).toBe('approval_required');
  });

  it('cannot wait on scratch files', async () => {
    const { room } = await open();
    const answer = await room.call({ name: 'asks', scratch: true });
    expect(answer.result.code).toBe('approval_required');
    expect(answer.pending).toBeUndefined();
    expect(room.room.waits.pendingApprovals()).toEqual([]);
  });
});

describe('a direct call with an idempotency key', () => {
  const keyed = { name: 'bash', idempotencyKey: 'k', bodyHash: 'b' };

  it('runs once, whether it is repeated during the call or later', async () => {
    const { room, ran, hold } = await open();
    hold.on = true;
    const first = room.call(keyed);
    const second = room.call(keyed);
    await room.settle();
    hold.release();
    expect((await first).result).toEqual(textResult('late'));
    expect(await second).toEqual(await first);
    expect(await room.call(keyed)).toEqual(await first);
    expect(ran).toHaveLength(1);
    await expect(room.call({ ...keyed, bodyHash: 'other' })).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('returns an unknown outcome after a crash, and is not run again', async () => {
    const { room, ran, hold } = await open();
    hold.on = true;
    void room.call(keyed).catch(() => undefined);
    await room.settle();
    room.die();
    room.underWay.clear();
    const [one, two] = [await room.call(keyed), await room.call(keyed)];
    expect(one.result.code).toBe('outcome_unknown');
    expect(two).toEqual(one);
    expect(ran).toHaveLength(1);
  });

  it('runs under the same key once it was approved', async () => {
    const { room, ran } = await open();
    const asks = { ...keyed, name: 'asks' };
    const { pending } = await room.call(asks);
    await decide(room.decisionContext(), pending?.[0]?.callId ?? '', 'approve', once);
    expect((await room.call(asks)).result).toEqual(textResult('ran'));
    expect((await room.call(asks)).result).toEqual(textResult('ran'));
    expect(ran).toHaveLength(1);
  });

  it('expires after a day', async () => {
    const { room, ran } = await open();
    await room.call(keyed);
    await room.clock.advance(limits.idempotencyTtlMs + 1);
    await room.call(keyed);
    expect(ran).toHaveLength(2);
  });
});
