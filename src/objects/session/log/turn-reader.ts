/**
 * Reads a session's turns for callers: as streams of a dialect, as plain responses, as pages of events. Reads and waits only; a
 * reader that disconnects changes nothing. `session.ts` has checked the caller.
 */
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import { applyEvent } from '../../../core/turn/fold-turn.ts';
import { beginTurn, isWaiting } from '../../../core/turn/turn-state.ts';
import { encodeEvent, encodeProblem } from '../../../dialects/native.ts';
import type { Clock } from '../../../ports/runtime.ts';
import type { EventPage, EventPageQuery, TurnAnswer } from '../../../ports/session.ts';
import type { EventLog } from './event-log.ts';
import { waitForEvent, createFeed, type FeedEncoding } from './feed.ts';
import { eventsOfTurn, blockingQuestions } from '../pending/pending.ts';
import { toQueuedAnswer, toTurnAnswer, toWaitingAnswer } from '../turn/turn-answer.ts';
import type { TurnRow, TurnStore } from '../turn/turn-store.ts';

export type TurnSource = {
  log: EventLog;
  turns: TurnStore;
  clock: Clock;
  /** True after the session was deleted. */
  isDeleted(): boolean;
};

/**
 * Streams the turn's events from its first to its `turn-end`, or to the event after which it waits. This depends on the log alone,
 * so that every reader's stream closes at the same event.
 */
export function streamTurn(source: TurnSource, turn: string): ReadableStream<Uint8Array> {
  return openFeed(source, findTurn(source, turn), { event: encodeEvent, problem: encodeProblem, isLast: createWaitDetector(turn) });
}

/** Waits until the turn ends or waits, or is queued behind a turn that waits. */
export async function readAnswer(source: TurnSource, turn: string): Promise<TurnAnswer> {
  const row = await untilSettled(source, turn);
  switch (row.state) {
    case 'ended':
      return toTurnAnswer(turn, eventsOf(source, row));
    case 'queued':
      return toQueuedAnswer(turn, blockingQuestions(source));
    default:
      return toWaitingAnswer(turn, eventsOf(source, row));
  }
}

/** Returns a page of the log after `after`; waits up to `waitMs` for one. */
export async function readEvents({ log, clock, isDeleted }: TurnSource, after: number, waitMs: number): Promise<SessionEvent[]> {
  log.noteReader();
  if (log.newest <= after) await waitForEvent({ log, clock }, Math.min(waitMs, limits.heartbeatMs));
  return isDeleted() ? [] : log.read(after);
}

/** Returns a page of the log: the first events after `after`, or the last ones before `before`, by default before the end. */
export function readEventPage({ log }: TurnSource, { after, before, limit }: EventPageQuery): EventPage {
  const fromEnd = after === undefined || before !== undefined;
  const items = log.readBetween({ after: after ?? 0, before: before ?? log.newest + 1, limit, fromEnd });
  return { items, lastEvent: log.newest };
}

function openFeed(source: TurnSource, row: TurnRow, encode: FeedEncoding): ReadableStream<Uint8Array> {
  const behind = (): string | null => {
    if (!source.turns.isWaiting() || source.turns.stateOf(row.id) !== 'queued') return null;
    return blockingQuestions(source)
      .map((question) => encode.event(question))
      .join('');
  };
  return createFeed({ ...source, after: row.before ?? source.log.newest, queuedFrame: behind }, row.id, encode);
}

/** Returns a function that is true at the first event after which the turn waits. */
export function createWaitDetector(turn: string): (event: SessionEvent) => boolean {
  const state = beginTurn(turn);
  return (event) => {
    applyEvent(state, event);
    return isWaiting(state);
  };
}

/** Returns the turn's row once it has ended, or once it waits or is queued behind a turn that waits. */
export async function untilSettled(source: TurnSource, turn: string): Promise<TurnRow> {
  for (;;) {
    const state = source.turns.stateOf(turn);
    if (state !== 'running' && (state !== 'queued' || source.turns.isWaiting())) return findTurn(source, turn);
    await untilChanged(source);
    if (source.isDeleted()) throw new Problem('not_found', 'The session was deleted.');
  }
}

/** Waits until a turn of the session changes its state, which most events do not; also until the session is deleted, and at most for a heartbeat. */
async function untilChanged({ turns, log, clock, isDeleted }: TurnSource): Promise<void> {
  const { changes } = turns;
  let isOver = false;
  let wake = (): void => undefined;
  const disarm = clock.after(limits.heartbeatMs, () => {
    isOver = true;
    wake();
  });
  while (!isOver && turns.changes === changes && !isDeleted()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
      log.onChange(resolve);
    });
  }
  disarm();
}

function findTurn({ turns }: TurnSource, turn: string): TurnRow {
  const row = turns.get(turn);
  if (row === null) throw new Problem('not_found', 'There is no such turn in this session.');
  return row;
}

/** Returns the events of this turn only; events of other turns may lie between them. */
function eventsOf({ log }: Pick<TurnSource, 'log'>, row: TurnRow): Iterable<SessionEvent> {
  return row.before === null ? [] : eventsOfTurn(row.id, log.readAll(row.before, row.lastEvent ?? log.newest));
}
