/** A turn whose tool results exceed the model's context, and what its model is sent from the first step to the last. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { Message } from '../../src/core/model/message.ts';
import { contentText, textResult } from '../../src/core/tools/tool.ts';
import { messageCharacters } from '../../src/core/turn/transcript.ts';
import { createResultStore } from '../../src/objects/session/log/result-store.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { fakeSql } from '../fakes/sql-storage.ts';
import { toolBench } from '../tools/run-tool.ts';
import { callEvents, finish, results, resultText, run, say } from './one-turn.ts';

const maxContextTokens = 50_000;
const read = (path: string): ChatEvent[] => [...callEvents(0, 'read_file', { path }), finish('tool-calls')];
const reads = Array.from({ length: 12 }, (_, index) => read(`file-${index}`));
/** 60 kB (`huge`: 200) in lines of 40 characters, each with its position. */
const textOf = (path: string): string =>
  Array.from({ length: path === 'huge' ? 5_000 : 1_500 }, (_, line) => `${path} line ${line} `.padEnd(39, '.')).join('\n');
const tokensOf = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + messageCharacters(message), 0) / 4;
const resultsIn = (messages: readonly Message[] = []) => messages.flatMap((message) => (message.role === 'tool' ? message.parts : []));

async function longTurn(script: readonly ChatEvent[][], before: Parameters<typeof run>[3] = []) {
  const kept = createResultStore(fakeSql(sessionMigrations));
  const keeps: string[] = [];
  const counting = {
    ...kept,
    store: (...[callId, content]: Parameters<typeof kept.store>) => {
      keeps.push(callId);
      kept.store(callId, content);
    },
  };
  const bench = toolBench({ results: kept });
  const turn = await run(
    script,
    async (args, _context, canonical) =>
      canonical === 'builtin.fetch_result' ? await bench.run(canonical, args) : textResult(textOf(String(args.path))),
    { limits: { maxContextTokens } },
    before,
    counting,
  );
  return { ...turn, keeps };
}

describe('a turn of twelve steps with results of 60 kB under a budget of 50,000 tokens', () => {
  it('fits the budget at every step, with the last result in full, and can fetch an old one', async () => {
    // The note of the first result once it is shortened; ids are counted.
    const place = { callId: 'call_1', offset: 1_000 };
    const fetch = [...callEvents(0, 'fetch_result', { ...place, maxBytes: 2_000 }), finish('tool-calls')];
    const { events, requests, keeps } = await longTurn([...reads, fetch, say('done')]);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed', reason: 'stop' });
    expect(requests).toHaveLength(14);
    for (const [index, { messages }] of requests.entries()) {
      expect(tokensOf(messages.filter(({ role }) => role !== 'system'))).toBeLessThanOrEqual(maxContextTokens);
      if (index === 0 || index > 12) continue;
      const last = resultsIn(messages).at(-1);
      expect(contentText(last?.content ?? [])).toBe(textOf(`file-${index - 1}`));
      expect(resultsIn(messages)).toHaveLength(index);
    }
    const asked = requests[12];
    expect(contentText(resultsIn(asked?.messages)[0]?.content ?? [])).toContain(`fetch_result ${JSON.stringify(place)}`);
    expect(asked?.tools.map(({ name }) => name)).toContain('fetch_result');
    // The log has all of it, and the model what it fetched.
    expect(results(events).slice(0, 12).map(resultText)).toEqual(reads.map((_, index) => textOf(`file-${index}`)));
    expect(resultText(results(events)[12])).toBe(textOf('file-0').slice(1_000, 3_000));
    expect(keeps).toEqual([...new Set(keeps)]);
  });

  it('can still fetch all of a result that was truncated at once', async () => {
    const offset = 100_000;
    const fetch = [...callEvents(0, 'fetch_result', { callId: 'call_1', offset, maxBytes: 400 }), finish('tool-calls')];
    const { requests, events, keeps } = await longTurn([read('huge'), ...reads.slice(0, 5), fetch]);
    expect(contentText(resultsIn(requests[6]?.messages)[0]?.content ?? [])).toContain('[Shortened');
    expect(resultText(results(events).at(-1))).toBe(textOf('huge').slice(offset, offset + 400));
    expect(keeps.filter((callId) => callId === 'call_1')).toHaveLength(1);
  });

  it('is offered the tool to fetch the rest in the same request that first mentions it', async () => {
    const { requests } = await longTurn(reads);
    for (const { messages, tools } of requests) {
      const told = JSON.stringify(messages).includes('To read the rest: fetch_result');
      expect(tools.some(({ name }) => name === 'fetch_result')).toBe(told);
    }
    expect(requests.at(-1)?.tools.some(({ name }) => name === 'fetch_result')).toBe(true);
  });

  it('sends the same request when a step is restarted after a crash', async () => {
    const whole = await longTurn([...reads, say('done')]);
    const lastStep = whole.events.findLastIndex(({ type }) => type === 'step-start');
    const again = await longTurn([say('done')], whole.events.slice(1, lastStep + 1));
    expect(again.requests).toHaveLength(1);
    expect(again.requests[0]?.messages).toEqual(whole.requests.at(-1)?.messages);
    expect(again.requests[0]?.tools).toEqual(whole.requests.at(-1)?.tools);
  });
});
