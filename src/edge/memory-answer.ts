/** The answer of a turn that no session stores: made from the turn's events in the client's dialect as they come, each of them once. */
import type { AnswerContent } from '../core/policy/answer-name.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import { createAnswerReader, toAnswerDocument } from '../dialects/answer.ts';
import { answerText, type MessageChange } from '../dialects/answer-message.ts';
import type { AnswerIdentity, Dialect } from '../dialects/dialect.ts';
import { encodeFrame } from '../dialects/native.ts';

export type MemoryAnswer = {
  take(event: SessionEvent): void;
  /** Whether the answer has ended: events after it are not shown. */
  isOver(): boolean;
  /** Resolves when the answer has ended. */
  over: Promise<void>;
  /** Characters of frames that were not read. */
  unread(): number;
  /** Resolves to the next frames as text; null after the last ones, which wait for `release`. */
  next(): Promise<string | null>;
  /** Lets the client have the end of the answer. */
  release(): void;
  /** Texts of the message, as clients resend them. */
  texts(): Omit<AnswerContent, 'asked'>;
  /** Throws the problem of a failed turn. */
  document(): Record<string, unknown>;
  /** Items of a Response; undefined: the answer has none, or failed. */
  items(): unknown;
};

export function createMemoryAnswer(
  turn: string,
  identity: AnswerIdentity,
  { dialect, streamed }: { dialect: Dialect; streamed: boolean },
): MemoryAnswer {
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
    take(event) {
      for (const { changes } of reader.take(event)) {
        last = changes.at(-1) ?? last;
        if (!streamed) continue;
        for (const frame of changes.length === 0 ? write(null) : changes.flatMap(write)) text += encodeFrame(frame);
      }
      if (reader.isOver()) ended.resolve();
      else if (text !== '') wake();
    },
    isOver: reader.isOver,
    over: ended.promise,
    unread: () => text.length,
    async next() {
      while (!released && (text === '' || reader.isOver())) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const read = text;
      text = '';
      return read === '' ? null : read;
    },
    release() {
      released = true;
      wake();
    },
    texts() {
      const parts = reader.message.parts();
      return { text: answerText(parts, 'text'), reasoning: answerText(parts, 'reasoning') };
    },
    document,
    items: () => (last?.type === 'end' ? document().output : undefined),
  };
}
