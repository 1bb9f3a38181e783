import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mintApprovalToken } from '../../src/storage/approval-token.ts';
import { createMasterKey } from '../../src/storage/master-key.ts';
import { createSignInNonce, mintSignInState, readSignInState } from '../../src/storage/sign-in-state.ts';

const master = createMasterKey('a master key of at least 32 characters');
const state = { workspace: 'main', server: 'docs', nonce: 'n0nce_-', expiresAt: Date.UTC(2026, 0, 2) };

describe('the state of a sign-in', () => {
  it('can be read back, and is valid in a URL', async () => {
    const text = await mintSignInState(master, state);
    expect(text).toMatch(/^[A-Za-z0-9_-]{60,200}$/);
    expect(await readSignInState(master, text)).toEqual(state);
  });

  it('is invalid under another master key, with any character changed, and for any text that was not created here', async () => {
    const text = await mintSignInState(master, state);
    expect(await readSignInState(createMasterKey('another master key of at least 32'), text)).toBeNull();
    for (let index = 0; index < text.length; index += 1) {
      const other = text[index] === 'A' ? 'B' : 'A';
      expect(await readSignInState(master, text.slice(0, index) + other + text.slice(index + 1))).toBeNull();
    }
    await fc.assert(
      fc.asyncProperty(fc.string(), async (any) => {
        expect(await readSignInState(master, any)).toBeNull();
      }),
    );
  });

  it('is not valid as an approval link, nor the other way round', async () => {
    const link = await mintApprovalToken(master, { session: 'main', nonce: 'docs', expiresAt: state.expiresAt });
    expect(await readSignInState(master, link)).toBeNull();
  });

  it('has a different nonce each time', () => {
    const nonces = Array.from({ length: 100 }, createSignInNonce);
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{24}$/);
  });
});
