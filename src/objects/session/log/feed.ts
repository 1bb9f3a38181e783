/**
 * A turn's events as a byte stream, encoded in one reader's dialect as the reader pulls. A slow or disconnected reader holds at
 * most one page and never delays the turn. Disconnecting does not cancel the turn.
 */
import { limits } from '../../../core/limits/limits.ts';
import { Problem, type ProblemBody } from '../../../core/problem.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import { heartbeatFrame } from '../../../dialects/native.ts';
import type { Clock } from '../../../ports/runtime.ts';
import type { EventLog } from './event-log.ts';

export type FeedSource = {
  log: EventLog;
  clock: Clock;
  /** Number of the event before the first one to read. */
  after: number;
  /** True when no more events will come although the turn has not ended, because the session was deleted. */
  isDeleted(): boolean;
  /**
   * Called while no event of the turn has been read. When the turn is queued behind a waiting turn, returns the text to send before
   * the stream closes; otherwise null.
   */
  queuedFrame?(): string | null;
};

/** Encodes events in one reader's dialect. */
export type FeedEncoding = {
  /** Sent when there was nothing else for `limits.heartbeatMs`; default: a comment. */
  heartbeat?: string;
  /** Returns '' for events that the dialect does not show. */
  event(event: SessionEvent): string;
  /** Encodes the failure of a stream; it is not in the log. */
  problem(problem: ProblemBody): string;
  /** Called with each event in order. True closes the stream after this event. By default it closes after the turn's `turn-end`. */
  isLast?(event: SessionEvent): boolean;
  /** Awaited before the last bytes are sent. Never throws. */
  beforeClose?(): Promise<void>;
};

/**
 * Returns a stream that closes after the turn's last event for this dialect, or with a `not_found` problem when the session is
 * deleted. When `turn` is null, every event of the log is encoded and `isLast` decides when to close.
 */
export function createFeed(source: FeedSource, turn: string | null, encode: FeedEncoding): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const { heartbeat = heartbeatFrame } = encode;
  const isLast = (event: SessionEvent): boolean => (turn !== null && event.type === 'turn-end') || encode.isLast?.(event) === true;
  let begun = false;
  let cursor = source.after;
  let ended = false;
  let left = false;

  const nextText = async (): Promise<string> => {
    // Counted from the last bytes sent, not from the last event: events may belong to other turns or be hidden in this dialect.
    const quietUntil = source.clock.now() + limits.heartbeatMs;
    for (;;) {
      // Checked before reading: a deleted session has no tables.
      if (source.isDeleted()) {
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
      if (ended) await encode.beforeClose?.();
      if (text !== '' || ended || left) return text;
      const instead = begun ? null : (source.queuedFrame?.() ?? null);
      if (instead !== null) {
        ended = true;
        return instead;
      }
      source.log.noteReader();
      const waitMs = quietUntil - source.clock.now();
      if (waitMs <= 0) return heartbeat;
      if (source.log.newest > cursor) continue;
      if (!(await waitForEvent(source, waitMs))) return heartbeat;
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
      // After `close`, a pending BYOB read only ends with an empty respond.
      controller.byobRequest?.respond(0);
    },
    cancel() {
      left = true;
    },
  });
}

/** Waits for the next append. Returns false when `waitMs` pass without one. */
export function waitForEvent(source: Pick<FeedSource, 'log' | 'clock'>, waitMs: number): Promise<boolean> {
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
