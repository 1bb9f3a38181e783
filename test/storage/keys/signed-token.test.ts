import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import {
  createSignInNonce,
  mintApprovalToken,
  mintSignInState,
  readApprovalToken,
  readSignInState,
} from '../../../src/storage/keys/signed-token.ts';

const master = createMasterKey('a master key of at least 32 characters');
const origin = { keyId: 'k1', at: Date.UTC(2026, 0, 1) };
const link = { session: 'a'.repeat(64), nonce: 'n0nce_-', expiresAt: Date.UTC(2026, 0, 2), origin };

describe('the token of an approval link', () => {
  it('can be read back, and is valid in a path', async () => {
    const token = await mintApprovalToken(master, link);
    expect(token).toMatch(/^[A-Za-z0-9_-]{100,200}$/);
    expect(await readApprovalToken(master, token)).toEqual(link);
    const ofRoot = { ...link, origin: { ...origin, keyId: 'root', rootProof: 'p_-' } };
    expect(await readApprovalToken(master, await mintApprovalToken(master, ofRoot))).toEqual(ofRoot);
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

const state = { workspace: 'main', server: 'docs', nonce: 'n0nce_-', expiresAt: Date.UTC(2026, 0, 2), owner: null, browser: null, origin };

describe('the state of a sign-in', () => {
  it('can be read back, and is valid in a URL', async () => {
    const text = await mintSignInState(master, state);
    expect(text).toMatch(/^[A-Za-z0-9_-]{60,200}$/);
    expect(await readSignInState(master, text)).toEqual(state);
    const ofUser = { ...state, owner: 'user-ada', browser: 'a1b2' };
    expect(await readSignInState(master, await mintSignInState(master, ofUser))).toEqual(ofUser);
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
    const link = await mintApprovalToken(master, { session: 'main', nonce: 'docs', expiresAt: state.expiresAt, origin });
    expect(await readSignInState(master, link)).toBeNull();
  });

  it('has a different nonce each time', () => {
    const nonces = Array.from({ length: 100 }, createSignInNonce);
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{24}$/);
  });
});
