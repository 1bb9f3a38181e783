/** Requests to identity providers: through the outbound client, without redirects to other origins, bounded, and with a timeout. */
import { KB } from '../core/limits/units.ts';
import { Problem } from '../core/problem.ts';
import type { RightsByWorkspace } from '../core/people/group-map.ts';
import { refuseOtherOrigins } from '../engine/servers/server-fetch.ts';
import { readBounded } from '../net/read-bounded.ts';
import type { OutboundHttp } from '../ports/outbound.ts';

/** Metadata, keys and tokens of large providers have some 10 kB. */
const maxResponseBytes = 128 * KB;
const timeoutMs = 15_000;

/** Who a person is, as an identity provider has verified. */
export type Identity = { email: string; name: string | null; until?: number; groups?: readonly string[] };
/** An identity, and what groups give the person; absent: groups of this provider give nothing to anyone. */
export type GroupedIdentity = Omit<Identity, 'groups'> & { provider: string; byGroups?: RightsByWorkspace };

/** How long a person may take at the identity provider. */
export const signInTimeoutMs = 10 * 60_000;

/** In the cookie. `to`: path to return to. `verifier`: of PKCE. */
export type PendingSignIn = { provider: string; state: string; nonce: string; verifier: string; to: string; until: number };

/** Parameters of the redirect back; null: absent or repeated. */
export type ReturnedCode = { code: string; iss: string | null };

/** One provider's part of the authorization code flow. */
export type CodeFlow = {
  authorizationUrl(pending: PendingSignIn, challenge: string, redirectUri: string): Promise<string>;
  identity(pending: PendingSignIn, returned: ReturnedCode, redirectUri: string): Promise<Identity>;
};

/** Sends a request and returns its response with a bounded body. */
export async function exchange(outbound: OutboundHttp, request: Request, maxBytes = maxResponseBytes): Promise<Response> {
  const response = await outbound(request, { purpose: 'server', timeoutMs, onHop: refuseOtherOrigins(request.url) });
  const { bytes, truncated } = await readBounded(response, maxBytes);
  if (truncated) throw failed(request, 'its response is too large');
  return new Response(bytes, { status: response.status, headers: response.headers });
}

/** Returns a JSON object. Throws `upstream_error` without the text of the response, which may contain tokens. */
export async function exchangeJson(outbound: OutboundHttp, request: Request): Promise<unknown> {
  const response = await exchange(outbound, request);
  if (!response.ok) throw failed(request, `it responded with ${response.status}`);
  try {
    return await response.json();
  } catch {
    throw failed(request, 'its response is not JSON');
  }
}

function failed(request: Request, why: string): Problem {
  return new Problem('upstream_error', `The identity provider ${new URL(request.url).host} could not complete the sign-in: ${why}.`);
}

/** The identity provider responded, but does not prove who the person is. */
export function refused(why: string): Problem {
  return new Problem('forbidden', `You could not be signed in: ${why}.`);
}
