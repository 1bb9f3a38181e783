/**
 * Repeats a request that is safe to repeat: GET and HEAD, and every request with an `Idempotency-Key`, for which the service returns the
 * first response. Repeated after 429, 503 and network errors; `Retry-After` is followed up to `maxDelayMs`.
 */

export const maxDelayMs = 30_000;
const firstDelayMs = 250;
const repeatableStatuses = [429, 503];

export type Fetch = (request: Request) => Promise<Response>;

export function withRetries(fetch: Fetch, retries: number): Fetch {
  return async (request) => {
    const isRepeatable = request.method === 'GET' || request.method === 'HEAD' || request.headers.has('idempotency-key');
    for (let attempt = 0; ; attempt += 1) {
      const isLast = !isRepeatable || attempt >= retries;
      let delayMs: number | null = backoffMs(attempt);
      try {
        const response = await fetch(isLast ? request : request.clone());
        if (isLast || !repeatableStatuses.includes(response.status)) return response;
        delayMs = retryAfterMs(response) ?? delayMs;
        if (delayMs > maxDelayMs) return response;
        await response.body?.cancel();
      } catch (error) {
        // `fetch` rejects with a TypeError if no response arrived. An abort has another name.
        if (isLast || request.signal.aborted || !(error instanceof TypeError)) throw error;
      }
      await delay(delayMs, request.signal);
    }
  };
}

/** Doubles with each attempt, with up to 25 % more, so that many clients do not return at the same moment. */
export function backoffMs(attempt: number): number {
  return Math.min(firstDelayMs * 2 ** attempt, maxDelayMs / 2) * (1 + Math.random() / 4);
}

/** The delay of a `Retry-After` in seconds or as a date; null without one. */
export function retryAfterMs({ headers }: Pick<Response, 'headers'>): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Rejects with the reason of the signal when it is aborted. */
export function delay(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
