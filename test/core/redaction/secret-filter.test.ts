import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchBytes, SecretFilter } from '../../../src/core/redaction/secret-filter.ts';
import type { SecretMatcher } from '../../../src/core/redaction/secret-matcher.ts';
import { secretSpellings } from '../../../src/core/redaction/secret-spellings.ts';
import { runs } from '../../selection.ts';

const key = 'sk-live/AbC+9="0123456789';
const utf8 = new TextEncoder();

/** Passes a text through a filter, cut at these places. */
function filtered(text: string, secrets: SecretMatcher, cuts: readonly number[]): string {
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
    const secrets = matchBytes([key]);
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
        const secrets = matchBytes([key]);
        fc.pre(!secretSpellings(key).some((form) => text.includes(form)));
        expect(filtered(text, secrets, cuts)).toBe(text);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('removes secrets that overlap, repeat and begin in one another', () => {
    const secrets = matchBytes(['aaaaaaaa0', 'aaaaaaaa0aaaaaaaa1', 'abababab-abababab']);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', '-', '0', '1', 'aaaaaaaa0', 'abababab-'), { maxLength: 40 }),
        fc.array(fc.nat()),
        (parts, cuts) => {
          const out = filtered(parts.join(''), secrets, cuts);
          for (const secret of ['aaaaaaaa0', 'aaaaaaaa0aaaaaaaa1', 'abababab-abababab']) expect(out).not.toContain(secret);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it('marks what overlapping secrets share once, wherever the chunks are cut', () => {
    const secrets = matchBytes(['secret-one-two', 'one-two-three', 'two', 'long-one-two-long']);
    for (let cut = 0; cut <= 30; cut += 1) {
      expect(filtered('a secret-one-two-three b', secrets, [cut])).toBe('a [secret] b');
      expect(filtered('a long-one-two-lon b', secrets, [cut])).toBe('a long-one-[secret]-lon b');
      expect(filtered('a twotwo b', secrets, [cut])).toMatch(/^a (\[secret\]){1,2} b$/);
    }
  });

  it('returns a chunk without a secret unchanged and holds back only a possible secret', () => {
    const filter = new SecretFilter(matchBytes([key]));
    const piece = utf8.encode('data: {"delta":"Hello"}\n\n');
    expect(filter.push(piece)).toBe(piece);
    expect(new TextDecoder().decode(filter.push(utf8.encode('so sk-live')))).toBe('so ');
    expect(new TextDecoder().decode(filter.push(utf8.encode('ly')))).toBe('sk-lively');
    expect(filter.end().byteLength).toBe(0);
  });

  it('holds back less than the longest spelling, even if every byte could begin a secret', () => {
    const value = `${'a'.repeat(200)}b`;
    const longest = Math.max(...secretSpellings(value).map(({ length }) => length));
    const filter = new SecretFilter(matchBytes([value]));
    let out = 0;
    for (let index = 1; index <= 2_000; index += 1) {
      out += filter.push(utf8.encode('a')).byteLength;
      expect(index - out).toBeLessThan(longest);
    }
    expect(out + filter.end().byteLength).toBe(2_000);
  });
});
