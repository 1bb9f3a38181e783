/**
 * Every recorded reply of every API, damaged: cut after each event and at random bytes, with bits flipped and foreign bytes between. It
 * passes through the real transport, so framing is damaged, too. The reply always ends exactly once with a typed event, and no incomplete
 * call may run. `test/engine/turn/spoilt-turn.long.test.ts` covers the engine.
 */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { describeCorpus } from '../fixtures.ts';
import { merge } from './replies.ts';
import {
  eventEnds,
  flip,
  inPieces,
  insert,
  isWhole,
  type Reading,
  readResponse,
  readSpoilt,
  recordedReplies,
  responseOf,
  seeded,
  type Spoilable,
  toReading,
} from './spoil.ts';
import { printStatistics } from '../statistics.ts';

const randomCuts = 40;
const flips = 10;
const insertions = 5;

/** Recordings that continue after their end marker, so that a cut cannot be told from an end. Each has only complete calls before it. */
const endsTwice = new Set([
  // Every chunk has a finish reason, and an error follows them.
  'openai-compatible/gemini-2.5-flash-lite-15-calls-same-index-then-error.sse',
  // An error after STOP.
  'gemini/error-mid-stream.sse',
]);

/** Name and arguments; two calls with both equal have the same effect. */
const meaning = ({ name, arguments: args }: Reading['calls'][number]): string => `${name} ${JSON.stringify(args)}`;

describeCorpus('providers', (path) => {
  const replies = recordedReplies(path);
  const apis = Map.groupBy(replies, ({ api }) => api);
  const uncut = new Map<Spoilable, Reading>();
  const counts = { cuts: 0, early: 0, flips: 0, insertions: 0, changed: 0, errors: 0 };
  beforeAll(async () => {
    for (const reply of replies) uncut.set(reply, await readSpoilt(reply, [reply.body]));
  });

  it.each([...apis])('%s: a reply that is cut anywhere is an error or was over, and no call of it is half', async (_api, ofApi) => {
    for (const [seed, reply] of ofApi.entries()) {
      const random = seeded(seed);
      const places = Array.from({ length: randomCuts }, () => random(reply.body.length));
      for (const at of places) await checkCut(reply, at, inPieces(reply.body.subarray(0, at), random));
    }
    const ends = ofApi.flatMap((reply) => [...eventEnds(reply)].map((at) => ({ reply, at })));
    for (const { reply, at } of ends) await checkCut(reply, at, [reply.body.subarray(0, at)]);
  });

  async function checkCut(reply: Spoilable, at: number, pieces: Uint8Array[]): Promise<void> {
    counts.cuts += 1;
    const cut = await readSpoilt(reply, pieces);
    const whole = uncut.get(reply) as Reading;
    const where = `${reply.file} cut at ${at}`;
    for (const [index, call] of cut.calls.entries()) {
      const original = whole.calls[index];
      // Also if the reply failed: a call reported as complete must be complete.
      if (isWhole(call.state)) expect(meaning(call), where).toBe(original && meaning(original));
      if (cut.runnable.has(index)) expect(isWhole(original?.state ?? ''), where).toBe(true);
    }
    if (cut.error !== undefined) return;
    // It is treated as a complete reply, so it must be one.
    if (endsTwice.has(reply.file)) counts.early += 1;
    else expect([cut.text, cut.reasoning, cut.calls.map(meaning)], where).toEqual([whole.text, whole.reasoning, whole.calls.map(meaning)]);
  }

  it.each([...apis])(
    '%s: with flipped bits and foreign bytes a reply ends once, and what was cut before does not run',
    async (_api, ofApi) => {
      for (const [seed, reply] of ofApi.entries()) {
        const random = seeded(seed + 1000);
        const { body } = reply;
        for (let count = 0; count < flips; count += 1) {
          checkSpoilt(await readSpoilt(reply, inPieces(flip(body, random(body.length), random(8)), random)), reply);
          counts.flips += 1;
        }
        for (let count = 0; count < insertions; count += 1) {
          const foreign = Uint8Array.from({ length: 1 + random(60) }, () => random(256));
          checkSpoilt(await readSpoilt(reply, inPieces(insert(body, random(body.length), foreign), random)), reply);
          counts.insertions += 1;
        }
      }
    },
  );

  /**
   * A byte within an argument results in another argument, and one within an id in another call; most wires cannot detect this. But a call
   * that was cut in the recording does not run, as long as the cut is still marked.
   */
  function checkSpoilt(spoilt: Reading, reply: Spoilable): void {
    const original = uncut.get(reply) as Reading;
    const known = new Set(original.calls.map(({ name }) => name));
    const wholes = original.calls.filter(({ state }) => isWhole(state));
    if (spoilt.error !== undefined) counts.errors += 1;
    if (spoilt.reason !== original.reason) return;
    for (const call of spoilt.runnable.values()) {
      // Damaged: no tool has that name.
      if (!known.has(call.name)) continue;
      expect(
        wholes.map(({ name }) => name),
        reply.file,
      ).toContain(call.name);
      if (!wholes.some((one) => meaning(one) === meaning(call))) counts.changed += 1;
    }
  }

  it('two interleaved replies never mix', async () => {
    const some = replies.filter(({ body }) => body.length < 60_000);
    const solo = new Map<Spoilable, ChatEvent[]>();
    const alone = async (reply: Spoilable): Promise<ChatEvent[]> => {
      const known = solo.get(reply) ?? merge(await readResponse(responseOf([reply.body], reply.contentType), reply.access));
      solo.set(reply, known);
      return known;
    };
    const index = fc.nat(some.length - 1);
    await fc.assert(
      fc.asyncProperty(index, index, fc.nat(), fc.array(fc.boolean(), { maxLength: 40 }), async (a, b, seed, turns) => {
        const [one, other] = [some[a] as Spoilable, some[b] as Spoilable];
        const random = seeded(seed);
        const read = await readInTurns(one, other, () => 1 + random(2 * Math.ceil(one.body.length / 20)), turns);
        expect(read.map(merge)).toEqual([await alone(one), await alone(other)]);
      }),
      { numRuns: 150 },
    );
  });

  it('covers every recorded reply', () => {
    printStatistics(
      `spoilt: ${replies.length} replies, ${counts.cuts} cuts (${counts.early} after an end marker that is not the last), ${counts.flips} flips and ${counts.insertions} insertions (${counts.errors} seen as errors, ${counts.changed} calls with other arguments, which the wire cannot detect)`,
    );
    expect(counts.cuts).toBeGreaterThan(replies.length * randomCuts);
    expect(counts.flips).toBe(replies.length * flips);
    expect(counts.insertions).toBe(replies.length * insertions);
  });
});

it('more arguments for a call that has ended mean that it was incomplete: the reply is an error', async () => {
  const piece = (call: object): string => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: call }] } }] })}\n\n`;
  const path = (name: string) => ({ jsonPath: `$.${name}`, stringValue: 'x' });
  const stream = [
    piece({ name: 'weather', willContinue: true }),
    // Its `willContinue` was lost.
    piece({ partialArgs: [path('country')] }),
    piece({ partialArgs: [path('city')], willContinue: true }),
    piece({}),
    'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
  ].join('');
  const access = { name: 'google', kind: 'gemini' as const, baseUrl: 'https://provider.example', headers: {}, models: [], profile: {} };
  const events = await readResponse(responseOf([new TextEncoder().encode(stream)], 'text/event-stream'), access);
  expect(toReading(events)).toMatchObject({ error: expect.stringContaining('invalid order'), runnable: new Map() });
});

/** Reads both at the same time; `turns` says whose piece comes next, and then the rest of both. */
async function readInTurns(
  one: Spoilable,
  other: Spoilable,
  size: () => number,
  turns: readonly boolean[],
): Promise<[ChatEvent[], ChatEvent[]]> {
  const sides = [one, other].map((reply) => createSide(reply));
  for (const isOne of turns) {
    sides[isOne ? 0 : 1]?.give(size());
    // The reader takes a piece before the next one comes.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const side of sides) side.end();
  return [await (sides[0]?.read as Promise<ChatEvent[]>), await (sides[1]?.read as Promise<ChatEvent[]>)];
}

function createSide({ body, contentType, access }: Spoilable) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
    },
    cancel() {
      // The reply ended before its bytes: its reader has closed the stream.
      controller = undefined;
    },
  });
  const give = (length: number): void => {
    if (at < body.length) controller?.enqueue(body.slice(at, at + length));
    at += length;
  };
  const end = (): void => {
    give(body.length);
    controller?.close();
  };
  return { read: readResponse(new Response(stream, { headers: { 'content-type': contentType } }), access), give, end };
}
