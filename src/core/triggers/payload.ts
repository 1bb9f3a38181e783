/**
 * What was sent, read by its media type: JSON, a form (with JSON in `payload`, as Slack and GitHub send it), or text. It is read only once the
 * signature holds, and what is signed is never what is read here, but the bytes.
 */
import { limits } from '../limits.ts';
import { parseJsonText } from '../json-text.ts';
import { invalidRequest, Problem } from '../problem.ts';

/** `value` is what templates and filters see. `text`: as it came, but for a byte order mark; `isJson`: it is JSON as a whole. */
export type Payload = { text: string; value: unknown; isJson: boolean };

/**
 * Throws `unsupported_media_type` (multipart, another charset than UTF-8, compressed), `invalid_json` (also what is nested too deep, and what is
 * not UTF-8), `body_too_large` (too many values) and `invalid_request` (`__proto__`).
 */
export function readPayload(body: Uint8Array, headers: { contentType: string | null; contentEncoding: string | null }): Payload {
  refuseCompressed(headers.contentEncoding);
  const type = mediaTypeOf(headers.contentType);
  const text = textOf(body);
  // Senders' test buttons send nothing at all under their usual type.
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
  throw new Problem('unsupported_media_type', 'Send it uncompressed: bodies with a content-encoding are not read.');
}

/** Lower-case and without parameters; '' when none is named. */
function mediaTypeOf(contentType: string | null): string {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const name = type.trim();
  // Two types at once (`a/b, c/d`) could be read as the one by us and as the other by whoever let it pass.
  if (name !== '' && !/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(name))
    throw new Problem('unsupported_media_type', 'The content type is not one media type such as `application/json`.');
  if (name.startsWith('multipart/'))
    throw new Problem(
      'unsupported_media_type',
      'Multipart bodies are not read: send JSON, a form (`application/x-www-form-urlencoded`) or text.',
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

/** Fields by name, of several with one name the last; or the object that stands as JSON in the field `payload`. */
function formValue(text: string): unknown {
  if (text.split('&', limits.maxJsonValues + 1).length > limits.maxJsonValues)
    throw new Problem('body_too_large', `The body holds more than ${limits.maxJsonValues} fields.`);
  const fields = new URLSearchParams(text);
  if (fields.has('__proto__')) throw invalidRequest([{ path: '__proto__', message: 'this key is not allowed' }]);
  const payload = fields.get('payload');
  const inner = payload === null ? undefined : undeclaredJson(payload);
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : Object.fromEntries(fields);
}

/** The object or list that the text is, without having been called JSON. undefined: it is just text, as is what our bounds refuse. */
function undeclaredJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
