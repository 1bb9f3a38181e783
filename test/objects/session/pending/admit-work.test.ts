/** What happens to questions and queued turns beyond those that a key or a workspace may have. */
import { describe, expect, it } from 'vitest';
import type { ShareShortage } from '../../../../src/core/limits/fair-share.ts';
import { contentText, textResult, type ToolDefinition } from '../../../../src/core/tools/tool.ts';
import { createAdmitWork } from '../../../../src/objects/session/object/admit-work.ts';
import { toolOf } from '../../../fakes/known-tools.ts';
import { keptLog } from '../../../fakes/runtime.ts';
import { calls, ends, finish, makeRoom, reply, type RoomOptions, types } from '../runner-session.ts';

const shortage: ShareShortage = {
  ...{ limit: 'pendingQuestions', what: 'questions that wait for an answer' },
  ...{ of: 'key', name: 'k1', max: 2_000, used: 1_999 },
};
const clientTools = [{ name: 'mine', description: '', inputSchema: { type: 'object' } }];
const more: ToolDefinition[] = ['risky', 'other'].map((name) => toolOf('local', name, { kind: 'local' }));

type Asked = { of: string; more: number };

/** `outcomes`: what the Catalog replies, in order; then it admits everything. */
async function room(made: readonly [name: string, args: Record<string, unknown>][], outcomes: ShareShortage[], own: RoomOptions = {}) {
  const asked: Asked[] = [];
  const self = await makeRoom([calls(...made), () => reply({ type: 'text', text: 'done' }, finish)], {
    ...own,
    admitWork: async (of, count) => {
      asked.push({ of, more: count });
      return outcomes.shift() ?? null;
    },
  });
  return Object.assign(self, { questions: asked });
}

const resultsOf = (self: Awaited<ReturnType<typeof room>>) =>
  self.events().flatMap((event) => (event.type === 'tool-result' ? [[event.callId, event.code, contentText(event.content)]] : []));

describe('a turn', () => {
  it('goes on with a result for each call that it may not ask about, and runs and audits the others', async () => {
    const self = await room(
      [
        ['read', {}],
        ['asks', { n: 1 }],
        ['asks', { n: 2 }],
      ],
      [shortage],
    );
    self.accept('t1');
    await self.settle();
    expect(self.questions).toEqual([{ of: 'pendingQuestions', more: 2 }]);
    const text =
      'Not run: it would wait for approval. This key (k1) has too many questions that wait for an answer: 1999 of at most 2000. Wait until some have ended.';
    expect(resultsOf(self)).toEqual([
      ['call_1', undefined, 'ran'],
      ['call_2', 'limit_reached', text],
      ['call_3', 'limit_reached', text],
    ]);
    expect(types(self.events())).not.toContain('approval-required');
    expect(self.room.waits.pendingApprovals()).toEqual([]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.sent.map(({ callId, verdict, code }) => [callId, verdict, code])).toEqual([
      ['call_1', 'ran', null],
      ['call_2', 'refused', 'limit_reached'],
      ['call_3', 'refused', 'limit_reached'],
    ]);
  });

  it('still asks its client for the results of client tools, which are not questions for a person', async () => {
    const self = await room(
      [
        ['mine', {}],
        ['asks', {}],
      ],
      [shortage],
      { clientTools },
    );
    self.accept('t1');
    await self.settle();
    expect(self.questions).toEqual([{ of: 'pendingQuestions', more: 1 }]);
    expect(types(self.events())).toContain('client-tool-required');
    expect(resultsOf(self).map(([callId, code]) => [callId, code])).toEqual([['call_2', 'limit_reached']]);
    const only = await room([['mine', {}]], [shortage], { clientTools });
    only.accept('t1');
    await only.settle();
    expect(only.questions).toEqual([]);
    expect(only.room.turns.isWaiting()).toBe(true);
  });

  it('counts each nested call that waits once, and ends the outer call with a result when it may not ask', async () => {
    const execute: RoomOptions['execute'] = async (_args, { calls: beneath }, canonical) => {
      if (canonical !== 'builtin.bash') return textResult('done');
      const answers = await Promise.all(['risky', 'other'].map((name) => beneath?.call(name, {})));
      return answers.some((answer) => answer?.waits) ? { ...textResult(''), suspended: true } : textResult('both');
    };
    const own = { more, asks: ['local.risky', 'local.other'], safe: ['builtin.bash'], execute };
    const self = await room([['bash', {}]], [shortage], own);
    self.accept('t1');
    await self.settle();
    expect(self.questions).toEqual([{ of: 'pendingQuestions', more: 2 }]);
    expect(resultsOf(self)).toMatchObject([['call_1', 'limit_reached', expect.stringContaining('may have had part of its effect')]]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.sql.exec('SELECT * FROM journal_roots').toArray()).toEqual([]);
  });

  it('sends with each update how many questions wait in its session', async () => {
    const self = await room([['asks', {}]], []);
    self.accept('t1');
    await self.settle();
    expect(self.updates.at(-1)?.open).toEqual({ pendingQuestions: 1, queuedTurns: 0 });
    self.room.runner.cancel();
    await self.settle();
    expect(self.updates.at(-1)?.open).toEqual({ pendingQuestions: 0, queuedTurns: 0 });
  });
});

describe('a direct call', () => {
  it('is refused with the limit when it may not ask, and stores nothing', async () => {
    const self = await room([], [shortage]);
    await expect(self.call({ name: 'asks', arguments: {} })).rejects.toMatchObject({
      code: 'rate_limited',
      extra: { limit: 'pendingQuestions', of: 'key', name: 'k1', max: 2_000, used: 1_999 },
    });
    expect(self.room.waits.pendingApprovals()).toEqual([]);
    const asked = await self.call({ name: 'asks', arguments: {} });
    // Sent again it adds none, so it is not refused.
    expect((await self.call({ name: 'asks', arguments: {} })).pending).toEqual(asked.pending);
    expect(self.questions).toHaveLength(2);
  });
});

describe('a session that cannot ask the Catalog', () => {
  it('may have more, within its own bounds, and says so in the log', async () => {
    const kept = keptLog();
    const catalog = { admitOpenWork: async () => await Promise.reject(new Error('the catalog is away')) };
    const summary = { openWork: () => ({ pendingQuestions: 3, queuedTurns: 0 }) };
    const admit = createAdmitWork({ session: 's', keyId: 'k1', summary, catalog, log: kept });
    expect(await admit('pendingQuestions', 1, undefined)).toBeNull();
    expect(kept.lines).toMatchObject([{ level: 'error', fields: { of: 'pendingQuestions', session: 's' } }]);
  });
});
