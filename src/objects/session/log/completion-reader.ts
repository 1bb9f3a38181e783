/**
 * Reads a response for a chat client in its dialect: as stream frames or as one document, from the first frame or from a later
 * one. Reads and waits only; `session.ts` has checked the caller.
 */
import type { AnswerContent } from '../../../core/policy/answer-name.ts';
import type { EditionPointer } from '../../../core/toolset/edition-tool.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import { encodeFrame } from '../../../dialects/native.ts';
import { type AnswerPart, answerText } from '../../../dialects/answer-message.ts';
import { createAnswerDocument, createAnswerEncoder, isAfter } from '../../../dialects/answer.ts';
import type { AnswerIdentity, Dialect } from '../../../dialects/dialect.ts';
import { loadDialect } from '../../../dialects/dialects.ts';
import type { CompletionOptions } from '../../../ports/session.ts';
import type { Completion } from './completion-store.ts';
import { waitForEvent, createFeed } from './feed.ts';
import type { OpenSession } from '../object/open-session.ts';
import type { TurnSource } from './turn-reader.ts';

/** `remember` stores the taint marks for a response that the client may send as history. Never throws. */
export type CompletionSource = TurnSource & {
  openSession: Pick<OpenSession, 'completions' | 'turns'>;
  session: string;
  remember(answer: AnswerContent): Promise<void>;
};

/**
 * Returns the frames after `after` (all frames by default), or the document once the response has ended; in the background, at once. Throws
 * `not_found` for an unknown response and, for a document, the problem that the turn failed with.
 */
export async function readCompletion(
  source: CompletionSource,
  id: string,
  { streamed, echo, ...from }: CompletionOptions,
): Promise<ReadableStream<Uint8Array>> {
  const stored = find(source.openSession, id);
  const completion = echo === undefined ? stored : { ...stored, echo };
  const dialect = await loadDialect(completion.dialect);
  return streamed ? streamFrames(source, completion, dialect, from) : await readDocument(source, completion, dialect);
}

export function turnOf(
  openSession: Pick<OpenSession, 'completions' | 'turns'>,
  id: string,
): { turn: string; edition: EditionPointer | null; inputThrough: number } {
  const { turn, after } = find(openSession, id).range;
  const row = openSession.turns.get(turn);
  // The first event of a turn has its input, and may be later than the request.
  return { turn, edition: row?.plan.edition ?? null, inputThrough: Math.max(after, (row?.before ?? 0) + 1) };
}

/** Throws `conflict` for a response that has not ended. */
export function deleteCompletion(openSession: Pick<OpenSession, 'completions' | 'turns'>, id: string): void {
  if (isInProgress(openSession, id)) throw new Problem('conflict', 'This response has not ended. Cancel it first.');
  openSession.completions.remove(id);
}

/** Returns whether the turn of this response runs or waits. Throws `conflict` when it is still queued behind another turn. */
export function isInProgress(openSession: Pick<OpenSession, 'completions' | 'turns'>, id: string): boolean {
  const { turn } = find(openSession, id).range;
  if (openSession.turns.stateOf(turn) === 'queued')
    throw new Problem('conflict', 'This response is queued behind a turn that has not ended. Cancel that turn first.');
  return openSession.turns.open()?.id === turn;
}

function find({ completions }: Pick<OpenSession, 'completions'>, id: string): Completion {
  const completion = completions.get(id);
  if (completion === null) throw new Problem('not_found', 'There is no such response.');
  return completion;
}

function identityOf({ id, model, includeUsage, echo, createdAt }: Completion): AnswerIdentity {
  return { id, model, created: Math.floor(createdAt / 1000), includeUsage, echo };
}

/** Returns the parts of the response that clients send back as history. */
function toAnswerContent({ asked }: Completion, parts: readonly AnswerPart[]): AnswerContent {
  return { asked, text: answerText(parts, 'text'), reasoning: answerText(parts, 'reasoning') };
}

function streamFrames(
  source: CompletionSource,
  completion: Completion,
  dialect: Dialect,
  { after, startingAfter = -1 }: Omit<CompletionOptions, 'streamed' | 'echo'>,
): ReadableStream<Uint8Array> {
  let place = 0;
  const encoder = createAnswerEncoder(completion.range, identityOf(completion), source.session, dialect);
  return createFeed({ ...source, after: source.openSession.completions.readFrom(completion.range) }, null, {
    heartbeat: dialect.heartbeat,
    event(event) {
      let text = '';
      for (const frame of encoder.encode(event)) {
        if (place > startingAfter && (after === undefined || isAfter(frame.id, after))) text += encoder.textOf(frame);
        place += 1;
      }
      return text;
    },
    isLast: () => encoder.isOver(),
    // The client can send the response as history once it has received its end.
    beforeClose: () => source.remember(toAnswerContent(completion, encoder.parts())),
    // The failure is not in the log and has no frame id: a client that reconnects continues after the last frame with an id.
    problem: (problem) => dialect.failureFrames(problem, place).map(encodeFrame).join(''),
  });
}

async function readDocument(source: CompletionSource, completion: Completion, dialect: Dialect): Promise<ReadableStream<Uint8Array>> {
  const answer = createAnswerDocument(completion.range, identityOf(completion), source.session, dialect);
  let cursor = source.openSession.completions.readFrom(completion.range);
  for (;;) {
    for (const event of source.log.readAll(cursor)) {
      cursor = event.id;
      answer.take(event);
      if (answer.isOver()) break;
    }
    if (answer.isOver()) break;
    const unended = answer.unended(source.openSession.turns.stateOf(completion.range.turn) === 'queued');
    if (unended !== null) return streamOf(unended);
    await waitForEvent(source, limits.heartbeatMs);
    if (source.isDeleted()) throw new Problem('not_found', 'The session was deleted.');
  }
  await source.remember(toAnswerContent(completion, answer.parts()));
  return streamOf(answer.document());
}

function streamOf(value: Record<string, unknown>): ReadableStream<Uint8Array> {
  const document = new TextEncoder().encode(JSON.stringify(value));
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      controller.enqueue(document);
      controller.close();
    },
  });
}
