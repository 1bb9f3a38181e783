/** Memory for bodies: what one key or address can take of it, and what the others then have. */
import { describe, expect, it, vi } from 'vitest';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { MB } from '../../src/core/limits/units.ts';
import { createFairPool, createPools } from '../../src/engine/fair-pool.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { bodyOf, createHarness } from './harness.ts';

/** A body of unknown length that sends so many bytes, and ends when it is told to. */
function heldBody(bytes: number): { body: ReadableStream<Uint8Array>; end(): void } {
  let end = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`"${'a'.repeat(bytes)}`));
      end = () => {
        controller.enqueue(new TextEncoder().encode('"'));
        controller.close();
      };
    },
  });
  return { body, end: () => end() };
}

function createFloodedHarness() {
  const clock = fakeClock();
  const bodies = createFairPool({ ...poolBounds.bodies, perKey: 4 * MB, perWorkspace: 6 * MB, total: 12 * MB }, clock);
  const harness = createHarness({ MONIKER_TRUSTED_PROXY_HEADER: 'x-forwarded-for' }, { pools: { ...createPools(clock), bodies } });
  const post = (path: string, body: BodyInit, headers: Record<string, string>) =>
    harness.app.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
      duplex: 'half',
    } as RequestInit);
  return { ...harness, clock, bodies, post };
}

describe('bodies of a key', () => {
  it('that are not complete take memory up to its bound, and then further ones wait and are refused; other keys are served', async () => {
    const { key, post, bodies, clock } = createFloodedHarness();
    const [flooding, other] = [await key({ scopes: ['chat'] }), await key({ scopes: ['chat'] })];
    const held = [1, 2, 3, 4].map(() => heldBody(900_000));
    const open = held.map(({ body }) => post('/v1/chat/completions', body, flooding));
    const principal = { workspace: 'default', keyId: flooding.authorization?.split('_')[2] ?? '' };
    await vi.waitFor(() => expect(bodies.usedBy(principal)).toBe(4 * MB));
    const further = post('/v1/chat/completions', '{"model": "rehearsal/default"}', flooding);
    const served = await post('/v1/chat/completions', '{"model": "rehearsal/default"}', other);
    expect(served.status).toBe(200);
    await clock.advance(5_000);
    const refused = await further;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await bodyOf(refused)).toMatchObject({
      error: { code: 'rate_limited', message: expect.stringContaining('bytes of bodies') },
    });
    for (const { end } of held) end();
    // A text is no request.
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    expect(bodies.usedBy(principal)).toBe(0);
  });

  it('are refused with the members of a limit', async () => {
    const { key, post, bodies } = createFloodedHarness();
    const flooding = await key({ scopes: ['admin'] });
    const held = heldBody(5 * MB);
    const refused = post('/v1/sessions/unknown/turns', held.body, { ...(await key({ scopes: ['chat'] })) });
    held.end();
    expect(await bodyOf(await refused)).toMatchObject({ code: 'rate_limited', limit: 'bodyBytes', of: 'key', max: 4 * MB });
    expect(bodies.usedBy({ workspace: 'default', keyId: flooding.authorization ?? '' })).toBe(0);
  });

  it('take no memory before the key is accepted', async () => {
    const { post, services } = createFloodedHarness();
    let isRead = false;
    const pull = (): void => {
      isRead = true;
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const held = Array.from({ length: 64 }, () =>
      services.pools.strangerBodies.takeBeyondLimit({ workspace: 'unknown', keyId: 'unknown' }, 64 * 1024),
    );
    const refused = await post('/v1/chat/completions', body, { authorization: 'Bearer nobody' });
    expect([refused.status, isRead]).toEqual([401, false]);
    for (const place of held) place.release();
  });
});
