/**
 * Checks a key again while its stream is open, so that revocation and expiry also end open streams, of every route.
 */
import { limits } from '../core/limits.ts';
import { rootKeyId, type Principal, type Scope } from '../core/principal.ts';
import { Problem } from '../core/problem.ts';
import { encodeFrame, encodeProblem } from '../dialects/native.ts';
import { dialectOf } from '../dialects/dialects.ts';
import { joinBytes } from '../core/text/bytes.ts';
import { joinWrites } from '../engine/joined-stream.ts';
import { createJoinedReader, type JoinedReader } from '../net/joined-reader.ts';
import { systemClock } from '../platform/clock.ts';
import type { Clock, Logger } from '../ports/runtime.ts';

import { authenticate } from './middleware/authenticate.ts';
import type { AppContext } from './middleware/request-context.ts';
import { dialectAt, isMcpPath } from './problems.ts';

const streamKeyAgeMs = 15_000;

export type KeyWatch = {
  clock: Clock;
  log: Logger;
  /** Path of the request; determines the format of the error frame. */
  path: string;
  /** Throws a `Problem` if the key is no longer valid. The result may be up to `streamKeyAgeMs` old. */
  check(): Promise<unknown>;
};

function isEventStream(response: Response): boolean {
  return response.body !== null && response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** A key may become invalid during a request: an event stream then ends, and a slow response is not sent. */
export async function unlessKeyEnded(c: AppContext, scopes: readonly Scope[], response: Response, startedAt: number): Promise<Response> {
  // The root key itself cannot be revoked; a person who signed in with it can sign out.
  if (c.get('keyId') === rootKeyId && c.get('principal')?.user === undefined) return response;
  const { clock, log } = c.get('services');
  const check = (): Promise<Principal> => authenticate(c, scopes, streamKeyAgeMs);
  if (clock.now() - startedAt >= limits.streamKeyCheckMs) {
    try {
      await check();
    } catch (error) {
      // The response may report an effect: a failing key check must not hide it.
      if (!(error instanceof Problem) || error.status >= 500) log.error('a key could not be checked again', { cause: String(error) });
      else {
        await response.body?.cancel();
        throw error;
      }
    }
  }
  if (response.body === null || !isEventStream(response)) return response;
  return new Response(endWithKey(response.body, { clock, log, path: c.req.path, check }), response);
}

/** Returns the stream unchanged until the key becomes invalid; then an error frame (or nothing in the middle of a frame) and the end. */
export function endWithKey(source: ReadableStream<Uint8Array>, watch: KeyWatch): ReadableStream<Uint8Array> {
  const reader = createJoinedReader(source, watch.clock);
  const over = new AbortController();
  const frames = createFrameCount();
  let ended: Problem | null = null;
  let wake = (): void => undefined;
  const stop = (): void => over.abort(new Error('the stream has ended'));
  let isCutOff = false;
  /** null: the key became invalid first. */
  const next = (): Promise<Awaited<ReturnType<JoinedReader['read']>> | null> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(null);
      if (ended === null) reader.read().then(resolve, reject);
      else wake();
    });
  void keyEnd(watch, over.signal).then((problem) => {
    ended = problem;
    if (problem !== null) wake();
  });

  return joinWrites(
    {
      next,
      piece(read) {
        isCutOff = read === null;
        return read?.value ?? null;
      },
      join(pieces) {
        const [first] = pieces;
        const bytes = pieces.length === 1 && first !== undefined ? first : joinBytes(pieces);
        frames.add(bytes);
        return bytes;
      },
      end() {
        stop();
        if (!isCutOff || ended === null) return new Uint8Array(0);
        cancelReader(reader, watch.log, ended);
        return new TextEncoder().encode(frames.isWhole() ? failureText(watch.path, ended, frames.count()) : '');
      },
      fail: stop,
      async cancel(reason) {
        stop();
        await reader.cancel(reason);
      },
    },
    systemClock,
  );
}

/** Resolves with the reason why the key is invalid or cannot be checked; null when `signal` aborts. */
async function keyEnd({ clock, log, check }: KeyWatch, signal: AbortSignal): Promise<Problem | null> {
  for (let failures = 0; ; ) {
    try {
      await check();
      failures = 0;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return error;
      failures += 1;
      log.error('the key of an open stream could not be checked', { failures, cause: String(error) });
      if (failures > 1)
        return new Problem('unavailable', 'The key cannot be checked at the moment, so the stream was closed. Open it again.');
    }
    try {
      await clock.sleep(limits.streamKeyCheckMs, signal);
    } catch {
      // Aborted: the stream has ended.
      return null;
    }
  }
}

/** In the background: the source of the stream may take long to end. */
function cancelReader(reader: JoinedReader, log: Logger, reason: Problem): void {
  reader.cancel(reason).catch((error: unknown) => log.debug('a stream did not end cleanly', { cause: String(error) }));
}

/** `place`: number of the frame, for dialects that count them. An MCP client sees the end of its stream, and 401 when it reconnects. */
function failureText(path: string, problem: Problem, place: number): string {
  const dialect = dialectAt(path);
  if (dialect !== null) return dialectOf(dialect).failureFrames(problem.toBody(), place).map(encodeFrame).join('');
  return isMcpPath(path) ? '' : encodeProblem(problem.toBody());
}

/** Counts complete frames with data; heartbeats are comments. Looks at the first byte of each line, and finds the lines natively. */
function createFrameCount() {
  const [lineFeed, carriageReturn, colon] = [10, 13, 58];
  let count = 0;
  let isComment = true;
  let isOpen = false;
  let isLineEmpty = true;
  const addToLine = (bytes: Uint8Array, start: number, end: number): void => {
    let first = start;
    while (first < end && bytes[first] === carriageReturn) first += 1;
    if (!isLineEmpty || first >= end) return;
    if (bytes[first] !== colon) isComment = false;
    isLineEmpty = false;
    isOpen = true;
  };
  const endLine = (): void => {
    if (isLineEmpty && isOpen) {
      if (!isComment) count += 1;
      isComment = true;
      isOpen = false;
    }
    isLineEmpty = true;
  };
  return {
    add(bytes: Uint8Array): void {
      let from = 0;
      for (let to = bytes.indexOf(lineFeed); to >= 0; to = bytes.indexOf(lineFeed, from)) {
        addToLine(bytes, from, to);
        endLine();
        from = to + 1;
      }
      addToLine(bytes, from, bytes.byteLength);
    },
    count: () => count,
    isWhole: () => !isOpen,
  };
}
