import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexPhrases, toUnits } from '../../../src/core/text/phrase-index.ts';

const has = (text: string, phrase: string) => indexPhrases(text).has(toUnits(phrase).flat());

describe('toUnits', () => {
  it('normalizes case, accents and widths, and splits at everything else', () => {
    expect(toUnits('Fotografía, d’un Élève!')).toEqual([['fotografia'], ['d'], ['un'], ['eleve']]);
    expect(toUnits('ＦＵＬＬ ｗｉｄｔｈ ﬁle x² 3,5')).toEqual([['full'], ['width'], ['file'], ['x2'], ['3'], ['5']]);
    expect(toUnits('İstanbul')).toEqual([['istanbul']]);
    expect(toUnits(' -- \n')).toEqual([]);
  });

  it('treats each character as a word in scripts without spaces, with its marks', () => {
    expect(toUnits('PDFを開く 사진을')).toEqual([
      ['pdf', 'を', '開', 'く'],
      ['사', '진', '을'],
    ]);
    expect(toUnits('น้ำ')[0]?.join('')).toBe('น้ำ'.normalize('NFKC'));
    expect(toUnits('ｶﾞ')).toEqual([['ガ']]);
  });
});

describe('indexWords', () => {
  it('finds sequences of whole words', () => {
    expect(has('Please take a picture.', 'Take a picture')).toBe(true);
    expect(has('take the picture', 'take a picture')).toBe(false);
    expect(has('a picture take', 'take a picture')).toBe(false);
    expect(has('pictures', 'picture')).toBe(false);
    expect(has('宿題の写真', '写真')).toBe(true);
    expect(has('사진을 찍다', '사진')).toBe(true);
  });

  it('finds nothing that is not a word, and nothing in an empty text', () => {
    expect(has('anything', '')).toBe(false);
    expect(has('anything', '?!')).toBe(false);
    expect(has('', 'anything')).toBe(false);
    expect(has('a', 'a a')).toBe(false);
  });

  it('finds every sequence of words of a text and no other', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'é', '写', '真', 'constructor');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(word, { minLength: 1, maxLength: 4 }), (text, phrase) => {
        const plain = (words: readonly string[]) => words.map((one) => (one === 'é' ? 'e' : one));
        const isThere = ` ${plain(text).join(' ')} `.includes(` ${plain(phrase).join(' ')} `);
        expect(has(text.join(' '), phrase.join(', '))).toBe(isThere);
      }),
    );
  });
});
