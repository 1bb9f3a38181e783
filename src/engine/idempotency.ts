/** Requests that are sent again under one key (`http/idempotency.ts` reads it). */
import { nullIfNotFound, Problem } from '../core/problem.ts';

/** The key, with that of the caller, and the hash of the request, which the session compares on a repeat. Both absent: no key was sent. */
export type Idempotency = { idempotencyKey?: string; bodyHash?: string };

/**
 * Runs `work` for a request with a key. If it fails, for example because its toolset was deleted or its agent changed, a repeated request
 * still receives the first result: `find` asks the session for it, and throws `idempotency_mismatch` for a different body. If it returns
 * null, or the session does not exist, the key is unknown and the error is thrown.
 */
export async function runIdempotent<Begun>(
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
