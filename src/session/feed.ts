/**
 * A turn's events as a byte stream, encoded for one reader's dialect as the reader asks for more. Pull-driven: a slow or
 * dead reader holds one page at most and never slows the turn, and leaving is not a cancel.
 */
import { limits } from '../core/limits.ts';
import { Problem, type ProblemBody } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';
import { heartbeatFrame } from '../dialects/native.ts';
import type { Clock } from '../ports/runtime.ts';
import type { EventLog } from './event-log.ts';

export type FeedSource = {
  log: EventLog;
  clock: Clock;
  /** Number of the event before the first to be read. */
  after: number;
  /** True once nothing more will come although the turn has not ended (the session was deleted). */
  gone(): boolean;
  /**
   * Asked while nothing of the turn was read yet: what to send instead, and close, when the turn is queued behind one that
   * waits for somebody outside. null: it is not.
   */
  behind?(): string | null;
};

/** How one reader's dialect says things. */
export type FeedEncoding = {
  /** '' for events that it does not show. */
  event(event: SessionEvent): string;
  /** The failure of a stream that stands in no log. */
  problem(problem: ProblemBody): string;
  /** True: the stream closes after this event, given in order. Absent: after the turn's `turn-end`. */
  isLast?(event: SessionEvent): boolean;
  /** Waited for before the last bytes are given out. Never throws. */
  beforeEnd?(): Promise<void>;
};

/**
 * The stream closes after the turn's last event for this dialect, or after the problem of a session that was deleted under it.
 * `turn` null: every event of the log is given, and the encoding says which is the last.
 */
export function createFeed(source: FeedSource, turn: string | null, encode: FeedEncoding): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const isLast = (event: SessionEvent): boolean => (turn !== null && event.type === 'turn-end') || encode.isLast?.(event) === true;
  let begun = false;
  let cursor = source.after;
  let ended = false;
  let left = false;

  const nextText = async (): Promise<string> => {
    // From the last bytes, not from the last event: what is appended may be for others, or nothing that this dialect shows.
    const quietUntil = source.clock.now() + limits.heartbeatMs;
    for (;;) {
      // Before anything is read: its tables are gone.
      if (source.gone()) {
        ended = true;
        return encode.problem(new Problem('not_found', 'The session was deleted.').toBody());
      }
      let text = '';
      for (const event of source.log.read(cursor)) {
        cursor = event.id;
        if (turn !== null && (!('turn' in event) || event.turn !== turn)) continue;
        begun = true;
        text += encode.event(event);
        ended = isLast(event);
        if (ended) break;
      }
      if (ended) await encode.beforeEnd?.();
      if (text !== '' || ended || left) return text;
      const instead = begun ? null : (source.behind?.() ?? null);
      if (instead !== null) {
        ended = true;
        return instead;
      }
      const waitMs = quietUntil - source.clock.now();
      if (waitMs <= 0) return heartbeatFrame;
      if (source.log.newest > cursor) continue;
      if (!(await changed(source, waitMs))) return heartbeatFrame;
    }
  };

  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      const text = await nextText();
      if (left) return;
      if (text !== '') controller.enqueue(encoder.encode(text));
      if (!ended) return;
      controller.close();
      // A pending BYOB read is only answered by an empty respond after the close.
      controller.byobRequest?.respond(0);
    },
    cancel() {
      left = true;
    },
  });
}

/** True when something was appended within `waitMs`. */
export function changed(source: Pick<FeedSource, 'log' | 'clock'>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const forget = source.log.onChange(() => {
      disarm();
      resolve(true);
    });
    const disarm = source.clock.after(waitMs, () => {
      forget();
      resolve(false);
    });
  });
}
