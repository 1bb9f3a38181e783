/** Nested calls, and what may happen to a session while one of them waits or runs. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { InputRequired } from '../../../../src/core/tools/mcp-input.ts';
import type { PolicyRule } from '../../../../src/core/policy/rule.ts';
import { contentText, textResult, type ToolDefinition } from '../../../../src/core/tools/tool.ts';
import type { ToolOutcome, ToolContext } from '../../../../src/ports/tool-executor.ts';
import { decide, decideByLink, mintLink } from '../../../../src/objects/session/pending/decide.ts';
import { submitInput } from '../../../../src/objects/session/pending/submit-input.ts';
import { toolOf } from '../../../fakes/known-tools.ts';
import { calls, ends, finish, makeRoom, reply, type RoomOptions } from '../runner-session.ts';

const more: ToolDefinition[] = ['send', 'risky', 'other'].map((name) => toolOf('local', name, { kind: 'local' }));
const run = calls(['bash', { command: 'x' }]);
const suspended: ToolOutcome = { ...textResult(''), suspended: true };
const once = { by: 'k', remember: false };

/** `bash` makes these calls one after another; `local.risky` and `local.other` require approval. */
async function script(names: readonly string[], { calls: beneath }: ToolContext): Promise<ToolOutcome> {
  const lines: string[] = [];
  for (const name of names) {
    const answer = await beneath?.call(name, {});
    if (answer === undefined || answer.waits) return suspended;
    lines.push(`${name} ${answer.result.code ?? contentText(answer.result.content)}`);
  }
  return textResult(lines.join('\n'));
}

async function room(names: readonly string[], own: RoomOptions = {}) {
  const ran: string[] = [];
  const { execute: answer, ...options } = own;
  const self = await makeRoom([run, () => reply(finish)], {
    more,
    asks: ['local.risky', 'local.other'],
    safe: ['builtin.bash'],
    ...options,
    execute: async (args, context, canonical) => {
      if (canonical === 'builtin.bash') return await script(names, context);
      ran.push(canonical);
      return (await answer?.(args, context, canonical)) ?? textResult('done');
    },
  });
  return Object.assign(self, { ran });
}

type Room = Awaited<ReturnType<typeof room>>;

const result = (self: Room): string =>
  self.events().flatMap((event) => (event.type === 'tool-result' ? [contentText(event.content)] : []))[0] ?? '';
const rows = (self: Room, ...tables: string[]): number =>
  tables.reduce((sum, table) => sum + self.sql.exec(`SELECT * FROM ${table}`).toArray().length, 0);
const kept = (self: Room): number =>
  rows(self, 'journal', 'journal_results', 'journal_roots', "(SELECT * FROM wait_parts WHERE kind <> 'arguments')");

describe('while a nested call waits', () => {
  it('a new rule that denies it applies, whatever the approver decides', async () => {
    const self = await room(['risky', 'send']);
    self.accept('t1');
    await self.settle();
    self.allowed.push({ decision: 'deny', tool: 'local.risky' } as PolicyRule);
    await decide(self.decisionContext(), 'call_1.1', 'approve', once);
    await self.settle();
    expect(result(self)).toBe('risky not_allowed\nsend done');
    expect(self.ran).toEqual(['local.send']);
  });

  it('it is decided by a link, which is then used up', async () => {
    const self = await room(['send', 'risky']);
    self.accept('t1');
    await self.settle();
    const { nonce } = await mintLink(self.decisionContext(), 'call_1.2', 'k1');
    const link = { nonce, origin: { keyId: 'k1', at: 0 } };
    expect(await decideByLink(self.decisionContext(), link, 'approve')).toMatchObject({ callId: 'call_1.2', turn: 't1' });
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.ran).toEqual(['local.send', 'local.risky']);
    await expect(decideByLink(self.decisionContext(), link, 'approve')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('the input for a server that it calls is given once, and then deleted', async () => {
    let rounds = 0;
    const self = await room(['send', 'send'], {
      execute: async (_args, { given }) => {
        if (given !== null) return textResult(JSON.stringify(given));
        rounds += 1;
        const requests: InputRequired['requests'] = {
          name: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } },
        };
        return { ...textResult(''), input: { requests, state: 'secret state' } };
      },
    });
    self.accept('t1');
    await self.settle();
    expect(self.room.waits.nextExpiry()).not.toBeNull();
    await self.restart();
    await submitInput(self.room, { callId: 'call_1.1', input: { name: { action: 'accept', content: {} } } }, 'k', self.clock.now());
    await self.settle();
    await submitInput(self.room, { callId: 'call_1.2', input: { name: { action: 'decline' } } }, 'k', self.clock.now());
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(rounds).toBe(2);
    expect(kept(self)).toBe(0);
  });
});

describe('while a nested call runs', () => {
  it('its turn is cancelled: its result is dropped, and its row is written', async () => {
    const late = Promise.withResolvers<ToolOutcome>();
    const self = await room(['send', 'send'], { execute: () => late.promise });
    self.accept('t1');
    await self.settle();
    self.room.runner.cancel();
    late.resolve(textResult('late'));
    await self.settle();
    expect(self.ran).toEqual(['local.send']);
    expect(kept(self)).toBe(0);
    expect(ends(self.events())).toEqual(['t1 cancelled cancelled']);
    expect(self.events().at(-1)?.type).toBe('turn-end');
    expect(self.sent.map(({ callId, parent }) => [callId, parent])).toEqual([
      ['call_1.1', 'call_1'],
      ['call_1', null],
    ]);
  });
});

describe('a direct call with a nested call that waits', () => {
  it('resumes under its key from where it was, after a crash while it resumed', async () => {
    let dead = true;
    const self = await room(['send', 'risky', 'send'], {
      execute: async (_args, _context, canonical) => {
        if (canonical === 'local.risky' && dead) await new Promise(() => undefined);
        return textResult('done');
      },
    });
    const request = { name: 'bash', arguments: { command: 'x' }, idempotencyKey: 'key', bodyHash: 'h' };
    expect((await self.call(request)).result.code).toBe('approval_required');
    await decide(self.decisionContext(), 'call_1.2', 'approve', once);
    void self.call(request);
    await self.settle();
    dead = false;
    self.die();
    self.underWay.clear();
    const answer = await self.call(request);
    expect(contentText(answer.result.content)).toBe('send done\nrisky outcome_unknown\nsend done');
    expect(self.ran).toEqual(['local.send', 'local.risky', 'local.send']);
    expect(await self.call(request)).toEqual(answer);
    expect(kept(self)).toBe(0);
  });

  it('shares one approval and one response with a concurrent identical call', async () => {
    const self = await room(['send', 'risky']);
    const request = { name: 'bash', arguments: { command: 'x' } };
    const [one, other] = await Promise.all([self.call(request), self.call(request)]);
    expect(one.pending).toHaveLength(1);
    expect(other.pending).toEqual(one.pending);
    await decide(self.decisionContext(), one.pending?.[0]?.callId ?? '', 'approve', once);
    expect(contentText((await self.call(request)).result.content)).toBe('send done\nrisky done');
    expect(self.ran).toEqual(['local.send', 'local.send', 'local.risky']);
    expect(self.room.waits.pendingApprovals()).toEqual([]);
    expect(kept(self)).toBe(0);
  });
});

describe('the journal', () => {
  it('deletes the calls of an interrupted direct call that cannot be sent again', async () => {
    const dies = async () => {
      const self = await room(['send', 'other'], {
        asks: [],
        safe: [],
        execute: (_args, _context, name) => (name === 'local.other' ? new Promise(() => undefined) : Promise.resolve(textResult('x'))),
      });
      return self;
    };
    const without = await dies();
    void without.call({ name: 'bash', arguments: { command: 'x' } });
    await without.settle();
    expect(kept(without)).toBeGreaterThan(0);
    without.die();
    without.room.journals.dropUnrecoverable();
    expect(kept(without)).toBe(0);

    const keyed = await dies();
    const request = { name: 'bash', arguments: { command: 'x' }, idempotencyKey: 'key', bodyHash: 'h' };
    void keyed.call(request);
    await keyed.settle();
    keyed.die();
    keyed.underWay.clear();
    keyed.room.journals.dropUnrecoverable();
    expect(kept(keyed)).toBeGreaterThan(0);
    expect((await keyed.call(request)).result.code).toBe('outcome_unknown');
    expect(kept(keyed)).toBe(0);
  });

  it('stores an error when it is full for a call that the client has run', async () => {
    const { room: session } = await makeRoom([]);
    const journal = session.journals.open(null);
    const call = (n: number) => ({
      ...{ callId: `call_1.${n}`, root: 'call_1', requested: 'x', canonical: 'local.x', via: null, arguments: {}, fingerprint: '' },
    });
    const large = textResult('x'.repeat(limits.maxInnerResultBytes));
    let full = 1;
    while (journal.finish(call(full), large, { durationMs: 0, keep: true }) !== null) full += 1;
    expect(full).toBe(limits.maxJournalBytes / limits.maxInnerResultBytes);
    journal.markWaiting(call(full));
    session.journals.recordClientResult(`call_1.${full}`, large);
    expect(journal.find(`call_1.${full}`)?.result?.code).toBe('limit_reached');
    expect(journal.find('call_1.1')?.result).toEqual(large);
  });
});
