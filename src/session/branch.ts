/**
 * Where a request that goes on from an answer by its id belongs: to the session as it stands, or, from an older answer on, to a session
 * of its own with the conversation up to there. Reads only; used by `submit.ts`.
 */
import { createGathering, type Gathered } from '../core/gathered-tools.ts';
import type { Message } from '../core/message.ts';
import { Problem } from '../core/problem.ts';
import { toToolCallId } from '../core/reference.ts';
import { createTranscript } from '../core/transcript.ts';
import { answerEnd, unknownCompletion } from '../dialects/answer.ts';
import type { SubmitTurn } from '../ports/session.ts';
import type { SubmitDoor } from './accept-turn.ts';
import type { Completion } from './completion-store.ts';
import type { Room } from './room.ts';
import type { HashedResult } from './take-results.ts';

/** As a session of its own is begun with it (`SubmitTurn`). */
export type Branch = { history: Message[]; gathered: readonly Gathered[] };

/**
 * null: the session itself goes on. Else the conversation up to the answer, with what the request brings of its own, as a client would
 * have it; and the tools that it had come to there, so that the new session's model is sent the same ones. Throws `not_found` for an answer that is none of this session's, and `conflict` for an older one without an end.
 */
export function branchFrom({ room, session }: SubmitDoor, request: SubmitTurn, results: readonly HashedResult[]): Branch | null {
  const previous = request.chat?.previous;
  if (previous === undefined) return null;
  const answer = room.completions.get(previous);
  if (answer === null) throw unknownCompletion();
  const own = request.history ?? [];
  if (own.length === 0 && (room.completions.last()?.id === previous || isSentAgain(room, previous, request, results))) return null;
  const { history, gathered } = conversationUpTo(room, session, answer);
  return { history: [...history, ...own], gathered };
}

/** The outputs that were asked for in the answer before the newest, which was lost on its way. */
function isSentAgain(
  { completions, clientCalls }: Room,
  previous: string,
  { input }: SubmitTurn,
  results: readonly HashedResult[],
): boolean {
  const isKnown = ({ result, hash }: HashedResult): boolean => clientCalls.get(result.callId)?.answerHash === hash;
  return input.length === 0 && results.length > 0 && results.every(isKnown) && completions.last(1)?.id === previous;
}

function conversationUpTo(room: Room, session: string, { range }: Completion): Branch {
  const end = answerEnd(room.log.readAll(room.completions.readFrom(range)), range, session);
  if (end === null) throw new Problem('conflict', 'That answer has not ended yet: wait for its end, or cancel it.');
  const transcript = createTranscript({ everything: true, unanswered: true });
  const gathering = createGathering();
  for (const event of room.log.readAll(0, end.event)) {
    transcript.apply(event);
    gathering.apply(event);
  }
  const history = transcript.messages().map((message) => asClientHasIt(room, session, message));
  return { history, gathered: gathering.list() };
}

/** Calls that the client was given are known by the ids that it has, so that their results find them; no other was shown to it. */
function asClientHasIt({ clientCalls }: Room, session: string, message: Message): Message {
  const idOf = (callId: string): string => (clientCalls.get(callId) === null ? callId : toToolCallId(callId, session));
  if (message.role === 'tool') return { ...message, parts: message.parts.map((part) => ({ ...part, callId: idOf(part.callId) })) };
  if (message.role !== 'assistant') return message;
  return {
    ...message,
    parts: message.parts.map((part) => {
      if (part.type !== 'tool-call' || clientCalls.get(part.callId) === null) return part;
      const id = idOf(part.callId);
      return { ...part, callId: id, nativeId: id };
    }),
  };
}
