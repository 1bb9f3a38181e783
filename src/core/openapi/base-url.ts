/**
 * Where an operation is called, as its document says: the first of the `servers` nearest to it (OpenAPI 3.1.1, "Server Object"), variables
 * at their defaults, relative to the document's own address. Which hosts may be called at all is the guard's (`net/guard.ts`).
 */
import { Problem, quoted } from '../problem.ts';
import { isRecord, listOf, type Json } from '../wire-value.ts';

/** `levels`: operation, path item, document. `documentUrl`: `''` where it was given whole. Throws `upstream_error` with what to do. */
export function baseUrlOf(levels: readonly Json[], documentUrl: string): string {
  const server = levels.map(({ servers }) => listOf(servers)[0]).find((first) => isRecord(first) && typeof first.url === 'string');
  // Without any, the address is "/" (the same place): the host that the document comes from.
  const written = isRecord(server) ? withDefaults(server) : '/';
  // Braces that no variable filled pass as a host name.
  const url = /[{}]/.test(written) ? null : URL.parse(written, documentUrl === '' ? undefined : documentUrl);
  if (url === null) {
    const what = isRecord(server) ? `calls ${quoted(written)}, which is no whole address` : 'does not say where its operations are called';
    throw fault(`The OpenAPI document ${what}. Set baseUrl in the server’s document.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw fault(`The OpenAPI document calls ${quoted(url.protocol)} addresses; only http and https are. Set baseUrl.`);
  if (url.username !== '' || url.password !== '') throw fault('The OpenAPI document has a password in its address. Set baseUrl.');
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
