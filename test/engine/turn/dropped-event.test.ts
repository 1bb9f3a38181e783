/** A turn tells what its model is not sent: an event of the first step, from which the request log has it. */
import { expect, it } from 'vitest';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';
import { foldTurnUse } from '../../../src/core/turn/turn-usage.ts';
import type { TurnDeps } from '../../../src/engine/turn/run-turn.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { runBareTurn } from '../bare-turn.ts';
import { say } from '../one-turn.ts';

const plan: Plan = {
  ...{ model: 'rehearsal/default', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {} },
  settings: { topK: 5 },
  dropped: { items: [{ name: 'store', reason: 'only there' }], names: { topK: 'top_k' } },
};

async function eventsOf(given: Plan): Promise<SessionEventBody[]> {
  const events: SessionEventBody[] = [];
  const deps = {
    ...{ clock: fakeClock(), ids: countedIds(), log: keptLog(), directory: createNodeCatalog({ definitions: [] }).directory },
    model: {
      async *stream(request: ChatRequest) {
        if (request.settings.topK !== undefined) request.dropped?.setting('topK', 'not accepted');
        yield say('Hello');
      },
    },
    executor: { isSafe: () => true, execute: async () => Promise.reject(new Error('no tools here')) },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => '',
  } as unknown as TurnDeps;
  const input = [{ type: 'text' as const, text: 'Hi.' }];
  await runBareTurn(deps, { turn: 'turn_1', plan: given, names: null, input, events, transcript: createTranscript() });
  return events;
}

it('in the terms of the request, with what its dialect left out', async () => {
  const events = await eventsOf(plan);
  const items = [
    { name: 'store', reason: 'only there' },
    { name: 'top_k', reason: 'not accepted' },
  ];
  const types = events.map(({ type }) => type);
  expect(types.indexOf('dropped')).toBeLessThan(types.indexOf('text-delta'));
  expect(events.filter(({ type }) => type === 'dropped')).toEqual([
    { type: 'dropped', turn: 'turn_1', step: 1, model: 'rehearsal/default', items },
  ]);
  const log = events.map((event, index) => ({ ...event, id: index + 1, at: 1 }));
  expect(foldTurnUse(log, plan.model).dropped).toEqual(items);
});

it('unless everything was sent', async () => {
  const { dropped: _dropped, ...whole } = plan;
  expect((await eventsOf({ ...whole, settings: {} })).map(({ type }) => type)).not.toContain('dropped');
});
