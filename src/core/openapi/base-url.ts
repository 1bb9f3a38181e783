/**
 * Finds the base URL of an operation: the first of the nearest `servers` (OpenAPI 3.1.1, "Server Object"), with variables at their
 * defaults, relative to the document's URL. The guard decides which hosts may be called (`net/guard.ts`).
 */
import { Problem, quoted } from '../problem.ts';
import { isRecord, listOf, type Json } from '../json/wire-value.ts';

/** `levels`: operation, path item, document. `documentUrl`: `''` for an inline document. Throws `upstream_error` with a remedy. */
export function documentBaseUrl(levels: readonly Json[], documentUrl: string): string {
  const server = levels.map(({ servers }) => listOf(servers)[0]).find((first) => isRecord(first) && typeof first.url === 'string');
  // The default is "/", relative to the document's URL.
  const written = isRecord(server) ? withDefaults(server) : '/';
  // Unfilled braces would be accepted as a host name.
  const url = /[{}]/.test(written) ? null : URL.parse(written, documentUrl === '' ? undefined : documentUrl);
  if (url === null) {
    const what = isRecord(server)
      ? `calls ${quoted(written)}, which is not an absolute URL`
      : 'does not say where its operations are called';
    throw fault(`The OpenAPI document ${what}. Set baseUrl in the server’s document.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw fault(
      `The OpenAPI document uses ${quoted(url.protocol)} URLs, but only http and https are supported. Set baseUrl in the server’s document.`,
    );
  if (url.username !== '' || url.password !== '')
    throw fault('The OpenAPI document has a password in a server URL. Set baseUrl in the server’s document.');
  return `${url.origin}${url.pathname}`;
}

function withDefaults({ url, variables }: Json): string {
  return String(url).replace(/\{([^{}]{1,200})\}/g, (whole, name: string) => {
    const variable = isRecord(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isRecord(variable) ? (variable.default ?? listOf(variable.enum)[0]) : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

function fault(detail: string): Problem {
  return new Problem('upstream_error', detail, { retryable: false });
}
