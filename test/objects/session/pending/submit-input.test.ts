import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { GivenInput, InputRequest } from '../../../../src/core/tools/mcp-input.ts';
import { errorResult, textResult } from '../../../../src/core/tools/tool.ts';
import { inputNote } from '../../../../src/dialects/answer.ts';
import type { ToolOutcome } from '../../../../src/ports/tool-executor.ts';
import { submitInput } from '../../../../src/objects/session/pending/submit-input.ts';
import { isServiceNote } from '../../../../src/objects/session/log/shown-to-client.ts';
import { acceptResults } from '../../../../src/objects/session/turn/accept-results.ts';
import { readAnswer } from '../../../../src/objects/session/log/turn-reader.ts';
import { calls, ends, finish, makeRoom, reply, types, type Model } from '../runner-session.ts';
import { maxProgressEvents } from '../../../../src/core/tools/call-report.ts';

const which: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Server "crm" asks: Which one?',
    requestedSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
};
const asks = (state = 'opaque'): ToolOutcome => ({ ...errorResult('tool_error', 'it asks'), input: { requests: { which }, state } });
const answer = (id: string) => ({ which: { action: 'accept' as const, content: { id } } });
const last: Model = () => reply({ type: 'text', text: 'done' }, finish);

type Heard = { key: string; given: GivenInput | null };

/** A turn whose tool asks `rounds` times and then returns. */
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
  const give = (input: Parameters<typeof submitInput>[1]['input'], round?: number, callId = asked()[0]?.callId ?? '') =>
    submitInput(room.room, { callId, input, ...(round !== undefined && { round }) }, 'k1', room.clock.now());
  return { room, heard, asked, give, callId: asked()[0]?.callId ?? '' };
}

describe('a turn whose tool asks a person', () => {
  it('waits, sets only the alarm of its expiry, and shows the question without the request state', async () => {
    const { room, asked, callId } = await waiting();
    expect(room.room.runner.active).toBe(false);
    expect(room.alarm.at).toBe(room.clock.now() + limits.approvalTtlMs);
    expect(room.room.turns.current()).toMatchObject({ state: 'waiting', reason: 'approval_required' });
    expect(asked()).toEqual([expect.objectContaining({ canonical: 'builtin.bash', server: 'builtin', round: 1, requests: { which } })]);
    expect(JSON.stringify(room.events())).not.toContain('opaque');
    const shown = await readAnswer({ ...room.room, clock: room.clock, isDeleted: () => false }, 't1');
    expect(shown).toMatchObject({ status: 'waiting', reason: 'approval_required', toolCalls: [] });
    expect(shown.pending).toEqual([
      {
        ...{ callId, kind: 'input', canonical: 'builtin.bash', arguments: { command: 'x' } },
        ...{ reason: 'Server "crm" asks: Which one?', requests: { which }, round: 1 },
      },
    ]);
  });

  it('repeats the call with the answer, under the same key, in any process', async () => {
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

  it('resumes from the answer after a crash between the answer and the call', async () => {
    const { room, heard, give } = await waiting();
    await give(answer('7'));
    // Before the new run has reached the call.
    await room.restart();
    await room.restart();
    expect(heard.filter(({ given }) => given !== null)).toEqual([
      { key: heard[0]?.key, given: { responses: answer('7'), state: 'opaque 1' } },
    ]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('deletes the answers once the call has its result, and writes none of them to the log', async () => {
    const { room, give, callId } = await waiting({ long: 'x'.repeat(900_000) });
    await give(answer('7-secret'));
    await room.settle();
    expect(room.room.waits.questionOf(callId)).toBeNull();
    expect(room.room.waits.given(callId)).toBeNull();
    expect(JSON.stringify(room.events())).not.toContain('7-secret');
    expect(room.events().filter(({ type }) => type === 'input-given')).toMatchObject([
      { actions: { which: 'accept' }, by: 'k1', round: 1 },
    ]);
    expect(room.room.waits.nextExpiry()).toBeNull();
  });

  it('can be asked again, each time with the previous answer, up to a limit', async () => {
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

  it('passes a refusal to its server as an answer', async () => {
    const { room, heard, give } = await waiting();
    await give({ which: { action: 'decline' } });
    await room.settle();
    expect(heard[1]?.given?.responses).toEqual({ which: { action: 'decline' } });
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('declines when the question expires, also after a crash', async () => {
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

  it('stops waiting when cancelled, and says that the call may have had part of its effect', async () => {
    const { room, give } = await waiting();
    room.room.runner.cancel();
    await room.settle();
    expect(ends(room.events())).toEqual(['t1 cancelled cancelled']);
    expect(JSON.stringify(room.events().find(({ type }) => type === 'tool-result'))).toContain('part of its effect');
    await expect(give(answer('7'))).rejects.toMatchObject({ code: 'not_found' });
    expect(room.room.waits.nextExpiry()).toBeNull();
  });

  it("gets the results of the step's other calls while it waits", async () => {
    const { room, heard, give } = await waiting({ made: calls(['bash', { command: 'x' }], ['read', {}]) });
    expect(types(room.events()).filter((type) => type === 'tool-result')).toHaveLength(1);
    await give(answer('7'));
    await room.settle();
    expect(heard).toHaveLength(2);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });
});

describe('an answer', () => {
  it('is refused when it does not match the form, with every error at its path, and the turn still waits', async () => {
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

  it('is idempotent; a different answer is a conflict', async () => {
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

  it('to one question is not used for the next one when it is repeated', async () => {
    const { room, heard, give } = await waiting({ rounds: 2 });
    await give(answer('7'), 1);
    await room.settle();
    expect(await give(answer('7'), 1)).toMatchObject({ status: 'waiting', pending: [{ round: 2 }] });
    expect(heard).toHaveLength(2);
  });

  it('is refused when it is sent as a result', async () => {
    const { room, callId } = await waiting();
    const result = { callId, content: [{ type: 'text' as const, text: 'x' }], isError: false };
    await expect(acceptResults(room.room, [result], 'root')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('input'),
    });
  });
});

it('does not delete an unlisted session while a question to a person is open', async () => {
  const { room } = await waiting();
  room.room.timers.set('expire', room.clock.now());
  await room.ring();
  expect(room.left).toBe(0);
});

it('recognizes the note about a question in a chat history, also after the answer', async () => {
  const { room, give, callId } = await waiting();
  const note = inputNote({ canonical: 'builtin.bash', callId, question: 'Server "crm" asks: Which one?' }, 's');
  expect(note).not.toMatch(/\n/);
  expect(isServiceNote(room.room, 's', note)).toBe(true);
  expect(isServiceNote(room.room, 's', note.replace('Which', 'What'))).toBe(false);
  await give(answer('7'));
  await room.settle();
  expect(isServiceNote(room.room, 's', note)).toBe(true);
});

describe('progress of a call', () => {
  it('becomes a few events until its result', async () => {
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
    expect(told).toHaveLength(maxProgressEvents);
    expect(told.slice(0, 2)).toMatchObject([
      { turn: 't1', step: 1, progress: 0, total: 1_000, message: 'step 0' },
      { progress: 5, message: 'step 5' },
    ]);
    expect(ends(made.events())).toEqual(['t1 completed stop']);
  });
});
