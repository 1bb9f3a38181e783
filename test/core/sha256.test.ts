import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256HexOfBytes } from '../../src/core/hash.ts';
import { sha256HexSync } from '../../src/core/sha256.ts';

describe('the synchronous SHA-256', () => {
  it('returns the digests of FIPS 180-4', () => {
    const of = (text: string): string => sha256HexSync(new TextEncoder().encode(text));
    expect(of('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(of('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(of('a'.repeat(1_000_000))).toBe('cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0');
  });

  it('returns what Web Crypto returns for every length around the block size', async () => {
    for (let length = 0; length <= 260; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255);
      expect([length, sha256HexSync(bytes)]).toEqual([length, await sha256HexOfBytes(bytes)]);
    }
  });

  it('returns what Web Crypto returns for any bytes, those in the middle of a buffer included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1_000 }), fc.nat(8), async (bytes, start) => {
        const part = bytes.subarray(start);
        expect(sha256HexSync(part)).toBe(await sha256HexOfBytes(part));
      }),
    );
  });
});
