/** The transcript for people, one page at a time, read from the log without the compactions that models see. */
import { limits } from '../../core/limits.ts';
import { invalidRequest } from '../../core/problem.ts';
import { createTranscript, type Transcript } from '../../core/turn/transcript.ts';
import type { MessagePage, MessageQuery, TranscriptMessage } from '../../ports/session.ts';
import { decodeTextCursor, encodeCursor } from '../../storage/cursor.ts';
import type { EventLog } from './event-log.ts';
import { toTranscript } from '../turn/turn-answer.ts';
import { MB } from '../../core/limits/units.ts';

/** A page of the transcript ends after this much; an RPC carries 32 MB, and one message may have 10. */
const messagePageBytes = 4 * MB;

/** The position of a message: the event that started its turn (or imported it), and its index in that turn. */
type Place = { event: number; index: number };

const list = 'messages';

/** Returns a page. It ends after `limit` messages or a number of bytes. Throws `invalid_request` for an unknown cursor. */
export function readMessages(log: EventLog, { cursor, limit = limits.maxMessagesPerPage }: MessageQuery): MessagePage {
  const from = readPlace(cursor);
  const items: TranscriptMessage[] = [];
  let bytes = 0;
  for (const { event, messages } of turnsFrom(log, from.event)) {
    for (const [index, message] of messages.entries()) {
      if (event === from.event && index < from.index) continue;
      if (items.length >= limit || bytes >= messagePageBytes) {
        return { items, nextCursor: encodeCursor(list, `${event}.${index}`) };
      }
      items.push(message);
      bytes += JSON.stringify(message).length;
    }
  }
  return { items, nextCursor: null };
}

/** Yields turn by turn, so that only one turn is in memory besides the page. */
function* turnsFrom(log: EventLog, first: number): Generator<{ event: number; messages: TranscriptMessage[] }> {
  let current: { event: number; fold: Transcript } | null = null;
  for (const event of log.readAll(first - 1)) {
    if (event.type === 'turn-start' || event.type === 'history') {
      if (current !== null) yield { event: current.event, messages: toTranscript(current.fold.turns()) };
      current = { event: event.id, fold: createTranscript({ everything: true, unanswered: true }) };
    }
    current?.fold.apply(event);
  }
  if (current !== null) yield { event: current.event, messages: toTranscript(current.fold.turns()) };
}

function readPlace(cursor: string | undefined): Place {
  const text = decodeTextCursor(list, cursor);
  if (text === undefined) return { event: 1, index: 0 };
  const match = /^([1-9]\d{0,14})\.(\d{1,9})$/.exec(text);
  if (match === null)
    throw invalidRequest([{ path: 'cursor', message: 'is not a cursor of this list: omit it to start from the beginning' }]);
  return { event: Number(match[1]), index: Number(match[2]) };
}
