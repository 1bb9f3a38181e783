/**
 * Reads a JSON body once, up to a size limit: UTF-8 only, and a byte order mark is tolerated. `core/json/json-text.ts` has the rules for its
 * text; the route's schema validates the value (`core/problem.ts`).
 */
import { parseJsonText } from '../core/json/json-text.ts';
import { createRepeatedTools } from '../core/json/repeated-tools.ts';
import { Problem } from '../core/problem.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
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

/** Requests only read their bodies, so all of them may share lists. */
const repeatedTools = createRepeatedTools();

/** `also`: another accepted media type. Throws `unsupported_media_type`, `body_too_large`, `invalid_json`, and `invalid_request` for `__proto__`. */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  also?: string,
  read: () => Promise<Uint8Array> = () => readBytes(request, maxBytes),
): Promise<JsonBody> {
  checkMediaType(request.headers, also);
  const bytes = await read();
  const text = decodeText(bytes);
  return { value: parseJsonText(text, repeatedTools), bytes, text };
}

/** `grow`: called with the size of a body of unknown length, as it arrives. `timeoutMs`: for a body of any size. */
type ReadOptions = { grow?: (bytes: number) => void; timeoutMs?: number };

/** Returns the raw body; never holds more than `maxBytes` of it in memory. */
export async function readBytes(request: Request, maxBytes: number, { grow, timeoutMs }: ReadOptions = {}): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared !== null) requireLength(declared, maxBytes);
  // With a declared length the server in front limits the body to it, and a single read, without a stream, is cheaper than several.
  const stream = declared === null ? request.body : undefined;
  if (stream === null) return new Uint8Array(0);
  const body = (stream === undefined ? readDeclared(request, maxBytes) : readChunks(stream, maxBytes, grow)).catch(throwIncompleteBody);
  // A small body arrives with the headers; a timer would cost a tenth of a chat request.
  if (timeoutMs === undefined && declared !== null && Number(declared) <= untimedBodyBytes) return await body;
  const mostMs = timeoutMs ?? requestBodyTimeoutMs;
  return await withTimeout(systemClock, body, mostMs, () => {
    throw new Problem('invalid_json', `The body was not received completely within ${mostMs / 1000} seconds.`);
  });
}

/** Throws `body_too_large` for a declared length above the limit. */
export function requireLength(declared: string, maxBytes: number): void {
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes);
}

/** The client's connection failed, whatever error the runtime reports. */
function throwIncompleteBody(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem('invalid_json', 'The body broke off before its end.', {}, { cause: error });
}

async function readDeclared(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

async function readChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  grow: (bytes: number) => void = () => undefined,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      // The rest is left for `discardBody`.
      reader.releaseLock();
      throw tooLarge(maxBytes);
    }
    grow(size);
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
 * Reads and drops the rest of a rejected request's body. A client that is still sending when the connection closes sees a broken pipe and
 * never receives the response, so the response waits for a limited time.
 */
export async function discardBody(request: Request): Promise<void> {
  const length = request.headers.get('content-length');
  // With a declared length, the body is read as a whole or not at all.
  if (length !== null && request.bodyUsed) return;
  const declared = Number(length ?? 0);
  // Clients that send more, or that use Expect: 100-continue, receive the response before they have sent everything.
  if (request.body === null || request.body.locked || declared > maxDiscardedBodyBytes || request.headers.has('expect')) return;
  const reader = request.body.getReader();
  try {
    await withTimeout(systemClock, drain(reader), discardTimeoutMs, () => reader.cancel());
  } catch {
    // The client has disconnected: nothing is left to read.
  }
}

/** Ends with the body, at the limit, or when the client pauses, since it may be waiting for the response. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const paused = { done: true, value: undefined } as const;
  for (let left = maxDiscardedBodyBytes; left >= 0; ) {
    const { done, value } = await withTimeout<ReadableStreamReadResult<Uint8Array>>(
      systemClock,
      reader.read(),
      discardPauseMs,
      () => paused,
    );
    if (done) break;
    left -= value.byteLength;
  }
  await reader.cancel();
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', `The body exceeds the limit of ${maxBytes} bytes for this path.`, { maxBytes });
}

function checkMediaType(headers: Headers, also?: string): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json' && type.trim() !== also)
    throw new Problem('unsupported_media_type', 'Send the body as `content-type: application/json`.');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) throw new Problem('unsupported_media_type', 'JSON bodies are UTF-8.');
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type', 'Send the body without content-encoding.');
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder's error has no details.
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
}
