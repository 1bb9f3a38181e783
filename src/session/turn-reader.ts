/**
 * What callers read of a session's turns: the log as streams of a dialect, as plain answers, as pages. Reads and waits only;
 * a reader that leaves changes nothing. `session.ts` has checked who asks.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';
import { encodeEvent, encodeProblem } from '../dialects/native.ts';
import { createChunkEncoder, toCompletion } from '../dialects/openai-chat.ts';
import type { Clock } from '../ports/runtime.ts';
import type { TurnAnswer } from '../ports/session.ts';
import type { EventLog } from './event-log.ts';
import { changed, createFeed, type FeedEncoding } from './feed.ts';
import { toTurnAnswer } from './turn-answer.ts';
import type { TurnRow, TurnStore } from './turn-store.ts';

export type TurnSource = {
  log: EventLog;
  turns: TurnStore;
  clock: Clock;
  /** True once the session was deleted. */
  gone(): boolean;
};

/** The turn's events as the log has them, from its first to its `turn-end`. */
export function streamTurn(source: TurnSource, turn: string): ReadableStream<Uint8Array> {
  return openFeed(source, findTurn(source, turn), { event: encodeEvent, problem: encodeProblem });
}

/** Waits for the end of the turn. */
export async function readAnswer(source: TurnSource, turn: string): Promise<TurnAnswer> {
  return toTurnAnswer(turn, eventsOf(source, await ended(source, turn)));
}

/** The turn in OpenAI's dialect: chunks while it runs, or the document at its end. Throws the problem that a plain turn failed with. */
export async function readCompletion(
  source: TurnSource,
  turn: string,
  { model, streamed, includeUsage }: { model: string; streamed: boolean; includeUsage: boolean },
): Promise<ReadableStream<Uint8Array>> {
  const row = findTurn(source, turn);
  const identity = { id: `chatcmpl-${turn}`, model, created: Math.floor(row.acceptedAt / 1000), includeUsage };
  if (streamed) {
    const encoder = createChunkEncoder(identity);
    return openFeed(source, row, {
      event: (event) => encoder.encode(event),
      problem: (problem) => encoder.encode({ type: 'error', turn, problem, id: 0, at: 0 }),
    });
  }
  const document = new TextEncoder().encode(JSON.stringify(toCompletion(eventsOf(source, await ended(source, turn)), identity)));
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      controller.enqueue(document);
      controller.close();
    },
  });
}

/** A page of the log after `after`; waits up to `waitMs` for one. */
export async function readEvents({ log, clock, gone }: TurnSource, after: number, waitMs: number): Promise<SessionEvent[]> {
  if (log.newest <= after) await changed({ log, clock }, Math.min(waitMs, limits.heartbeatMs));
  return gone() ? [] : log.read(after);
}

function openFeed(source: TurnSource, row: TurnRow, encode: FeedEncoding): ReadableStream<Uint8Array> {
  return createFeed({ ...source, after: row.before ?? source.log.newest }, row.id, encode);
}

async function ended(source: TurnSource, turn: string): Promise<TurnRow> {
  let row = findTurn(source, turn);
  while (row.state !== 'ended') {
    await changed(source, limits.heartbeatMs);
    if (source.gone()) throw new Problem('not_found', 'The session was deleted.');
    // Asked at every event: the whole row holds the turn's plan, which may be long.
    if (source.turns.hasEnded(turn)) row = findTurn(source, turn);
  }
  return row;
}

function findTurn({ turns }: TurnSource, turn: string): TurnRow {
  const row = turns.get(turn);
  if (row === null) throw new Problem('not_found', 'There is no such turn in this session.');
  return row;
}

function eventsOf({ log }: TurnSource, row: TurnRow): Iterable<SessionEvent> {
  return log.readAll(row.before ?? 0, row.lastEvent ?? log.newest);
}
