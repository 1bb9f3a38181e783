import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mintApprovalToken, readApprovalToken } from '../../src/storage/approval-token.ts';
import { createMasterKey } from '../../src/storage/master-key.ts';

const master = createMasterKey('a master key of at least 32 characters');
const link = { session: 'a'.repeat(64), nonce: 'n0nce_-', expiresAt: Date.UTC(2026, 0, 2) };

describe('the token of an approval link', () => {
  it('can be read back, and is valid in a path', async () => {
    const token = await mintApprovalToken(master, link);
    expect(token).toMatch(/^[A-Za-z0-9_-]{100,200}$/);
    expect(await readApprovalToken(master, token)).toEqual(link);
  });

  it('is invalid under another master key, and with any character changed, removed or added', async () => {
    const token = await mintApprovalToken(master, link);
    expect(await readApprovalToken(createMasterKey('another master key of at least 32'), token)).toBeNull();
    for (let index = 0; index < token.length; index += 1) {
      for (const other of token[index] === 'A' ? ['B', ''] : ['A', '']) {
        expect(await readApprovalToken(master, token.slice(0, index) + other + token.slice(index + 1))).toBeNull();
      }
    }
    for (const added of ['A', '=', '.', ' ', '\n']) expect(await readApprovalToken(master, token + added)).toBeNull();
  });

  it('is invalid for any text that was not created here', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await readApprovalToken(master, text)).toBeNull();
      }),
    );
    expect(await readApprovalToken(master, 'A'.repeat(100_000))).toBeNull();
  });

  it('needs a master key', async () => {
    await expect(mintApprovalToken(createMasterKey(null), link)).rejects.toMatchObject({ code: 'not_configured' });
  });
});
