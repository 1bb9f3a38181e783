/**
 * How a conversation is driven to each crash point, and what must hold after the restart (`kill_when` and `after_restart` of the crash
 * matrix). The general invariants are checked after each scenario (`invariants.ts`).
 */
import { expect } from 'vitest';
import type { Failpoint } from '../../src/core/failpoint.ts';
import { diesUnderDelivery } from './deliveries.ts';
import { openCell, poll, terminalMs, type Cell } from './cell.ts';
import { allSucceeded, asksIn, pairsAreWhole, results, saidOnce, toldUnknown, tookBackWhatWasSaid, turnsAreWhole } from './expectations.ts';
import { checkInvariants, verdicts } from './invariants.ts';
import type { Lane } from './lane.ts';
import { crashInMigration } from './migration.ts';
import { parseEvents, type StreamEvent } from '../e2e/service.ts';
import { usagePerReply } from './scripted-model.ts';

export type Scenario = (lane: Lane) => Promise<void>;

/** The usual scenario: a session with tools, the story, then the invariants. */
function story(point: Failpoint, tell: (cell: Cell) => Promise<void>, agent: 'doer' | 'forgetful' | 'thrifty' = 'doer'): Scenario {
  return async (lane) => {
    const cell = await openCell(lane, point, agent);
    await tell(cell);
    await checkInvariants(cell);
  };
}

const done = { text: 'That is all there is to say.' };

export const scenarios: Record<Failpoint, Scenario> = {
  'accept-before-ack': story('accept-before-ack', async (cell) => {
    const death = cell.arm('accept-before-ack');
    const first = cell.say('hello', [done]).catch(() => null);
    await death.strike();
    const acknowledged = await first;
    const turn = await cell.again('hello');
    if (acknowledged !== null) expect(turn).toBe(acknowledged);
    await cell.ended({ alone: false });
    // It may have started before the response was sent.
    expect([1, 2]).toContain(cell.requests('hello').length);
    await saidOnce(cell, done.text);
  }),

  'ack-before-turn': story('ack-before-turn', async (cell) => {
    const death = cell.arm('ack-before-turn');
    await cell.say('hello', [done]);
    await death.strike();
    await cell.ended({ alone: true });
    expect(cell.requests('hello')).toHaveLength(1);
  }),

  'before-model-request': story('before-model-request', async (cell) => {
    const death = cell.arm('before-model-request');
    await cell.say('hello', [done]);
    await death.strike();
    await cell.ended();
    expect(cell.requests('hello')).toHaveLength(1);
  }),

  'model-stream-mid': story('model-stream-mid', async (cell) => {
    const death = cell.arm('model-stream-mid');
    await cell.say('hello', [{ ...done, pause: death.over }]);
    await death.strike();
    if (cell.dies) expect(cell.before.map(({ type }) => type)).toContain('text-delta');
    await cell.ended();
    await saidOnce(cell, done.text);
    expect(cell.requests('hello')).toHaveLength(cell.dies ? 2 : 1);
    if (cell.dies) await tookBackWhatWasSaid(cell);
  }),

  'model-stream-tool-args-mid': story('model-stream-tool-args-mid', async (cell) => {
    const death = cell.arm('model-stream-tool-args-mid');
    await cell.say('hello', [{ calls: [cell.post('a')], pause: death.over }, done]);
    await death.strike();
    await cell.ended();
    expect(cell.effects('a')).toBe(1);
    await saidOnce(cell, done.text);
    expect(cell.requests('hello')).toHaveLength(cell.dies ? 3 : 2);
    if (cell.dies) await tookBackWhatWasSaid(cell);
  }),

  'model-done-before-persist': story('model-done-before-persist', async (cell) => {
    const death = cell.arm('model-done-before-persist');
    await cell.say('hello', [done]);
    await death.strike();
    await cell.ended();
    await saidOnce(cell, done.text);
    expect(cell.requests('hello')).toHaveLength(cell.dies ? 2 : 1);
  }),

  'persisted-before-tools': ranOnce('persisted-before-tools'),

  'tool-marked-before-effect': story('tool-marked-before-effect', async (cell) => {
    const death = cell.arm('tool-marked-before-effect', { held: 2 });
    await cell.say('hello', [{ calls: [cell.get('a'), cell.post('b')] }, done]);
    await death.strike();
    await cell.ended();
    expect([cell.effects('a'), cell.effects('b')]).toEqual(cell.dies ? [1, 0] : [1, 1]);
    if (cell.dies) await toldUnknown(cell);
  }),

  'effect-before-result': story('effect-before-result', async (cell) => {
    const death = cell.arm('effect-before-result', { held: 2 });
    await cell.say('hello', [{ calls: [cell.get('a'), cell.post('b')] }, done]);
    await death.strike();
    await cell.ended();
    expect([cell.effects('a'), cell.effects('b')]).toEqual(cell.dies ? [2, 1] : [1, 1]);
    if (cell.dies) await toldUnknown(cell);
  }),

  'inner-marked-before-effect': beneath('inner-marked-before-effect', { lost: true, effects: [1, 0] }),
  'inner-effect-before-result': beneath('inner-effect-before-result', { lost: true, effects: [1, 1] }),
  'inner-result-before-root': beneath('inner-result-before-root', { lost: false, effects: [1, 1] }),

  'paused-for-inner': story('paused-for-inner', async (cell) => {
    const death = cell.arm('paused-for-inner');
    await cell.say('hello', [{ calls: [cell.steps(cell.post('a'), cell.ask('b'), cell.post('c'))] }, done]);
    await death.strike();
    await cell.reachStatus('waiting');
    await checkInvariants(cell, { waiting: true });
    const asked = await cell.pending();
    expect(asked).toHaveLength(1);
    if (cell.dies) expect(asked).toEqual(asksIn(cell.before));
    expect(['a', 'b', 'c'].map(cell.effects)).toEqual([1, 0, 0]);
    expect((await cell.decide(String(asked[0]), 'approve')).status).toBe(200);
    await cell.ended({ alone: false });
    expect(['a', 'b', 'c'].map(cell.effects), 'what came before the wait ran once').toEqual([1, 1, 1]);
    expect(await seenByCode(cell)).toBe('["done","done","done"]');
  }),

  'result-partial-of-parallel': story('result-partial-of-parallel', async (cell) => {
    // The first of three results passes; the process dies at the second.
    const death = cell.arm('result-partial-of-parallel', { skip: 1 });
    cell.holdEffect('c', death.over);
    await cell.say('hello', [{ calls: [cell.post('a'), cell.post('b'), cell.get('c')] }, done]);
    await cell.hadEffect('c');
    await death.strike();
    if (cell.dies) expect(results(cell.before)).toHaveLength(2);
    await cell.ended();
    expect([cell.effects('a'), cell.effects('b'), cell.effects('c')]).toEqual([1, 1, cell.dies ? 2 : 1]);
    await allSucceeded(cell);
    for (const request of cell.requests('hello')) pairsAreWhole(request);
  }),

  'results-before-next-model': ranOnce('results-before-next-model'),

  'paused-for-confirmation': story('paused-for-confirmation', async (cell) => {
    const death = cell.arm('paused-for-confirmation');
    await cell.say('hello', [{ calls: [cell.ask('a')] }, done]);
    await death.strike();
    await cell.reachStatus('waiting');
    await checkInvariants(cell, { waiting: true });
    const asked = await cell.pending();
    expect(asked).toHaveLength(1);
    if (cell.dies) expect(asked).toEqual(asksIn(cell.before));
    expect([cell.effects('a'), cell.requests('hello').length]).toEqual([0, 1]);
    // It can still be answered, and then completes.
    expect((await cell.decide(String(asked[0]), 'approve')).status).toBe(200);
    await cell.ended({ alone: false });
    expect(cell.effects('a')).toBe(1);
    await allSucceeded(cell);
  }),

  'confirmed-before-effect': story('confirmed-before-effect', async (cell) => {
    await decidedThenDies(cell, 'approve');
    expect([cell.effects('a'), cell.requests('hello').length]).toEqual([1, 2]);
    await allSucceeded(cell);
  }),

  'denied-before-continue': story('denied-before-continue', async (cell) => {
    await decidedThenDies(cell, 'deny');
    expect([cell.effects('a'), cell.requests('hello').length]).toEqual([0, 2]);
    const [denied] = results(await cell.events());
    expect(denied?.data).toMatchObject({ isError: true, code: 'denied' });
    expect(
      cell
        .requests('hello')
        .at(-1)
        ?.messages.filter(({ role }) => role === 'tool'),
    ).toHaveLength(1);
  }),

  'compaction-mid': story(
    'compaction-mid',
    async (cell) => {
      const death = cell.arm('compaction-mid');
      const reached = death.strike();
      let struck = false;
      void reached.then(() => {
        struck = true;
      });
      // Turns with calls and long text, until the conversation is compacted.
      for (let turn = 1; turn <= 8 && !struck; turn += 1) {
        const reply = { text: `Answer ${turn}: ${'and so on '.repeat(60)}` };
        await cell.say(`turn-${turn}`, [{ calls: [cell.get(`a${turn}`)] }, reply], { text: 'A long question. '.repeat(60) });
        await Promise.race([reached, poll(async () => (await cell.status()) === 'completed', Date.now() + terminalMs)]);
      }
      await reached;
      await cell.ended({ alone: false });
      await cell.say('last', [done]);
      await cell.ended({ alone: false });
      for (const { name } of cell.said) for (const request of cell.requests(name)) pairsAreWhole(request);
      turnsAreWhole(cell, 'last');
      expect(
        (await cell.events()).map(({ type }) => type),
        'it was compacted in the end',
      ).toContain('compaction');
    },
    'forgetful',
  ),

  'final-before-event': story('final-before-event', async (cell) => {
    const death = cell.arm('final-before-event');
    await cell.say('hello', [done]);
    await death.strike();
    await cell.ended();
    await saidOnce(cell, done.text);
    expect(cell.requests('hello')).toHaveLength(1);
    // A client that reconnects with the last event number that it had receives the end, once.
    const last = cell.before.at(-1)?.id ?? 0;
    const rest = await cell.lane.events(cell.session, last);
    expect(rest.filter(({ type }) => type === 'turn-end')).toHaveLength(1);
  }),

  'cancel-mid': story('cancel-mid', async (cell) => {
    const death = cell.arm('cancel-mid');
    cell.holdEffect('a', death.over);
    await cell.say('hello', [{ calls: [cell.post('a')] }, done]);
    await cell.hadEffect('a');
    const cancelled = cell.call('POST', '/cancel').catch(() => null);
    await death.strike();
    await cancelled;
    await cell.ended({ alone: false });
    expect(await cell.status()).toBe('cancelled');
    const events = await cell.events();
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', data: { status: 'cancelled' } });
    if (cell.dies) expect(events, 'no later event').toEqual(cell.before);
    expect(cell.requests('hello')).toHaveLength(1);
    // Late work of the cancelled turn must not appear after the next turn.
    await cell.say('next', [done]);
    await cell.ended({ alone: false });
    expect(cell.effects('a')).toBe(1);
  }),

  'alarm-mid': story('alarm-mid', async (cell) => {
    const death = cell.arm('alarm-mid');
    cell.holdEffect('a', death.over);
    cell.holdEffect('b', death.over);
    await cell.say('hello', [{ calls: [cell.get('a'), cell.post('b')] }, done]);
    await cell.hadEffect('b');
    await death.strike();
    await cell.ended();
    expect(cell.effects('a')).toBe(cell.dies ? 2 : 1);
    expect(cell.effects('b')).toBe(1);
    expect(cell.requests('hello')).toHaveLength(2);
  }),

  'schema-migration-mid': crashInMigration,

  'second-message-queued': story('second-message-queued', async (cell) => {
    const death = cell.arm('second-message-queued');
    cell.holdEffect('a', death.over);
    await cell.say('first', [{ calls: [cell.get('a')] }, done]);
    await cell.hadEffect('a');
    const second = cell.say('second', [done]).catch(() => null);
    await death.strike();
    // The client whose 202 was lost repeats the request: with its key it is the same turn.
    if ((await second) === null) await cell.again('second');
    await cell.ended({ turns: 2 });
    expect(cell.requests('second')).toHaveLength(1);
    expect(cell.effects('a')).toBe(cell.dies ? 2 : 1);
  }),

  'delete-session-mid': async (lane) => {
    const cell = await openCell(lane, 'delete-session-mid');
    const death = cell.arm('delete-session-mid');
    cell.holdEffect('a', death.over);
    await cell.say('hello', [{ calls: [cell.get('a')] }, done]);
    await cell.hadEffect('a');
    const deleted = cell.call('DELETE', '').catch(() => null);
    await death.strike({ read: false });
    await deleted;
    await poll(async () => (await cell.call('GET', '')).status === 404, Date.now() + terminalMs);
    const effects = cell.effects('a');
    // A leftover alarm would fire within this time.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect([cell.effects('a'), cell.requests('hello').length]).toEqual([effects, 1]);
    expect(effects).toBe(1);
    const { json } = await lane.call('GET', '/v1/sessions');
    expect(json.items.map(({ id }: { id: string }) => id)).not.toContain(cell.session);
    expect((await cell.call('GET', '/events')).status).toBe(404);
    expect((await cell.call('POST', '/turns', { input: 'Are you there?' })).status).toBe(404);
  },

  'webhook-before-200': diesUnderDelivery('webhook-before-200', 'catalog'),
  'delivery-stored-before-dispatch': diesUnderDelivery('delivery-stored-before-dispatch', 'catalog'),
  'delivery-taken-before-noted': diesUnderDelivery('delivery-taken-before-noted', 'catalog'),
  'turn-ended-before-noted': diesUnderDelivery('turn-ended-before-noted', 'session'),
  'usage-noted-before-sent': countsOnce('usage-noted-before-sent'),
  'usage-sent-before-noted': countsOnce('usage-sent-before-noted'),

  // The case runs again, since it had not ended: it is counted once, the lost attempt is named, and no tool is called.
  'replay-case-before-stored': story('replay-case-before-stored', async (cell) => {
    const calls = [cell.get('a'), cell.post('b')];
    await cell.say('hello', [{ calls }, done]);
    await cell.ended();
    const { promise: pause, resolve: go } = Promise.withResolvers<void>();
    cell.lane.model.script(`${cell.tag}.hello`, [{ calls, pause }, done]);
    const { json } = await cell.lane.call('POST', '/v1/replays', { cases: [{ session: cell.session }] });
    const death = cell.arm('replay-case-before-stored', { object: json.id });
    go();
    await death.strike({ read: false });
    const path = `/v1/replays/${json.id}`;
    await poll(async () => (await cell.lane.call('GET', path)).json.status !== 'running', Date.now() + terminalMs);
    const replay = (await cell.lane.call('GET', path)).json;
    const cases = { total: 1, same: 1 };
    const uncounted = cell.dies ? 1 : 0;
    expect(replay).toMatchObject({ status: 'completed', uncounted, cases, recorded: { calls: 2 }, replayed: { calls: 2 } });
    const { items } = (await cell.lane.call('GET', `${path}/cases`)).json;
    expect(items[0].reason).toBe(cell.dies ? 'An attempt did not end: what it used is not counted.' : null);
    const { text } = await cell.lane.call('GET', `${path}/events`);
    expect(parseEvents(text).map(({ type }) => type)).toEqual(['replay-case', 'replay-end']);
    expect([cell.effects('a'), cell.effects('b')]).toEqual([1, 1]);
  }),
};

/** Dies around the report of a turn's usage. What is counted then is what the model reported, once, and it stays so. */
function countsOnce(point: Failpoint): Scenario {
  return story(point, async (cell) => {
    const death = cell.arm(point);
    await cell.say('hello', [{ calls: [cell.get('a')] }, done]);
    await death.strike();
    await cell.ended({ alone: false });
    const counted = async (): Promise<boolean> => {
      const { json } = await cell.lane.call('GET', `/v1/requests?session=${cell.session}`);
      const [turn] = json.items;
      if (turn === undefined) return false;
      expect(json.items).toHaveLength(1);
      const replies = cell.requests('hello').length;
      const usage = { inputTokens: replies * usagePerReply.prompt_tokens, outputTokens: replies * usagePerReply.completion_tokens };
      expect(turn).toMatchObject({ kind: 'turn', status: 'completed', modelCalls: replies, toolCalls: 1, usage });
      return true;
    };
    await poll(counted, Date.now() + terminalMs);
    // The retries of the alarm send nothing again.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await counted()).toBe(true);
    // The daily sums and the log agree: a turn of any cell is counted once in both.
    await poll(async () => {
      const { json: log } = await cell.lane.call('GET', '/v1/requests?limit=200');
      const { json: usage } = await cell.lane.call('GET', '/v1/usage');
      const calls = log.items.reduce((sum: number, { modelCalls }: { modelCalls: number }) => sum + modelCalls, 0);
      return log.nextCursor === null && calls === usage.totals.calls;
    }, Date.now() + terminalMs);
  });
}

/** Points that a delivery's turn passes like any other; work in progress for an outside caller ends there too. */
export const underDelivery: Partial<Record<Failpoint, Scenario>> = {
  'ack-before-turn': diesUnderDelivery('ack-before-turn', 'session'),
  'results-before-next-model': diesUnderDelivery('results-before-next-model', 'session'),
};

/** Points that a turn passes which has used its limit of cost, and asks whether it may use it again. */
export const overBudget: Partial<Record<Failpoint, Scenario>> = {
  'paused-for-confirmation': story(
    'paused-for-confirmation',
    async (cell) => {
      const death = cell.arm('paused-for-confirmation');
      await cell.say('hello', [{ calls: [cell.post('a')] }, done]);
      await death.strike();
      await cell.reachStatus('waiting');
      await checkInvariants(cell, { waiting: true });
      const asked = await cell.pending();
      expect(asked).toHaveLength(1);
      if (cell.dies) expect(asked).toEqual(asksIn(cell.before));
      expect([cell.effects('a'), cell.requests('hello').length]).toEqual([1, 1]);
      expect((await cell.decide(String(asked[0]), 'approve')).status).toBe(200);
      await cell.ended({ alone: false });
      await saidOnce(cell, done.text);
      expect([cell.effects('a'), cell.requests('hello').length]).toEqual([1, 2]);
    },
    'thrifty',
  ),

  'before-model-request': story(
    'before-model-request',
    async (cell) => {
      await cell.say('hello', [{ calls: [cell.post('a')] }, { calls: [cell.post('b')] }, done]);
      await cell.reachStatus('waiting');
      const death = cell.arm('before-model-request');
      const [first = ''] = await cell.pending();
      const decided = cell.decide(first, 'approve').catch(() => null);
      await death.strike();
      await decided;
      // The approval was for one more call, also if the process died after it.
      await cell.reachStatus('waiting');
      const asked = await cell.pending();
      expect(asked).toHaveLength(2);
      expect((await cell.decide(first, 'approve')).status, 'a repeated decision approves nothing more').toBe(200);
      expect((await cell.decide(asked[1] ?? '', 'deny')).status).toBe(200);
      await cell.ended({ alone: false });
      expect((await cell.events()).at(-1)).toMatchObject({ type: 'turn-end', data: { status: 'completed', reason: 'max_cost' } });
      expect([cell.effects('a'), cell.effects('b'), cell.requests('hello').length]).toEqual([1, 1, 2]);
    },
    'thrifty',
  ),
};

/** The process dies after a payment, while an earlier call of the same step still runs. */
export const besideSlowCall: Partial<Record<Failpoint, Scenario>> = {
  'result-partial-of-parallel': story('result-partial-of-parallel', async (cell) => {
    const death = cell.arm('result-partial-of-parallel');
    cell.holdEffect('slow', death.over);
    await cell.say('hello', [{ calls: [cell.get('slow'), cell.post('pay')] }, done]);
    await cell.hadEffect('slow');
    await death.strike();
    const isStored = ({ data }: StreamEvent): boolean => data.isError === false;
    if (cell.dies) expect(results(cell.before).map(isStored), 'the known result is stored').toEqual([true]);
    await cell.ended();
    expect([cell.effects('slow'), cell.effects('pay')]).toEqual([cell.dies ? 2 : 1, 1]);
    await allSucceeded(cell);
    for (const request of cell.requests('hello')) pairsAreWhole(request);
    await poll(async () => (await verdicts(cell)).length >= 2, Date.now() + terminalMs);
  }),
};

/** Dies in the second of two calls of a made tool, which gets the result of the first again. `lost`: the outcome of the second is unknown. */
function beneath(point: Failpoint, { lost, effects }: { lost: boolean; effects: number[] }): Scenario {
  return story(point, async (cell) => {
    const death = cell.arm(point, { skip: 1 });
    await cell.say('hello', [{ calls: [cell.steps(cell.post('a'), cell.post('b'))] }, done]);
    await death.strike();
    await cell.ended();
    expect(['a', 'b'].map(cell.effects)).toEqual(cell.dies ? effects : [1, 1]);
    expect(await seenByCode(cell)).toBe(cell.dies && lost ? '["done","outcome_unknown"]' : '["done","done"]');
    expect(cell.requests('hello')).toHaveLength(2);
  });
}

/** What the made tool returned: its view of each of its calls. */
async function seenByCode(cell: Cell): Promise<string | undefined> {
  const [result] = results(await cell.events());
  const [block] = (result?.data.content ?? []) as { text: string }[];
  return block?.text;
}

/** Dies before any tool ran, or after all did: each runs once, and the model is called twice in total. */
function ranOnce(point: Failpoint): Scenario {
  return story(point, async (cell) => {
    const death = cell.arm(point);
    await cell.say('hello', [{ calls: [cell.get('a'), cell.post('b')] }, done]);
    await death.strike();
    await cell.ended();
    expect([cell.effects('a'), cell.effects('b')]).toEqual([1, 1]);
    expect(cell.requests('hello')).toHaveLength(2);
    await allSucceeded(cell);
  });
}

async function decidedThenDies(cell: Cell, decision: 'approve' | 'deny'): Promise<void> {
  const death = cell.arm(decision === 'approve' ? 'confirmed-before-effect' : 'denied-before-continue');
  await cell.say('hello', [{ calls: [cell.ask('a')] }, done]);
  await cell.reachStatus('waiting');
  const [callId = ''] = await cell.pending();
  const decided = cell.decide(callId, decision).catch(() => null);
  await death.strike();
  await decided;
  await cell.ended();
}
