/**
 * A fake OpenID provider: discovery, keys, and tokens for the person of `person`, as strict as OpenID Connect about codes, PKCE and clients.
 * In memory under any issuer, or on a port.
 */
import { createHash } from 'node:crypto';
import { CompactSign, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type SigningKey = { id: string; alg: string; privateKey: CryptoKey; jwk: object };

async function createSigningKey(id: string, alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { id, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg, use: 'sig' } };
}

/** By algorithm: an RSA key takes up to half a second to make. */
const firstKeys: Record<string, Promise<SigningKey>> = {};

export type FakeIdentityProvider = Awaited<ReturnType<typeof createIdentityProvider>>;

export async function createIdentityProvider({
  issuer,
  clientId,
  now,
  alg = 'RS256',
}: {
  issuer: string;
  clientId: string;
  now(): number;
  alg?: string;
}) {
  firstKeys[alg] ??= createSigningKey('key-1', alg);
  let key = await firstKeys[alg];
  const codes = new Map<string, { challenge: string; redirectUri: string; nonce: string }>();
  const seen: string[] = [];

  const provider = {
    issuer,
    seen,
    person: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' } as Record<string, unknown>,
    /** Members of the discovery document to replace. */
    metadata: {} as Record<string, unknown>,
    /** Replaces the ID token. */
    forge: null as ((claims: JWTPayload) => Promise<string>) | null,
    key: () => key,
    async rotate(): Promise<void> {
      key = await createSigningKey(`key-${seen.length + 2}`, alg);
    },
    sign: (claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.id, ...header }).sign(key.privateKey),

    /** Signs any text as the claims. */
    signText: (claims: string): Promise<string> =>
      new CompactSign(new TextEncoder().encode(claims)).setProtectedHeader({ alg: key.alg, kid: key.id }).sign(key.privateKey),

    /** What the person's browser does at the provider. Returns the URL to return to. */
    approve(url: string): URL {
      const query = new URL(url).searchParams;
      const code = `code-${codes.size + 1}`;
      codes.set(code, {
        challenge: query.get('code_challenge') ?? '',
        redirectUri: query.get('redirect_uri') ?? '',
        nonce: query.get('nonce') ?? '',
      });
      const back = new URL(query.get('redirect_uri') ?? '');
      for (const [name, value] of Object.entries({ code, state: query.get('state') ?? '', iss: issuer }))
        back.searchParams.set(name, value);
      return back;
    },

    async fetch(request: Request): Promise<Response> {
      const { pathname } = new URL(request.url);
      seen.push(pathname);
      if (pathname === '/.well-known/openid-configuration')
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          authorization_response_iss_parameter_supported: true,
          ...provider.metadata,
        });
      if (pathname === '/jwks' || pathname === '/cdn-cgi/access/certs') return Response.json({ keys: [key.jwk] });
      if (pathname === '/authorize') return Response.redirect(provider.approve(request.url).href, 302);
      if (pathname !== '/token') return new Response('not found', { status: 404 });
      const form = new URLSearchParams(await request.text());
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isOwn = request.headers.get('authorization') === `Basic ${btoa(`${clientId}:client secret`.replace(' ', '%20'))}`;
      if (!isOwn || code === undefined || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
        return Response.json({ error: 'invalid_grant' }, { status: 400 });
      const seconds = Math.floor(now() / 1_000);
      const claims = {
        iss: issuer,
        aud: clientId,
        sub: 'person-1',
        iat: seconds,
        exp: seconds + 300,
        nonce: code.nonce,
        ...provider.person,
      };
      const idToken = await (provider.forge?.(claims) ?? provider.sign(claims));
      return Response.json({ token_type: 'Bearer', access_token: 'access', id_token: idToken });
    },
  };
  return provider;
}
