/**
 * The small Workers that replace services of Cloudflare: the static pages (`ASSETS`), KV, and an R2 bucket that is only written to. They are
 * source text, because they run in workerd beside the bundle.
 */

/** How the file of a KV value begins: when it expires, in milliseconds since 1970, or 0 for never. Then a line feed and the value follow. */
export const expiryDigits = 15;

/**
 * KV as files of the disk service `FILES`, each named by a hash of its key and the key itself: get, put, delete and lists of keys, with expiry.
 * Lists lack keys that are too long for a file name. Metadata is not used. workerd's own KV (`/workerd/kv.js`) stores small values in SQLite,
 * whose pages keep the bytes of deleted ones.
 */
export const kvService = `
const digits = ${expiryDigits};
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const key = new TextEncoder().encode(decodeURIComponent(pathname.slice(1)));
    if (key.length === 0) return await list(env, searchParams);
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', key)).toHex();
    const name = encodeURIComponent(encodeURIComponent(decodeURIComponent(pathname.slice(1))));
    // A file name has at most 255 bytes.
    const file = 'http://files/' + (name.length > 220 ? hash : hash.slice(0, 32) + '.' + name);
    if (request.method === 'PUT') {
      const ttl = Number(searchParams.get('expiration_ttl') ?? 0) * 1000;
      const expiry = ttl > 0 ? Date.now() + ttl : Number(searchParams.get('expiration') ?? 0) * 1000;
      const body = new Blob([String(expiry).padStart(digits, '0'), '\\n', await request.arrayBuffer()]);
      const written = await env.FILES.fetch(file, { method: 'PUT', body: await body.arrayBuffer() });
      return new Response(null, { status: written.ok ? 200 : 500 });
    }
    if (request.method === 'DELETE') {
      const deleted = await env.FILES.fetch(file, { method: 'DELETE' });
      return new Response(null, { status: deleted.ok || deleted.status === 404 ? 200 : 500 });
    }
    if (request.method !== 'GET') return new Response(null, { status: 405 });
    const found = await env.FILES.fetch(file);
    if (found.status !== 200) return new Response(null, { status: 404 });
    const content = new Uint8Array(await found.arrayBuffer());
    const expiry = Number(new TextDecoder().decode(content.subarray(0, digits)));
    if (expiry > 0 && expiry <= Date.now()) return new Response(null, { status: 404 });
    return new Response(content.subarray(digits + 1));
  },
};
async function list(env, searchParams) {
  const [prefix, limit] = [searchParams.get('prefix') ?? '', Number(searchParams.get('key_count_limit') ?? 1000)];
  const files = await (await env.FILES.fetch('http://files/')).json();
  const names = files.map(({ name }) => decodeURIComponent(name.slice(name.indexOf('.') + 1 || name.length))).filter((name) => name !== '' && name.startsWith(prefix));
  return Response.json({ keys: names.slice(0, limit).map((name) => ({ name })), list_complete: names.length <= limit, cursor: '' });
}`;

/**
 * Serves the files of the disk service `FILES` by exact path, with their type and an ETag of their content. Everything else is 404: the
 * Worker answers such requests itself.
 */
export const pagesService = `
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
export default {
  async fetch(request, env) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return new Response(null, { status: 405 });
    const { pathname } = new URL(request.url);
    const type = types[/\\.([a-z]+)$/.exec(pathname)?.[1] ?? ''];
    const file = type === undefined ? null : await env.FILES.fetch('http://files' + pathname);
    if (file?.status !== 200) return new Response(null, { status: 404 });
    const content = await file.arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content)).toHex();
    const headers = { 'content-type': type, etag: '"' + digest.slice(0, 32) + '"' };
    const known = (request.headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\\//, ''));
    if (known.includes(headers.etag)) return new Response(null, { status: 304, headers });
    return new Response(request.method === 'HEAD' ? null : content, { headers });
  },
};`;

/**
 * Stores objects as files of the disk service `FILES`, under their own names. The protocol is that of workerd's R2 binding: the body begins
 * with `cf-r2-metadata-size` bytes of JSON. The export of the audit only writes; other operations fail.
 */
export const bucketService = `
export default {
  async fetch(request, env) {
    const body = new Uint8Array(await request.arrayBuffer());
    const length = Number(request.headers.get('cf-r2-metadata-size'));
    const { method, object, httpMetadata } = length > 0 ? JSON.parse(new TextDecoder().decode(body.subarray(0, length))) : {};
    if (request.method !== 'PUT' || method !== 'put') return failure(501, 'On this machine, a bucket can only be written to.');
    const value = body.subarray(length);
    const path = object.split('/').map(encodeURIComponent).join('/');
    const written = await env.FILES.fetch('http://files/' + path, { method: 'PUT', body: value });
    if (!written.ok) return failure(500, 'Writing the file failed: ' + written.status);
    const etag = new Uint8Array(await crypto.subtle.digest('MD5', value)).toHex();
    const stored = JSON.stringify({
      name: object, version: etag, size: value.byteLength, etag, uploaded: Date.now(),
      httpFields: httpMetadata ?? {}, customFields: [], checksums: { 0: etag },
    });
    return new Response(stored, { headers: { 'cf-r2-metadata-size': String(new TextEncoder().encode(stored).length) } });
  },
};
function failure(status, message) {
  return new Response(null, { status, headers: { 'cf-r2-error': JSON.stringify({ message, version: 1, v4code: 10001 }) } });
}`;
