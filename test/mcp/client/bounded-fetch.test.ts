import { expect, it } from 'vitest';
import { createBoundedFetch } from '../../../src/mcp/client/bounded-fetch.ts';

it.each([
  [true, 'default'],
  [false, 'no-store'],
])('A request of an event source (%s) has only members that the Workers runtime knows', async (isSse, cache) => {
  const sent: Request[] = [];
  const url = 'https://mcp.example.com/sse';
  const fetchBounded = createBoundedFetch({
    ...{ server: 'docs', url, isSse, isListening: true, budget: () => ({ left: 1_000 }), onFault: () => undefined },
    fetch: async (request) => {
      sent.push(request);
      return new Response('', { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  await fetchBounded(url, { method: 'GET', headers: { accept: 'text/event-stream' }, cache: 'no-store' });
  expect(sent.map((request) => [request.method, request.headers.get('accept'), request.cache, request.redirect])).toEqual([
    ['GET', 'text/event-stream', cache, 'manual'],
  ]);
});
