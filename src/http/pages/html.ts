/** Shared by the pages: escaping, the page frame, and headers that restrict a page to content of this service. */
import type { AppContext } from '../context.ts';

/** No inline code or style, no foreign content, no framing. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function htmlResponse(c: AppContext, page: string): Response {
  return c.body(page, 200, { ...pageHeaders, 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' });
}

/** A private page for one user: no scripts, not cached or indexed, and its form is sent back here. */
export function privateHtmlResponse(page: string, status: number): Response {
  return new Response(page, {
    status,
    headers: {
      ...pageHeaders,
      'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow, noarchive',
    },
  });
}

const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'referrer-policy': 'no-referrer' };

export function htmlPage(title: string, body: string, script?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/assets/pages.css">
${script === undefined ? '' : `<script src="${escapeHtml(script)}" defer></script>`}
</head>
<body>
${body}
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
