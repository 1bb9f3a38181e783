/** The way to a server's address, for its calls and for reading its listing. A server may lead on, but not away: what is sent there is meant for nobody else. */
import { Problem } from '../core/problem.ts';
import type { CallDeps } from './tool-call.ts';

/**
 * `signal` ends whatever is under way; null: each request's own does, for who still has something to say when a call is given up (MCP:
 * that it is cancelled). The origin is that of each request.
 */
export function toServer({ fetch }: Pick<CallDeps, 'fetch'>, signal: AbortSignal | null): (request: Request) => Promise<Response> {
  return (request) =>
    fetch(request, signal ?? request.signal, stayAt(request.url, 'Set its url to the address that it redirects to.'), 'server');
}

/** For `onHop`: throws `upstream_error` where the way leads to another origin. `remedy`: what to do if that is right. */
export function stayAt(url: string, remedy = 'If that is right, give the address that it redirects to.'): (to: URL) => void {
  const { origin } = new URL(url);
  return (to) => {
    if (to.origin === origin) return;
    const detail = `${origin} redirects to ${to.origin}, and was not followed there. ${remedy}`;
    throw new Problem('upstream_error', detail, { retryable: false });
  };
}
