/**
 * `GET …/events`: the log of a session or replay as server-sent events, paged on demand by the Worker. A page is read when the client has consumed the
 * previous one, so a slow reader buffers at most one page. The session itself writes the stream of a single turn.
 */
import { limits } from '../core/limits/limits.ts';
import type { Problem } from '../core/problem.ts';
import type { Principal } from '../core/people/principal.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import { encodeEvent, encodeProblem, heartbeatFrame, retryFrame } from '../dialects/native.ts';
import type { SessionPort } from '../ports/session.ts';

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Clients should reconnect soon after an idle close: events may arrive at any time. */
const retryMs = 1_000;

/**
 * Streams events after `after`, and new ones until the session was idle for `limits.idleCloseMs`. The first page is read before this
 * resolves, so that an unknown session is a problem and not a stream. `fail` formats a later error as the last frame.
 * `isLast`: closes the stream after this event.
 */
export async function openEventStream(
  session: Pick<SessionPort, 'eventsAfter'>,
  caller: Principal,
  after: number,
  fail: (error: unknown) => Problem,
  isLast: (event: SessionEvent) => boolean = () => false,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let last = after;
  let idleMs = 0;
  let first: SessionEvent[] | null = await session.eventsAfter(caller, after, 0);

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const events = first ?? (await session.eventsAfter(caller, last, limits.heartbeatMs));
        const opening = first !== null;
        first = null;
        const newest = events.at(-1);
        if (newest !== undefined) {
          last = newest.id;
          idleMs = 0;
          controller.enqueue(encoder.encode(events.map(encodeEvent).join('')));
          if (isLast(newest)) controller.close();
          return;
        }
        // Counted in waits, not measured by a clock: a session that responds immediately cannot turn this into a busy loop.
        if (!opening) idleMs += limits.heartbeatMs;
        controller.enqueue(encoder.encode(idleMs >= limits.idleCloseMs ? retryFrame(retryMs) : heartbeatFrame));
        if (idleMs >= limits.idleCloseMs) controller.close();
      } catch (error) {
        controller.enqueue(encoder.encode(encodeProblem(fail(error).toBody()) + retryFrame(retryMs)));
        controller.close();
      }
    },
  });
}

/** Returns the start position: `after` is already validated; an invalid `Last-Event-ID` means the beginning. */
export function resumePoint(after: number | undefined, lastEventId: string | undefined): number {
  if (after !== undefined) return after;
  return lastEventId !== undefined && /^(0|[1-9][0-9]{0,14})$/.test(lastEventId) ? Number(lastEventId) : 0;
}
