/** Encodes a provider's reply in a client's dialect without a session. The proxy uses it if it cannot forward bytes unchanged. */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { createAnswerMessage, type MessageChange } from './answer-message.ts';
import { uniqueOfAnswer } from '../core/text/reference.ts';
import { toAnswerDocument } from './answer.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from './dialect.ts';
import { encodeFrame } from './native.ts';

export type ReplyEncoder = {
  /** Returns SSE text for one event; '' if the event is not shown. Deterministic: the same events give the same bytes. */
  encode(event: ChatEvent): string;
  /** The same as frames. */
  frames(event: ChatEvent): AnswerFrame[];
  /** Returns the frames with which an answer begins before its first text. */
  begin(): AnswerFrame[];
};

/** After the reply's end, every event is encoded as ''. */
export function createReplyEncoder(dialect: Dialect, identity: AnswerIdentity): ReplyEncoder {
  const message = createAnswerMessage({ unique: uniqueOfCalls(dialect, identity) });
  const write = dialect.createWriter(identity, message);
  let over = false;
  const frames = (event: ChatEvent): AnswerFrame[] => {
    if (over) return [];
    const changes = message.take(event);
    over = message.isOver();
    return changes.flatMap(write);
  };
  return {
    encode(event) {
      let text = '';
      for (const frame of frames(event)) text += encodeFrame(frame);
      return text;
    },
    frames,
    begin: () => write(null),
  };
}

/** Returns the document of a whole reply. Throws the `Problem` that ended it, if any. */
export function toReplyDocument(dialect: Dialect, events: Iterable<ChatEvent>, identity: AnswerIdentity): Record<string, unknown> {
  const message = createAnswerMessage({ restarts: 'silently', unique: uniqueOfCalls(dialect, identity) });
  let end: MessageChange | undefined;
  for (const event of events) end = message.take(event).at(-1) ?? end;
  return toAnswerDocument(end, identity, message, dialect);
}

/** Returns what begins the ids of the answer's calls: at most 40 characters together, the limit of OpenAI's API. */
export function uniqueOfCalls(dialect: Dialect, { id }: AnswerIdentity): string {
  const unique = uniqueOfAnswer(dialect.name, id).replace(/[^a-zA-Z0-9]/g, '');
  return unique === '' ? '' : `${unique.slice(-maxUniqueLength)}_`;
}

const maxUniqueLength = 24;
