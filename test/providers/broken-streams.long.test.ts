/**
 * Recorded streams that end anywhere or have a byte changed: a reply always ends once, with a typed event, and a cut call is never
 * complete.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { Adapter } from '../../src/providers/adapter.ts';
import { adapters } from '../../src/providers/registry.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { sample } from '../selection.ts';
import { bodyOf, gather, readCuts, type Recording } from './replies.ts';

/** API → its adapter, and the marker after payloads without framing. */
const apis = new Map<string, { adapter: Adapter; endMark: string }>([
  ['openai-chat', { adapter: adapters['openai-compatible'], endMark: 'data: [DONE]\n\n' }],
  ['openai-responses', { adapter: adapters['openai-responses'], endMark: '' }],
  ['anthropic', { adapter: adapters.anthropic, endMark: '' }],
  ['gemini', { adapter: adapters.gemini, endMark: '' }],
  ['cohere-v2', { adapter: adapters.cohere, endMark: '' }],
]);

/** The same positions in every run. */
function* places(length: number, count: number, seed: number): Generator<number> {
  let state = seed * 7919 + 1;
  for (let drawn = 0; drawn < count; drawn++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state % length;
  }
}

/** The end of every frame. */
function* frameEnds(body: Uint8Array): Generator<number> {
  for (let at = 1; at < body.length; at++) if (body[at] === 0x0a && (body[at - 1] === 0x0a || body[at - 2] === 0x0a)) yield at + 1;
}

function checkEnd(events: readonly ChatEvent[]): void {
  const ends = events.filter(({ type }) => type === 'finish' || type === 'error');
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0]);
  for (const event of events)
    if (event.type === 'call-end' && event.state !== 'ok')
      expect(event.state === 'truncated' || event.state === 'invalid').toBe(event.arguments === null);
}

describeCorpus('providers', (path) => {
  const recordings = readJson<Recording[]>(join(path, 'index.json')).filter(
    (recording) => recording.streamed && (recording.httpStatus ?? 200) === 200 && !recording.file.endsWith('.json'),
  );
  it.each([...apis])(
    '%s: cut anywhere, a stream ends as an error or as it would have, and no incomplete call is reported as complete',
    (api, { adapter, endMark }) => {
      const streams = recordings
        .filter((recording) => recording.api === api)
        .map(({ file }, seed) => {
          const body = bodyOf(join(path, file), endMark);
          return { file, body, ends: [...frameEnds(body), ...places(body.length, 40, seed)] };
        });
      // Each cut reads its stream from the beginning.
      const cuts = streams.flatMap((stream) => stream.ends.map((at) => ({ ...stream, at })));
      const completeOf = new Map(streams.map(({ file, body }) => [file, gather(readCuts(adapter, [body], true))]));
      for (const { file, body, at } of sample(`cuts of ${api}`, cuts, (_, index) => index % 12 === 0)) {
        const events = readCuts(adapter, [body.subarray(0, at)], true);
        checkEnd(events);
        const cut = gather(events);
        if (cut.error !== undefined) continue;
        for (const [index, call] of cut.calls.entries()) {
          if (call.arguments !== null) expect(call.arguments, `${file} at ${at}`).toEqual(completeOf.get(file)?.calls[index]?.arguments);
        }
      }
      expect(cuts.length).toBeGreaterThan(100);
    },
  );

  it.each([...apis])('%s: with any byte changed, a stream still ends once', (api, { adapter, endMark }) => {
    let flips = 0;
    for (const [seed, recording] of recordings.filter((candidate) => candidate.api === api).entries()) {
      const body = bodyOf(join(path, recording.file), endMark);
      for (const at of places(body.length, 40, seed + 1000)) {
        const changed = body.slice();
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        checkEnd(readCuts(adapter, [changed], true));
        flips += 1;
      }
    }
    expect(flips).toBeGreaterThan(100);
  });
});
