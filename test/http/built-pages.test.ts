import { describe, expect, it } from 'vitest';
import { createHarness } from './harness.ts';

const files: Record<string, string> = {
  '/docs.html': '<!doctype html><title>Docs</title>',
  '/guide/errors.html': '<!doctype html><title>Errors</title>',
  '/assets/docs-ABC123.js': 'let a;',
};

const h = createHarness(
  {},
  {
    pageFile: async (path, headers) => {
      const content = files[path];
      if (content === undefined) return null;
      if (headers.get('if-none-match') === '"1"') return new Response(null, { status: 304, headers: { etag: '"1"' } });
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
      return new Response(content, { headers: { etag: '"1"', 'content-type': type, 'cache-control': 'public, max-age=0' } });
    },
  },
);

const withoutKey = { authorization: undefined };

describe('a built page', () => {
  it('is sent with a strict policy and revalidated', async () => {
    const response = await h.send('GET', '/docs', undefined, withoutKey);
    expect(await response.text()).toBe(files['/docs.html']);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy.split('; ')).toContain(part);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect((await h.send('GET', '/docs', undefined, { ...withoutKey, 'if-none-match': '"1"' })).status).toBe(304);
  });

  it('refers to the OpenAPI document where the pages were not built', async () => {
    const response = await createHarness().send('GET', '/docs', undefined, withoutKey);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('href="/openapi.json"');
  });
});

describe('a page of the guide', () => {
  it('is found at the type of a problem', async () => {
    const refused = await h.send('GET', '/v1/nothing');
    const { type, code } = (await refused.json()) as { type: string; code: string };
    const url = new URL(type, 'http://127.0.0.1:8787/v1/nothing');
    expect([url.pathname, url.hash]).toEqual(['/docs/errors', `#${code}`]);
    const page = await h.send('GET', url.pathname, undefined, withoutKey);
    expect([page.status, await page.text()]).toEqual([200, files['/guide/errors.html']]);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  it.each(['/docs/none', '/docs/..%2Fdocs', '/docs/errors.html', '/docs/Errors'])('does not exist: %s', async (path) => {
    expect((await h.send('GET', path, undefined, withoutKey)).status).toBe(404);
  });
});

describe('a file of a page', () => {
  it('is cached permanently', async () => {
    const response = await h.send('GET', '/assets/docs-ABC123.js', undefined, withoutKey);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(await response.text()).toBe('let a;');
  });

  it.each(['/assets/docs-OTHER.js', '/assets/..%2Fdocs.html'])('does not exist: %s', async (path) => {
    const response = await h.send('GET', path, undefined, withoutKey);
    expect(response.status).toBe(404);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});
