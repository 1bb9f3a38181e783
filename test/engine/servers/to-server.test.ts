import { describe, expect, it } from 'vitest';
import { createServerFetch } from '../../../src/engine/servers/server-fetch.ts';

describe('a request to a server', () => {
  const sent: AbortSignal[] = [];
  const deps = {
    fetch: async (_request: Request, signal: AbortSignal) => {
      sent.push(signal);
      return new Response();
    },
  };

  it('ends with its call', async () => {
    const { signal } = new AbortController();
    await createServerFetch(deps, signal)(new Request('https://mcp.example.com/'));
    expect(sent.pop()).toBe(signal);
  });

  it('can be aborted by its own signal only, so that a cancellation can still be sent', async () => {
    const own = new AbortController();
    await createServerFetch(deps, null)(new Request('https://mcp.example.com/', { signal: own.signal }));
    const signal = sent.pop();
    expect(signal?.aborted).toBe(false);
    own.abort();
    expect(signal?.aborted).toBe(true);
  });
});
