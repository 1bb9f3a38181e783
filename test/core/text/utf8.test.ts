import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutToBytes, utf8Length } from '../../../src/core/text/utf8.ts';

it('returns the encoded size of any text', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom('\ud800', '\udc00', 'é', '€', '😀')),
      }),
      (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      },
    ),
  );
});

it('cuts a text at a number of bytes, without half of a character', () => {
  expect(cutToBytes('plain', 5)).toBe('plain');
  expect(cutToBytes('plain', 4)).toBe('plai');
  expect(cutToBytes('€uro', 3)).toBe('€');
  expect(cutToBytes('a€uro', 3)).toBe('a');
  expect(cutToBytes('😀', 3)).toBe('');
});
