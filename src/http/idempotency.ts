/**
 * `Idempotency-Key`: the key and the hash of what was asked, which the session compares when the key repeats. A key is its API
 * key's own: the same text from another API key is another one.
 */
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../core/problem.ts';
import type { AppContext } from './context.ts';

const maxHeaderTextLength = 255;

export type Idempotency = { idempotencyKey?: string; bodyHash?: string };

/** What the header means, for the OpenAPI document. */
export const idempotencyHeader = `A repeat with this key and the same body gets the first one’s answer, also while that is still running; with another body it is 422. Kept ${limits.idempotencyTtlMs / 3_600_000} hours, per API key.`;

/** The path belongs to what was asked: the same body means something else elsewhere. */
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
 * What a request under a key begins. When that cannot be begun by now, its toolset deleted or its agent changed, a repeat still
 * gets what its key began then: `find` asks the session for it, which throws `idempotency_mismatch` for another body; null, or a
 * session that is not there: the key is unknown, and the fault is the answer.
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
