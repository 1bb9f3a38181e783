import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base62, keyPayload, keyShape, parseKey } from '../../../src/core/people/key.ts';

const text62 = (length: number) => fc.string({ unit: fc.constantFrom(...base62), minLength: length, maxLength: length });
const workspace = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/);
const parts = fc.record({
  workspace,
  id: text62(keyShape.idLength),
  secret: text62(keyShape.secretLength),
  check: text62(keyShape.checkLength),
});

describe('the form of a key', () => {
  it('parses to the parts it was built from', () => {
    fc.assert(
      fc.property(parts, (key) => {
        expect(parseKey(keyPayload(key) + key.check)).toEqual(key);
      }),
    );
  });

  it('is rejected if it is cut, extended or contains an invalid character', () => {
    const key = `mk_default_${'a'.repeat(12)}_${'b'.repeat(32)}`;
    expect(parseKey(key)).not.toBeNull();
    for (const wrong of [
      key.slice(1),
      key.slice(0, -1),
      `${key}b`,
      `${key}\n`,
      ` ${key}`,
      key.toUpperCase(),
      key.replace('a_', '_a'),
      key.replace('b', 'é'),
    ]) {
      expect(parseKey(wrong)).toBeNull();
    }
    expect(parseKey('')).toBeNull();
    expect(parseKey(`mk_${'a'.repeat(100_000)}`)).toBeNull();
  });

  it('rejects a text that does not have four parts', () => {
    fc.assert(fc.property(fc.string(), (text) => text.split('_').length === 4 || parseKey(text) === null));
  });
});
