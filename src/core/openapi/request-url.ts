/**
 * Builds the URL of one call: base URL, path with parameters, query. Whatever the arguments, the result stays on the base's origin, under
 * its path, and has as many segments as the path in the document.
 */
import { limits } from '../limits/limits.ts';
import { Problem, quoted, invalidRequest } from '../problem.ts';
import type { ServerOperation, OperationParameter } from '../tools/server-operation.ts';
import { isRecord, ownMember } from '../json/wire-value.ts';

/** Throws `invalid_request` for an argument that is invalid in its location. */
export function requestUrl(
  { path, parameters, query: fixed = [] }: Pick<ServerOperation, 'path' | 'parameters' | 'query'>,
  baseUrl: string,
  args: Record<string, unknown>,
): URL {
  const base = new URL(baseUrl);
  const inPath = new Map(parameters.filter((parameter) => parameter.in === 'path').map((parameter) => [parameter.name, parameter]));
  const segments = path.split('/').map((segment) => {
    const written = segment.replace(/\{([^{}]*)\}|[^{}]+|[{}]/g, (piece, name?: string) => {
      if (name === undefined) return encodeLiteral(piece);
      const parameter = inPath.get(name);
      if (parameter === undefined) throw unbuildablePath(path);
      const value = ownMember(args, parameter.argument);
      if (value === undefined || value === null) throw invalidValue(parameter.argument, 'is required, because it is part of the path');
      return pathSegment(parameter, value);
    });
    if (isDotSegment(written)) throw invalidValue(path, 'would lead to another path with these arguments');
    return written;
  });
  const pathname = `${base.pathname.replace(/\/+$/, '')}${segments.join('/')}`;
  const asked = parameters.flatMap((parameter) =>
    parameter.in === 'query' && Object.hasOwn(args, parameter.argument) && args[parameter.argument] !== null
      ? queryPairs(parameter, args[parameter.argument])
      : [],
  );
  const query = [...fixed.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`), ...asked];
  const url = URL.parse(`${base.origin}${pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`);
  if (url === null || url.origin !== base.origin || url.pathname !== pathname) throw unbuildablePath(path);
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
function isDotSegment(segment: string): boolean {
  return segment
    .replace(/%2e/gi, '.')
    .split(/%2f|%5c/i)
    .some((piece) => piece === '.' || piece === '..');
}

/** Returns the document's text with characters encoded that are invalid in a path. */
function encodeLiteral(text: string): string {
  return text.toWellFormed().replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/gu, encodeText);
}

function unbuildablePath(path: string): Problem {
  return new Problem('upstream_error', `The path ${quoted(path)} of the OpenAPI document cannot be built with these arguments.`, {
    retryable: false,
  });
}

// Parameter values for a path, query, header or cookie. OpenAPI 3.1.1, "Style Values" and "Style Examples" (RFC 6570 expansions); values are
// percent-encoded, delimiters are not. Nested values, which no style supports, are written as JSON.

type Style = Pick<OperationParameter, 'style' | 'explode'>;

/** Returns the encoded text for one path segment. */
export function pathSegment({ argument, name, style, explode, isJson }: OperationParameter, value: unknown): string {
  const encode = (part: unknown): string => encodeInPath(argument, plain(part));
  const [lists, pairs] = isJson === true ? [null, null] : partsOf(value);
  const key = encodeText(name);
  if (lists === null && pairs === null) {
    const text = encodeInPath(argument, isJson === true ? JSON.stringify(value) : plain(value));
    return style === 'matrix' ? `;${key}=${text}` : style === 'label' ? `.${text}` : text;
  }
  if ((lists ?? pairs)?.length === 0) throw invalidValue(argument, 'must not be empty, because it is part of the path');
  const flat = lists?.map(encode) ?? pairs?.flatMap(([field, part]) => [encode(field), encode(part)]) ?? [];
  const named = pairs?.map(([field, part]) => `${encode(field)}=${encode(part)}`) ?? flat;
  switch (style) {
    case 'matrix':
      if (!explode) return `;${key}=${flat.join(',')}`;
      return named.map((text) => (pairs === null ? `;${key}=${text}` : `;${text}`)).join('');
    case 'label':
      return explode ? `.${named.join('.')}` : `.${flat.join(',')}`;
    default:
      return explode ? named.join(',') : flat.join(',');
  }
}

/** Returns encoded `name=value` pairs in order; none for an empty list. */
export function queryPairs(
  { name, style, explode, isJson }: Style & Pick<OperationParameter, 'name' | 'isJson'>,
  value: unknown,
): string[] {
  if (value === undefined) return [];
  const key = encodeText(name);
  if (isJson === true) return [`${key}=${encodeText(JSON.stringify(value))}`];
  const [lists, pairs] = partsOf(value);
  if (lists === null && pairs === null) return [`${key}=${encodeText(plain(value))}`];
  if (style === 'deepObject') return nested(name, value);
  const flat = lists?.map(plain) ?? pairs?.flatMap(([field, part]) => [field, plain(part)]) ?? [];
  if (flat.length === 0) return [];
  if (!explode || (pairs !== null && style !== 'form')) return [`${key}=${flat.map(encodeText).join(delimiters[style] ?? ',')}`];
  if (lists !== null) return flat.map((part) => `${key}=${encodeText(part)}`);
  return pairs.map(([field, part]) => `${encodeText(field)}=${encodeText(plain(part))}`);
}

const delimiters: Partial<Record<OperationParameter['style'], string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/** `a[b][c]=1`, with indexes for lists. The specification does not define nesting; servers that use `deepObject` read it this way. */
function nested(name: string, value: unknown): string[] {
  const [lists, pairs] = partsOf(value);
  if (lists !== null) return lists.flatMap((part, index) => nested(`${name}[${index}]`, part));
  if (pairs !== null) return pairs.flatMap(([field, part]) => nested(`${name}[${field}]`, part));
  return [`${encodeText(name)}=${encodeText(plain(value))}`];
}

/** Returns the unencoded text. Rejects characters that headers must not contain. */
export function headerText(parameter: OperationParameter, value: unknown): string {
  const text = joined(parameter, value);
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw invalidValue(parameter.argument, 'contains a line break or another character that is invalid in a header');
}

/** Returns `name=value`. A list becomes one value, because of duplicate cookies only one is read. */
export function cookieText(parameter: OperationParameter, value: unknown): string {
  return `${parameter.name}=${encodeText(joined(parameter, value))}`;
}

function joined({ explode, isJson }: OperationParameter, value: unknown): string {
  if (isJson === true) return JSON.stringify(value);
  const [lists, pairs] = partsOf(value);
  if (lists !== null) return lists.map(plain).join(',');
  return pairs?.map(([field, part]) => `${field}${explode ? '=' : ','}${plain(part)}`).join(',') ?? plain(value);
}

/** Returns the items of a list or the members of an object; null for a single value. */
function partsOf(value: unknown): [lists: readonly unknown[], pairs: null] | [lists: null, pairs: [string, unknown][]] | [null, null] {
  if (Array.isArray(value)) return [value, null];
  return isRecord(value) ? [null, Object.entries(value)] : [null, null];
}

function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** RFC 3986 §2.3: encodes everything but unreserved characters. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A server that decodes the path before it splits it must not be led to another path, so encoded ".." between slashes is rejected, too. */
function encodeInPath(argument: string, text: string): string {
  if (text === '') throw invalidValue(argument, 'must not be empty, because it is part of the path');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  if (/[\u0000-\u001f\u007f]/.test(text)) throw invalidValue(argument, 'contains a control character, which is invalid in a path');
  if (text.split(/[\\/]/).some((piece) => piece === '.' || piece === '..')) {
    throw invalidValue(argument, 'must not be "." or ".." or contain them between slashes, because it is one path segment');
  }
  return encodeText(text);
}

export function invalidValue(argument: string, message: string): Problem {
  return invalidRequest([{ path: argument, message }]);
}
