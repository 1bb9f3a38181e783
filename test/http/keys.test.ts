/** Warnings of keys, which say what to do. */
import { expect, it, vi } from 'vitest';
import { bodyOf, createHarness } from './harness.ts';

it('A key whose earlier secret is still used has a warning, until it is revoked', async () => {
  const h = createHarness();
  const made = await bodyOf(await h.send('POST', '/v1/keys', { name: 'bot', scopes: ['chat'] }));
  const record = await h.catalog.key(made.id);
  const used = { ...record, previousUsedAt: '2026-01-01T00:00:00.000Z', previousExpiresAt: '2026-01-02T00:00:00.000Z' };
  const read = vi.spyOn(h.catalog, 'key').mockResolvedValue(used);
  expect((await bodyOf(await h.send('GET', `/v1/keys/${made.id}`))).warnings).toEqual([
    { path: 'previousUsedAt', message: expect.stringContaining('2026-01-01T00:00:00.000Z, which works until 2026-01-02T00:00:00.000Z') },
  ]);
  read.mockResolvedValue({ ...used, revokedAt: '2026-01-01T12:00:00.000Z' });
  expect(await bodyOf(await h.send('GET', `/v1/keys/${made.id}`))).not.toHaveProperty('warnings');
});
