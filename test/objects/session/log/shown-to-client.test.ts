import { expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/turn/session-event.ts';
import { outputShownAfter } from '../../../../src/objects/session/log/shown-to-client.ts';

const text = (value: string) => ({ type: 'text-delta', text: value });

it('has the paragraphs of each step, without what was said before the step began again', () => {
  const events = [
    { type: 'step-start' },
    text('One.\n\nTw'),
    text('o.'),
    { type: 'step-start' },
    text('A text that failed halfw'),
    { type: 'step-restart' },
    text('The text that the client got.'),
    { type: 'client-tool-required', callId: 'c1' },
  ];
  // The parts of events that are read.
  const log = { readAll: () => events as unknown as SessionEvent[] };
  const said = outputShownAfter({ log } as unknown as Parameters<typeof outputShownAfter>[0], 0);
  expect(said).toEqual({ assistantTexts: ['One.', 'Two.', 'The text that the client got.'], callIds: new Set(['c1']) });
});
