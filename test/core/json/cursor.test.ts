import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, decodeNumberCursor, decodeTextCursor, encodeCursor } from '../../../src/core/json/cursor.ts';

describe('a cursor', () => {
  it('gives back the position that it was created from', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100, unit: 'grapheme' }),
        (name) => decodeTextCursor('tools', encodeCursor('tools', name)) === name,
      ),
    );
    fc.assert(fc.property(fc.maxSafeNat(), (number) => decodeNumberCursor('keys', encodeCursor('keys', number)) === number));
    expect(decodeTextCursor('tools', undefined)).toBeUndefined();
  });

  it('of another list or another kind of list is refused', () => {
    expect(() => decodeTextCursor('agent', encodeCursor('toolset', 'a'))).toThrow('cursor');
    expect(() => decodeNumberCursor('keys', encodeCursor('keys', 'a'))).toThrow('cursor');
    expect(() => decodeTextCursor('keys', encodeCursor('keys', 1))).toThrow('cursor');
    expect(() => decodeNumberCursor('keys', encodeCursor('keys', -1))).toThrow('cursor');
  });

  it('may have any position, which its list checks', () => {
    const isPair = (value: unknown): value is [string, number] => Array.isArray(value) && value.length === 2;
    expect(decodeCursor('logs', encodeCursor('logs', ['a', 1]), isPair)).toEqual(['a', 1]);
    for (const position of ['a', 1, ['a'], { a: 1 }, null])
      expect(() => decodeCursor('logs', encodeCursor('logs', position), isPair)).toThrow('cursor');
  });

  it('never fails in another way, for any text', () => {
    const refused = expect.objectContaining({ code: 'invalid_request', extra: { issues: [expect.objectContaining({ path: 'cursor' })] } });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.json().map((text) => btoa(encodeURIComponent(text)).replace(/=+$/, '')),
        ),
        (text) => {
          let failure: unknown = 'it was accepted';
          try {
            decodeTextCursor('tools', text);
          } catch (error) {
            failure = error;
          }
          expect(failure).toEqual(refused);
        },
      ),
    );
    expect(() => decodeTextCursor('tools', 'A'.repeat(100_000))).toThrow('cursor');
  });
});
