/** Hashes of text and of JSON values: editions, pins, argument hashes. Not for secrets, which need a keyed hash. */
import { createHash } from 'node:crypto';
import { toHex } from './text/bytes.ts';
import { limits } from './limits/limits.ts';

/** SHA-256 of the text's UTF-8 bytes, 64 lower-case hex digits. */
export async function sha256Hex(text: string): Promise<string> {
  return await sha256HexOfBytes(new TextEncoder().encode(text));
}

export async function sha256HexOfBytes(bytes: Uint8Array): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))));
}

/**
 * The same, synchronously. `crypto.subtle` is asynchronous: between the hash and the write that depends on it another call could change
 * the bytes. Used where both must happen in one synchronous step (`engine/policy/effect-record.ts`).
 */
export function sha256HexSync(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Returns JSON with object keys sorted by UTF-16 code units and no white space, so that equal values have equal text (as RFC 8785,
 * for values that came from JSON). Like `JSON.stringify`, omits members that are `undefined`. Throws `RangeError` on a value nested
 * deeper than any accepted input, which includes cycles.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

/** Input is checked against `limits.maxJsonDepth` when it is parsed; our own wrappers around it add a few levels. */
const maxDepth = limits.maxJsonDepth * 4;

function write(value: unknown, depth: number): string {
  if (depth > maxDepth) throw new RangeError(`The value nests deeper than ${maxDepth} levels.`);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return writeObject(value, depth);
  // Functions and `undefined` have no JSON text; inside arrays they are null.
  return JSON.stringify(value) ?? 'null';
}

function writeObject(value: object, depth: number): string {
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    if (member === undefined) continue;
    members.push(`${JSON.stringify(key)}:${write(member, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}
