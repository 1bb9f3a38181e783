/**
 * Joins a model's deltas into log rows (contract §5): the first delta is written at once; then one row for each 4 kB, for each network read
 * that arrives 50 ms after the last row, or after 50 ms of silence; 500 ms while no client follows the log. Each row is one event for every
 * reader, so the number of rows determines the cost of a stream.
 */
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import type { Clock } from '../../ports/runtime.ts';
import { KB } from '../../core/limits/units.ts';

const deltaFlushCharacters = 4 * KB;
export const deltaFlushMs = 50;
export const unfollowedFlushMs = 500;
/** On a machine with delayed writes: a reader still gets something every second. */
export const maxDeltaFlushMs = 1_000;

type Delta = Extract<SessionEventBody, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>;

export type DeltaBatch = {
  add(delta: Delta): void;
  /** Called after the deltas of one network read were added. */
  readEnded(): void;
  flush(): void;
  /** Flushes and stops the timer. */
  close(): void;
};

/** `isFollowed`: whether a client follows the log. */
export function createDeltaBatch(
  clock: Clock,
  append: (event: SessionEventBody) => void,
  isFollowed: () => boolean = () => true,
): DeltaBatch {
  let held: Delta | null = null;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let disarm: (() => void) | null = null;
  let intervalMs: number = deltaFlushMs;

  const flush = (): void => {
    disarm?.();
    disarm = null;
    if (held === null) return;
    append(held);
    // Only now: text that could not be written is written by the next flush.
    held = null;
    lastFlushAt = clock.now();
  };

  /** A timer that fires late means that the machine is overloaded, so the interval grows to write fewer rows. */
  const arm = (ms: number): void => {
    const due = clock.now() + ms;
    disarm ??= clock.after(ms, () => {
      const lateMs = clock.now() - due;
      intervalMs = Math.min(maxDeltaFlushMs, Math.max(deltaFlushMs, 4 * lateMs, intervalMs / 2));
      try {
        flush();
      } catch {
        // No one can receive the error here. The next flush writes the text, or throws to the turn.
      }
    });
  };

  return {
    add(delta) {
      if (held !== null && !joins(held, delta)) flush();
      held = held === null ? { ...delta } : join(held, delta);
      if (deltaText(held).length >= deltaFlushCharacters) flush();
    },
    readEnded() {
      if (held === null) return;
      const sinceMs = clock.now() - lastFlushAt;
      const waitMs = isFollowed() ? intervalMs : Math.max(intervalMs, unfollowedFlushMs);
      if (sinceMs < waitMs) arm(waitMs);
      else if (sinceMs < 2 * deltaFlushMs || lastFlushAt < 0) flush();
      // Long after the last row, either the model is slow or this process is. A timer measures which, without delaying the row.
      else arm(0);
    },
    flush,
    close: flush,
  };
}

function joins(held: Delta, next: Delta): boolean {
  if (held.type !== next.type) return false;
  return held.type !== 'tool-input-delta' || next.type !== 'tool-input-delta' || held.callId === next.callId;
}

/** Only called for deltas that join: same kind, same call. */
function join(held: Delta, next: Delta): Delta {
  if (held.type === 'tool-input-delta') return { ...held, delta: held.delta + deltaText(next) };
  return { ...held, text: held.text + deltaText(next) };
}

function deltaText(delta: Delta): string {
  return delta.type === 'tool-input-delta' ? delta.delta : delta.text;
}
