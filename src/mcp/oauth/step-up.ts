/**
 * Retries a request once if the server rejects its token for insufficient scope (RFC 6750 §3.1, `insufficient_scope`) and a better token is
 * available without the user. A wrapper around the outbound client; the SDK handles 401.
 */
import type { ServerTokens } from '../../ports/upstream.ts';

type Send = (request: Request) => Promise<Response>;

export function withStepUp(tokens: ServerTokens, send: Send): Send {
  return async (request) => {
    const { url, method, headers, signal } = request;
    // Buffered, since a sent body cannot be sent again. Bodies to servers are our own messages.
    const body = request.body === null ? null : await request.arrayBuffer();
    const toRequest = (sent: Headers): Request => new Request(url, { method, headers: sent, body, signal, redirect: 'manual' });
    const answer = await send(toRequest(headers));
    const challenge = answer.status === 403 ? answer.headers.get('www-authenticate') : null;
    if (challenge === null || !/\binsufficient_scope\b/.test(challenge)) return answer;
    const refused = /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
    if (!(await tokens.refreshAfterRejection(refused, challenge))) return answer;
    const token = await tokens.token();
    if (token === null) return answer;
    await answer.body?.cancel();
    const again = new Headers(headers);
    again.set('authorization', `Bearer ${token}`);
    return await send(toRequest(again));
  };
}
