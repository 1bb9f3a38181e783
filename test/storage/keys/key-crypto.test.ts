import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKey } from '../../../src/core/people/key.ts';
import { signerOfKey, keyHash, mintKey } from '../../../src/storage/keys/key-crypto.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { openValue, sealValue } from '../../../src/storage/keys/secret-box.ts';

const master = createMasterKey('a master key for these tests only');

describe('minted keys', () => {
  it('are well formed, genuine, and found by their hash', async () => {
    const minted = await mintKey(master, 'default');
    const key = parseKey(minted.key);
    if (key === null) return expect.fail('not a key');
    expect(key).toMatchObject({ workspace: 'default', id: minted.id });
    expect(await signerOfKey([master], key)).toBe(master);
    expect(await keyHash(master, key)).toBe(minted.hash);
    expect(await signerOfKey([master], { ...key, workspace: 'other' })).toBeNull();
    expect(await signerOfKey([createMasterKey('another')], key)).toBeNull();
  });

  it('have hashes that depend on the workspace and the master key', async () => {
    const parts = { workspace: 'default', id: 'a'.repeat(12), secret: 'b'.repeat(24) };
    const hashes = [
      await keyHash(master, parts),
      await keyHash(master, { ...parts, workspace: 'other' }),
      await keyHash(createMasterKey('another'), parts),
    ];
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('sealed values', () => {
  it('open to what was sealed, and no two seals are equal', async () => {
    const place = { workspace: 'default', kind: 'secret', name: 'X' } as const;
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (value) => {
        const [one, two] = [await sealValue(master, place, value), await sealValue(master, place, value)];
        expect(one).not.toBe(two);
        expect(await openValue(master, place, one)).toBe(value);
      }),
      { numRuns: 30 },
    );
  });

  it('do not open when one character was changed', async () => {
    const place = { workspace: 'default', kind: 'secret', name: 'X' } as const;
    const sealed = await sealValue(master, place, 'the value');
    const last = sealed.at(-5) === 'A' ? 'B' : 'A';
    await expect(openValue(master, place, sealed.slice(0, -5) + last + sealed.slice(-4))).rejects.toMatchObject({ code: 'internal' });
    await expect(openValue(master, place, 'nonsense')).rejects.toMatchObject({ code: 'internal' });
  });

  it('need a master key, and the message says how to set one', async () => {
    await expect(sealValue(createMasterKey(null), { workspace: 'default', kind: 'secret', name: 'X' }, 'v')).rejects.toMatchObject({
      code: 'not_configured',
      detail: expect.stringContaining('MONIKER_MASTER_KEY'),
    });
  });
});
