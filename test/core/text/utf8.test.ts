import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Length } from '../../../src/core/text/utf8.ts';

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
