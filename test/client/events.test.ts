/** The event streams against a service that breaks in every way; `test/e2e/typed-client.all.e2e.test.ts` has the real one. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamChat } from '../../client/src/chat.ts';
import { createClient } from '../../client/src/client.ts';
import { followEvents, followReplay, streamTurn, type SessionEvent } from '../../client/src/events.ts';
import { otherTasks } from '../wait-for.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const heartbeat = ': heartbeat\n\n';
const turn = 'turn_1';
const eventOf = (id: number) => ({ id, at: 0, type: 'text-delta', turn, step: 1, text: `${id}` });
const frame = (id: number) => `id: ${id}\nevent: text-delta\ndata: ${JSON.stringify(eventOf(id))}\n\n`;
const frames = (...ids: number[]) => ids.map(frame).join('');
const problemFrame = (code: string, status: number) =>
  `event: error\ndata: ${JSON.stringify({ type: 'error', problem: { code, status, title: code, detail: 'why', type: 'x' } })}\n\n`;

/** How a stream ends after its text: properly, by an error, or not at all. */
type End = 'close' | 'break' | 'hang';
type Reply = Response | { text: string; end: End };

function toResponse(reply: Reply, cancelled: () => void): Response {
  if (reply instanceof Response) return reply;
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) controller.enqueue(new TextEncoder().encode(reply.text));
      else if (reply.end === 'close') controller.close();
      else if (reply.end === 'break') controller.error(new TypeError('terminated'));
      else return new Promise(() => undefined);
      sent = true;
      return undefined;
    },
    cancel: cancelled,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function serve(...replies: Reply[]) {
  const requests: Request[] = [];
  const seen = { cancelled: 0 };
  const client = createClient({
    baseUrl: 'http://moniker.example',
    retries: 0,
    fetch: async (request) => {
      requests.push(request);
      const response = toResponse(replies.shift() ?? Response.json({ code: 'not_found', detail: 'gone' }, { status: 404 }), () => {
        seen.cancelled += 1;
      });
      if (response.body === null) return response;
      // As `fetch` does: an abort fails the body.
      const { body, status, headers } = response;
      const failing = body.pipeThrough(new TransformStream(), { signal: request.signal });
      return new Response(failing, { status, headers });
    },
  });
  return { client, requests, seen };
}

/** Reads until the end or an error, with the timers running. */
async function read(events: AsyncIterable<SessionEvent>): Promise<{ ids: number[]; error: unknown }> {
  const ids: number[] = [];
  const reading = (async () => {
    for await (const { id } of events) ids.push(id);
  })();
  const error = reading.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await vi.runAllTimersAsync();
  return { ids, error: await error };
}
const notFound = expect.objectContaining({ code: 'not_found' });
const resumedAt = (requests: Request[]) => requests.map((request) => request.headers.get('last-event-id'));

describe('followEvents', () => {
  it('reconnects at the last event after a close, a break and a cut event', async () => {
    const cutEvent = { text: frames(3) + frame(4).slice(0, 30), end: 'close' } as const;
    const { client, requests } = serve({ text: heartbeat + frames(1, 2), end: 'break' }, cutEvent, { text: frames(4, 5), end: 'close' });
    expect(await read(followEvents(client, 's'))).toEqual({ ids: [1, 2, 3, 4, 5], error: notFound });
    expect(resumedAt(requests)).toEqual(['0', '2', '3', '5']);
  });

  it('skips repeated events and asks again for missing ones', async () => {
    const { client, requests } = serve({ text: frames(1, 1, 2, 4), end: 'hang' }, { text: frames(2, 3, 4), end: 'close' });
    expect(await read(followEvents(client, 's'))).toEqual({ ids: [1, 2, 3, 4], error: notFound });
    expect(resumedAt(requests)).toEqual(['0', '2', '4']);
  });

  it('begins after the given event', async () => {
    const { client, requests } = serve({ text: frames(8), end: 'close' });
    expect(await read(followEvents(client, 'a/b', { after: 7 }))).toMatchObject({ ids: [8] });
    expect([requests[0]?.url, resumedAt(requests)[0]]).toEqual(['http://moniker.example/v1/sessions/a%2Fb/events', '7']);
  });

  it('waits as long as the stream says', async () => {
    const { client, requests } = serve({ text: `${frames(1)}retry: 5000\n\n`, end: 'close' }, { text: frames(2), end: 'close' });
    const reading = read(followEvents(client, 's'));
    await reading;
    expect(requests).toHaveLength(3);
    const started = Date.now();
    const again = serve({ text: 'retry: 5000\n\n', end: 'close' });
    await read(followEvents(again.client, 's'));
    expect(Date.now() - started).toBeGreaterThanOrEqual(5_000);
  });

  it('throws an error in the stream that a new connection does not fix, and only that', async () => {
    const revoked = serve({ text: frames(1) + problemFrame('unauthenticated', 401), end: 'close' });
    const unauthenticated = expect.objectContaining({ code: 'unauthenticated', status: 401 });
    expect(await read(followEvents(revoked.client, 's'))).toEqual({ ids: [1], error: unauthenticated });
    const restarted = serve({ text: frames(1) + problemFrame('internal', 500), end: 'close' }, { text: frames(2), end: 'close' });
    expect(await read(followEvents(restarted.client, 's'))).toEqual({ ids: [1, 2], error: notFound });
  });

  it('gives up after failures in a row', async () => {
    const failing = Array.from({ length: 20 }, () => Response.json({ code: 'internal', detail: 'x' }, { status: 500 }));
    const { client, requests } = serve(...failing);
    expect(await read(followEvents(client, 's'))).toMatchObject({ error: expect.objectContaining({ code: 'internal' }) });
    expect(requests).toHaveLength(9);
  });

  it('replaces a connection without heartbeats', async () => {
    const { client, requests } = serve({ text: frames(1), end: 'hang' }, { text: frames(2), end: 'close' });
    expect(await read(followEvents(client, 's'))).toEqual({ ids: [1, 2], error: notFound });
    expect(resumedAt(requests)).toEqual(['0', '1', '2']);
  });

  it('ends without an error on abort, while it reads and while it waits', async () => {
    for (const end of ['hang', 'close'] as const) {
      const { client, requests } = serve({ text: frames(1), end });
      const stop = new AbortController();
      void otherTasks(50).then(() => stop.abort());
      expect(await read(followEvents(client, 's', { signal: stop.signal }))).toEqual({ ids: [1], error: null });
      expect(requests).toHaveLength(1);
    }
    expect(await read(followEvents(serve().client, 's', { signal: AbortSignal.abort() }))).toEqual({ ids: [], error: null });
  });

  it('closes the connection when the loop breaks', async () => {
    const { client, seen } = serve({ text: frames(1, 2), end: 'hang' });
    for await (const _ of followEvents(client, 's')) break;
    await vi.runAllTimersAsync();
    expect(seen.cancelled).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('streamTurn', () => {
  it('repeats the request with the same key after a break, and yields each event once', async () => {
    const { client, requests } = serve(
      { text: frames(4, 5), end: 'break' },
      Response.json({ code: 'unavailable', detail: 'x' }, { status: 503 }),
      { text: frames(4, 5, 7), end: 'close' },
    );
    expect(await read(streamTurn(client, 's', 'hello'))).toEqual({ ids: [4, 5, 7], error: null });
    expect(new Set(requests.map((request) => request.headers.get('idempotency-key'))).size).toBe(1);
    expect(await Promise.all(requests.map((request) => request.json()))).toEqual(requests.map(() => ({ input: 'hello' })));
  });

  it('throws the reason of the signal, and errors of the request', async () => {
    const stop = new AbortController();
    const { client } = serve({ text: frames(1), end: 'hang' });
    void otherTasks(50).then(() => stop.abort(new Error('enough')));
    expect(await read(streamTurn(client, 's', 'hello', { signal: stop.signal }))).toEqual({ ids: [1], error: new Error('enough') });
    expect(await read(streamTurn(serve().client, 's', 'hello'))).toEqual({ ids: [], error: notFound });
  });
});

describe('streamChat', () => {
  const chat = (text: string) => {
    const { client } = serve({ text, end: 'close' });
    return streamChat(client, { model: 'm', messages: [] });
  };

  it('ends at [DONE]', async () => {
    const chunks = [];
    for await (const chunk of chat('data: {"id":"a","choices":[]}\n\n: heartbeat\n\ndata: [DONE]\n\ndata: {"id":"b"}\n\n'))
      chunks.push(chunk.id);
    expect(chunks).toEqual(['a']);
  });

  it('throws an error in the stream, and the missing end', async () => {
    const failed = chat('data: {"error":{"message":"why","type":"server_error","param":null,"code":"upstream_error"}}\n\n');
    await expect(failed.next()).rejects.toMatchObject({ code: 'upstream_error', detail: 'why', status: 0 });
    await expect(chat('').next()).rejects.toMatchObject({ code: 'unexpected_response' });
  });
});

describe('following a replay', () => {
  const replayFrame = (id: number, event: object) => `id: ${id}\ndata: ${JSON.stringify({ id, at: 0, ...event })}\n\n`;

  it('continues after a connection that breaks, and ends with the replay', async () => {
    const first = { type: 'replay-case', number: 1, status: 'same' };
    const last = { type: 'replay-end', status: 'completed' };
    const { client, requests, seen } = serve(
      { text: replayFrame(1, first), end: 'break' },
      { text: `${replayFrame(1, first)}${replayFrame(2, last)}${replayFrame(3, first)}`, end: 'hang' },
    );
    const events: object[] = [];
    const followed = (async () => {
      for await (const event of followReplay(client, 'a/b')) events.push(event);
    })();
    await vi.runAllTimersAsync();
    await followed;
    expect(events).toMatchObject([first, last]);
    expect(requests.map(({ url, headers }) => [new URL(url).pathname, headers.get('last-event-id')])).toEqual([
      ['/v1/replays/a%2Fb/events', '0'],
      ['/v1/replays/a%2Fb/events', '1'],
    ]);
    expect(seen.cancelled).toBe(1);
  });
});
