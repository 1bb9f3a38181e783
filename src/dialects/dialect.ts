/**
 * A client dialect: a wire format for chat that stock clients use. It reads requests into neutral terms and writes answers from the neutral
 * message (`answer-message.ts`). Sessions, the translating proxy and the routes use only this interface. `dialects.ts` lists the dialects.
 */
import type { Dropped } from '../core/model/dropped.ts';
import type { ProblemBody } from '../core/problem.ts';
import type { Marked } from '../core/model/message.ts';
import type { ModelSettings } from '../core/model/model-settings.ts';
import type { ClientTool } from '../core/turn/plan.ts';
import type { DialectName } from '../core/text/reference.ts';
import type { AnswerMessage, MessageChange, ServerCallChange } from './answer-message.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import type { ConversationBuilder, ConversationOptions } from './conversation.ts';

/** One server-sent event of an answer. Without `event` its type is `message`. */
export type AnswerFrame = { event?: string; data: string };

/**
 * Values that frames of an answer repeat. `model` as in the request; `created` in seconds. `echo`: fields of the request that an answer
 * repeats, if the dialect has any; small, because they are stored with the answer. `isOwnWire`: the reply came in this dialect and its
 * request is forwarded unchanged, so provider data keeps the provider's form. `now`: of an answer of no session, whose events have no time.
 */
export type AnswerIdentity = {
  id: string;
  model: string;
  created: number;
  includeUsage?: boolean;
  echo?: Record<string, unknown>;
  isOwnWire?: true;
  now?(): number;
};

/** A request that was read. Its readers throw `invalid_request` with the path in the request's terms. */
export type DialectRequest = {
  streamed: boolean;
  /** The stream ends with usage if the client asked for it; true for dialects that always report it. */
  includeUsage: boolean;
  /** Requested answers in addition to the first. */
  choices: number;
  conversation(options: ConversationOptions): ConversationBuilder;
  /** The client's tools; null: the request has no tools field. */
  clientTools(options?: ConversationOptions): (ClientTool & Marked)[] | null;
  settings(): ModelSettings;
  /** If the request limits the callable tools, its own and others: each name with its path. null: no limit. */
  allowedTools(): { name: string; path: string }[] | null;
  /** The path of a tool's name in the request. */
  toolPath(index: number): string;
  /** The id of the previous answer that the request continues, if any. */
  previous: string | null;
  echo: Record<string, unknown>;
  /** What is left out of the request; also takes what its model is not sent. */
  dropped: Dropped;
};

/** Takes every event of a turn in order. `isShown`: the event belongs to the answer. */
export type CallReader = (event: SessionEvent, isShown: boolean) => ServerCallChange[];

export type Dialect = {
  name: DialectName;
  /** Of user interfaces: they show the calls of the server's tools and ask for approvals themselves. Returns what reads the calls. */
  createCallReader?(session: string | null): CallReader;
  /** They ask the questions of tools' servers themselves, too, in place of a sentence. */
  asksInput?: true;
  /** Throws `invalid_request`. */
  readRequest(body: Readonly<Record<string, unknown>>): DialectRequest;
  /** Returns the session that call ids in an unread request belong to; null: none is ours. Throws `invalid_request` for two sessions. */
  sessionOfCalls(body: Readonly<Record<string, unknown>>): string | null;
  /** Returns the request with other system text and otherwise unchanged, for a provider of the same wire and an agent without tools. */
  withInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown>;
  /**
   * Returns the request without what only this service can read (tokens of `core/model/native-token.ts`), for a provider of the same wire; the
   * same object if there is nothing to remove. Absent: the dialect has no such fields.
   */
  withoutTokens?(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /**
   * Returns frames for each change, in order; null: the answer begins, so that the client receives something before the first text.
   * Deterministic: the same changes give the same bytes, so a stream can be resumed. Not called again after `end` or `failure`.
   */
  createWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[];
  /** Returns the whole answer, after the message has ended. */
  toDocument(
    finish: Extract<MessageChange, { type: 'end' }>['finish'],
    identity: AnswerIdentity,
    message: AnswerMessage,
  ): Record<string, unknown>;
  /**
   * Returns an answer that has not ended, or the problem that ended it, as a document, if its request asked for it in the background; null: it
   * did not. Absent: the dialect has no such answers.
   */
  toBackground?(
    state: 'queued' | 'in_progress' | ProblemBody,
    identity: AnswerIdentity,
    message: AnswerMessage,
  ): Record<string, unknown> | null;
  /** A message without meaning, for streams that are silent for a while. */
  heartbeat: string;
  /** Returns the body of a failed request, or of a failure that is not in the log. `requestId` if the dialect shows it. */
  errorBody(problem: ProblemBody, requestId?: string): Record<string, unknown>;
  /** Returns the frames that end a stream with a failure that is not in the log. `place`: the number of earlier frames. */
  failureFrames(problem: ProblemBody, place: number): AnswerFrame[];
};
