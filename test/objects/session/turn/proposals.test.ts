/** Proposals in a session: events of the log, written with the turn's end and shown in native streams. */
import { describe, expect, it, vi } from 'vitest';
import type { ChatEvent } from '../../../../src/core/model/chat-event.ts';
import type { SessionEvent } from '../../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../../src/core/turn/transcript.ts';
import { createAnswerDocument, createAnswerEncoder } from '../../../../src/dialects/answer.ts';
import { dialectOf } from '../../../../src/dialects/dialects.ts';
import { encodeEvent } from '../../../../src/dialects/native.ts';
import { toTranscript, toTurnAnswer } from '../../../../src/objects/session/turn/turn-answer.ts';
import { waitFor } from '../../../wait-for.ts';
import { toolOf } from '../../../fakes/known-tools.ts';
import { calls, ends, finish, makeRoom, reply, silence, types, type Model } from '../runner-session.ts';

/** The process stops here this many times. */
const stops = vi.hoisted(() => ({ left: 0 }));
vi.mock('../../../../src/core/failpoint.ts', () => ({
  failpoint: (name: string) => (name === 'final-before-event' && stops.left-- > 0 ? new Promise(() => undefined) : undefined),
}));

const shown = ['camera', 'quiz'].map((name) => {
  const ui = { label: name, description: `Opens the ${name}.`, category: 'study', triggers: [`my ${name}`], href: `/${name}` };
  return toolOf('ui', name, { kind: 'ui', description: ui.description, ui });
});
const camera = {
  canonical: 'ui.camera',
  label: 'camera',
  text: 'camera (“my camera”): Opens the camera.',
  relevance: 1,
  category: 'study',
  href: '/camera',
};
const quiz = { ...camera, canonical: 'ui.quiz', label: 'quiz', text: 'quiz: Opens the quiz.', relevance: 0.6, href: '/quiz' };

const says =
  (text: string): Model =>
  () =>
    reply({ type: 'text', text } satisfies ChatEvent, finish);
const proposed = (events: readonly SessionEvent[]) => events.flatMap((event) => (event.type === 'proposal' ? [event.canonical] : []));

async function ended(): Promise<SessionEvent[]> {
  const room = await makeRoom([says('Or a quiz?')], { more: shown });
  room.accept('Where is my camera?');
  // The first turn with tools to propose loads the code for it.
  await waitFor(() => expect(types(room.events())).toContain('turn-end'));
  return room.events();
}

describe('a turn that completes', () => {
  it('proposes before its end, the best first, in all fields', async () => {
    const events = await ended();
    expect(types(events)).toEqual(['turn-start', 'step-start', 'text-delta', 'step-end', 'proposal', 'proposal', 'turn-end']);
    expect(events.filter(({ type }) => type === 'proposal')).toMatchObject([camera, quiz]);
    const text = events.slice(4, 5).map(encodeEvent).join('');
    expect(text).toMatch(/^id: 5\nevent: proposal\ndata: \{/);
    expect(JSON.parse(text.split('data: ')[1] ?? '')).toMatchObject({ type: 'proposal', turn: 'Where is my camera?', ...camera });
  });

  it('has them in its plain response, and no field without any', async () => {
    expect(toTurnAnswer('Where is my camera?', await ended()).proposals).toEqual([camera, quiz]);
    const room = await makeRoom([says('Hello.')], { more: shown });
    room.accept('Hello');
    await room.settle();
    expect(toTurnAnswer('Hello', room.events())).not.toHaveProperty('proposals');
  });

  it('shows none in the chat dialects, and none in the conversation', async () => {
    const events = await ended();
    const without = events.filter(({ type }) => type !== 'proposal').map((event, index) => ({ ...event, id: index + 1 }));
    const range = { turn: 'Where is my camera?', after: 0, earlier: null };
    const identity = { id: 'x', model: 'a/b', created: 0 };
    for (const dialect of (['openai-chat', 'openai-responses', 'anthropic-messages'] as const).map(dialectOf)) {
      const frames = (log: readonly SessionEvent[]) => {
        const { encode } = createAnswerEncoder(range, identity, 's', dialect);
        return log.flatMap(encode).map(({ event, data }) => ({ event, data }));
      };
      expect(frames(events), dialect.name).toEqual(frames(without));
      const document = (log: readonly SessionEvent[]) => {
        const answer = createAnswerDocument(range, identity, 's', dialect);
        for (const event of log) answer.take(event);
        return answer.document();
      };
      expect(document(events), dialect.name).toEqual(document(without));
    }
    const transcript = createTranscript();
    for (const event of events) transcript.apply(event);
    expect(JSON.stringify([transcript.messages(), toTranscript(transcript.turns())])).not.toContain('Opens the');
  });

  it('proposes nothing when the allow-list has none of them', async () => {
    const room = await makeRoom([says('x')], { more: shown });
    room.accept('my camera and my quiz', { allow: ['builtin.read', 'ui.quiz'] });
    await room.settle();
    expect(proposed(room.events())).toEqual(['ui.quiz']);
  });

  it('proposes from the whole turn, including input that came while it waited', async () => {
    const room = await makeRoom([calls(['asks', { command: 'x' }]), says('Done.')], { more: shown });
    room.accept('Go');
    await room.settle();
    const [asked] = room.events().filter(({ type }) => type === 'approval-required');
    if (asked?.type !== 'approval-required') throw new Error('the call asks');
    room.room.runner.applyExternal('Go', () => [
      { type: 'turn-input', turn: 'Go', input: [{ type: 'text', text: 'and my quiz' }] },
      { type: 'approval-decided', turn: 'Go', step: 1, callId: asked.callId, decision: 'approve', by: 'k1' },
    ]);
    await room.settle();
    expect(proposed(room.events())).toEqual(['ui.quiz']);
  });
});

describe('a turn that ends in another way', () => {
  it('proposes nothing when it is cancelled or fails', async () => {
    const room = await makeRoom([silence], { more: shown });
    room.accept('my camera');
    await room.settle();
    room.room.runner.cancel();
    await room.settle();
    const failing = await makeRoom(
      [() => reply({ type: 'error', problem: { code: 'upstream_error', detail: 'It failed.' } as never, retryable: false })],
      {
        more: shown,
      },
    );
    failing.accept('my camera');
    await failing.settle();
    expect([...ends(room.events()), ...ends(failing.events())]).toEqual([
      'my camera cancelled cancelled',
      'my camera failed upstream_error',
    ]);
    expect([proposed(room.events()), proposed(failing.events())]).toEqual([[], []]);
  });
});

describe('a process that dies at the end of a turn', () => {
  it('has proposed once when the turn has ended, however often it died', async () => {
    stops.left = 2;
    const room = await makeRoom([says('Or a quiz?')], { more: shown });
    room.accept('my camera');
    for (let death = 0; death < 2; death += 1) {
      await room.settle();
      expect(types(room.events()).filter((type) => type === 'proposal' || type === 'turn-end')).toEqual([]);
      await room.restart();
    }
    await room.settle();
    expect(proposed(room.events())).toEqual(['ui.camera', 'ui.quiz']);
    expect(types(room.events()).slice(-3)).toEqual(['proposal', 'proposal', 'turn-end']);
    await room.restart();
    expect(proposed(room.events())).toHaveLength(2);
  });

  it('cannot die between a proposal and the end, which are written without an await between them', async () => {
    const room = await makeRoom([says('Or a quiz?')], { more: shown });
    let waits = 0;
    const seen: [string, number][] = [];
    const { log } = room.room;
    const append = log.appendOfRun.bind(log);
    vi.spyOn(log, 'appendOfRun').mockImplementation((events, run) => {
      seen.push(...events.map(({ type }): [string, number] => [type, waits]));
      void Promise.resolve().then(() => (waits += 1));
      return append(events, run);
    });
    room.accept('my camera');
    await room.settle();
    const last = seen.slice(-3);
    expect(last.map(([type]) => type)).toEqual(['proposal', 'proposal', 'turn-end']);
    expect(new Set(last.map(([, at]) => at)).size).toBe(1);
    expect(seen.at(-4)?.[1]).not.toBe(last[0]?.[1]);
  });
});
