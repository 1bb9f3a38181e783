import { expect, it } from 'vitest';
import type { SessionEvent, SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { toTurnAnswer } from '../../../../src/objects/session/turn/turn-answer.ts';

it('a restarted step drops its own calls and no earlier ones, even without new events', () => {
  const turn = 't';
  const called = (step: number, callId: string): SessionEventBody => ({
    type: 'tool-input-start',
    turn,
    step,
    callId,
    name: 'bash',
    canonical: 'builtin.bash',
    via: 'own',
  });
  const bodies: SessionEventBody[] = [
    { type: 'step-start', turn, step: 1 },
    called(1, 'kept'),
    { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'a/b' },
    {
      type: 'tool-result',
      turn,
      step: 1,
      callId: 'kept',
      name: 'bash',
      canonical: 'builtin.bash',
      via: 'own',
      isError: false,
      content: [],
    },
    { type: 'step-start', turn, step: 2 },
    called(2, 'dropped'),
    { type: 'step-restart', turn, step: 2, from: 6 },
    { type: 'text-delta', turn, step: 2, text: 'done' },
  ];
  const events = bodies.map((body, index): SessionEvent => ({ ...body, id: index + 1, at: 0 }));
  expect(toTurnAnswer(turn, events)).toMatchObject({ text: 'done', toolCalls: [{ callId: 'kept' }] });
});
