/**
 * The five forms in which a program may return a secret that it received: unchanged, in JSON, URL-encoded, in base64, and in hex. They are those
 * of an accident, such as a server that repeats its request in an error. Someone who wants to return a secret changes one character and is not
 * found: against that, secrets are bound to hosts and tools, and code never gets them. Used by `secret-matcher.ts`.
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

export function secretSpellings(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = toHex(bytes);
  return [...new Set([value, ...inJson(value), ...inUrls(value), ...inBase64(bytes), hex, hex.toUpperCase()])];
}

/** Some encoders escape `/` (PHP), and some all non-ASCII characters (Python). */
function inJson(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const ascii = [false, true].map((upper) => plain.replace(/[^\x20-\x7e]/g, (unit) => unicodeEscape(unit, upper)));
  return [plain, ...ascii].flatMap((text) => [text, text.replaceAll('/', '\\/')]);
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

/** Shorter parts would match almost anything. */
const minInnerLength = 8;

/** Alone, with and without padding; and the characters that depend only on the value when other bytes precede and follow it. */
function inBase64(bytes: Uint8Array): string[] {
  const alone = toBase64Url(bytes);
  const padded = alone + '='.repeat((4 - (alone.length % 4)) % 4);
  const inner = [0, 1, 2].map((before) => innerBase64(bytes, before)).filter(({ length }) => length >= minInnerLength);
  return [padded, alone, ...inner].flatMap((text) => [text, text.replaceAll('-', '+').replaceAll('_', '/')]);
}

/** `before`: how many bytes there are before the value, without whole groups of three. */
function innerBase64(bytes: Uint8Array, before: number): string {
  const all = new Uint8Array(before + bytes.byteLength);
  all.set(bytes, before);
  // A character at a border has bits of both sides.
  return toBase64Url(all).slice(before === 0 ? 0 : before + 1, all.byteLength % 3 === 0 ? undefined : -1);
}
