/** The transcript for people, one page at a time, read from the log without the compactions that models see. */
import { limits } from '../../../core/limits/limits.ts';
import { createTranscript, type Transcript } from '../../../core/turn/transcript.ts';
import type { MessagePage, MessagePlace as Place, MessageQuery, TranscriptMessage } from '../../../ports/session.ts';
import { isCount, recordOf } from '../../../core/json/wire-value.ts';
import { decodeCursor, encodeCursor } from '../../../core/json/cursor.ts';
import type { EventLog } from './event-log.ts';
import { toTranscript } from '../turn/turn-answer.ts';
import type { TurnStore } from '../turn/turn-store.ts';
import { MB } from '../../../core/limits/units.ts';

/** A page of the transcript ends after this much; an RPC carries 32 MB, and one message may have 10. */
const messagePageBytes = 4 * MB;

type MessageSource = { log: EventLog; turns: Pick<TurnStore, 'starts'> };
/** The messages of a turn, or of an imported history, by the number of its first event. */
type Section = { event: number; messages: TranscriptMessage[] };

const lists = { asc: 'messages', desc: 'messages desc' };

/** Returns a page. It ends after `limit` messages or a number of bytes. Throws `invalid_request` for an unknown cursor. */
export function readMessages(source: MessageSource, query: MessageQuery): MessagePage {
  const { cursor, limit = limits.maxMessagesPerPage, order = 'asc', through = source.log.newest } = query;
  const from = query.from ?? decodeCursor(lists[order], cursor, isPlace);
  const items: TranscriptMessage[] = [];
  const places: Place[] = [];
  let bytes = 0;
  const sections = order === 'asc' ? sectionsFrom(source.log, from?.event ?? 1, through) : sectionsBackFrom(source, through, from?.event);
  for (const { event, messages } of sections) {
    const indexed = [...messages.entries()];
    for (const [index, message] of order === 'asc' ? indexed : indexed.reverse()) {
      if (event === from?.event && (order === 'asc' ? index < from.index : index > from.index)) continue;
      if (items.length >= limit || bytes >= messagePageBytes) {
        return { items, places, nextCursor: encodeCursor(lists[order], { event, index }) };
      }
      items.push(message);
      places.push({ event, index });
      bytes += JSON.stringify(message).length;
    }
  }
  return { items, places, nextCursor: null };
}

/** Yields turn by turn, so that only one turn is in memory besides the page. */
function* sectionsFrom(log: EventLog, first: number, last: number): Generator<Section> {
  let current: { event: number; fold: Transcript } | null = null;
  for (const event of log.readAll(first - 1, last)) {
    if (event.type === 'turn-start' || event.type === 'history') {
      if (current !== null) yield { event: current.event, messages: toTranscript(current.fold.turns()) };
      current = { event: event.id, fold: createTranscript({ everything: true, unanswered: true }) };
    }
    current?.fold.apply(event);
  }
  if (current !== null) yield { event: current.event, messages: toTranscript(current.fold.turns()) };
}

/** As above, from the section of event `last` back to the first. */
function* sectionsBackFrom({ log, turns }: MessageSource, through: number, last = through): Generator<Section> {
  let end = through;
  for (const before of turns.starts()) {
    if (before < last) yield* [...sectionsFrom(log, before + 1, end)].filter(({ event }) => event <= last).reverse();
    end = Math.min(before, through);
  }
  yield* [...sectionsFrom(log, 1, end)].filter(({ event }) => event <= last).reverse();
}

function isPlace(value: unknown): value is Place {
  const { event, index } = recordOf(value);
  return isCount(event) && event > 0 && isCount(index);
}
