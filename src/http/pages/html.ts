/** Shared by the pages: escaping, the page frame, and headers that restrict a page to content of this service. */
import type { AppContext } from '../middleware/request-context.ts';

/** No inline code or style, no foreign content, no framing. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function htmlResponse(c: AppContext, page: string): Response {
  return c.body(page, 200, { ...pageHeaders, 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' });
}

/** For a page of `src/console/`: its scripts also cannot turn text into markup or code (Trusted Types). */
export const scriptPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `${contentSecurityPolicy}; require-trusted-types-for 'script'; trusted-types 'none'`,
  'cache-control': 'no-cache',
};

/**
 * A private page for one user: no scripts, not cached or indexed, and its form is sent back here. `headers`: further ones, such as
 * `set-cookie`. `redirectsTo`: the schemes to which the response to the form redirects.
 */
export function privateHtmlResponse(
  page: string,
  status: number,
  headers: readonly (readonly [string, string])[] = [],
  redirectsTo?: string,
): Response {
  return new Response(page, {
    status,
    headers: {
      ...pageHeaders,
      ...Object.fromEntries(headers),
      'content-security-policy': `default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'${redirectsTo === undefined ? '' : ` ${redirectsTo}`}; frame-ancestors 'none'`,
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow, noarchive',
    },
  });
}

const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'referrer-policy': 'no-referrer' };

export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/assets/pages.css">
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

/**
 * Renders untrusted text as HTML that shows every character: no markup is interpreted, and characters that are invisible or change the
 * display of others are shown as code points. Used where a user decides based on the text. Keeps line feeds. Carriage returns are shown,
 * since they may hide the text before them.
 */
export function escapeInvisible(text: string): string {
  let html = '';
  let from = 0;
  for (const match of text.matchAll(hidden)) {
    html += `${escapeHtml(text.slice(from, match.index))}${codePoints(match[0])}`;
    from = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(from));
}

/**
 * Controls, formats (including bidirectional ones), lone surrogates, private and unassigned characters, unusual spaces and separators, and
 * all characters that are displayed as nothing. Tab and line feed are excluded.
 */
const hidden = /(?:(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])+/gu;

/** A long run is shown as its first characters and a count: it must not push the following text away. */
function codePoints(run: string): string {
  const points = [...run];
  const shown = points.slice(0, maxShown).map((point) => `U+${(point.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  const rest = points.length > maxShown ? ` and ${points.length - maxShown} more` : '';
  return `<span class="hidden-character">${shown.join(' ')}${rest}</span>`;
}

const maxShown = 16;
