/** The way to a server's address, for its calls and for reading its listing. A server may lead on, but not away: what is sent there is meant for nobody else. */
import { Problem } from '../core/problem.ts';
import type { CallDeps } from './tool-call.ts';

/**
 * `signal` ends whatever is under way; null: each request's own does, for who still has something to say when a call is given up (MCP:
 * that it is cancelled). The origin is that of each request.
 */
export function toServer({ fetch }: Pick<CallDeps, 'fetch'>, signal: AbortSignal | null): (request: Request) => Promise<Response> {
  return (request) => {
    const { origin } = new URL(request.url);
    const stay = (to: URL): void => {
      if (to.origin === origin) return;
      const detail = `The server at ${origin} redirects to ${to.origin}, and was not followed there. Set its url to the address that it redirects to.`;
      throw new Problem('upstream_error', detail, { retryable: false });
    };
    return fetch(request, signal ?? request.signal, stay, 'server');
  };
}
