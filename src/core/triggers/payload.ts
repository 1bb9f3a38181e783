/**
 * Parses a delivery's body by media type: JSON, a form (with JSON in `payload`, as Slack and GitHub send it), or text. Runs after the
 * signature was verified over the raw bytes.
 */
import { limits } from '../limits/limits.ts';
import { parseJsonText } from '../json/json-text.ts';
import { invalidRequest, Problem } from '../problem.ts';

/** `value`: what templates and filters read. `text`: the body without a byte order mark; `isJson`: the whole body is JSON. */
export type Payload = { text: string; value: unknown; isJson: boolean };

/**
 * Throws `unsupported_media_type` (multipart, a charset other than UTF-8, compressed), `invalid_json` (also nested too deep or not UTF-8),
 * `body_too_large` (too many values) and `invalid_request` (`__proto__`).
 */
export function parsePayload(body: Uint8Array, headers: { contentType: string | null; contentEncoding: string | null }): Payload {
  refuseCompressed(headers.contentEncoding);
  const type = mediaTypeOf(headers.contentType);
  const text = textOf(body);
  // Senders' test buttons may send an empty body with their usual type.
  if (text.trim() === '') return asText(text);
  if (isJsonType(type)) return { text, value: parseJsonText(text), isJson: true };
  if (type === 'application/x-www-form-urlencoded') return { text, value: formValue(text), isJson: false };
  const value = undeclaredJson(text);
  return value === undefined ? asText(text) : { text, value, isJson: true };
}

function asText(text: string): Payload {
  return { text, value: text, isJson: false };
}

function refuseCompressed(encoding: string | null): void {
  if (encoding === null || encoding.trim() === '' || encoding.trim().toLowerCase() === 'identity') return;
  throw new Problem('unsupported_media_type', 'Send the body uncompressed: content-encoding is not supported.');
}

/** Lower case, without parameters; '' if absent. */
function mediaTypeOf(contentType: string | null): string {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const name = type.trim();
  // Two parsers could read different types from a list (`a/b, c/d`), so it is rejected.
  if (name !== '' && !/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(name))
    throw new Problem('unsupported_media_type', 'The content type is not one media type such as `application/json`.');
  if (name.startsWith('multipart/'))
    throw new Problem(
      'unsupported_media_type',
      'Multipart bodies are not supported: send JSON, a form (`application/x-www-form-urlencoded`) or text.',
    );
  for (const parameter of parameters) {
    const charset = charsetOf(parameter);
    if (charset !== null && !/^(?:utf-?8|us-ascii)$/.test(charset)) throw new Problem('unsupported_media_type', 'Send the body as UTF-8.');
  }
  return name;
}

function charsetOf(parameter: string): string | null {
  const equals = parameter.indexOf('=');
  if (equals === -1 || parameter.slice(0, equals).trim() !== 'charset') return null;
  const value = parameter.slice(equals + 1).trim();
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body);
  } catch (error) {
    throw new Problem('invalid_json', 'The body is not valid UTF-8.', {}, { cause: error });
  }
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}

/** Returns fields by name (the last of duplicates), or the object in the field `payload` if that is JSON. */
function formValue(text: string): unknown {
  if (text.split('&', limits.maxJsonValues + 1).length > limits.maxJsonValues)
    throw new Problem('body_too_large', `The body has more than ${limits.maxJsonValues} fields.`);
  const fields = new URLSearchParams(text);
  if (fields.has('__proto__')) throw invalidRequest([{ path: '__proto__', message: 'this key is not allowed' }]);
  const payload = fields.get('payload');
  const inner = payload === null ? undefined : undeclaredJson(payload);
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : Object.fromEntries(fields);
}

/** Returns the object or list if the text is JSON without being declared as such. undefined: plain text, also if it exceeds the limits. */
function undeclaredJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
