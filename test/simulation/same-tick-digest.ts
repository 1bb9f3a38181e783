/** Web Crypto responds from another thread in any order. Here it responds in order, so that a seed repeats its run. */
import { createHash } from 'node:crypto';

Object.defineProperty(crypto.subtle, 'digest', {
  configurable: true,
  value: async (_algorithm: string, data: Uint8Array): Promise<ArrayBuffer> => {
    const digest = new Uint8Array(createHash('sha256').update(data).digest());
    return digest.buffer;
  },
});
