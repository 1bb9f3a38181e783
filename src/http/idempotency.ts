/** `Idempotency-Key`: the key and the body's hash that a session compares when it repeats. */
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import type { AppContext } from './context.ts';

export async function idempotencyOf(c: AppContext, body: Uint8Array): Promise<{ idempotencyKey?: string; bodyHash?: string }> {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return {};
  if (key.length > limits.maxHeaderTextLength || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalidRequest([{ path: 'idempotency-key', message: `must be 1-${limits.maxHeaderTextLength} visible ASCII characters` }]);
  }
  return { idempotencyKey: key, bodyHash: await sha256Hex(new TextDecoder().decode(body)) };
}
