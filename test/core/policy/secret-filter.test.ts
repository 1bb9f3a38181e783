import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSecrets, SecretFilter, removeSecrets, type SecretPatterns } from '../../../src/core/policy/secret-filter.ts';
import { secretSpellings } from '../../../src/core/policy/secret-spellings.ts';

const key = 'sk-live/AbC+9="0123456789';
const compiled = (...values: string[]): SecretPatterns => {
  const secrets = compileSecrets(values);
  if (secrets === null) throw new Error('nothing to look for');
  return secrets;
};
const utf8 = new TextEncoder();

/** Passes a text through a filter, cut at these places. */
function filtered(text: string, secrets: SecretPatterns, cuts: readonly number[]): string {
  const bytes = utf8.encode(text);
  const filter = new SecretFilter(secrets);
  const pieces: Uint8Array[] = [];
  const places = [...new Set(cuts.map((cut) => cut % (bytes.byteLength + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.byteLength]) {
    pieces.push(filter.push(bytes.subarray(from, to)).slice());
    from = to;
  }
  pieces.push(filter.end());
  return new TextDecoder().decode(Uint8Array.from(pieces.flatMap((piece) => [...piece])));
}

describe('a filter of secrets', () => {
  it.each(secretSpellings(key))('removes %s, wherever the chunks are cut', (form) => {
    const secrets = compiled(key);
    const text = `data: {"a": "é${form}ü"}\n\n`;
    for (let cut = 0; cut <= utf8.encode(text).byteLength; cut += 1) {
      const out = filtered(text, secrets, [cut]);
      expect(out).toContain('[secret]');
      expect(out).not.toContain(form);
    }
    const single = filtered(
      text,
      secrets,
      Array.from({ length: 500 }, (_, index) => index),
    );
    expect(single).toContain('[secret]');
    expect(single).not.toContain(form);
  });

  it('leaves a text without a secret unchanged, whatever its bytes and chunks', () => {
    const near = fc.constantFrom('sk-', 'sk-live', key.slice(0, -1), key.slice(1), '\n', 'é', '\u0080\u0090', '[secret]', 'c2st');
    fc.assert(
      fc.property(fc.array(fc.oneof(near, fc.string({ unit: 'binary' }))), fc.array(fc.nat()), (parts, cuts) => {
        const text = parts.join('').toWellFormed();
        const secrets = compiled(key);
        fc.pre(removeSecrets(text, secrets) === text);
        expect(filtered(text, secrets, cuts)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('removes secrets that overlap, repeat and begin in one another', () => {
    const secrets = compiled('aaaaaaaa0', 'aaaaaaaa0aaaaaaaa1', 'abababab-abababab');
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', '-', '0', '1', 'aaaaaaaa0', 'abababab-'), { maxLength: 40 }),
        fc.array(fc.nat()),
        (parts, cuts) => {
          const out = filtered(parts.join(''), secrets, cuts);
          for (const secret of ['aaaaaaaa0', 'aaaaaaaa0aaaaaaaa1', 'abababab-abababab']) expect(out).not.toContain(secret);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('returns a chunk without a secret unchanged and holds back only a possible secret', () => {
    const filter = new SecretFilter(compiled(key));
    const piece = utf8.encode('data: {"delta":"Hello"}\n\n');
    expect(filter.push(piece)).toBe(piece);
    expect(new TextDecoder().decode(filter.push(utf8.encode('so sk-live')))).toBe('so ');
    expect(new TextDecoder().decode(filter.push(utf8.encode('ly')))).toBe('sk-lively');
    expect(filter.end().byteLength).toBe(0);
  });

  it('searches for the credential in a header, and for no common placeholder', () => {
    expect(removeSecrets('Bearer abcdefgh12 or abcdefgh12', compiled('Bearer abcdefgh12'))).toBe('Bearer [secret] or [secret]');
    for (const value of ['', 'none', 'ollama', 'anything', 'Bearer anything', 'short-7']) expect(compileSecrets([value])).toBeNull();
  });

  it('holds back less than the longest spelling, even if every byte could begin a secret', () => {
    const secrets = compiled(`${'a'.repeat(200)}b`);
    const filter = new SecretFilter(secrets);
    let out = 0;
    for (let index = 1; index <= 2_000; index += 1) {
      out += filter.push(utf8.encode('a')).byteLength;
      expect(index - out).toBeLessThan(secrets.longest);
    }
    expect(out + filter.end().byteLength).toBe(2_000);
  });
});
