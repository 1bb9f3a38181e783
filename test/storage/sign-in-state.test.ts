import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../../src/storage/approval-link.ts';
import { createMasterKey } from '../../src/storage/master-key.ts';
import { createNonce, mintState, readState } from '../../src/storage/sign-in-state.ts';

const master = createMasterKey('a master key of at least 32 characters');
const state = { workspace: 'main', server: 'docs', nonce: 'n0nce_-', expiresAt: Date.UTC(2026, 0, 2) };

describe('the state of a sign-in', () => {
  it('can be read back, and is valid in a URL', async () => {
    const text = await mintState(master, state);
    expect(text).toMatch(/^[A-Za-z0-9_-]{60,200}$/);
    expect(await readState(master, text)).toEqual(state);
  });

  it('is invalid under another master key, with any character changed, and for any text that was not created here', async () => {
    const text = await mintState(master, state);
    expect(await readState(createMasterKey('another master key of at least 32'), text)).toBeNull();
    for (let index = 0; index < text.length; index += 1) {
      const other = text[index] === 'A' ? 'B' : 'A';
      expect(await readState(master, text.slice(0, index) + other + text.slice(index + 1))).toBeNull();
    }
    await fc.assert(
      fc.asyncProperty(fc.string(), async (any) => {
        expect(await readState(master, any)).toBeNull();
      }),
    );
  });

  it('is not valid as an approval link, nor the other way round', async () => {
    const link = await mintToken(master, { session: 'main', nonce: 'docs', expiresAt: state.expiresAt });
    expect(await readState(master, link)).toBeNull();
  });

  it('has a different nonce each time', () => {
    const nonces = Array.from({ length: 100 }, createNonce);
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{24}$/);
  });
});
