/**
 * A JSON body, read once within a bound: UTF-8 only, a byte order mark is tolerated. The rules of its text are those of
 * `core/json/json-text.ts`. Not here: what the value must look like (`core/issues.ts` with the route's schema).
 */
import { parseJsonText } from '../core/json/json-text.ts';
import { Problem } from '../core/problem.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import { KB, MB } from '../core/limits/units.ts';

/** A slow upload holds a request open; the largest body arrives in this time at 1 Mbit/s. */
export const requestBodyTimeoutMs = 150_000;
/**
 * Bodies with a declared length up to this arrive in one or two packets. A sender that stops in between holds one idle request,
 * which the platform ends.
 */
const untimedBodyBytes = 2 * KB;
/**
 * The body of a refused request is read and discarded before the response, because a client that is still sending may not read it.
 */
export const maxDiscardedBodyBytes = 32 * MB;
export const discardTimeoutMs = 10_000;
export const discardPauseMs = 500;

export type JsonBody = { value: unknown; bytes: Uint8Array; text: string };

/** Throws `unsupported_media_type`, `body_too_large`, `invalid_json`, and `invalid_request` for `__proto__`. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonBody> {
  checkMediaType(request.headers);
  const bytes = await readBytes(request, maxBytes);
  const text = decodeText(bytes);
  return { value: parseJsonText(text), bytes, text };
}

/** The raw body, never more than `maxBytes` of it in memory. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array(0);
  // With a declared length the server in front cuts the body there, and one read is cheaper than several.
  const whole = (declared === null ? readChunks(request.body, maxBytes) : readDeclared(request, maxBytes)).catch(brokenOff);
  // A small one is there with the head; a timer for each would be a tenth of what a chat costs us.
  if (declared !== null && Number(declared) <= untimedBodyBytes) return await whole;
  return await withTimeLimit(whole, requestBodyTimeoutMs, () => {
    throw new Problem('invalid_json', `The body did not arrive whole within ${requestBodyTimeoutMs / 1000} seconds.`);
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
  if (request.body === null || request.body.locked || declared > maxDiscardedBodyBytes || request.headers.has('expect')) return;
  const reader = request.body.getReader();
  try {
    await withTimeLimit(drain(reader), discardTimeoutMs, () => reader.cancel());
  } catch {
    // The sender is gone: nothing more is to be taken in, and there is nobody to tell.
  }
}

/** Ends with the body, at the bound, or when the sender pauses: one that waits for the answer gets it. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const paused = { done: true, value: undefined } as const;
  for (let left = maxDiscardedBodyBytes; left >= 0; ) {
    const { done, value } = await withTimeLimit<ReadableStreamReadResult<Uint8Array>>(reader.read(), discardPauseMs, () => paused);
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

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder only says that it failed.
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
}
