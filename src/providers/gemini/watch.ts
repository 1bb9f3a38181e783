/** What clients of Gemini's API can read: chunks whose calls have names, and arguments that are objects. */
import { isRecord, type Json, listOf, recordOf } from '../../core/json/wire-value.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import { isName, type WatchedMessage, type WatchedWire, type WireWatch } from '../relay/wire-watch.ts';

export const geminiWire: WatchedWire = {
  createWatch: () => new ChunkWatch(),
  pieceOf: () => null,
  isRegular(reply, events) {
    return callsIn(reply).every(isWhole) && callsIn(reply).length === startsIn(events) && isName(reasonIn(reply));
  },
  mend: (reply, encoded) => ({ ...encoded, ...reply, candidates: encoded.candidates }),
};

class ChunkWatch implements WireWatch {
  /** Of the messages, and of their events. */
  #begun = 0;
  #read = 0;
  #hasEnded = false;
  /** Calls that the client has received. */
  #shown = 0;

  take({ body }: WatchedMessage, events: readonly ChatEvent[]): boolean {
    this.#read += startsIn(events);
    if (body === null) return false;
    if (body.error !== undefined) return isRecord(body.error) && isName(body.error.message);
    const calls = callsIn(body);
    this.#begun += calls.filter(({ name }) => isName(name)).length;
    this.#hasEnded ||= isName(reasonIn(body));
    return calls.every(isWhole) && this.#begun === this.#read;
  }

  isSettled(): boolean {
    return true;
  }

  end(events: readonly ChatEvent[]): AnswerFrame[] | null {
    this.#read += startsIn(events);
    return this.#hasEnded && this.#begun === this.#read ? [] : null;
  }

  show(body: Json): void {
    this.#shown += callsIn(body).length;
  }

  /** The encoder writes a call with the next change: it may still have to write one that the client has received. */
  align(shown: readonly AnswerFrame[]) {
    const hasCall = ({ data }: AnswerFrame): boolean => callsIn(JSON.parse(data) as Json).length > 0;
    let twice = this.#shown - shown.filter(hasCall).length;
    return (frame: AnswerFrame): AnswerFrame[] => {
      if (twice <= 0 || !hasCall(frame)) return [frame];
      twice -= 1;
      return [];
    };
  }
}

/** A call that continues in later chunks is in the form that its client asked for. */
function isWhole({ name, args, partialArgs, willContinue }: Json): boolean {
  return partialArgs !== undefined || willContinue === true || (isName(name) && (args == null || isRecord(args))) || name === undefined;
}

function candidateIn({ candidates }: Json): Json {
  return recordOf(listOf(candidates).find((one) => (recordOf(one).index ?? 0) === 0));
}

function callsIn(body: Json): Json[] {
  return listOf(recordOf(candidateIn(body).content).parts).flatMap((part) => {
    const { functionCall } = recordOf(part);
    return isRecord(functionCall) ? [functionCall] : [];
  });
}

function reasonIn(body: Json): unknown {
  return candidateIn(body).finishReason;
}

function startsIn(events: readonly ChatEvent[]): number {
  return events.filter(({ type }) => type === 'call-start').length;
}
