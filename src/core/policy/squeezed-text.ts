/**
 * Reduces a text to its letters and digits, in lower case, with escapes decoded (percent encoding, HTML character references,
 * backslash escapes) and separators removed. Two texts that differ only in these become equal. Used by `secret-scanner.ts`.
 */

/** Character codes with their positions in the text. `next`: where the rest of the text begins. */
export type Squeezed = { codes: Uint16Array; starts: Uint32Array; ends: Uint32Array; length: number; next: number };

/** Squeezes the characters from `from` (inclusive) to `to` (exclusive); an escape that begins before `to` may end after it. */
export function squeeze(text: string, from = 0, to = text.length): Squeezed {
  const [codes, starts, ends] = [new Uint16Array(to - from), new Uint32Array(to - from), new Uint32Array(to - from)];
  let length = 0;
  let at = from;
  while (at < to) {
    const start = at;
    const plain = text.charCodeAt(at);
    let code = plain < 0x80 ? (folded[plain] ?? none) : fold(plain);
    at += 1;
    if (code === escapes) {
      const unit = readUnit(text, start);
      code = fold(unit.code);
      at = unit.end;
    }
    if (code === none) continue;
    codes[length] = code;
    starts[length] = start;
    ends[length] = at;
    length += 1;
  }
  return { codes, starts, ends, length, next: at };
}

/** Same shape, for the unchanged text. */
export function unsqueezed(text: string, from = 0, to = text.length): Squeezed {
  const length = to - from;
  const [codes, starts, ends] = [new Uint16Array(length), new Uint32Array(length), new Uint32Array(length)];
  for (let index = 0; index < length; index += 1) {
    codes[index] = text.charCodeAt(from + index);
    starts[index] = from + index;
    ends[index] = from + index + 1;
  }
  return { codes, starts, ends, length, next: to };
}

export function squeezedText(text: string): string {
  const { codes, length } = squeeze(text);
  let joined = '';
  for (let at = 0; at < length; at += 0x2000) joined += String.fromCharCode(...codes.subarray(at, Math.min(at + 0x2000, length)));
  return joined;
}

const none = -1;
/** Possibly the start of an escape. */
const escapes = -2;
/** A single reused object: a result may have millions of characters. */
const unit = { code: none, end: 0 };

function readUnit(text: string, at: number): typeof unit {
  const code = text.charCodeAt(at);
  unit.code = code;
  unit.end = at + 1;
  if (code === percent) readPercent(text, at);
  else if (code === backslash) readBackslash(text, at);
  else if (code === ampersand) readReference(text, at);
  else if (code === zero && (text.charCodeAt(at + 1) | 0x20) === letterX && hexAt(text, at + 2) !== none) {
    // `0x41`: only the digits are hexadecimal, so the prefix is skipped.
    unit.code = none;
    unit.end = at + 2;
  }
  return unit;
}

const [percent, backslash, ampersand, zero, letterX, letterU] = [0x25, 0x5c, 0x26, 0x30, 0x78, 0x75] as const;

/** `%41`, and the doubly encoded `%2541`. */
function readPercent(text: string, at: number): void {
  let digits = at + 1;
  while (text.startsWith('25', digits) && hexAt(text, digits + 2) !== none && hexAt(text, digits + 3) !== none) digits += 2;
  const code = hexCode(text, digits, 2);
  unit.code = code;
  unit.end = code === none ? at + 1 : digits + 2;
}

const maxCodeDigits = 6;

/** `\u0041`, `\u{41}`, `\x41`, with more backslashes if the text was escaped again. The letter of other escapes is skipped. */
function readBackslash(text: string, at: number): void {
  let letter = at + 1;
  while (text.charCodeAt(letter) === backslash) letter += 1;
  const kind = text.charCodeAt(letter);
  unit.code = none;
  unit.end = letter;
  if (kind === letterU && text[letter + 1] === '{') {
    // Not searched for in the whole text, which may have millions of escapes without an end.
    const digits = text.slice(letter + 2, letter + 2 + maxCodeDigits + 1).indexOf('}');
    const code = digits > 0 ? hexCode(text, letter + 2, digits) : none;
    if (code !== none) Object.assign(unit, { code, end: letter + 2 + digits + 1 });
  } else if (kind === letterU || kind === letterX) {
    const length = kind === letterU ? 4 : 2;
    const code = hexCode(text, letter + 1, length);
    if (code !== none) Object.assign(unit, { code, end: letter + 1 + length });
  } else if ('nrtbfv'.includes(text[letter] ?? ' ')) unit.end = letter + 1;
}

const maxReference = 10;

/** `&#65;`, `&#x41;`, and named references to characters other than letters. */
function readReference(text: string, at: number): void {
  unit.code = none;
  const found =
    /^&(?:#(?<decimal>\d{1,7})|#x(?<hex>[\da-f]{1,6})|amp|lt|gt|quot|apos|nbsp|sol|bsol|plus|equals|lowbar|hyphen|period);/i.exec(
      text.slice(at, at + maxReference),
    );
  if (found === null) return;
  const { decimal, hex } = found.groups ?? {};
  if (decimal !== undefined) unit.code = Number(decimal);
  else if (hex !== undefined) unit.code = Number.parseInt(hex, 16);
  unit.end = at + found[0].length;
}

function hexCode(text: string, at: number, length: number): number {
  let code = 0;
  for (let index = 0; index < length; index += 1) {
    const digit = hexAt(text, at + index);
    if (digit === none) return none;
    code = code * 16 + digit;
  }
  return code;
}

function hexAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : none;
}

/** Returns the character in its compared form; `none`: a separator. */
function fold(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return code;
  if (code >= 0x30 && code <= 0x39) return code;
  if (code >= 0x41 && code <= 0x5a) return code | 0x20;
  if (code < 0x80 || code > 0xffff) return none;
  // Full-width forms of ASCII.
  if (code >= 0xff01 && code <= 0xff5e) return fold(code - 0xfee0);
  return isInvisible(code) ? none : code;
}

/** Spaces, marks and joiners that may occur between any two characters. */
function isInvisible(code: number): boolean {
  return (
    code === 0xa0 ||
    code === 0xad ||
    code === 0xfeff ||
    code === 0x3000 ||
    (code >= 0x300 && code <= 0x36f) ||
    (code >= 0x2000 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0f)
  );
}

/** For ASCII, since most texts contain nothing else. */
const folded = Int16Array.from({ length: 0x80 }, (_, code) =>
  [percent, backslash, ampersand, zero].some((one) => one === code) ? escapes : fold(code),
);
