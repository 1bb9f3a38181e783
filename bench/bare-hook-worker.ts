/**
 * The minimal webhook receiver: verifies the signature over the raw bytes and returns 202. Stores nothing and runs nothing. Runs
 * unbundled, with types stripped: no imports.
 */
type Env = { SECRET: string };

let key: Promise<CryptoKey> | null = null;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname === '/healthz') return new Response('ok');
    key ??= crypto.subtle.importKey('raw', new TextEncoder().encode(env.SECRET), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    const given = /^sha256=([0-9a-f]{64})$/.exec(request.headers.get('x-hub-signature-256') ?? '')?.[1] ?? '';
    const signature = new Uint8Array(given.length / 2).map((_byte, index) => Number.parseInt(given.slice(index * 2, index * 2 + 2), 16));
    const valid = await crypto.subtle.verify('HMAC', await key, signature, await request.arrayBuffer());
    return valid ? Response.json({ status: 'accepted' }, { status: 202 }) : Response.json({ code: 'not_found' }, { status: 404 });
  },
};
