/** Sends the requests of the pages to this service. The only file of `src/console/` that calls `fetch`. */

export type OutgoingRequest = {
  method: string;
  /** Path and query. */
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: string | Blob | null;
  signal?: AbortSignal;
};

/** Resolves when the headers have arrived. Rejects with the browser's network error, or when `signal` is aborted. */
export async function send({ method, url, headers, body, signal }: OutgoingRequest): Promise<Response> {
  return await fetch(url, {
    method,
    headers: headers.map(([name, value]) => [name, value] as [string, string]),
    ...(body !== null && { body }),
    ...(signal && { signal }),
    // Only the key of the tab authenticates, never a cookie.
    credentials: 'omit',
    cache: 'no-store',
  });
}

export async function loadJson(url: string): Promise<unknown> {
  // As the preload in the page requests it, so that the browser uses that response.
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`${url} returned ${response.status}.`);
  return await response.json();
}

/**
 * Sends a request of the typed client, with the cookies of this service: the service prefers the key of the request to a sign-in, and binds
 * sign-ins at servers to this browser. Rejects with the browser's network error.
 */
export async function sendRequest(request: Request): Promise<Response> {
  return await fetch(request, { credentials: 'same-origin', cache: 'no-store' });
}
