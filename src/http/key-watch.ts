/**
 * Checks a key again while its stream is open, so that revocation and expiry also end open streams, of every route; and ends streams with the
 * service, at a frame.
 */
import { limits } from '../core/limits/limits.ts';
import { isRevocable, type Principal, type Scope } from '../core/people/principal.ts';
import { Problem } from '../core/problem.ts';
import { encodeFrame, encodeProblem, retryFrame } from '../dialects/native.ts';
import { loadDialect } from '../dialects/dialects.ts';
import { joinBytes } from '../core/text/bytes.ts';
import { endOf, joinWrites } from '../engine/joined-stream.ts';
import { createJoinedReader } from '../net/joined-reader.ts';
import { isEventStream } from '../net/sse.ts';
import { systemClock } from '../platform/clock.ts';
import type { Clock, Logger } from '../ports/runtime.ts';

import type { Place } from '../engine/fair-pool.ts';
import { authenticate } from './middleware/authenticate.ts';
import type { AppContext } from './middleware/request-context.ts';
import { keepStreamPlace } from './places.ts';
import { dialectAt, isMcpPath } from './problems.ts';

export const streamKeyAgeMs = 15_000;
/** Read by browsers, which reconnect by themselves. */
const reconnectMs = 1_000;

type KeyWatch = {
  clock: Clock;
  log: Logger;
  /** Throws a `Problem` if the key is no longer valid. The result may be up to `streamKeyAgeMs` old. */
  check(): Promise<unknown>;
  /** The place of the stream, renewed with each check and released at its end. */
  place: Pick<Place, 'renew' | 'release'>;
};

/**
 * A key may become invalid during a request: an event stream then ends, and a slow response is not sent. A stream also ends, between two
 * frames, when the service does.
 */
export async function unlessKeyEnded(c: AppContext, scopes: readonly Scope[], response: Response, startedAt: number): Promise<Response> {
  const { clock, log, host, settings } = c.get('services');
  const isChecked = isRevocable(c.get('keyId'), c.get('principal')?.user);
  const check = (): Promise<Principal> => authenticate(c, scopes, streamKeyAgeMs);
  if (isChecked && clock.now() - startedAt >= limits.streamKeyCheckMs) {
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
  // Events whose length is declared are already here: there is nothing to end.
  if (!isEventStream(response) || response.headers.has('content-length') || response.body === null) return response;
  if (!isChecked && settings.launcher === null) return response;
  const place = isChecked ? keepStreamPlace(c) : null;
  const stream = endEarly(response.body, { clock, path: c.req.path }, async (over) => {
    const ends = [host.untilEnd(over), ...(place === null ? [] : [keyEnd({ clock, log, check, place }, over)])];
    return await Promise.race(ends).finally(() => place?.release());
  });
  return new Response(stream, response);
}

/**
 * Returns the stream unchanged until `end` resolves with a problem; then an error frame (or nothing in the middle of a frame) and the end.
 * `end`: resolves to null when the stream has ended, and `over` aborted.
 */
export function endEarly(
  source: ReadableStream<Uint8Array>,
  { clock, path }: { clock: Clock; path: string },
  end: (over: AbortSignal | undefined) => Promise<Problem | null>,
): ReadableStream<Uint8Array> {
  const stream = endOf(source) === null ? passedOn(source, clock) : source;
  const joined = endOf(stream);
  void end(joined?.over).then(async (problem) => {
    if (problem === null) return;
    const failureText = await failureTextAt(path, problem);
    joined?.end((frames) => new TextEncoder().encode(frames.isWhole() ? failureText(frames.count()) : ''), problem);
  });
  return stream;
}

function passedOn(source: ReadableStream<Uint8Array>, clock: Clock): ReadableStream<Uint8Array> {
  const reader = createJoinedReader(source, clock);
  return joinWrites(
    {
      next: () => reader.read(),
      piece: ({ value }) => value ?? null,
      join: (pieces) => joinBytes(pieces),
      end: () => new Uint8Array(0),
      cancel: (reason) => reader.cancel(reason),
    },
    systemClock,
  );
}

/** Resolves with the reason why the key is invalid or cannot be checked; null when `signal` aborts. */
export async function keyEnd({ clock, log, check, place }: KeyWatch, signal: AbortSignal | undefined): Promise<Problem | null> {
  for (let failures = 0; ; ) {
    place.renew();
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

/**
 * Returns what writes the end of a stream. `place`: number of the frame, for dialects that count them. An MCP client sees the end of its stream,
 * and 401 when it reconnects.
 */
async function failureTextAt(path: string, problem: Problem): Promise<(place: number) => string> {
  const name = dialectAt(path);
  // A key that has ended is not tried again.
  const retry = problem.status < 500 ? '' : retryFrame(reconnectMs);
  if (name === null) return () => (isMcpPath(path) ? '' : encodeProblem(problem.toBody()) + retry);
  const dialect = await loadDialect(name);
  return (place) => dialect.failureFrames(problem.toBody(), place).map(encodeFrame).join('');
}
