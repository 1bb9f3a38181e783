/** The service that the launcher runs: a client with the root key, and its health. */
import { createClient, MonikerError, type MonikerClient } from '../../../client/src/index.ts';
import { StartFailure } from './start-failure.ts';
import { retry } from '../../engine/retry.ts';
import { systemClock } from '../../platform/clock.ts';

const requestTimeoutMs = 10_000;

/** `headers`: sent with each request. */
export function connectOwnService(
  url: string,
  rootKey: string,
  { timeoutMs = requestTimeoutMs, headers = {} }: { timeoutMs?: number; headers?: Record<string, string> } = {},
): MonikerClient {
  return createClient({
    baseUrl: url,
    key: rootKey,
    headers,
    fetch: (request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }),
  });
}

/** Resolves to null if the service refuses the request with this status. */
export async function nullFor<T>(status: 404 | 412, request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof MonikerError && error.status === status) return null;
    throw error;
  }
}

/** Waits until the service passes its health check. */
export async function waitUntilHealthy(url: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const ask = async (): Promise<string> => {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    const body = await response.text();
    return response.ok ? '' : `${response.status}: ${body}`;
  };
  const policy = { maxRetries: Number.POSITIVE_INFINITY, delayMs: () => (Date.now() < deadline ? 100 : null) };
  await retry({ clock: systemClock }, policy, async () => {
    // Not listening yet: the reason is reported only if it persists.
    const fault = await ask().catch(String);
    if (fault !== '') throw new StartFailure(`The service did not become healthy at ${url}/healthz (${fault}).`);
  });
}
