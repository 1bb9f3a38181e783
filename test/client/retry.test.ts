import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../client/src/client.ts';
import { retryAfterMs } from '../../client/src/retry.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers with the given responses or errors in order. */
function serve(...answers: (Response | Error)[]) {
  const requests: Request[] = [];
  const client = createClient({
    baseUrl: 'http://moniker.example',
    fetch: async (request) => {
      requests.push(request);
      const answer = answers.shift() ?? Response.json({ status: 'ok' });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { client, requests };
}
const busy = (headers = {}) => Response.json({ code: 'unavailable', detail: 'later' }, { status: 503, headers });

describe('retries', () => {
  it.each([busy(), new Response(null, { status: 429 }), new TypeError('fetch failed')])('repeat a GET after %s', async (answer) => {
    const { client, requests } = serve(answer);
    const result = client.get('/healthz');
    await vi.runAllTimersAsync();
    expect(await result).toEqual({ status: 'ok' });
    expect(requests).toHaveLength(2);
  });

  it('wait as long as Retry-After says', async () => {
    const { client, requests } = serve(busy({ 'retry-after': '7' }));
    const result = client.get('/healthz');
    await vi.advanceTimersByTimeAsync(6_900);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(await result).toEqual({ status: 'ok' });
  });

  it('are not made for a longer Retry-After, nor after the second', async () => {
    const far = serve(busy({ 'retry-after': '3600' }));
    await expect(far.client.get('/healthz')).rejects.toMatchObject({ code: 'unavailable' });
    expect(far.requests).toHaveLength(1);
    const { client, requests } = serve(busy(), busy(), busy(), busy());
    const result = expect(client.get('/healthz')).rejects.toMatchObject({ code: 'unavailable' });
    await vi.runAllTimersAsync();
    await result;
    expect(requests).toHaveLength(3);
  });

  it('repeat a POST only with an idempotency key, which stays the same', async () => {
    const { client, requests } = serve(busy());
    const result = client.post('/v1/sessions', { body: { agent: 'demo' } });
    await vi.runAllTimersAsync();
    await result;
    expect(new Set(requests.map((request) => request.headers.get('idempotency-key'))).size).toBe(1);
    expect(await Promise.all(requests.slice(1).map((request) => request.json()))).toEqual([{ agent: 'demo' }]);
    const other = serve(busy());
    await expect(other.client.post('/v1/keys', { body: { name: 'k', scopes: ['chat'] } })).rejects.toMatchObject({ code: 'unavailable' });
    expect(other.requests).toHaveLength(1);
  });

  it('are not made for other errors', async () => {
    const { client, requests } = serve(Response.json({ code: 'internal', detail: 'x' }, { status: 500 }));
    await expect(client.get('/healthz')).rejects.toMatchObject({ code: 'internal' });
    expect(requests).toHaveLength(1);
  });

  it('end with the signal', async () => {
    const { client } = serve(busy({ 'retry-after': '20' }));
    const stop = new AbortController();
    const result = expect(client.get('/healthz', { signal: stop.signal })).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(1_000);
    stop.abort(new Error('enough'));
    await result;
  });
});

it('reads Retry-After in seconds and as a date', () => {
  vi.setSystemTime(new Date('2026-01-01T00:00:00Z'));
  const read = (value: string) => retryAfterMs(new Response(null, { headers: { 'retry-after': value } }));
  expect([read('3'), read('Thu, 01 Jan 2026 00:00:05 GMT'), read('soon')]).toEqual([3_000, 5_000, null]);
  expect(retryAfterMs(new Response())).toBeNull();
});
