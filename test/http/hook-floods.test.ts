/** A flood of unsigned events, or of attempts to sign in, is refused before it is read or verified, and only where it comes from. */
import { expect, it, vi } from 'vitest';
import { createAttemptLimit } from '../../src/engine/attempt-limit.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { createHarness } from './harness.ts';

it('refuses an address after its unsigned events, for a minute, and no other address', async () => {
  const clock = fakeClock();
  const { send } = createHarness(
    { MONIKER_TRUSTED_PROXY_HEADER: 'cf-connecting-ip' },
    { hookAttempts: createAttemptLimit(clock.now, { perAddress: 5, perTarget: 8 }) },
  );
  const from = (address: string, webhook: string) =>
    send('POST', `/hooks/default/${webhook}`, { a: 1 }, { authorization: undefined, 'cf-connecting-ip': address });
  for (let sent = 0; sent < 5; sent += 1) expect((await from('192.0.2.1', `guessed-${sent}`)).status).toBe(404);
  const refused = await from('192.0.2.1', 'triage');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBe(60);
  expect((await from('192.0.2.2', 'triage')).status).toBe(404);
  await clock.advance(60_000);
  expect((await from('192.0.2.1', 'triage')).status).toBe(404);
});

it.each([
  ['the root key', '/sign-in', 'key=guessed', 401],
  ['tokens', '/oauth/token', 'grant_type=refresh_token&refresh_token=guessed', 400],
])('refuses an address that guesses %s, and no other address', async (_what, path, form, failed) => {
  const clock = fakeClock();
  const { send } = createHarness(
    { MONIKER_TRUSTED_PROXY_HEADER: 'x-forwarded-for', MONIKER_PUBLIC_URL: 'https://moniker.example' },
    {
      signInAttempts: createAttemptLimit(clock.now, { perAddress: 5, perTarget: Number.POSITIVE_INFINITY }),
      workspaceOfToken: async () => null,
    },
  );
  const headers = { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const from = async (address: string) =>
    (await send('POST', path, form, { ...headers, 'x-forwarded-for': `198.51.100.7, ${address}` })).status;
  for (let sent = 0; sent < 5; sent += 1) expect(await from('192.0.2.1')).toBe(failed);
  expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([429, failed]);
  await clock.advance(60_000);
  expect(await from('192.0.2.1')).toBe(failed);
});

/** A body that does not end. `isRead`: whether any of it was taken. */
function slowBody(): { body: ReadableStream<Uint8Array>; isRead(): boolean; end(): void } {
  let isRead = false;
  let end = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (isRead) return;
        isRead = true;
        end = () => controller.close();
        controller.enqueue(new TextEncoder().encode('{'));
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isRead: () => isRead, end: () => end() };
}

it.each([
  ['/hooks/default/triage', 404],
  ['/sign-in', 401],
  ['/oauth/token', 400],
  ['/connect/docs', 401],
])('counts an attempt before its body has arrived, so that slow ones are limited as well: %s', async (path, failed) => {
  const clock = fakeClock();
  const few = () => createAttemptLimit(clock.now, { perAddress: 5, perTarget: 100 });
  const { app, services } = createHarness(
    { MONIKER_TRUSTED_PROXY_HEADER: 'x-forwarded-for', MONIKER_PUBLIC_URL: 'https://moniker.example' },
    { hookAttempts: few(), signInAttempts: few(), workspaceOfToken: async () => null },
  );
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', host: 'moniker.example' };
  const post = (body: BodyInit, address: string) =>
    app.request(`https://moniker.example${path}`, {
      method: 'POST',
      body,
      headers: { ...headers, 'x-forwarded-for': address },
      duplex: 'half',
    } as RequestInit);
  const slow = Array.from({ length: 6 }, slowBody);
  const begun = slow.slice(0, 5).map(({ body }) => post(body, '192.0.2.1'));
  await vi.waitFor(() => expect(slow.slice(0, 5).every(({ isRead }) => isRead())).toBe(true));
  const last = slow[5];
  // Refused unread; the rest of the body is dropped afterwards.
  const refused = post(last?.body ?? '', '192.0.2.1');
  last?.end();
  expect((await refused).status).toBe(429);
  expect((await post('a=b', '192.0.2.2')).status).toBe(failed);
  for (const { end } of slow.slice(0, 5)) end();
  expect((await Promise.all(begun)).map(({ status }) => status)).toEqual(begun.map(() => failed));
  expect(services.pools.strangerBodies.usedBy({ workspace: '192.0.2.1', keyId: '192.0.2.1' })).toBe(0);
});
