/** The transcript for people, a page at a time, read from the log: as it was said, whatever models are shown of it. */
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import { createTranscript, type Transcript } from '../core/transcript.ts';
import type { MessagePage, MessageQuery, TranscriptMessage } from '../ports/session.ts';
import { decodeTextCursor, encodeCursor } from '../storage/cursor.ts';
import type { EventLog } from './event-log.ts';
import { toTranscript } from './turn-answer.ts';

/** Where a message stands: the event that its turn began with (or that imported it), and its place in that turn. */
type Place = { event: number; index: number };

const list = 'messages';

/** A page ends after `limit` messages, or after a bound of bytes. Throws `invalid_request` for a cursor that is not one of ours. */
export function readMessages(log: EventLog, { cursor, limit = limits.maxMessagesPerPage }: MessageQuery): MessagePage {
  const from = readPlace(cursor);
  const items: TranscriptMessage[] = [];
  let bytes = 0;
  for (const { event, messages } of turnsFrom(log, from.event)) {
    for (const [index, message] of messages.entries()) {
      if (event === from.event && index < from.index) continue;
      if (items.length >= limit || bytes >= limits.messagePageBytes) {
        return { items, nextCursor: encodeCursor(list, `${event}.${index}`) };
      }
      items.push(message);
      bytes += JSON.stringify(message).length;
    }
  }
  return { items, nextCursor: null };
}

/** Turn by turn, so that no more than one of them is in memory beside the page. */
function* turnsFrom(log: EventLog, first: number): Generator<{ event: number; messages: TranscriptMessage[] }> {
  let begun: { event: number; fold: Transcript } | null = null;
  for (const event of log.readAll(first - 1)) {
    if (event.type === 'turn-start' || event.type === 'history') {
      if (begun !== null) yield { event: begun.event, messages: toTranscript(begun.fold.turns()) };
      begun = { event: event.id, fold: createTranscript({ everything: true, unanswered: true }) };
    }
    begun?.fold.apply(event);
  }
  if (begun !== null) yield { event: begun.event, messages: toTranscript(begun.fold.turns()) };
}

function readPlace(cursor: string | undefined): Place {
  const text = decodeTextCursor(list, cursor);
  if (text === undefined) return { event: 1, index: 0 };
  const match = /^([1-9]\d{0,14})\.(\d{1,9})$/.exec(text);
  if (match === null) throw invalidRequest([{ path: 'cursor', message: 'is not a cursor of this list: leave it out to start again' }]);
  return { event: Number(match[1]), index: Number(match[2]) };
}
