/** A flood of unsigned events is refused before it is read or verified, and only where it comes from. */
import { expect, it } from 'vitest';
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
