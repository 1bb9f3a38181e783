/**
 * Gathers the events of a model's reply into rows of the log (contract §5). The events of one network read are one row. Deltas are joined
 * first: the first delta is written at once; then one event for each 4 kB, for each network read that arrives 50 ms after the last row, or
 * after 50 ms of silence. While no client follows the log, the events of 500 ms are one row. Each event is sent to every reader and each row is billed, so both
 * determine the cost of a stream.
 */
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import type { Clock } from '../../ports/runtime.ts';
import { KB } from '../../core/limits/units.ts';

const deltaFlushCharacters = 4 * KB;
export const deltaFlushMs = 50;
export const unfollowedFlushMs = 500;
/** On a machine with delayed writes: a reader still gets something every second. */
export const maxDeltaFlushMs = 1_000;
/** Events of one read that are held before they are written. */
const maxHeldEvents = 64;

type Delta = Extract<SessionEventBody, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>;

export type EventBatch = ReturnType<typeof createEventBatch>;

/** `append` writes events in one transaction. `isFollowed`: whether a client follows the log. */
export function createEventBatch(
  clock: Clock,
  append: (...events: readonly SessionEventBody[]) => void,
  isFollowed: () => boolean = () => true,
) {
  let delta: Delta | null = null;
  let held: SessionEventBody[] = [];
  let lastDeltaAt = Number.NEGATIVE_INFINITY;
  let disarm: (() => void) | null = null;
  let intervalMs: number = deltaFlushMs;

  const write = (): void => {
    if (held.length === 0) return;
    append(...held);
    // Only now: what could not be written is written by the next flush.
    held = [];
  };

  const hold = (event: SessionEventBody): void => {
    held.push(event);
    if (held.length >= maxHeldEvents) write();
  };

  const holdDelta = (): void => {
    disarm?.();
    disarm = null;
    if (delta === null) return;
    const ended = delta;
    delta = null;
    lastDeltaAt = clock.now();
    hold(ended);
  };

  /** Writes everything, and stops the timer. */
  const flush = (): void => {
    holdDelta();
    write();
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
    /** A delta is joined to the one before it. Any other event ends that delta. */
    add(event: SessionEventBody): void {
      if (!isDelta(event)) {
        holdDelta();
        hold(event);
        return;
      }
      if (delta !== null && !joins(delta, event)) holdDelta();
      delta = delta === null ? { ...event } : join(delta, event);
      if (deltaText(delta).length >= deltaFlushCharacters) holdDelta();
    },
    /** Called after the events of one network read were added. */
    readEnded(): void {
      if (!isFollowed()) {
        if (delta !== null || held.length > 0) arm(Math.max(intervalMs, unfollowedFlushMs));
        return;
      }
      write();
      if (delta === null) return;
      const sinceMs = clock.now() - lastDeltaAt;
      if (sinceMs < intervalMs) arm(intervalMs);
      else if (sinceMs < 2 * deltaFlushMs || lastDeltaAt < 0) flush();
      // Long after the last row, either the model is slow or this process is. A timer measures which, without delaying the row.
      else arm(0);
    },
    flush,
  };
}

function isDelta(event: SessionEventBody): event is Delta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta';
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
