/**
 * A JSON body, read once within a bound. Rules: UTF-8 only, a byte order mark is tolerated, of duplicate keys the last
 * counts, nesting is at most `limits.maxJsonDepth`, values are at most `limits.maxJsonValues`, a key named `__proto__` is refused. Not here: what the value must look
 * like (`core/issues.ts` with the route's schema).
 */
import { limits } from '../core/limits.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import { pathText } from '../core/issues.ts';
import { withTimeLimit } from '../net/time-limit.ts';

export type JsonBody = { value: unknown; bytes: Uint8Array; text: string };

/** Throws `unsupported_media_type`, `body_too_large`, `invalid_json`, and `invalid_request` for `__proto__`. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonBody> {
  checkMediaType(request.headers);
  const bytes = await readBytes(request, maxBytes);
  const text = decodeText(bytes);
  return { value: parseJson(text), bytes, text };
}

/** The raw body, never more than `maxBytes` of it in memory. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array(0);
  // With a declared length the server in front cuts the body there, and one read is cheaper than several.
  const whole = (declared === null ? readChunks(request.body, maxBytes) : readDeclared(request, maxBytes)).catch(brokenOff);
  // A small one is there with the head; a timer for each would be a tenth of what a chat costs us.
  if (declared !== null && Number(declared) <= limits.untimedBodyBytes) return await whole;
  return await withTimeLimit(whole, limits.requestBodyTimeoutMs, () => {
    throw new Problem('invalid_json', `The body did not arrive whole within ${limits.requestBodyTimeoutMs / 1000} seconds.`);
  });
}

/** The sender's connection, not ours, whatever the runtime calls it. */
function brokenOff(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem('invalid_json', 'The body broke off before its end.', {}, { cause: error });
}

async function readDeclared(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

async function readChunks(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      // What is left is for `discardBody`.
      reader.releaseLock();
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/**
 * Takes in what is left of a refused request's body and drops it. A client that is still sending when the answer comes and
 * the connection closes sees a broken pipe, and never learns why; so the answer waits, but only for a bounded while.
 */
export async function discardBody(request: Request): Promise<void> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  // A sender of more than that, or one that asked first, is told before it has sent all.
  if (request.body === null || request.body.locked || declared > limits.maxDiscardedBodyBytes || request.headers.has('expect')) return;
  const reader = request.body.getReader();
  try {
    await withTimeLimit(drain(reader), limits.discardTimeoutMs, () => reader.cancel());
  } catch {
    // The sender is gone: nothing more is to be taken in, and there is nobody to tell.
  }
}

/** Ends with the body, at the bound, or when the sender pauses: one that waits for the answer gets it. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const paused = { done: true, value: undefined } as const;
  for (let left = limits.maxDiscardedBodyBytes; left >= 0; ) {
    const { done, value } = await withTimeLimit<ReadableStreamReadResult<Uint8Array>>(reader.read(), limits.discardPauseMs, () => paused);
    if (done) break;
    left -= value.byteLength;
  }
  await reader.cancel();
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', `The body is larger than the ${maxBytes} bytes that this path takes.`, { maxBytes });
}

function checkMediaType(headers: Headers): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') throw new Problem('unsupported_media_type', 'Send the body as `content-type: application/json`.');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) throw new Problem('unsupported_media_type', 'JSON bodies are UTF-8.');
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type', 'Send the body without content-encoding.');
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function parseJson(text: string): unknown {
  if (text.trim() === '') throw new Problem('invalid_json', 'The body is empty; send a JSON object.');
  const excess = excessOf(text, limits.maxJsonDepth, limits.maxJsonValues);
  if (excess === 'depth') throw new Problem('invalid_json', `The body is nested deeper than ${limits.maxJsonDepth} levels.`);
  if (excess === 'values') throw new Problem('body_too_large', `The body holds more than ${limits.maxJsonValues} values.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message quotes a few characters of the body, which the caller sent.
    throw new Problem('invalid_json', `The body is not valid JSON: ${error instanceof Error ? error.message : 'it does not parse'}.`);
  }
  // Cheap to rule out in the text; only then is the value walked.
  if (text.includes('__proto__') || /\\u005f/i.test(text)) refuseProtoKeys(value);
  return value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder only says that it failed.
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
}

/**
 * What of it is too much, as far as the text is JSON. Looks at it before it is parsed, without recursion; strings are skipped natively.
 * Linear. Values are counted by what stands between them, so that the count is right but for empty arrays and objects.
 */
export function excessOf(text: string, maxDepth: number, maxValues: number): 'depth' | 'values' | null {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = stringEnd(text, index);
        if (index === -1) return null; // An open string: the parser will say so.
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return 'depth';
        if (++values > maxValues) return 'values';
        break;
      case 0x2c:
        if (++values > maxValues) return 'values';
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      default:
    }
  }
  return null;
}

/** Index of the quote that closes the string opened at `start`, or -1. Each run of backslashes is counted once. */
function stringEnd(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return -1;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

function refuseProtoKeys(root: unknown): void {
  const open: { value: unknown; path: PropertyKey[] }[] = [{ value: root, path: [] }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, path } = item;
    if (value === null || typeof value !== 'object') continue;
    if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
      throw invalidRequest([{ path: pathText([...path, '__proto__']), message: 'this key is not allowed' }]);
    }
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, child] of entries) if (child !== null && typeof child === 'object') open.push({ value: child, path: [...path, key] });
  }
}
