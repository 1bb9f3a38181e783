import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinParagraphs, oneLine, splitParagraphs } from '../../../src/core/text/paragraphs.ts';

describe('paragraphs', () => {
  it('skip absent and empty texts', () => {
    expect(joinParagraphs('a', '', undefined, null, 'b')).toBe('a\n\nb');
    expect(joinParagraphs(undefined, '')).toBe('');
  });

  it('are the same however a text was split at blank lines', () => {
    const paragraph = fc.stringMatching(/^[a-z ]*[a-z]$/);
    fc.assert(
      fc.property(fc.array(fc.array(paragraph, { minLength: 1 })), (steps) => {
        const texts = steps.map((step) => joinParagraphs(...step));
        expect(splitParagraphs(joinParagraphs(...texts))).toEqual(steps.flat().map((text) => text.trim()));
      }),
    );
  });
});

describe('untrusted text on one line', () => {
  it('contains no line break of any kind', () => {
    expect(oneLine(' a\r\n- b\u2028c\u0085\u2029 d\u0000e\t\tf ')).toBe('a - b c d e f');
  });
});
