import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import type { GivenInput, InputRequest } from '../../src/core/mcp-input.ts';
import { errorResult, textResult } from '../../src/core/tool.ts';
import { inputNote } from '../../src/dialects/answer.ts';
import type { ToolAnswer } from '../../src/ports/tool-executor.ts';
import { giveInput } from '../../src/session/give-input.ts';
import { isOwnNote } from '../../src/session/shown.ts';
import { takeResults } from '../../src/session/take-results.ts';
import { readAnswer } from '../../src/session/turn-reader.ts';
import { calls, ends, finish, makeRoom, reply, types, type Model } from './runner-room.ts';

const which: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Server "crm" asks: Which one?',
    requestedSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
};
const asks = (state = 'opaque'): ToolAnswer => ({ ...errorResult('tool_error', 'it asks'), input: { requests: { which }, state } });
const answer = (id: string) => ({ which: { action: 'accept' as const, content: { id } } });
const last: Model = () => reply({ type: 'text', text: 'done' }, finish);

type Heard = { key: string; given: GivenInput | null };

/** A turn whose tool asks `rounds` times, and then answers. */
async function waiting({ rounds = 1, made = calls(['bash', { command: 'x' }]), long = '' } = {}) {
  const heard: Heard[] = [];
  const room = await makeRoom([made, last], {
    execute: async (_args, { given, idempotencyKey: key }, canonical) => {
      if (canonical !== 'builtin.bash') return textResult('ran');
      heard.push({ key, given });
      return heard.length <= rounds ? asks(`opaque ${heard.length}${long}`) : textResult('found');
    },
  });
  room.accept('t1');
  await room.settle();
  const asked = () => room.events().flatMap((event) => (event.type === 'input-required' ? [event] : []));
  const give = (input: Parameters<typeof giveInput>[1]['input'], round?: number, callId = asked()[0]?.callId ?? '') =>
    giveInput(room.room, { callId, input, ...(round !== undefined && { round }) }, 'k1', room.clock.now());
  return { room, heard, asked, give, callId: asked()[0]?.callId ?? '' };
}

describe('a turn whose tool asks a person', () => {
  it('waits, holds no alarm but the one of its expiry, and shows what is asked, but not what the server wants back', async () => {
    const { room, asked, callId } = await waiting();
    expect(room.room.runner.active).toBe(false);
    expect(room.alarm.at).toBe(room.clock.now() + limits.approvalTtlMs);
    expect(room.room.turns.current()).toMatchObject({ state: 'waiting', reason: 'approval_required' });
    expect(asked()).toEqual([expect.objectContaining({ canonical: 'builtin.bash', server: 'builtin', round: 1, requests: { which } })]);
    expect(JSON.stringify(room.events())).not.toContain('opaque');
    const shown = await readAnswer({ ...room.room, clock: room.clock, gone: () => false }, 't1');
    expect(shown).toMatchObject({ status: 'waiting', reason: 'approval_required', toolCalls: [] });
    expect(shown.pending).toEqual([
      {
        ...{ callId, kind: 'input', canonical: 'builtin.bash', arguments: { command: 'x' } },
        ...{ reason: 'Server "crm" asks: Which one?', requests: { which }, round: 1 },
      },
    ]);
  });

  it('makes the call again with the answer, under the same key, in whatever process', async () => {
    const { room, heard, give, callId } = await waiting();
    for (let death = 0; death < 3; death += 1) await room.restart();
    expect(heard).toHaveLength(1);
    expect(await give(answer('7'))).toMatchObject({ turn: 't1', status: 'running', pending: [] });
    await room.settle();
    expect(heard).toEqual([
      { key: callId, given: null },
      { key: callId, given: { responses: answer('7'), state: 'opaque 1' } },
    ]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
    expect(room.events().filter(({ type }) => type === 'tool-result')).toMatchObject([{ isError: false, content: [{ text: 'found' }] }]);
    await Promise.all(room.work);
    expect(room.sent.map(({ canonical, verdict }) => `${canonical} ${verdict}`)).toEqual(['builtin.bash ran']);
  });

  it('that dies between the answer and the call goes on from the answer', async () => {
    const { room, heard, give } = await waiting();
    await give(answer('7'));
    // Before the new run has come to the call.
    await room.restart();
    await room.restart();
    expect(heard.filter(({ given }) => given !== null)).toEqual([
      { key: heard[0]?.key, given: { responses: answer('7'), state: 'opaque 1' } },
    ]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('keeps nothing of it once the call has its result, and nothing that was written in the log', async () => {
    const { room, give, callId } = await waiting({ long: 'x'.repeat(900_000) });
    await give(answer('7-secret'));
    await room.settle();
    expect(room.room.inputs.asked(callId)).toBeNull();
    expect(room.room.inputs.given(callId)).toBeNull();
    expect(JSON.stringify(room.events())).not.toContain('7-secret');
    expect(room.events().filter(({ type }) => type === 'input-given')).toMatchObject([
      { actions: { which: 'accept' }, by: 'k1', round: 1 },
    ]);
    expect(room.room.inputs.nextExpiry()).toBeNull();
  });

  it('may be asked again and again, each time with the answer before, and not without end', async () => {
    const { room, heard, give } = await waiting({ rounds: 100 });
    for (let round = 1; round <= limits.maxInputRounds; round += 1) {
      await give(answer(String(round)), round);
      await room.settle();
    }
    expect(heard.map(({ given }) => given?.state)).toEqual([
      undefined,
      ...Array.from({ length: limits.maxInputRounds }, (_, index) => `opaque ${index + 1}`),
    ]);
    expect(room.events().filter(({ type }) => type === 'tool-result')).toMatchObject([{ isError: true, code: 'limit_reached' }]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('takes a no as an answer, which its server is told', async () => {
    const { room, heard, give } = await waiting();
    await give({ which: { action: 'decline' } });
    await room.settle();
    expect(heard[1]?.given?.responses).toEqual({ which: { action: 'decline' } });
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('declines by itself when nobody answers in time, alarm after death included', async () => {
    const { room, heard, give } = await waiting();
    await room.clock.advance(limits.approvalTtlMs);
    await expect(give(answer('7'))).rejects.toMatchObject({ code: 'not_found' });
    room.die();
    await room.ring();
    await room.settle();
    expect(heard[1]?.given?.responses).toEqual({ which: { action: 'decline' } });
    expect(room.events().filter(({ type }) => type === 'input-given')).toMatchObject([{ by: 'clock' }]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('that is cancelled waits no more, and says that the call may have had part of its effect', async () => {
    const { room, give } = await waiting();
    room.room.runner.cancel();
    await room.settle();
    expect(ends(room.events())).toEqual(['t1 cancelled cancelled']);
    expect(JSON.stringify(room.events().find(({ type }) => type === 'tool-result'))).toContain('part of its effect');
    await expect(give(answer('7'))).rejects.toMatchObject({ code: 'not_found' });
    expect(room.room.inputs.pendingCount()).toBe(0);
  });

  it('has the results of the step’s other calls meanwhile', async () => {
    const { room, heard, give } = await waiting({ made: calls(['bash', { command: 'x' }], ['read', {}]) });
    expect(types(room.events()).filter((type) => type === 'tool-result')).toHaveLength(1);
    await give(answer('7'));
    await room.settle();
    expect(heard).toHaveLength(2);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });
});

describe('an answer', () => {
  it('that does not fit what was asked is refused, with every fault at its path, and the turn still waits', async () => {
    const { room, give } = await waiting();
    const faults = async (input: Parameters<typeof give>[0]): Promise<string[]> => {
      const problem = await give(input).then(
        () => null,
        (error: { extra?: { issues?: { path: string }[] } }) => error,
      );
      return (problem?.extra?.issues ?? []).map(({ path }) => path);
    };
    expect(await faults({})).toEqual(['input.which']);
    expect(await faults({ which: { action: 'accept' } })).toEqual(['input.which.content']);
    expect(await faults({ which: { action: 'accept', content: {} } })).toEqual(['input.which.content.id']);
    expect(await faults({ which: { action: 'accept', content: { id: 7, x: 1 } }, other: { action: 'decline' } })).toEqual(
      expect.arrayContaining(['input.other', 'input.which.content.id', 'input.which.content.x']),
    );
    expect(room.room.turns.stateOf('t1')).toBe('waiting');
  });

  it('that is sent twice is one; another one is a conflict', async () => {
    const { room, heard, give, callId } = await waiting();
    await Promise.all([give(answer('7')), give(answer('7'))]);
    await room.settle();
    expect(await give(answer('7'))).toMatchObject({ status: 'completed', pending: [] });
    await expect(give(answer('8'))).rejects.toMatchObject({ code: 'conflict' });
    expect(heard).toHaveLength(2);
    expect(types(room.events()).filter((type) => type === 'input-given')).toHaveLength(1);
    await expect(give(answer('7'), 2)).rejects.toMatchObject({ code: 'not_found' });
    await expect(give(answer('7'), 1, `${callId}x`)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('to one question is not taken for the next when it is sent again', async () => {
    const { room, heard, give } = await waiting({ rounds: 2 });
    await give(answer('7'), 1);
    await room.settle();
    expect(await give(answer('7'), 1)).toMatchObject({ status: 'waiting', pending: [{ round: 2 }] });
    expect(heard).toHaveLength(2);
  });

  it('is none when it is sent as a result', async () => {
    const { room, callId } = await waiting();
    const result = { callId, content: [{ type: 'text' as const, text: 'x' }], isError: false };
    await expect(takeResults(room.room, [result])).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('input') });
  });
});

it('a session that nobody listed is not taken away while a person is asked', async () => {
  const { room } = await waiting();
  room.room.timers.set('expire', room.clock.now());
  await room.ring();
  expect(room.left).toBe(0);
});

it('what a chat client was told of a question is known again, also after the answer', async () => {
  const { room, give, callId } = await waiting();
  const note = inputNote({ canonical: 'builtin.bash', callId, question: 'Server "crm" asks: Which one?' }, 's');
  expect(note).not.toMatch(/\n/);
  expect(isOwnNote(room.room, 's', note)).toBe(true);
  expect(isOwnNote(room.room, 's', note.replace('Which', 'What'))).toBe(false);
  await give(answer('7'));
  await room.settle();
  expect(isOwnNote(room.room, 's', note)).toBe(true);
});

describe('progress of a call', () => {
  it('becomes events, a few of them, until its result', async () => {
    const made = await makeRoom([calls(['bash', {}]), last], {
      execute: async (_args, { channel }) => {
        for (let at = 0; at < 1_000; at += 1) {
          channel.progress?.({ progress: at, total: 1_000, message: `step ${at}` });
          await made.clock.advance(50);
        }
        return textResult('ran');
      },
    });
    made.accept('t1');
    for (let waits = 0; waits < 400 && ends(made.events()).length === 0; waits += 1) await made.settle();
    const told = made.events().filter((event) => event.type === 'tool-progress');
    expect(told).toHaveLength(limits.maxProgressEvents);
    expect(told.slice(0, 2)).toMatchObject([
      { turn: 't1', step: 1, progress: 0, total: 1_000, message: 'step 0' },
      { progress: 5, message: 'step 5' },
    ]);
    expect(ends(made.events())).toEqual(['t1 completed stop']);
  });
});
