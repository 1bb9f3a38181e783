/** The answer of a turn that no session stores: made from the turn's events in the client's dialect as they come, each of them once. */
import type { AnswerContent } from '../core/policy/answer-name.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import { createAnswerReader, toAnswerDocument } from '../dialects/answer.ts';
import { answerText, type MessageChange } from '../dialects/answer-message.ts';
import type { AnswerIdentity, Dialect } from '../dialects/dialect.ts';
import { encodeFrame } from '../dialects/native.ts';

export function createMemoryAnswer(turn: string, identity: AnswerIdentity, { dialect, streamed }: { dialect: Dialect; streamed: boolean }) {
  const reader = createAnswerReader(
    { turn, after: 0, earlier: null },
    null,
    streamed ? 'as failures' : 'silently',
    dialect.createCallReader?.(null),
  );
  const write = dialect.createWriter(identity, reader.message);
  const ended = Promise.withResolvers<void>();
  let last: MessageChange | undefined;
  let text = '';
  let released = false;
  let wake = (): void => undefined;
  const document = () => toAnswerDocument(last, identity, reader.message, dialect);
  return {
    take(event: SessionEvent) {
      for (const { changes } of reader.take(event)) {
        last = changes.at(-1) ?? last;
        if (!streamed) continue;
        for (const frame of changes.length === 0 ? write(null) : changes.flatMap(write)) text += encodeFrame(frame);
      }
      if (reader.isOver()) ended.resolve();
      else if (text !== '') wake();
    },
    /** Whether the answer has ended: events after it are not shown. */
    isOver: reader.isOver,
    /** Resolves when the answer has ended. */
    over: ended.promise,
    /** Characters of frames that were not read. */
    unread: (): number => text.length,
    /** Resolves to the next frames as text; null after the last ones, which wait for `release`. */
    async next(): Promise<string | null> {
      while (!released && (text === '' || reader.isOver())) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const read = text;
      text = '';
      return read === '' ? null : read;
    },
    /** Lets the client have the end of the answer. */
    release() {
      released = true;
      wake();
    },
    /** Texts of the message, as clients resend them. */
    texts(): Omit<AnswerContent, 'asked'> {
      const parts = reader.message.parts();
      return { text: answerText(parts, 'text'), reasoning: answerText(parts, 'reasoning') };
    },
    /** Throws the problem of a failed turn. */
    document,
    /** Items of a Response; undefined: the answer has none, or failed. */
    items: (): unknown => (last?.type === 'end' ? document().output : undefined),
  };
}
