/**
 * Decides where a request with a previous response id continues: in this session when the id is the newest response, else in a
 * new session with the conversation up to that response. Read-only; used by `submit.ts`.
 */
import { createGathering, type Gathered } from '../../../core/turn/gathered-tools.ts';
import type { Message } from '../../../core/model/message.ts';
import { Problem } from '../../../core/problem.ts';
import { toToolCallId } from '../../../core/text/reference.ts';
import { createTranscript } from '../../../core/turn/transcript.ts';
import { answerEnd, unknownCompletion } from '../../../dialects/answer.ts';
import type { SubmitTurn } from '../../../ports/session.ts';
import type { SubmitContext } from './accept-turn.ts';
import type { OpenSession } from '../object/open-session.ts';
import type { HashedResult } from './accept-results.ts';

/** The conversation with which a new session is created (`SubmitTurn`). */
export type Branch = { history: Message[]; gathered: readonly Gathered[] };

/**
 * Returns null when the session itself continues. Otherwise returns the conversation up to the previous response followed by the
 * history of the request, in the form in which a client has it, and the gathered tools at that point, so that the model of the new
 * session is sent the same definitions. Throws `not_found` for a response that is not in this session, and `conflict` for an older
 * response that has not ended.
 */
export function branchBefore(
  { openSession, session }: SubmitContext,
  request: SubmitTurn,
  results: readonly HashedResult[],
): Branch | null {
  const previous = request.chat?.previous;
  if (previous === undefined) return null;
  const answer = openSession.completions.get(previous);
  if (answer === null) throw unknownCompletion();
  const own = request.history ?? [];
  if (own.length === 0 && (openSession.completions.last()?.id === previous || isResent(openSession, previous, request, results)))
    return null;
  const { range } = answer;
  const end = answerEnd(openSession.log.readAll(openSession.completions.readFrom(range)), range, session);
  if (end === null) throw new Problem('conflict', 'The response with this id has not ended yet. Wait for its end or cancel it.');
  const { history, gathered } = conversationUpTo(openSession, session, end.event);
  return { history: [...history, ...own], gathered };
}

/** True when the request repeats the tool outputs or decisions that were sent after the second newest response: the newest one was lost on the way to the client. */
function isResent(
  { completions, waits }: OpenSession,
  previous: string,
  { input, chat }: SubmitTurn,
  results: readonly HashedResult[],
): boolean {
  const isKnown = ({ result, hash }: HashedResult): boolean => waits.get('client-tool', result.callId)?.answerHash === hash;
  const answers = results.length > 0 || chat?.decided === true;
  return input.length === 0 && answers && results.every(isKnown) && completions.last(1)?.id === previous;
}

/** Returns the conversation up to an event, with the ids of calls that a chat client has. */
export function conversationUpTo(openSession: OpenSession, session: string, last: number): Branch {
  const transcript = createTranscript({ everything: true, unanswered: true });
  const gathering = createGathering();
  for (const event of openSession.log.readAll(0, last)) {
    transcript.apply(event);
    gathering.apply(event);
  }
  const sent = new Set(transcript.turns().flatMap(({ clientCalls }) => clientCalls));
  const history = transcript.messages().map((message) => withClientCallIds(sent, session, message));
  return { history, gathered: gathering.list() };
}

/** Gives the calls that the client was sent the ids that the client knows, so that its results match. Other calls were never shown to it. */
function withClientCallIds(clientCalls: ReadonlySet<string>, session: string, message: Message): Message {
  const idOf = (callId: string): string => (clientCalls.has(callId) ? toToolCallId(callId, session) : callId);
  if (message.role === 'tool') return { ...message, parts: message.parts.map((part) => ({ ...part, callId: idOf(part.callId) })) };
  if (message.role !== 'assistant') return message;
  return {
    ...message,
    parts: message.parts.map((part) => {
      if (part.type !== 'tool-call' || !clientCalls.has(part.callId)) return part;
      const id = idOf(part.callId);
      return { ...part, callId: id, nativeId: id };
    }),
  };
}
