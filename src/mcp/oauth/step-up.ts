/**
 * A request that a server refuses because its token has too few scopes (RFC 6750 §3.1, `insufficient_scope`) is sent once more with one
 * that has them, where such a one is to be had without a person. A wrapper around the way out; 401 is the SDK's business.
 */
import type { ServerTokens } from '../../ports/upstream.ts';

type Send = (request: Request) => Promise<Response>;

export function withStepUp(tokens: ServerTokens, send: Send): Send {
  return async (request) => {
    const { url, method, headers, signal } = request;
    // Read whole: a body that went out cannot go out again. What is sent to servers is a message of ours.
    const body = request.body === null ? null : await request.arrayBuffer();
    const toRequest = (sent: Headers): Request => new Request(url, { method, headers: sent, body, signal, redirect: 'manual' });
    const answer = await send(toRequest(headers));
    const challenge = answer.status === 403 ? answer.headers.get('www-authenticate') : null;
    if (challenge === null || !/\binsufficient_scope\b/.test(challenge)) return answer;
    const refused = /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
    if (!(await tokens.renew(refused, challenge))) return answer;
    const token = await tokens.token();
    if (token === null) return answer;
    await answer.body?.cancel();
    const again = new Headers(headers);
    again.set('authorization', `Bearer ${token}`);
    return await send(toRequest(again));
  };
}
