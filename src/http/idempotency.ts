/**
 * `Idempotency-Key`: the key and a hash of the request, which the session compares on a repeat. A key belongs to its API key: the same text
 * from another API key is a different key.
 */
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import type { Idempotency } from '../engine/idempotency.ts';
import type { AppContext } from './middleware/request-context.ts';

const maxHeaderTextLength = 255;

/** Description of the header for the OpenAPI document. */
export const idempotencyHeader = `A repeated request with this key and the same body returns the first response, also while the first request is still running; with a different body it returns 422. Valid for ${limits.idempotencyTtlMs / 3_600_000} hours, per API key.`;

/** The path is part of the hash: the same body means something else on another path. */
export async function idempotencyOf(c: AppContext, body: Uint8Array): Promise<Idempotency> {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return {};
  if (key.length > maxHeaderTextLength || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalidRequest([{ path: 'idempotency-key', message: `must be 1-${maxHeaderTextLength} visible ASCII characters` }]);
  }
  return {
    idempotencyKey: `${c.get('keyId')} ${key}`,
    bodyHash: await sha256Hex(`${c.req.path}\n${new TextDecoder().decode(body)}`),
  };
}
