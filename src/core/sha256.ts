/**
 * Synchronous SHA-256 (FIPS 180-4). `crypto.subtle` is asynchronous: between the hash and the write that depends on it another call
 * could change the bytes. Used where both must happen in one synchronous step (`engine/policy/effect-record.ts`); everything else
 * uses `hash.ts`.
 */
import { toHex } from './hex.ts';

/** Returns 64 lower-case hexadecimal digits. */
export function sha256HexSync(bytes: Uint8Array): string {
  const state = Uint32Array.from(roots.map((root) => fraction(Math.sqrt(root))).slice(0, 8));
  const whole = bytes.byteLength - (bytes.byteLength % blockBytes);
  const schedule = new Int32Array(64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset < whole; offset += blockBytes) addBlock(state, schedule, view, offset);
  const rest = lastBlocks(bytes.subarray(whole), bytes.byteLength);
  const restView = new DataView(rest.buffer);
  for (let offset = 0; offset < rest.byteLength; offset += blockBytes) addBlock(state, schedule, restView, offset);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word);
  return toHex(new Uint8Array(digest.buffer));
}

const blockBytes = 64;

/** The first 64 primes: the constants are the fractional parts of their roots. */
const roots: readonly number[] = Array.from({ length: 312 }, (_, index) => index).filter(isPrime);
const constants = Int32Array.from(roots.map((root) => fraction(Math.cbrt(root))));

function isPrime(number: number): boolean {
  if (number < 2) return false;
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}

/** Returns the first 32 bits after the binary point. */
function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}

/** Returns the last blocks: the rest of the message, a one bit, zeros, and the length of the message in bits. */
function lastBlocks(rest: Uint8Array, length: number): Uint8Array {
  const padded = new Uint8Array(rest.byteLength + 9 > blockBytes ? 2 * blockBytes : blockBytes);
  padded.set(rest);
  padded[rest.byteLength] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.byteLength - 8, Math.floor(length / 2 ** 29));
  view.setUint32(padded.byteLength - 4, (length * 8) >>> 0);
  return padded;
}

function addBlock(state: Uint32Array, schedule: Int32Array, view: DataView, offset: number): void {
  for (let index = 0; index < 16; index += 1) schedule[index] = view.getInt32(offset + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const early = at(schedule, index - 15);
    const late = at(schedule, index - 2);
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = (at(schedule, index - 16) + s0 + at(schedule, index - 7) + s1) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  // Plain assignments: a destructuring swap makes this loop several times slower.
  for (let index = 0; index < 64; index += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + at(constants, index) + at(schedule, index)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + ((b & c) ^ (b & d) ^ (c & d))) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = at(state, index) + word;
}

function at(words: Int32Array | Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
