import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex, sha256HexOfBytes, sha256HexSync } from '../../src/core/hash.ts';

describe('sha256Hex', () => {
  it('agrees with the published vectors', async () => {
    expect(await sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('sha256HexSync', () => {
  it('returns what Web Crypto returns, also for bytes inside a larger buffer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1_000 }), fc.nat(8), async (bytes, start) => {
        const part = bytes.subarray(start);
        expect(sha256HexSync(part)).toBe(await sha256HexOfBytes(part));
      }),
    );
  });
});

describe('canonicalJson', () => {
  it('sorts the keys of every object and leaves arrays alone', () => {
    expect(canonicalJson({ b: [{ y: 1, x: 2 }, 3], a: { d: null, c: 'é' } })).toBe('{"a":{"c":"é","d":null},"b":[{"x":2,"y":1},3]}');
  });

  it('omits values without JSON text, as JSON.stringify does', () => {
    expect(canonicalJson({ a: undefined, b: [undefined], c: Number.NaN })).toBe('{"b":[null],"c":null}');
  });

  it('gives the same text for any order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });

  it('keeps a key named __proto__ as data', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
  });

  it('rejects values that nest too deep', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => canonicalJson(cycle)).toThrow(RangeError);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
