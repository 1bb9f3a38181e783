/** The launcher's client of the running service: its public API, with the root key. */
import { setTimeout as sleep } from 'node:timers/promises';
import { recordOf, stringOf, tryParse } from '../core/json/wire-value.ts';
import { StartFailure } from './start-failure.ts';

/** An unsuccessful response; `detail` is that of the problem, if the body is one. */
export class ApiRefusal extends StartFailure {
  readonly detail: string;
  constructor(what: string, text: string) {
    super(`${what}: ${text}`);
    this.detail = detailOf(text);
  }
}

/** Returns the text itself if it is not a problem. */
function detailOf(text: string): string {
  return stringOf(recordOf(tryParse(text)).detail) || text;
}

export type ApiClient = {
  url: string;
  rootKey: string;
  get<T>(path: string): Promise<T>;
  /** Returns null for 404. */
  find<T>(path: string): Promise<T | null>;
  put<T>(path: string, body: unknown): Promise<T>;
  /** PUT with `If-None-Match: *`. Returns false if the document already exists; it is unchanged. */
  create(path: string, body: unknown): Promise<boolean>;
  post<T>(path: string, body: unknown): Promise<T>;
};

const requestTimeoutMs = 10_000;

/** `headers`: sent with each request. */
export function createApiClient(
  url: string,
  rootKey: string,
  { timeoutMs = requestTimeoutMs, headers = {} }: { timeoutMs?: number; headers?: Record<string, string> } = {},
): ApiClient {
  const send = async (method: string, path: string, body?: unknown, condition: Record<string, string> = {}): Promise<Response> => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${rootKey}`, ...headers, ...type, ...condition },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.ok || response.status === 404 || response.status === 412) return response;
    throw new ApiRefusal(`${method} ${path} returned ${response.status}`, await response.text());
  };
  const json = async <T>(response: Response, path: string): Promise<T> => {
    if (!response.ok) throw new StartFailure(`${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as T; // our own API's answer
  };
  return {
    url,
    rootKey,
    get: async (path) => json(await send('GET', path), path),
    find: async (path) => {
      const response = await send('GET', path);
      if (response.status !== 404) return json(response, path);
      await response.arrayBuffer();
      return null;
    },
    put: async (path, body) => json(await send('PUT', path, body), path),
    create: async (path, body) => {
      const response = await send('PUT', path, body, { 'if-none-match': '*' });
      if (response.status !== 412) await json(response, path);
      return response.ok;
    },
    post: async (path, body) => json(await send('POST', path, body), path),
  };
}

/** Waits until the service passes its health check. `hasEnded`: returns true if the process has ended. */
export async function waitUntilHealthy(url: string, timeoutMs: number, hasEnded: () => boolean = () => false): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last = 'no response';
  while (Date.now() < deadline && !hasEnded()) {
    try {
      const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
      const body = await response.text();
      if (response.ok) return;
      last = `${response.status}: ${body}`;
    } catch (error) {
      // Not listening yet: the reason is reported only if it persists.
      last = String(error);
    }
    await sleep(100);
  }
  throw new StartFailure(`The service did not become healthy at ${url}/healthz (${last}).`);
}
