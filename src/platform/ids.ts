/**
 * Creates unguessable ids: 32 characters of Crockford's base 32 after a prefix for the kind, which are 160 random bits. The ids of rows that
 * are stored by the thousand begin with their time, which leaves 110 random bits: rows that are stored together are then neighbors in the
 * index, and storing them writes few of its pages.
 */
import type { Ids } from '../ports/runtime.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idCharacters = 32;
/** Enough for milliseconds until the year 37000. */
const timeCharacters = 10;
/** Of the log of requests and of calls without a turn. */
const kindsWithTime: ReadonlySet<string> = new Set(['req', 'call']);

export const randomIds: Ids = {
  next(prefix) {
    const time = kindsWithTime.has(prefix) ? timeText(Date.now()) : '';
    const bytes = crypto.getRandomValues(new Uint8Array(idCharacters - time.length));
    let id = `${prefix}_${time}`;
    // 256 is a multiple of 32, so all characters are equally likely.
    for (const byte of bytes) id += alphabet[byte % alphabet.length];
    return id;
  },
};

/** Sorts as the times do. */
function timeText(ms: number): string {
  let text = '';
  for (let rest = ms; text.length < timeCharacters; rest = Math.floor(rest / alphabet.length))
    text = alphabet[rest % alphabet.length] + text;
  return text;
}
