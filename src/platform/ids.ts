/** Creates unguessable ids: 160 random bits in Crockford's base 32 after a prefix for the kind. */
import type { Ids } from '../ports/runtime.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idCharacters = 32;

export const randomIds: Ids = {
  next(prefix) {
    const bytes = crypto.getRandomValues(new Uint8Array(idCharacters));
    let id = `${prefix}_`;
    // 256 is a multiple of 32, so all characters are equally likely.
    for (const byte of bytes) id += alphabet[byte % alphabet.length];
    return id;
  },
};
