/** Responses with private data are not stored by caches: browsers, proxies, CDNs. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

type Document = { paths: Record<string, Record<string, unknown>> };
const publicFiles = [
  '/',
  '/console',
  '/console/{path}',
  '/assets/pages.css',
  '/docs',
  '/openapi.json',
  '/moniker.schema.json',
  '/oauth/client.json',
];
const noStore = expect.stringMatching(/^no-store(, no-transform)?$/);

let h: Harness;
let session: string;
let document: Document;

beforeEach(async () => {
  h = createHarness({ MONIKER_PUBLIC_URL: 'https://moniker.example' });
  await h.send('PUT', '/v1/toolsets/demo', demo);
  await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', toolset: 'demo' });
  session = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }))).id;
  document = await bodyOf(await h.send('GET', '/openapi.json'));
});

describe('cache-control: no-store', () => {
  it('is on every response, with and without a key, except for public files', async () => {
    const missing: string[] = [];
    let count = 0;
    for (const [template, methods] of Object.entries(document.paths)) {
      const path = template
        .replace('{toolset}', 'demo')
        .replace('{agent}', 'helper')
        .replace('{id}', session)
        .replaceAll(/\{\w+\}/g, 'x');
      for (const method of Object.keys(methods).filter((name) => !publicFiles.includes(template) || name !== 'get')) {
        for (const authorization of [undefined, 'Bearer wrong-key-of-thirty-two-characters-0', null]) {
          const headers = authorization === null ? {} : { authorization };
          const answer = await h.send(method.toUpperCase(), path, method === 'get' || method === 'delete' ? undefined : {}, headers);
          await answer.body?.cancel();
          count += 1;
          if (!/^no-store/.test(answer.headers.get('cache-control') ?? '')) missing.push(`${method} ${path} ${answer.status}`);
        }
      }
    }
    expect(missing).toEqual([]);
    expect(count).toBeGreaterThan(200);
  });

  it.each([
    ['a document with its tag', 'GET', '/v1/toolsets/demo', undefined, {}, 200],
    ['a document that the caller has', 'GET', '/v1/toolsets/demo', undefined, { 'if-none-match': '"1"' }, 304],
    ['a policy', 'GET', '/v1/policy', undefined, {}, 200],
    ['a list', 'GET', '/v1/toolsets', undefined, {}, 200],
    ['a new key', 'POST', '/v1/keys', { name: 'k', scopes: ['chat'] }, {}, 201],
    ['a path that is not there', 'GET', '/nowhere', undefined, {}, 404],
    ['a method that is not there', 'PUT', '/v1/models', {}, {}, 405],
    ['a HEAD', 'HEAD', '/v1/toolsets/demo', undefined, {}, 200],
    ['health', 'GET', '/healthz', undefined, {}, 200],
    ['readiness', 'GET', '/readyz', undefined, {}, 200],
  ])('is on %s', async (_what, method, path, body, headers, status) => {
    const answer = await h.send(method, path, body, headers);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, noStore]);
  });

  it.each([
    ['the events of a session', 'GET', () => `/v1/sessions/${session}/events`, undefined],
    ['a turn', 'POST', () => `/v1/sessions/${session}/turns`, { input: 'hello' }],
  ] as const)('is on a stream, which is not to be changed on its way: %s', async (_what, method, path, body) => {
    const answer = await h.send(method, path(), body, { accept: 'text/event-stream' });
    await answer.body?.cancel();
    expect([answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      'text/event-stream; charset=utf-8',
      'no-store, no-transform',
    ]);
  });

  it('is not on public files, which browsers cache and revalidate', async () => {
    for (const path of publicFiles) expect([path, (await h.send('GET', path)).headers.get('cache-control')]).toEqual([path, 'no-cache']);
  });
});
