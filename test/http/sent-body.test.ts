/** Large responses: what they hold while they are sent, and that it is released however they end. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { createFairPool, type Place } from '../../src/engine/fair-pool.ts';
import { bodyHoldingPlace } from '../../src/http/sent-body.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { bodyOf, createHarness } from './harness.ts';

afterEach(() => vi.useRealTimers());

function placeOf(bytes: number) {
  const pool = createFairPool(poolBounds.bodies, fakeClock());
  const owner = { workspace: 'default', keyId: 'k' };
  const place = pool.take(owner, { amount: bytes }) as Place;
  return { place, used: () => pool.usedBy(owner) };
}

describe('a large body', () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251);

  it('is sent whole, and holds its place until then', async () => {
    const { place, used } = placeOf(bytes.byteLength);
    const body = bodyHoldingPlace(bytes, place);
    const reader = body.getReader();
    const pieces: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (pieces.length === 0) expect(used()).toBe(bytes.byteLength);
      pieces.push(next.value);
    }
    expect(Buffer.concat(pieces).equals(Buffer.from(bytes))).toBe(true);
    await vi.waitFor(() => expect(used()).toBe(0));
  });

  it('releases its place when its client disconnects', async () => {
    const { place, used } = placeOf(bytes.byteLength);
    const reader = bodyHoldingPlace(bytes, place).getReader();
    await reader.read();
    await reader.cancel();
    await vi.waitFor(() => expect(used()).toBe(0));
  });

  it('ends when its client is too slow', async () => {
    vi.useFakeTimers();
    const { place, used } = placeOf(bytes.byteLength);
    const reader = bodyHoldingPlace(bytes, place).getReader();
    await reader.read();
    await vi.advanceTimersByTimeAsync(limits.maxSendMs);
    expect(used()).toBe(0);
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow('too long');
  });
});

describe('a large result', () => {
  it('counts with the bodies of its key while it is sent, and small ones do not', async () => {
    const { key, services, send, app } = createHarness(
      {},
      {
        callTool: async () =>
          ({
            requested: 'a',
            canonical: 'a.b',
            via: 'own',
            ran: true,
            durationMs: 1,
            result: { isError: false, content: [{ type: 'text', text: 'x'.repeat(100_000) }] },
          }) as never,
      },
    );
    await send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash' }] });
    const headers = await key({ scopes: ['tools'] });
    const used = () => services.pools.bodies.usedBy({ workspace: 'default', keyId: headers.authorization?.split('_')[2] ?? '' });
    // `send` would read the response, to compare it with the document.
    const init = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"name": "bash", "arguments": {"command": "x"}}',
    };
    const answer = await app.request('/v1/toolsets/demo/calls', init);
    expect(used()).toBeGreaterThan(100_000);
    expect((await bodyOf(answer)).content[0].text).toHaveLength(100_000);
    await vi.waitFor(() => expect(used()).toBe(0));
    await send('GET', '/v1/me', undefined, headers);
    expect(used()).toBe(0);
  });
});
