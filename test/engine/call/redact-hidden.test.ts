/** Secrets that are returned changed on purpose: each encoding with each canary, alone and inside a text. */
import { describe, expect, it, vi } from 'vitest';
import { contentText, type ContentBlock, textResult } from '../../../src/core/tools/tool.ts';
import { redactorFor } from '../../redaction.ts';
import { selection } from '../../selection.ts';
import { sample } from '../../selection.ts';

const everyCanary = [
  'sk-live-4f9A2bC7dE1x',
  'ghp_0123456789abcdefABCDEF0123456789abcd',
  'correct-Horse.battery_staple',
  'xoxb-17653672481-QRWEftuii8',
  '9f86d081884c7d659a2feaa0c55ad015',
];
const canaries = sample('secrets to hide', everyCanary, (_, index) => index % 2 === 0);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const reverse = (text: string): string => [...text].reverse().join('');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const every = (text: string, count: number, by: string): string => text.match(new RegExp(`.{1,${count}}`, 'gs'))?.join(by) ?? '';
const codes = (text: string): number[] => [...Buffer.from(text)];
const percent = (text: string): string => hex(text).replace(/../g, '%$&');
function base32(text: string): string {
  const bits = codes(text)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const letters = bits.match(/.{1,5}/g)?.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]);
  return (letters ?? []).join('').padEnd(Math.ceil(bits.length / 40) * 8, '=');
}

const spellings: Record<string, (secret: string) => string> = {
  reversed: reverse,
  'in upper case': (secret) => secret.toUpperCase(),
  'in lower case': (secret) => secret.toLowerCase(),
  'with the case swapped': (secret) => [...secret].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(''),
  'reversed in upper case': (secret) => reverse(secret).toUpperCase(),
  'in base32': base32,
  'in base32 without padding': (secret) => base32(secret).replace(/=+$/, ''),
  'in base32 in lower case': (secret) => base32(secret).toLowerCase(),
  'in base32 with 1 byte before': (secret) => base32(`a${secret}`),
  'in base32 with 2 bytes before': (secret) => base32(`ab${secret}`),
  'in base32 with 3 bytes before': (secret) => base32(`abc${secret}z`),
  'in base32 with 4 bytes before': (secret) => base32(`abcd${secret}yz`),
  'in base64 with 1 byte before': (secret) => base64(`a${secret}`),
  'in base64 with 2 bytes before and 1 behind': (secret) => base64(`ab${secret}z`),
  'in base64url': (secret) => Buffer.from(`?${secret}?`).toString('base64url'),
  'in base64 in lines': (secret) => every(base64(secret), 8, '\n'),
  'in base64 reversed': (secret) => reverse(base64(secret)),
  'in base64 of the reversed': (secret) => base64(reverse(secret)),
  'in base64 of the upper case': (secret) => base64(secret.toUpperCase()),
  'in double base64': (secret) => base64(base64(secret)),
  'in double base64 with 1 byte before': (secret) => base64(base64(`a${secret}`)),
  'in double base64 with bytes before each': (secret) => base64(`xy${base64(`ab${secret}`)}`),
  'in base64 of hex': (secret) => base64(hex(secret)),
  'in hex of base64': (secret) => hex(base64(secret)),
  'in hex': hex,
  'in hex with blanks': (secret) => every(hex(secret), 2, ' '),
  'in hex with colons': (secret) => every(hex(secret).toUpperCase(), 2, ':'),
  'in hex as numbers': (secret) =>
    codes(secret)
      .map((code) => `0x${code.toString(16)}`)
      .join(', '),
  'in hex as escapes': (secret) =>
    codes(secret)
      .map((code) => `\\x${code.toString(16)}`)
      .join(''),
  'in hex reversed': (secret) => reverse(hex(secret)),
  'in decimal codes': (secret) => codes(secret).join(' '),
  'in a list of codes': (secret) => JSON.stringify(codes(secret)),
  'with blanks': (secret) => every(secret, 1, ' '),
  'with dashes': (secret) => every(secret, 1, '-'),
  'with underscores': (secret) => every(secret, 1, '_'),
  'with dots every 3': (secret) => every(secret, 3, '.'),
  'with commas every 4': (secret) => every(secret, 4, ', '),
  'with line breaks': (secret) => every(secret, 1, '\r\n'),
  'with escaped line breaks': (secret) => every(secret, 2, '\\n'),
  'with characters of no width': (secret) => every(secret, 1, '\u200b'),
  'with soft hyphens': (secret) => every(secret, 2, '\u00ad'),
  'in wide letters': (secret) => [...secret].map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).join(''),
  'quoted piece by piece': (secret) => every(secret, 5, "' + '"),
  'percent-encoded': percent,
  'percent-encoded in upper case': (secret) => percent(secret).toUpperCase(),
  'percent-encoded in part': (secret) => secret.slice(0, 6) + percent(secret.slice(6, 12)) + secret.slice(12),
  'percent-encoded twice': (secret) => percent(secret).replaceAll('%', '%25'),
  'in JSON escapes': (secret) =>
    codes(secret)
      .map((code) => `\\u00${code.toString(16)}`)
      .join(''),
  'in JSON escapes of a JSON text': (secret) =>
    codes(secret)
      .map((code) => `\\\\u00${code.toString(16).toUpperCase()}`)
      .join(''),
  'in escapes with braces': (secret) =>
    codes(secret)
      .map((code) => `\\u{${code.toString(16)}}`)
      .join(''),
  'in decimal character references': (secret) =>
    codes(secret)
      .map((code) => `&#${code};`)
      .join(''),
  'in hex character references': (secret) =>
    codes(secret)
      .map((code) => `&#x${code.toString(16).toUpperCase()};`)
      .join(''),
  'with named character references': (secret) => every(secret, 3, '&nbsp;'),
  'in rot13': (secret) =>
    secret.replace(/[a-z]/gi, (c) => String.fromCharCode(((c.charCodeAt(0) - (c <= 'Z' ? 65 : 97) + 13) % 26) + (c <= 'Z' ? 65 : 97))),
};

const redactorOf = (secret: string) => {
  const redactor = redactorFor();
  redactor.addSecret(secret);
  return redactor;
};

describe('a secret that is returned changed', () => {
  it.each(Object.entries(spellings))('is removed %s', async (_how, spell) => {
    for (const secret of canaries) {
      const written = spell(secret);
      for (const [before, behind] of [
        ['', ''],
        ['The value: <', '>, as you asked.'],
        ['é'.repeat(70_000), ' behind'],
      ] as const) {
        const shown = contentText((await redactorOf(secret).result(textResult(`${before}${written}${behind}`))).content);
        expect(shown, secret).toContain('[secret]');
        // What remains of an encoding are the characters that it shares with its neighbors.
        expect(shown.length - before.length - behind.length, `${secret}: ${shown.slice(-60)}`).toBeLessThan('[secret]'.length + 20);
      }
    }
  });

  it('is removed from blocks, values, names and lists that it is split over', async () => {
    for (const secret of canaries) {
      const [one, two] = [secret.slice(0, 9), secret.slice(9)];
      const blocks: ContentBlock[] = [one, two].map((text) => ({ type: 'text', text }));
      const { content, structuredContent } = await redactorOf(secret).result({
        isError: false,
        content: [
          ...blocks,
          { type: 'image', mimeType: 'image/png', data: base64(`..${secret}`) },
          { type: 'resource', resource: { uri: 'a://b', blob: base64(secret) } },
        ],
        structuredContent: { first: one, second: two, letters: [...secret], codes: codes(secret), names: { [one]: { [two]: 1 } } },
      });
      expect(content.map((block) => (block.type === 'text' ? block.text : block.type))).toEqual([
        '[secret]',
        '[secret]',
        '[secret]',
        'resource',
      ]);
      const shown = JSON.stringify([content, structuredContent]);
      for (const piece of [one, two, base64(secret), [...secret].join('","'), codes(secret).join()]) expect(shown).not.toContain(piece);
    }
  });

  it('is looked for in escapes without an end, and each is read once', async () => {
    const secret = 'sk-live-4f9A2bC7dE1x';
    const indexOf = vi.spyOn(String.prototype, 'indexOf');
    const text = `${'\\u{'.repeat(5_000)}${secret}`;
    const shown = await redactorOf(secret).content(text, 'The text');
    const searched = indexOf.mock.contexts.filter((of) => String(of).length > 100).length;
    indexOf.mockRestore();
    expect(shown.endsWith('[secret]')).toBe(true);
    expect(searched).toBeLessThan(10);
  });

  it('leaves similar texts unchanged', () => {
    const texts = [
      'A horse, correct: the battery is a staple.',
      '2026-11-23T00:10:00Z',
      'sk-live keys begin with sk-live',
      '9f86 d081 and more',
    ];
    for (const secret of canaries) for (const text of texts) expect(redactorOf(secret).text(text)).toBe(text);
    // For a short secret only the exact encodings are searched.
    for (const text of ['n e v e s', 'NEVES7', '7 seven', 'se-ven7']) expect(redactorOf('seven7').text(text)).toBe(text);
    expect(redactorOf('seven7').text('it is seven7.')).toBe('it is [secret].');
    const data = {
      rows: [
        [1, 2],
        ['', 'se', 'ven7'],
      ],
      none: null,
    };
    expect(redactorOf('seven7').data(data)).toBe(data);
  });

  it('is found at every position around the border of a piece', async () => {
    const secret = 'sk-live-4f9A2bC7dE1x';
    for (let before = 65_500; before < 65_560; before += selection === 'all' ? 1 : 7)
      expect((await redactorOf(secret).content(`${'.'.repeat(before)}${secret}%20`, 'The text')).slice(before)).toBe('[secret]%20');
    expect(redactorOf(secret).data(Array.from({ length: 100_000 }, () => ''))).toHaveLength(100_000);
  });
});
