/**
 * `Idempotency-Key`: the key and a hash of the request, which the session compares on a repeat. A key belongs to its API key: the same text
 * from another API key is a different key.
 */
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../core/problem.ts';
import type { AppContext } from './middleware/request-context.ts';

const maxHeaderTextLength = 255;

export type Idempotency = { idempotencyKey?: string; bodyHash?: string };

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

/**
 * Runs `work` for a request with a key. If it fails, for example because its toolset was deleted or its agent changed, a repeated request
 * still receives the first result: `find` asks the session for it, and throws `idempotency_mismatch` for a different body. If it returns
 * null, or the session does not exist, the key is unknown and the error is thrown.
 */
export async function orEarlierResult<Begun>(
  { idempotencyKey: key, bodyHash = '' }: Idempotency,
  begin: () => Promise<Begun>,
  find: (key: string, bodyHash: string) => Promise<Begun | null>,
): Promise<Begun> {
  try {
    return await begin();
  } catch (error) {
    if (!(error instanceof Problem) || key === undefined) throw error;
    const begun = await nullIfNotFound(find(key, bodyHash));
    if (begun === null) throw error;
    return begun;
  }
}
