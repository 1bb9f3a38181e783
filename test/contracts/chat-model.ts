/** The contract of every `ChatModel`, on any wire. Adapters, the rehearsal and fakes run the same suite. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { TokenBound } from '../../src/core/model/token-bound.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ChatModel, ChatRequest } from '../../src/ports/chat-model.ts';

/** Requests of the model under test that cause each kind of reply. */
export type ChatModelCases = {
  model: ChatModel;
  text: ChatRequest;
  twoCalls: ChatRequest;
  /** Fails before the first batch. */
  refused: ChatRequest;
};

export async function collect(model: ChatModel, request: ChatRequest, signal = new AbortController().signal): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const batch of model.stream(request, signal)) {
    expect(batch.length).toBeGreaterThan(0);
    events.push(...batch);
  }
  return events;
}

export function chatModelContract(name: string, create: () => ChatModelCases): void {
  describe(`${name} as a chat model`, () => {
    it('returns text and ends once, with a finish', async () => {
      const { model, text } = create();
      const events = await collect(model, text);
      expect(events.some((event) => event.type === 'text' && event.text !== '')).toBe(true);
      expect(events.filter((event) => event.type === 'finish' || event.type === 'error')).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    });

    it('starts, feeds and ends each call once, in this order', async () => {
      const { model, twoCalls } = create();
      const events = await collect(model, twoCalls);
      const starts = events.filter((event) => event.type === 'call-start');
      expect(starts).toHaveLength(2);
      for (const { call } of starts) {
        const own = events.filter((event) => 'call' in event && event.call === call).map((event) => event.type);
        expect(own[0]).toBe('call-start');
        expect(own.at(-1)).toBe('call-end');
        expect(own.slice(1, -1).every((type) => type === 'call-delta')).toBe(true);
      }
      for (const event of events)
        if (event.type === 'call-end') expect(event).toMatchObject({ state: 'ok', arguments: expect.any(Object) });
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' });
    });

    it('reports usage once, before the end', async () => {
      const { model, text } = create();
      const events = await collect(model, text);
      expect(events.filter((event) => event.type === 'usage')).toHaveLength(1);
    });

    it('reserves once what the request can use, before anything else, and does nothing if that is refused', async () => {
      const { model, text } = create();
      const bounds: TokenBound[] = [];
      const reserve = async (bound: TokenBound): Promise<void> => void bounds.push(bound);
      await collect(model, { ...text, settings: { ...text.settings, maxOutputTokens: 321 }, reserve });
      expect(bounds).toHaveLength(1);
      // More if the API adds reasoning to the limit.
      expect(bounds[0]?.outputTokens).toBeGreaterThanOrEqual(321);
      expect(bounds[0]?.inputTokens).toBeGreaterThan(JSON.stringify(text.messages[0]?.parts).length);
      const refusal = new Problem('rate_limited', 'Nothing is left.');
      const events: unknown[] = [];
      const refused = async (): Promise<void> => {
        for await (const batch of model.stream({ ...text, reserve: () => Promise.reject(refusal) }, new AbortController().signal))
          events.push(batch);
      };
      await expect(refused()).rejects.toBe(refusal);
      expect(events).toEqual([]);
    });

    it('throws a problem when it fails before the first batch', async () => {
      const { model, refused } = create();
      await expect(collect(model, refused)).rejects.toBeInstanceOf(Problem);
    });

    it('stops at once, with the reason, when it is aborted', async () => {
      const { model, text } = create();
      const reason = new Error('enough');
      await expect(collect(model, text, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it('can be closed in the middle', async () => {
      const { model, text } = create();
      for await (const batch of model.stream(text, new AbortController().signal)) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
    });
  });
}
