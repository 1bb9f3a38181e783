/**
 * The forms in which a server may return a secret that it received. `secretSpellings`: unchanged, in JSON of several encoders, in
 * URLs and forms, in HTML, in hex, and in base64, alone or inside a longer value (`Authorization: Basic`). `hiddenSpellings`: forms
 * that a tool or a model produces deliberately with a line of code. Neither covers encryption and compression. Used by
 * `engine/call/redact.ts`.
 */
import { fromBase64, toBase64Url, toHex } from '../text/bytes.ts';

/**
 * Returns a header value and the credential in it: a server that received `Bearer abc` may return `abc`, or the name and password of
 * a pair (RFC 7617) in clear text.
 */
export function secretParts(value: string): string[] {
  const { scheme = '', credential } = headerForm.exec(value)?.groups ?? {};
  if (credential === undefined) return [value];
  const bytes = scheme.toLowerCase() === 'basic' ? fromBase64(credential) : null;
  const pair = bytes === null ? null : new TextDecoder().decode(bytes);
  return [value, credential, ...(pair === null ? [] : [pair, pair.slice(pair.indexOf(':') + 1)])];
}

/** Only schemes in use, not any first word: the second part of a text that merely looks like a header may be an ordinary word. */
const headerForm = /^\s*(?<scheme>bearer|basic|token|bot|key|api-?key|jwt|oauth|dpop)\s+(?<credential>\S+)\s*$/i;

/**
 * Returns the value reversed, in one case, in base32, base64, hex and decimal codes, and in two of these combined. To be searched
 * squeezed (`squeezed-text.ts`), that is without separators and regardless of case. Returns fewer for a long value, and none for one
 * longer than `maxHiddenLength`.
 */
export function hiddenSpellings(value: string): string[] {
  if (value.length > maxHiddenLength) return [];
  const isLong = value.length > maxTwiceEncodedLength;
  const plain = isLong ? [value] : [...new Set([value, value.toLowerCase(), value.toUpperCase()])];
  const texts = [...plain, ...plain.map(reversed)];
  const encoded = texts.flatMap((text) => encodings(new TextEncoder().encode(text)));
  const twice = isLong ? [] : encodings(new TextEncoder().encode(value)).flatMap((text) => encodings(new TextEncoder().encode(text)));
  const forward = [...texts, ...encoded, ...twice, rotated(value)];
  return [...new Set([...forward, ...forward.map(reversed)])];
}

/** In characters. The spellings are built for each call that reads the value, and grow with it; keys and tokens are shorter. */
const maxHiddenLength = 4_096;
const maxTwiceEncodedLength = 512;

/** Of the base64 alphabets only the URL-safe one: squeezed, the alphabets do not differ. */
function encodings(bytes: Uint8Array): string[] {
  return [toHex(bytes), Array.from(bytes).join(' '), toBase64Url(bytes), ...innerBase64(bytes), ...innerBase32(bytes)];
}

function reversed(text: string): string {
  return Array.from(text).reverse().join('');
}

/** Rotated by 13 letters (rot13), as command lines can easily do. */
function rotated(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 0x41 : 0x61;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

/** The characters that depend only on `bytes`, whatever precedes and follows: 5 bytes are 8 characters. */
function innerBase32(bytes: Uint8Array): string[] {
  return [0, 1, 2, 3, 4].map((before) => {
    const text = toBase32(before, bytes);
    const first = Math.ceil((before * 8) / 5);
    return text.slice(first, Math.floor(((before + bytes.byteLength) * 8) / 5));
  });
}

/** RFC 4648 §6 without padding, with `before` zero bytes in front. */
function toBase32(before: number, bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of [...new Uint8Array(before), ...bytes]) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += base32[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + base32[(value << (5 - bits)) & 31];
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns distinct spellings, the longest first: replacing a shorter one inside a longer one would leave the rest in place. */
export function secretSpellings(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  // As servers read a non-ASCII header: one character per byte.
  const misread = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const texts = [value, misread].flatMap((text) => [text, ...inJson(text)]);
  const spellings = [...texts, ...inUrls(value), ...inHtml(value), ...inHex(bytes), ...inBase64(bytes)];
  return [...new Set(spellings)].sort((one, other) => other.length - one.length);
}

/** Some encoders escape `/` (PHP), and some all non-ASCII characters (Python). JSON may be nested in JSON as a string. */
function inJson(value: string): string[] {
  const plain = unquoted(value);
  const ascii = [false, true].map((upper) => plain.replace(/[^\x20-\x7e]/g, (unit) => unicodeEscape(unit, upper)));
  const once = [plain, ...ascii].flatMap((text) => [text, text.replaceAll('/', '\\/')]);
  return [...once, ...once.map(unquoted)];
}

function unquoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(unit: string, upper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${upper ? hex.toUpperCase() : hex}`;
}

function inUrls(value: string): string[] {
  const component = encodeURIComponent(value.toWellFormed());
  // RFC 3986 also reserves these characters, and forms encode a space as "+".
  const strict = component.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams({ v: value }).toString().slice('v='.length);
  return [component, strict, form].flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function inHtml(value: string): string[] {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = escaped.replaceAll('"', '&quot;');
  return [escaped, quoted, quoted.replaceAll("'", '&#39;'), quoted.replaceAll("'", '&#x27;'), escaped.replaceAll('"', '&#34;')];
}

function inHex(bytes: Uint8Array): string[] {
  const hex = toHex(bytes);
  return [hex, hex.toUpperCase()];
}

/** Shorter parts would match almost anything. */
const minInnerLength = 8;

/** Alone, with and without padding; and the characters that depend only on the value when other bytes precede and follow it. */
function inBase64(bytes: Uint8Array): string[] {
  const alone = toBase64Url(bytes);
  const padded = alone + '='.repeat((4 - (alone.length % 4)) % 4);
  const found = [padded, alone, ...innerBase64(bytes).filter((text) => text.length >= minInnerLength)];
  return found.flatMap((text) => [text, text.replaceAll('-', '+').replaceAll('_', '/')]);
}

function innerBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((before) => {
    const all = new Uint8Array(before + bytes.byteLength);
    all.set(bytes, before);
    const text = toBase64Url(all);
    // A character at a border has bits of both sides.
    return text.slice(before === 0 ? 0 : before + 1, all.byteLength % 3 === 0 ? undefined : -1);
  });
}
