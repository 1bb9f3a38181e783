import { describe, expect, it } from 'vitest';
import { showInvisible, terminalJson, terminalText } from '../../../src/core/text/visible-text.ts';

describe('text in a terminal', () => {
  it.each([
    ['a color', '\u001b[31mred\u001b[0m', '<U+001B>[31mred<U+001B>[0m'],
    ['a move of the cursor', 'a\u001b[2A\u001b[Kb', 'a<U+001B>[2A<U+001B>[Kb'],
    [
      'a link (OSC 8)',
      '\u001b]8;;http://evil.example\u0007x\u001b]8;;\u0007',
      '<U+001B>]8;;http://evil.example<U+0007>x<U+001B>]8;;<U+0007>',
    ],
    ['a write to the clipboard (OSC 52)', '\u001b]52;c;ZXZpbA==\u001b\\', '<U+001B>]52;c;ZXZpbA==<U+001B>\\'],
    ['a control of eight bits', '\u009b2J\u009d0;title\u009c\u0090q\u0085', '<U+009B>2J<U+009D>0;title<U+009C><U+0090>q<U+0085>'],
    ['a bell, a null and a delete', '\u0007\u0000\u007f', '<U+0007><U+0000><U+007F>'],
    ['a return to the start of the line', 'safe\rrm -rf', 'safe<U+000D>rm -rf'],
    ['a backspace', 'rm\b\bls', 'rm<U+0008><U+0008>ls'],
    ['a vertical tab and a form feed', 'a\u000bb\u000cc', 'a<U+000B>b<U+000C>c'],
    ['text from right to left', 'a\u202eb\u2066c\u2069\u061c', 'a<U+202E>b<U+2066>c<U+2069><U+061C>'],
    ['characters without width', 'a\u200bb\ufeffc\u2060', 'a<U+200B>b<U+FEFF>c<U+2060>'],
    ['other ends of lines', 'a\u2028b\u2029c', 'a<U+2028>b<U+2029>c'],
    ['hidden tags', 'a\u{e0041}\u{e0042}', 'a<U+E0041><U+E0042>'],
    ['tags after a flag that are no region', '\u{1f3f4}\u{e0041}\u{e007f}', '\u{1f3f4}<U+E0041><U+E007F>'],
    ['half a character', 'a\ud83d', 'a<U+D83D>'],
    ['private use', '\ue000', '<U+E000>'],
  ])('shows %s', (_, text, shown) => {
    expect(terminalText(text)).toBe(shown);
    // What is shown once is not changed again.
    expect(terminalText(shown)).toBe(shown);
  });

  it.each([
    ['tabs and line feeds', 'a\tb\nc'],
    ['emoji with joiners and variation selectors', '👩‍💻 👨‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈 👍🏽'],
    ['flags of countries and regions', '🇩🇪 \u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
    ['Persian', 'می‌خواهم'],
    ['Hindi', 'क्‍ष क्‌ष'],
    ['Mongolian', 'ᠠ᠋'],
    ['a Japanese name with a variant', '葛\u{e0100}城'],
    ['accents, and scripts from right to left', 'é e\u0301 שלום مرحبا'],
  ])('keeps %s', (_, text) => {
    expect(terminalText(text)).toBe(text);
    expect(terminalJson(text)).toBe(JSON.stringify(text));
  });

  it('may end lines with CR LF, and hides no CR', () => {
    expect(terminalText('a\r\nb\r\n\u0007')).toBe('a\nb\n<U+0007>');
    expect(terminalText('a\r\r\nb')).toBe('a<U+000D>\nb');
  });

  it('is read once, however long it is', () => {
    const text = `${'\u{1f3f4}\u{e0067}'.repeat(200_000)}\u001b`;
    expect(terminalText(text).endsWith('<U+001B>')).toBe(true);
  });
});

describe('JSON in a terminal', () => {
  it('has no control or hidden character, and parses to the same value', () => {
    const value = { 'key\u202e\u009b': ['\u001b[2J\u0085\u007f\u{e0041}\ue000\u2028', { emoji: '👩‍💻', persian: 'می‌خواهم' }, 1, null] };
    const text = terminalJson(value);
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2028\u{e0041}\ue000]/u);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toContain('👩‍💻');
    expect(text).toContain('\\u202e\\u009b');
  });
});

it('shows also joiners where a target must be what it looks like', () => {
  expect(showInvisible('a\u200db')).toBe('a<U+200D>b');
});
