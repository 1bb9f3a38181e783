import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/turn/session-event.ts';
import { contentText, textResult, type ToolDefinition } from '../../../src/core/tools/tool.ts';
import type { ToolOutcome, ToolContext } from '../../../src/ports/tool-executor.ts';
import { expireWaits } from '../../../src/objects/session/object/alarm.ts';
import { decide } from '../../../src/objects/session/pending/decide.ts';
import { toAccepted } from '../../../src/objects/session/pending/pending.ts';
import { acceptResults } from '../../../src/objects/session/turn/accept-results.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { calls, ends, finish, makeRoom, reply, type RoomOptions } from './runner-session.ts';

const more: ToolDefinition[] = ['send', 'risky', 'other'].map((name) => toolOf('local', name, { kind: 'local' }));
const run = calls(['bash', { command: 'x' }]);

/** A script over the session's tools: `bash` makes these calls one after another; `local.risky` and `local.other` require approval. */
type Step = [name: string, args?: Record<string, unknown>];

const suspended: ToolOutcome = { ...textResult(''), suspended: true };

async function script(steps: readonly Step[], { calls: beneath }: ToolContext, together = false): Promise<ToolOutcome> {
  if (beneath === null) throw new Error('no calls');
  const lines: string[] = [];
  if (together) {
    const answers = await Promise.all(
      steps.map(async ([name, args = {}]) => {
        const answer = await beneath.call(name, args);
        if (!answer.waits) lines.push(`${name} ${answer.result.code ?? contentText(answer.result.content)}`);
        return answer;
      }),
    );
    return answers.some(({ waits }) => waits) ? suspended : textResult(lines.join('\n'));
  }
  for (const [name, args = {}] of steps) {
    const answer = await beneath.call(name, args);
    if (answer.waits) return suspended;
    lines.push(`${name} ${answer.result.code ?? contentText(answer.result.content)}`);
  }
  return textResult(lines.join('\n'));
}

async function room(steps: readonly Step[], { together = false, ...own }: RoomOptions & { together?: boolean } = {}) {
  const ran: string[] = [];
  const self = await makeRoom([run, () => reply(finish)], {
    more,
    asks: ['local.risky', 'local.other'],
    safe: ['builtin.bash'],
    execute: async (args, context, canonical) => {
      if (canonical === 'builtin.bash') return await script(steps, context, together);
      ran.push(`${canonical} ${JSON.stringify(args)}`);
      return textResult(`${canonical} done`);
    },
    ...own,
  });
  return Object.assign(self, { ran });
}

const answered = (events: SessionEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'tool-result' ? [contentText(event.content)] : []));
const told = (events: SessionEvent[]): string[] =>
  events.flatMap((event) => ('parent' in event && event.parent !== undefined ? [`${event.type} ${event.callId}`] : []));
const left = (self: { sql: { exec(query: string): { toArray(): unknown[] } } }): number =>
  ['journal', 'journal_results', 'journal_roots'].reduce((sum, table) => sum + self.sql.exec(`SELECT * FROM ${table}`).toArray().length, 0);

describe('a turn with a nested call that waits', () => {
  it('asks for that call under its own name, resumes after the decision, and runs nothing twice', async () => {
    const self = await room([
      ['send', { n: 1 }],
      ['risky', { n: 2 }],
      ['send', { n: 3 }],
    ]);
    self.accept('t1');
    await self.settle();
    expect(self.room.turns.stateOf('t1')).toBe('waiting');
    const [asked] = self.room.waits.pendingApprovals();
    expect(asked).toMatchObject({ callId: 'call_1.2', canonical: 'local.risky', entry: 'risky', turn: 't1' });
    expect(self.room.waits.argumentsOf('call_1.2')).toEqual({ n: 2 });
    expect(toAccepted(self.room, 't1').pending.map(({ callId, kind }) => [callId, kind])).toEqual([['call_1.2', 'approval']]);
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.ran).toEqual(['local.send {"n":1}', 'local.risky {"n":2}', 'local.send {"n":3}']);
    expect(self.events().flatMap((event) => (event.type === 'inner-call' ? [`${event.name} ${event.via}`] : []))).toEqual([
      'send wire',
      'risky wire',
      'send wire',
    ]);
    expect(answered(self.events())).toEqual(['send local.send done\nrisky local.risky done\nsend local.send done']);
    expect(told(self.events())).toEqual([
      'inner-call call_1.1',
      'inner-result call_1.1',
      'approval-required call_1.2',
      'approval-decided call_1.2',
      'inner-call call_1.2',
      'inner-result call_1.2',
      'inner-call call_1.3',
      'inner-result call_1.3',
    ]);
    expect(left(self)).toBe(0);
  });

  it('has one audit row for each call, naming the outer call', async () => {
    const self = await room([
      ['send', { n: 1 }],
      ['risky', { n: 2 }],
    ]);
    self.accept('t1');
    await self.settle();
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    await self.settle();
    expect(self.sent.map(({ callId, parent, canonical, verdict }) => [callId, parent, canonical, verdict])).toEqual([
      ['call_1.1', 'call_1', 'local.send', 'ran'],
      ['call_1.2', 'call_1', 'local.risky', 'approved'],
      ['call_1.2', 'call_1', 'local.risky', 'ran'],
      ['call_1', null, 'builtin.bash', 'ran'],
    ]);
  });

  it.each(['deny', 'expire'] as const)('returns the denial (%s) of that call to the code, which continues', async (how) => {
    const self = await room([['risky'], ['send']]);
    self.accept('t1');
    await self.settle();
    if (how === 'deny') await decide(self.decisionContext(), 'call_1.1', 'deny', { by: 'k', remember: false });
    else {
      await self.clock.advance(8 * 24 * 60 * 60_000);
      await expireWaits(self.decisionContext());
    }
    await self.settle();
    expect(answered(self.events())).toEqual(['risky denied\nsend local.send done']);
    expect(self.ran).toEqual(['local.send {}']);
  });

  it('waits for everything that it asks at once', async () => {
    const self = await room([['risky'], ['send'], ['other']], { together: true });
    self.accept('t1');
    await self.settle();
    expect(self.room.waits.pendingApprovals().map(({ callId }) => callId)).toEqual(['call_1.1', 'call_1.3']);
    await decide(self.decisionContext(), 'call_1.3', 'approve', { by: 'k', remember: false });
    await self.settle();
    expect(self.room.turns.stateOf('t1')).toBe('waiting');
    await decide(self.decisionContext(), 'call_1.1', 'deny', { by: 'k', remember: false });
    await self.settle();
    expect(self.ran).toEqual(['local.send {}', 'local.other {}']);
    expect(answered(self.events())[0]?.split('\n')[0]).toBe('send local.send done');
    expect(answered(self.events())[0]?.split('\n').toSorted()).toEqual(['other local.other done', 'risky denied', 'send local.send done']);
  });

  it('resumes after its process died while it waited', async () => {
    const self = await room([['send'], ['risky']]);
    self.accept('t1');
    await self.settle();
    await self.restart();
    expect(self.room.turns.stateOf('t1')).toBe('waiting');
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    await self.settle();
    expect(self.ran).toEqual(['local.send {}', 'local.risky {}']);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('returns an unknown outcome for a call whose process died in it', async () => {
    let dead = true;
    const ran: string[] = [];
    const self = await room([['read'], ['send'], ['other']], {
      asks: [],
      safe: ['builtin.bash', 'builtin.read'],
      execute: async (_args, context, canonical) => {
        if (canonical === 'builtin.bash') return await script([['read'], ['send'], ['other']], context);
        ran.push(canonical);
        if (canonical === 'local.send' && dead) await new Promise(() => undefined);
        return textResult(canonical);
      },
    });
    self.accept('t1');
    await self.settle();
    dead = false;
    await self.restart();
    expect(ran).toEqual(['builtin.read', 'local.send', 'local.other']);
    expect(answered(self.events())).toEqual(['read builtin.read\nsend outcome_unknown\nother local.other']);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('runs a safe call again whose process died in it', async () => {
    let dead = true;
    const ran: string[] = [];
    const self = await room([], {
      safe: ['builtin.bash', 'builtin.read'],
      execute: async (_args, context, canonical) => {
        if (canonical === 'builtin.bash') return await script([['read']], context);
        ran.push(context.idempotencyKey);
        if (dead) await new Promise(() => undefined);
        return textResult(canonical);
      },
    });
    self.accept('t1');
    await self.settle();
    dead = false;
    await self.restart();
    expect(ran).toEqual(['call_1.1', 'call_1.1']);
    expect(answered(self.events())).toEqual(['read builtin.read']);
  });

  it('stops code that makes other calls than before, and says what it had done', async () => {
    let again = false;
    const self = await room([], {
      execute: async (_args, context, canonical) => {
        if (canonical !== 'builtin.bash') return textResult(canonical);
        return await script(again ? [['send', { n: 2 }]] : [['send', { n: 1 }], ['risky']], context);
      },
    });
    self.accept('t1');
    await self.settle();
    again = true;
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    await self.settle();
    const [result] = self.events().filter((event) => event.type === 'tool-result');
    expect(result).toMatchObject({ code: 'tool_error', isError: true });
    expect(answered(self.events())[0]).toMatch(/made different calls .*: local\.send\./);
    expect(left(self)).toBe(0);
  });

  it('does not use an approval for other arguments than those shown', async () => {
    let again = false;
    const ran: unknown[] = [];
    const self = await room([], {
      execute: async (args, context, canonical) => {
        if (canonical === 'builtin.bash') return await script([['risky', { n: again ? 2 : 1 }]], context);
        ran.push(args);
        return textResult('done');
      },
    });
    self.accept('t1');
    await self.settle();
    again = true;
    await decide(self.decisionContext(), 'call_1.1', 'approve', { by: 'k', remember: false });
    await self.settle();
    expect(ran).toEqual([]);
  });

  it('ends its nested calls when it is cancelled, and deletes their state', async () => {
    const self = await room([['send'], ['risky']]);
    self.accept('t1');
    await self.settle();
    self.room.runner.cancel();
    await self.settle();
    expect(self.room.waits.pendingApprovals()).toEqual([]);
    expect(self.room.waits.get('approval', 'call_1.2')?.state).toBe('expired');
    expect(answered(self.events())[0]).toContain('it may have had part of its effect');
    expect(left(self)).toBe(0);
    expect(toAccepted(self.room, 't1').pending).toEqual([]);
  });

  it('gets the result of a client tool that it calls, and audits that under the outer call', async () => {
    const clientTools = [{ name: 'mine', description: '', inputSchema: { type: 'object' } }];
    const self = await room([['send'], ['mine', { q: 1 }]], { clientTools });
    self.accept('t1');
    await self.settle();
    expect(self.room.turns.get('t1')?.reason).toBe('client_tool_required');
    expect(toAccepted(self.room, 't1').pending).toMatchObject([
      { callId: 'call_1.2', parent: 'call_1', kind: 'client-tool', arguments: { q: 1 } },
    ]);
    await acceptResults(
      self.room,
      [{ callId: 'call_1.2', content: [{ type: 'text', text: 'x'.repeat(100_000) }], isError: false }],
      'root',
    );
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.ran).toEqual(['local.send {}']);
    const [result] = self.events().filter((event) => event.type === 'inner-result' && event.callId === 'call_1.2');
    expect(JSON.stringify(result).length).toBeLessThan(4_000);
    expect(self.sent.map(({ callId, parent, canonical }) => [callId, parent, canonical])).toEqual([
      ['call_1.1', 'call_1', 'local.send'],
      ['call_1.2', 'call_1', 'client.mine'],
      ['call_1', null, 'builtin.bash'],
    ]);
  });
});

describe('a direct call with a nested call that waits', () => {
  it('returns what waits, and resumes when it is sent again', async () => {
    const self = await room([['send'], ['risky'], ['send']]);
    const request = { name: 'bash', arguments: { command: 'x' } };
    const first = await self.call(request);
    expect(first.result.code).toBe('approval_required');
    expect(first.pending).toMatchObject([{ callId: 'call_1.2', parent: 'call_1', kind: 'approval', canonical: 'local.risky' }]);
    const second = await self.call(request);
    expect(second.pending).toEqual(first.pending);
    expect(self.ran).toEqual(['local.send {}']);
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    const third = await self.call(request);
    expect(contentText(third.result.content)).toBe('send local.send done\nrisky local.risky done\nsend local.send done');
    expect(self.ran).toEqual(['local.send {}', 'local.risky {}', 'local.send {}']);
    expect(left(self)).toBe(0);
    // From here on it is another call.
    expect((await self.call(request)).pending).toMatchObject([{ kind: 'approval' }]);
    expect(self.ran).toHaveLength(4);
  });

  it('runs once for two concurrent repeats, and both have its response', async () => {
    const self = await room([['send'], ['risky']]);
    const request = { name: 'bash', arguments: { command: 'x' } };
    await self.call(request);
    await decide(self.decisionContext(), 'call_1.2', 'approve', { by: 'k', remember: false });
    const [one, other] = await Promise.all([self.call(request), self.call(request)]);
    expect(one).toEqual(other);
    expect(self.ran).toEqual(['local.send {}', 'local.risky {}']);
  });

  it('returns the denial to the code, which continues', async () => {
    const self = await room([['risky'], ['send']]);
    const request = { name: 'bash', arguments: { command: 'x' } };
    await self.call(request);
    await decide(self.decisionContext(), 'call_1.1', 'deny', { by: 'k', remember: false });
    expect(contentText((await self.call(request)).result.content)).toBe('risky denied\nsend local.send done');
  });

  it('resumes after its process died, with its key and its journal', async () => {
    let dead = true;
    const ran: string[] = [];
    const self = await room([], {
      safe: ['builtin.bash'],
      execute: async (_args, context, canonical) => {
        if (canonical === 'builtin.bash') return await script([['send'], ['other']], context);
        ran.push(canonical);
        if (canonical === 'local.other' && dead) await new Promise(() => undefined);
        return textResult(canonical);
      },
      asks: [],
    });
    const request = { name: 'bash', arguments: { command: 'x' }, idempotencyKey: 'key', bodyHash: 'h' };
    void self.call(request);
    await self.settle();
    dead = false;
    self.die();
    self.underWay.clear();
    const answer = await self.call(request);
    expect(contentText(answer.result.content)).toBe('send local.send\nother outcome_unknown');
    expect(ran).toEqual(['local.send', 'local.other']);
    expect(await self.call(request)).toEqual(answer);
  });

  it('cannot wait on scratch files: the code gets `approval_required`', async () => {
    const self = await room([['risky'], ['send']]);
    const answer = await self.call({ name: 'bash', arguments: { command: 'x' }, scratch: true });
    expect(contentText(answer.result.content)).toBe('risky approval_required\nsend local.send done');
  });
});
