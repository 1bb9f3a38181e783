/**
 * Builds the URL of one call: base URL, path with parameters, query. Whatever the arguments, the result stays on the base's origin, under
 * its path, and has as many segments as the path in the document.
 */
import { limits } from '../limits.ts';
import { Problem, quoted } from '../problem.ts';
import type { ServerOperation } from '../servers/server-state.ts';
import { encodeText, pathSegment, queryPairs, invalidValue } from './parameter-text.ts';

/** Throws `invalid_request` for an argument that is invalid in its location. */
export function requestUrl(
  { path, parameters }: Pick<ServerOperation, 'path' | 'parameters'>,
  baseUrl: string,
  args: Record<string, unknown>,
): URL {
  const base = new URL(baseUrl);
  const inPath = new Map(parameters.filter((parameter) => parameter.in === 'path').map((parameter) => [parameter.name, parameter]));
  const segments = path.split('/').map((segment) => {
    const written = segment.replace(/\{([^{}]*)\}|[^{}]+|[{}]/g, (piece, name?: string) => {
      if (name === undefined) return encodeLiteral(piece);
      const parameter = inPath.get(name);
      if (parameter === undefined) throw cannotBeWritten(path);
      const value = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined;
      if (value === undefined || value === null) throw invalidValue(parameter.argument, 'is required, because it is part of the path');
      return pathSegment(parameter, value);
    });
    if (leadsElsewhere(written)) throw invalidValue(path, 'would lead to another path with these arguments');
    return written;
  });
  const pathname = `${base.pathname.replace(/\/+$/, '')}${segments.join('/')}`;
  const query = parameters.flatMap((parameter) =>
    parameter.in === 'query' && Object.hasOwn(args, parameter.argument) && args[parameter.argument] !== null
      ? queryPairs(parameter, args[parameter.argument])
      : [],
  );
  const url = URL.parse(`${base.origin}${pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`);
  if (url === null || url.origin !== base.origin || url.pathname !== pathname) throw cannotBeWritten(path);
  if (url.href.length > limits.maxUrlLength) {
    throw invalidValue(
      path,
      `results in a URL of ${url.href.length} characters with these arguments; at most ${limits.maxUrlLength} are allowed`,
    );
  }
  return url;
}

/**
 * Returns whether the URL parser treats the segment as "." or ".." (WHATWG URL, "double-dot URL path segment"), or a server does that
 * decodes a path before splitting it.
 */
function leadsElsewhere(segment: string): boolean {
  return segment
    .replace(/%2e/gi, '.')
    .split(/%2f|%5c/i)
    .some((piece) => piece === '.' || piece === '..');
}

/** Returns the document's text with characters encoded that are invalid in a path. */
function encodeLiteral(text: string): string {
  return text.toWellFormed().replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/gu, encodeText);
}

function cannotBeWritten(path: string): Problem {
  return new Problem('upstream_error', `The path ${quoted(path)} of the OpenAPI document cannot be built with these arguments.`, {
    retryable: false,
  });
}
