import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexPhrases, toPhrase, toUnits } from '../../../src/core/text/phrase-index.ts';

const has = (text: string, phrase: string) => indexPhrases(text).has(toPhrase(toUnits(phrase).flat()));

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
    expect(has('picturesque', 'picture')).toBe(false);
    for (const form of ['pictures', 'pictured', 'picturing']) expect(has(form, 'picture'), form).toBe(true);
    for (const form of ['quizzes', 'summaries', 'summary']) expect(has(form, form === 'quizzes' ? 'quiz' : 'summary'), form).toBe(true);
    expect(has('宿題の写真', '写真')).toBe(true);
    expect(has('사진을 찍다', '사진')).toBe(true);
  });

  it('finds words that are written apart, together or with a hyphen, and none over the end of a sentence', () => {
    for (const text of ['a mindmap', 'A mind map?', 'mind-map', 'mind\u2011map', 'mind\u00admap', 'mind\u200bmap', 'Mind\nMap'])
      for (const phrase of ['mindmap', 'mind map']) expect(has(text, phrase), text).toBe(true);
    expect(has('Do you mind? Map it.', 'mindmap')).toBe(false);
    expect(has('remind mapping', 'mindmap')).toBe(false);
  });

  it('finds nothing that is not a word, and nothing in an empty text', () => {
    expect(has('anything', '')).toBe(false);
    expect(has('anything', '?!')).toBe(false);
    expect(has('', 'anything')).toBe(false);
    expect(has('a', 'a a')).toBe(false);
  });

  it('finds every sequence of words of a text, however it is spaced, and no other', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'é', '写', '真', 'constructor');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(word, { minLength: 1, maxLength: 4 }), (text, phrase) => {
        const plain = (words: readonly string[]) => words.map((one) => (one === 'é' ? 'e' : one)).join('');
        const isThere = text.some((_, from) =>
          text.slice(from).some((_, more) => plain(text.slice(from, from + more + 1)) === plain(phrase)),
        );
        expect(has(text.join(' '), phrase.join(', '))).toBe(isThere);
      }),
    );
  });
});
