/** Changes to a signed request on its way: each by name, at a position that a number selects. */
import type { Sent } from './reference-verifiers.ts';

export type Change = { name: string; make(sent: Sent, at: number): Sent };

type TextChange = (text: string, at: number) => string | null;

/** Changes a header's text; null: the header is missing. */
const textChanges: Record<string, TextChange> = {
  missing: () => null,
  empty: () => '',
  'one space': () => ' ',
  'space before': (text) => ` ${text}`,
  'space after': (text) => `${text} `,
  'tab after': (text) => `${text}\t`,
  'line break after': (text) => `${text}\n`,
  'spaces doubled': (text) => text.replaceAll(' ', '  '),
  'spaces after commas': (text) => text.replaceAll(',', ', '),
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  'one character changed': (text, at) => changedAt(text, at, (character) => (character === 'a' ? 'b' : 'a')),
  'one character gone': (text, at) => changedAt(text, at, () => ''),
  'one character twice': (text, at) => changedAt(text, at, (character) => character + character),
  'one character not of ASCII': (text, at) => changedAt(text, at, () => 'ä'),
  'one character outside the plane': (text, at) => changedAt(text, at, () => '🐎'),
  'a null inside': (text, at) => changedAt(text, at, (character) => `${character}\0`),
  'cut in half': (text) => text.slice(0, text.length / 2),
  'cut to eight characters': (text) => text.slice(0, 8),
  backwards: (text) => [...text].reverse().join(''),
  'doubled by the header': (text) => `${text}, ${text}`,
  'doubled after a wrong one by the header': (text) => `${withWrongDigits(text)}, ${text}`,
  'doubled before a wrong one by the header': (text) => `${text}, ${withWrongDigits(text)}`,
  'doubled with a comma': (text) => `${text},${text}`,
  'doubled with a space': (text) => `${text} ${text}`,
  'after a wrong one': (text) => `${withWrongDigits(text)} ${text}`,
  'after a wrong element': (text) => `v1=${'0'.repeat(64)},${text}`,
  'after an element of v0': (text) => `v0=${'6'.repeat(64)},${text}`,
  'after an empty element': (text) => `v1=,${text}`,
  'before an element without a value': (text) => `${text},v1`,
  'with one more equals sign': (text) => `${text}=x`,
  'with one more comma': (text) => `${text},x`,
  'elements reordered': (text) => text.split(',').reverse().join(','),
  'signatures reordered': (text) => text.split(' ').reverse().join(' '),
  'after nineteen others': (text) => `${'v1,AAAA '.repeat(19)}${text}`,
  'after twenty others': (text) => `${'v1,AAAA '.repeat(20)}${text}`,
  'after a thousand elements': (text) => `${`v1=${'0'.repeat(64)},`.repeat(1_000)}${text}`,
  'for addresses': (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
  'without padding': (text) => text.replace(/=+$/, ''),
  'with more padding': (text) => `${text}=`,
  percented: (text) => encodeURIComponent(text),
  quoted: (text) => `"${text}"`,
  'of version 1a': (text) => text.replace('v1', 'v1a'),
  'of version 2': (text) => text.replace('v1', 'v2'),
  'of version V1': (text) => text.replace('v1', 'V1'),
  'of SHA-1': (text) => text.replace('sha256', 'sha1'),
  'without a prefix': (text) => text.replace(/^(?:v1,|sha256=|t=\d+,v1=)/, ''),
  'only a prefix': (text) => /^(?:v1,|sha256=|t=\d+,v1=)/.exec(text)?.[0] ?? text,
  'with the time of later': (text) => text.replace(/\d{10}/, (time) => String(Number(time) + 1)),
  'a float': (text) => text.replace(/\d{10}/, '$&.5'),
  'an exponent': (text) => text.replace(/\d{10}/, '$&e0'),
  'a time with a plus': (text) => text.replace(/\d{10}/, '+$&'),
  'a time with a zero before': (text) => text.replace(/\d{10}/, '0$&'),
  'a time with letters after': (text) => text.replace(/\d{10}/, '$&abc'),
  'a time in hex': (text) => text.replace(/\d{10}/, (time) => `0x${Number(time).toString(16)}`),
  'a time in milliseconds': (text) => text.replace(/\d{10}/, '$&000'),
  'a negative time': (text) => text.replace(/\d{10}/, '-$&'),
  'digits of another script': (text) =>
    text.replace(/\d{10}/, (time) => time.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))),
  'a text instead of the time': (text) => text.replace(/\d{10}/, 'NaN'),
};

const bodyChanges: Record<string, (body: string, at: number) => string> = {
  'one byte changed': (body, at) => changedAt(body, at, (character) => (character === 'x' ? 'y' : 'x')),
  'one byte gone': (body, at) => changedAt(body, at, () => ''),
  'line break after': (body) => `${body}\n`,
  'byte order mark before': (body) => `\ufeff${body}`,
  'upper case': (body) => body.toUpperCase(),
  'spaces gone': (body) => body.replaceAll(' ', ''),
  'line breaks of another system': (body) => body.replaceAll('\n', '\r\n'),
  'decomposed letters': (body) => body.normalize('NFD'),
  empty: () => '',
};

const clockShifts = [-1_000_000, -301, -300, -299, -1, 1, 299, 300, 301, 1_000_000];

export const changes: Change[] = [
  { name: 'nothing', make: (sent) => sent },
  ...Object.entries(textChanges).map(([name, change]) => ({
    name: `a header: ${name}`,
    make: (sent: Sent, at: number) => withHeader(sent, at, change),
  })),
  ...Object.entries(bodyChanges).map(([name, change]) => ({
    name: `the body: ${name}`,
    make: (sent: Sent, at: number) => ({ ...sent, body: change(sent.body, at) }),
  })),
  ...clockShifts.map((seconds) => ({ name: `our clock: ${seconds} s`, make: (sent: Sent) => ({ ...sent, now: sent.now + seconds }) })),
];

/** The number also selects the header. */
function withHeader(sent: Sent, at: number, change: TextChange): Sent {
  const names = Object.keys(sent.headers);
  const name = names[at % names.length];
  if (name === undefined) return sent;
  const { [name]: text = '', ...others } = sent.headers;
  const changed = change(text, Math.floor(at / names.length));
  return { ...sent, headers: changed === null ? others : { ...others, [name]: changed } };
}

function changedAt(text: string, at: number, change: (character: string) => string): string {
  const characters = [...text];
  if (characters.length === 0) return text;
  const index = at % characters.length;
  characters[index] = change(characters[index] ?? '');
  return characters.join('');
}

/** Returns a wrong signature of the same form. */
function withWrongDigits(text: string): string {
  return text.replace(/[0-9a-f]{8}$|[A-Za-z0-9+/]{8}=*$/, (end) => (end.endsWith('=') ? 'AAAAAAA=' : '00000000'));
}
