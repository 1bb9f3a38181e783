/**
 * What a client dialect is: a wire shape for chat that stock clients speak. Its request is read into neutral terms, its answers are
 * written from the neutral message (`answer-message.ts`); sessions, the translating proxy and the routes know no more of it. The
 * dialects are listed in `dialects.ts`.
 */
import type { ProblemBody } from '../core/problem.ts';
import type { ClientTool, ModelSettings } from '../core/plan.ts';
import type { DialectName } from '../core/reference.ts';
import type { AnswerMessage, Change } from './answer-message.ts';
import type { Conversation } from './conversation.ts';

/** One server-sent event of an answer. Without `event` it is a `message`. */
export type AnswerFrame = { event?: string; data: string };

/**
 * What every frame of an answer may repeat. `model` as the request named it; `created` in seconds. `echo`: fields of the request that
 * an answer shows again, as far as the dialect has such; small, since they are stored with the answer. `isOwnWire`: the reply came in
 * this very dialect and its request goes back as it comes, so what the provider wants back is shown in the provider's own form.
 */
export type AnswerIdentity = {
  id: string;
  model: string;
  created: number;
  includeUsage?: boolean;
  echo?: Record<string, unknown>;
  isOwnWire?: true;
};

/** A request, read. Where something cannot be taken, its reader throws `invalid_request` with the path in the request's own terms. */
export type DialectRequest = {
  streamed: boolean;
  /** A stream ends with usage only where the client asked for it; dialects that always tell it say true. */
  includeUsage: boolean;
  /** Answers wanted beside the first. */
  choices: number;
  /** `inSession`: results may come without the call that they answer, since the session has it. */
  conversation(options: { inSession: boolean }): Conversation;
  /** The caller's own; null: the request says nothing about tools. */
  clientTools(): ClientTool[] | null;
  settings(): ModelSettings;
  /** Where the request names all that may be called, its own tools and others: each name, and where it stands. null: it does not. */
  allowedTools(): { name: string; path: string }[] | null;
  /** Where the name of a tool stands in the request. */
  toolPath(index: number): string;
  /** The id of the answer that the request goes on from, where it does so by id. */
  previous: string | null;
  echo: Record<string, unknown>;
};

export type Dialect = {
  name: DialectName;
  /** The field of a request that has its conversation. */
  conversationField: 'messages' | 'input';
  /** Throws `invalid_request`. */
  readRequest(body: Readonly<Record<string, unknown>>): DialectRequest;
  /** The session that ids of calls in an unread request lead to; null: none is one of ours. Throws `invalid_request` for two of them. */
  sessionOfCalls(body: Readonly<Record<string, unknown>>): string | null;
  /** The request as it came, with other system text: what goes to a provider of the same wire for an agent without tools. */
  withInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown>;
  /**
   * The request without what only we can read (tokens of `core/native-token.ts`), for a provider of the same wire; the same object where
   * there is none. Absent: the dialect has no fields for them.
   */
  withoutTokens?(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /**
   * Frames for each change, in order; null: the answer begins, so that a client sees life before the first word. Deterministic: the
   * same changes give the same bytes, so that a stream can be gone on with. After `end` or `failure` it is not called again.
   */
  createWriter(identity: AnswerIdentity, message: AnswerMessage): (change: Change | null) => AnswerFrame[];
  /** The whole answer, once the message has ended. */
  toDocument(finish: Extract<Change, { type: 'end' }>['finish'], identity: AnswerIdentity, message: AnswerMessage): Record<string, unknown>;
  /** The body of a failed request, and of a failure that stands in no log. `requestId` where the dialect shows it. */
  errorBody(problem: ProblemBody, requestId?: string): Record<string, unknown>;
  /** A stream's end by a failure that the message does not know of: it stands in no log. `place`: how many frames came before. */
  failureFrames(problem: ProblemBody, place: number): AnswerFrame[];
};
