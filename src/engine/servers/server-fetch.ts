/** Sends requests to a server's address, for calls and listings. Redirects to another origin are refused, since the request is meant for this server only. */
import { Problem } from '../../core/problem.ts';
import type { CallDeps } from '../call/call-scope.ts';

/**
 * `signal` aborts all requests; null: each request's own signal does, for clients that still have to send something when a call is
 * cancelled (MCP: the cancellation).
 */
export function createServerFetch({ fetch }: Pick<CallDeps, 'fetch'>, signal: AbortSignal | null): (request: Request) => Promise<Response> {
  return (request) =>
    fetch(request, signal ?? request.signal, refuseOtherOrigins(request.url, 'Set its url to the address that it redirects to.'), 'server');
}

/** Returns an `onHop` that throws `upstream_error` at a redirect to another origin. `remedy`: what to do if the redirect is right. */
export function refuseOtherOrigins(url: string, remedy = 'If this is right, use the address that it redirects to.'): (to: URL) => void {
  const { origin } = new URL(url);
  return (to) => {
    if (to.origin === origin) return;
    const detail = `${origin} redirects to ${to.origin}; the redirect was not followed. ${remedy}`;
    throw new Problem('upstream_error', detail, { retryable: false });
  };
}
