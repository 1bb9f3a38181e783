/**
 * Access tokens of clouds, bought with a client secret (Entra ID, "Client credentials flow") or a signed assertion (Google, "Using OAuth 2.0 for
 * Server to Server Applications"). Cached in the isolate until shortly before they expire. Requests that need one at the same time buy one
 * each: in the Workers runtime, a request cannot wait for the work of another.
 */
import type { CloudAccess, EntraKey, GoogleKey } from '../../core/model/cloud-access.ts';
import { entraScopes, googleTokenUrl } from '../../core/model/cloud-key.ts';
import { isCount, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { fromBase64, toBase64Url } from '../../core/text/bytes.ts';
import { readBounded } from '../../net/read-bounded.ts';

/** `now`: milliseconds. */
export type TokenDeps = { http(request: Request): Promise<Response>; now: number };

type TokenCloud = Extract<CloudAccess, { kind: 'azure-openai' | 'vertex' }>;

/** By the access of one provider of one workspace: a changed document has another one. */
const tokens = new WeakMap<object, { token: string; until: number }>();
const earlyMs = 60_000;
const longestMs = 60 * 60_000;

/** Throws `not_configured` if the credentials are refused, and `upstream_error` if no token comes for another reason. */
export async function bearerToken(deps: TokenDeps, provider: string, cloud: TokenCloud): Promise<string> {
  const known = tokens.get(cloud);
  if (known !== undefined && known.until > deps.now) return known.token;
  const request = cloud.kind === 'vertex' ? await googleRequest(cloud.key, deps.now, provider) : entraRequest(cloud.key);
  const response = await deps.http(request);
  const { bytes, truncated } = await readBounded(response, limits.maxErrorBodyBytes);
  const { access_token: token, expires_in: seconds, error } = recordOf(truncated ? null : tryParse(new TextDecoder().decode(bytes)));
  if (!response.ok || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    const isRefused = response.status === 400 || response.status === 401 || response.status === 403;
    const reason = stringOf(error).replace(/\W+/g, ' ').slice(0, 60);
    const detail = `The provider "${provider}" gets no token from ${new URL(request.url).host} (${response.status}${reason && `: ${reason}`}).`;
    throw new Problem(isRefused ? 'not_configured' : 'upstream_error', detail, { provider, retryable: !isRefused });
  }
  const ms = Math.min(isCount(seconds) ? seconds * 1000 : 0, longestMs) - earlyMs;
  if (ms > 0) tokens.set(cloud, { token, until: deps.now + ms });
  return token;
}

/** Returns whether there was a token. */
export function forgetToken(cloud: CloudAccess): boolean {
  return tokens.delete(cloud);
}

function entraRequest(key: EntraKey | undefined): Request {
  const { tenantId, clientId, clientSecret, activeDirectoryEndpointUrl: host = 'https://login.microsoftonline.com' } = key as EntraKey;
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope: entraScopes[host] ?? '' };
  return tokenRequest(`${host}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, form);
}

async function googleRequest(key: GoogleKey | undefined, now: number, provider: string): Promise<Request> {
  const { client_email: email, private_key: pem, private_key_id: kid } = key as GoogleKey;
  const seconds = Math.floor(now / 1000);
  const claims = {
    iss: email,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: googleTokenUrl,
    iat: seconds,
    exp: seconds + 3600,
  };
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT', kid })}.${encoded(claims)}`;
  const der = fromBase64(pem.replace(/-----[A-Z ]+-----|\s/g, ''));
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  try {
    const privateKey = await crypto.subtle.importKey('pkcs8', der ?? new Uint8Array(), algorithm, false, ['sign']);
    const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(signed));
    const assertion = `${signed}.${toBase64Url(new Uint8Array(signature))}`;
    return tokenRequest(googleTokenUrl, { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  } catch (cause) {
    throw new Problem(
      'not_configured',
      `The private_key of the provider "${provider}" is not an RSA key (PKCS #8).`,
      { provider },
      { cause },
    );
  }
}

function encoded(value: unknown): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function tokenRequest(url: string, form: Record<string, string>): Request {
  return new Request(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual', headers: { accept: 'application/json' } });
}
