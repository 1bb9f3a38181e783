import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RpcAnswer } from '../../../src/mcp/server/methods.ts';
import { reply } from '../../../src/mcp/server/reply.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const client = () => new AbortController().signal;
const answered: RpcAnswer = { text: '{"id":1}', status: 200 };

it('A slow response is a stream of heartbeats and one event, which ends with it', async () => {
  const answer = Promise.withResolvers<RpcAnswer>();
  const responding = reply(client(), false, () => answer.promise);
  await vi.advanceTimersByTimeAsync(60_000);
  const response = await responding;
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = response.text();
  answer.resolve(answered);
  expect((await text).replaceAll(': heartbeat\n\n', '')).toBe('event: message\ndata: {"id":1}\n\n');
});

it('A fast response is one document, with its status', async () => {
  const response = await reply(client(), false, async () => ({ text: '{"id":1}', status: 404 }));
  expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([404, 'application/json', { id: 1 }]);
});

it('A response with a message before it is a stream', async () => {
  const response = await reply(client(), false, async ({ send }) => {
    send('{"method":"notifications/progress"}');
    return answered;
  });
  expect(await response.text()).toBe('event: message\ndata: {"method":"notifications/progress"}\n\nevent: message\ndata: {"id":1}\n\n');
});

it('A client that disconnects while it waits aborts the work', async () => {
  let work: AbortSignal | undefined;
  const responding = reply(client(), false, ({ signal }) => {
    work = signal;
    return new Promise(() => undefined);
  });
  await vi.advanceTimersByTimeAsync(60_000);
  await (await responding).body?.cancel();
  expect(work?.aborted).toBe(true);
});
