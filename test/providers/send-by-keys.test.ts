import { describe, expect, it } from 'vitest';
import { sendByKeys } from '../../src/providers/send-by-keys.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';

let count = 0;

/** A provider with keys of new names, since what is known of keys is remembered. */
function provider(size: number) {
  count += 1;
  const clock = fakeClock();
  const log = keptLog();
  const access = {
    name: 'acme',
    keys: Array.from({ length: size }, (_, index) => ({ authorization: `Bearer key ${count} ${index + 1}` })),
  };
  const sent: number[] = [];
  const replies = new Map<number, () => Response>();
  const send = () =>
    sendByKeys({ clock, log }, access, async ({ authorization = '' }) => {
      const key = Number(authorization.at(-1));
      sent.push(key);
      return replies.get(key)?.() ?? new Response('ok');
    });
  const status = async (): Promise<number> => (await send()).status;
  return { clock, log, sent, replies, send, status };
}
const limited = (seconds: number) => () => new Response('no', { status: 429, headers: { 'retry-after': String(seconds) } });

describe('a provider with several keys', () => {
  it('uses them in turn', async () => {
    const { sent, status } = provider(3);
    for (let index = 0; index < 6; index += 1) expect(await status()).toBe(200);
    expect([...sent].sort()).toEqual([1, 1, 2, 2, 3, 3]);
    expect(new Set(sent.slice(0, 3)).size).toBe(3);
  });

  it('puts a limited key aside until its Retry-After, and sends the request with the next', async () => {
    const { sent, status, replies, clock } = provider(2);
    replies.set(1, limited(30));
    for (let index = 0; index < 6; index += 1) expect(await status()).toBe(200);
    expect(sent.filter((key) => key === 1)).toEqual([1]);
    replies.clear();
    await clock.advance(30_000);
    sent.length = 0;
    for (let index = 0; index < 4; index += 1) await status();
    expect(sent.filter((key) => key === 1)).toHaveLength(2);
  });

  it.each([401, 402])('puts a key aside that is refused with %d, and logs its number as an error without the key', async (refusal) => {
    const { sent, status, replies, log } = provider(2);
    replies.set(2, () => new Response('no', { status: refusal }));
    for (let index = 0; index < 6; index += 1) expect(await status()).toBe(200);
    expect(sent.filter((key) => key === 2)).toEqual([2]);
    expect(log.lines).toEqual([
      {
        level: 'error',
        message: 'a key of a provider was refused',
        fields: { provider: 'acme', key: 2, status: refusal, pauseMs: 30_000 },
      },
    ]);
  });

  it('returns the refusal when no key works, and then asks with one key instead of all', async () => {
    const { sent, status, replies } = provider(3);
    for (const key of [1, 2, 3]) replies.set(key, limited(60));
    expect(await status()).toBe(429);
    expect([...sent].sort()).toEqual([1, 2, 3]);
    expect(await status()).toBe(429);
    expect(sent).toHaveLength(4);
  });

  it('does not blame a key for other failures', async () => {
    const { sent, status, send, replies } = provider(2);
    for (const key of [1, 2]) replies.set(key, () => new Response('no', { status: key === 1 ? 500 : 403 }));
    expect([await status(), await status()].sort()).toEqual([403, 500]);
    for (const key of [1, 2])
      replies.set(key, () => {
        throw new Error('no connection');
      });
    await expect(send()).rejects.toThrow('no connection');
    replies.clear();
    for (let index = 0; index < 4; index += 1) expect(await status()).toBe(200);
    expect(sent).toHaveLength(7);
  });
});
