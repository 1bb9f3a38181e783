import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { heartbeatResponse } from '../../../src/mcp/server/heartbeat-response.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

it('A slow response is a stream of heartbeats and one event, which ends with it', async () => {
  const answer = Promise.withResolvers<Response>();
  const responding = heartbeatResponse(new AbortController().signal, () => answer.promise);
  await vi.advanceTimersByTimeAsync(60_000);
  const response = await responding;
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = response.text();
  answer.resolve(Response.json({ id: 1 }));
  expect((await text).replaceAll(': heartbeat\n\n', '')).toBe('event: message\ndata: {"id":1}\n\n');
});

it('A fast response stays as it is', async () => {
  const response = await heartbeatResponse(new AbortController().signal, async () => Response.json({ id: 1 }));
  expect([response.headers.get('content-type'), await response.json()]).toEqual(['application/json', { id: 1 }]);
});

it('A client that disconnects while it waits aborts the work', async () => {
  let work: AbortSignal | undefined;
  const responding = heartbeatResponse(new AbortController().signal, (signal) => {
    work = signal;
    return new Promise(() => undefined);
  });
  await vi.advanceTimersByTimeAsync(60_000);
  await (await responding).body?.cancel();
  expect(work?.aborted).toBe(true);
});
