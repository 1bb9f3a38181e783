/** A session as its callers see it: implemented by the `Session` Durable Object, used by the HTTP routes. */
import { z } from 'zod';
import { type ApprovalView, type Decision, Pending } from '../core/approval.ts';
import { Usage } from '../core/chat-event.ts';
import { limits } from '../core/limits.ts';
import type { ElicitationAnswer } from '../core/elicitation.ts';
import type { EditionPointer } from '../core/edition-tool.ts';
import type { Gathered } from '../core/gathered-tools.ts';
import { type ClientResult, InputPart, type Message, Via } from '../core/message.ts';
import { type ClientTool, ClientToolInput, type Plan } from '../core/plan.ts';
import type { PolicyAnswer } from '../core/policy/explain.ts';
import { ContentBlock, type ToolResult, ToolResultCode } from '../core/tool.ts';
import type { Principal } from '../core/principal.ts';
import type { Taint } from '../core/taint.ts';
import type { SessionEvent } from '../core/session-event.ts';
import type { DialectName } from '../core/reference.ts';
import { Proposal } from '../core/ui-tool.ts';

/** What the session was made with; fixed for its life. */
export type SessionSetup = {
  agent?: string;
  model?: string;
  toolset?: string;
  instructions?: string;
  /** The caller's own tools, for turns that bring none. */
  tools?: ClientTool[];
  listed: boolean;
};

export const SessionView = z
  .object({
    id: z.string(),
    agent: z.string().optional(),
    model: z.string().optional(),
    toolset: z.string().nullable(),
    createdAt: z.iso.datetime(),
    turn: z.object({ id: z.string(), status: z.string(), reason: z.string().nullable() }).nullable(),
    queued: z.int(),
  })
  .meta({ id: 'Session' });
export type SessionView = z.infer<typeof SessionView>;

export const TurnAnswer = z
  .object({
    turn: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted', 'waiting']),
    reason: z.string(),
    text: z.string().meta({ description: 'Of the last step.' }),
    toolCalls: z.array(
      z.object({
        callId: z.string(),
        requested: z.string(),
        canonical: z.string().nullable(),
        via: Via.nullable(),
        arguments: z.record(z.string(), z.unknown()).nullable(),
        isError: z.boolean(),
        code: ToolResultCode.optional(),
        content: z.array(ContentBlock),
      }),
    ),
    pending: z.array(Pending).optional().meta({ description: 'With status `waiting`: what it waits for.' }),
    proposals: z.array(Proposal).optional().meta({ description: 'UI tools that the person may want next, the best first. Absent: none.' }),
    problem: z.record(z.string(), z.unknown()).optional().meta({ description: 'Of a failed turn: the problem that ended it.' }),
    usage: Usage,
  })
  .meta({ id: 'TurnAnswer' });
export type TurnAnswer = z.infer<typeof TurnAnswer>;

const saysNothing = (part: InputPart) => part.type === 'text' && part.text === '';

export const TurnRequest = z
  .strictObject({
    input: z.union(
      [
        z.string().min(1),
        z
          .array(InputPart)
          .min(1)
          .refine((parts) => !parts.every(saysNothing), { message: 'says nothing' }),
      ],
      { error: 'must be a text, or a list of parts' },
    ),
    tools: z.array(ClientToolInput).max(limits.maxClientTools).optional().meta({
      description: 'Tools that the caller runs itself: the turn waits for their results. Absent: those that the session was made with.',
    }),
  })
  .meta({ id: 'TurnRequest', example: { input: '/shell echo hello' } });
export type TurnRequest = z.infer<typeof TurnRequest>;

export type SubmitTurn = {
  plan: Plan;
  input: InputPart[];
  /** Its id, where that was told before: it is begun once, however often and late it is submitted. Absent: a new one. */
  turn?: string;
  idempotencyKey?: string;
  /** SHA-256 of the request body, compared when the idempotency key repeats. */
  bodyHash?: string;
  /** Messages before the input, as a client that resends its history has them: skipped when stored, else forked. */
  history?: Message[];
  /** Of a fork: the tools that the conversation in `history` had come to, in their order. */
  gathered?: readonly Gathered[];
  /**
   * What the conversation has seen before, or sees with this input: of a fork, and where anybody may have written the input. Absent with a
   * `history`: the client's own history, which the session judges (`engine/policy/judge-history.ts`).
   */
  taint?: Taint;
  /**
   * Of a chat dialect: how the answer will be shown. Such a request goes on with a turn that waits, instead of queueing behind
   * it: `results` are of calls that the client was given; `input` may then be empty. `previous`: the id of the answer that it goes on
   * from; of an older one, the conversation up to there goes on in a session of its own.
   */
  chat?: {
    dialect: DialectName;
    model: string;
    includeUsage: boolean;
    echo: Record<string, unknown>;
    results: ClientResult[];
    previous?: string;
  };
};

/**
 * Of an answer of a chat dialect: as frames, or as one document. `after`: id of the last frame that the client has; `startingAfter`: its
 * place, counted from 0, as some dialects number their frames.
 */
export type CompletionOptions = { streamed: boolean; after?: string; startingAfter?: number };

/**
 * `position`: turns ahead of it. `edition` is the turn's own: a repeat under its key joins a turn that may have begun with an
 * earlier one. `completion`: of a chat dialect, what `Session.completion` is asked for.
 */
export type SubmittedTurn = {
  turn: string;
  position: number;
  session: string;
  edition: EditionPointer | null;
  completion: string | null;
};

/** `status` is the turn's, or `null` for an approval of a direct call: that call is to be sent again. */
export type Decided = { callId: string; decision: Decision; turn: string | null; status: string | null };

/**
 * A person's answers to what the server of a tool asks, by its keys. `round`: of the question that they answer; absent: the last one that
 * the call asked.
 */
export type GivenInputs = { callId: string; input: Readonly<Record<string, ElicitationAnswer>>; round?: number };

/** After results of a caller's tools: how the turn stands, and what it still waits for. */
export type ResultsTaken = { turn: string; status: string; pending: Pending[] };

/** Messages of the transcript view; `parts` as in `core/message.ts`, native parts left out. */
export type TranscriptMessage = { role: 'user' | 'assistant' | 'tool'; turn: string; parts: Record<string, unknown>[] };

/** `cursor` as the page before named it. Without a limit a page holds as much as its bytes allow. */
export type MessageQuery = { cursor?: string; limit?: number };
/** Oldest first; null on the last page. */
export type MessagePage = { items: TranscriptMessage[]; nextCursor: string | null };

/** `scratch`: with files of its own that nobody sees again, as a call without a session has them. */
export type SessionCallRequest = {
  plan: Plan;
  name: string;
  arguments: Record<string, unknown>;
  idempotencyKey?: string;
  bodyHash?: string;
  scratch?: boolean;
};

/** What the policy would say to a direct call. `agent`, `key`: as if it came from them. */
export type SessionExplainRequest = { plan: Plan; name: string; arguments: Record<string, unknown>; agent?: string; key?: string };

/** What one direct call answered. */
export type SessionCall = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  result: ToolResult;
  durationMs: number;
  /** With code `approval_required` in a session: approved under its `callId`, the same call sent again runs, once. */
  pending?: Pending[];
};

/**
 * Every method checks the caller against the owner and throws `not_found` to anyone else but `admin`, the same as for an
 * unknown id. `signal`s are not passed: a reader that leaves closes its stream, nothing else.
 */
export interface Session {
  view(caller: Principal): Promise<SessionView>;
  /** What it was made with, instructions included: what a turn's plan is made from. */
  setup(caller: Principal): Promise<SessionSetup>;
  remove(caller: Principal): Promise<void>;
  messages(caller: Principal, query?: MessageQuery): Promise<MessagePage>;
  /** Stored when it resolves. `session` is another id than this one's when the history did not match and was forked. */
  submit(caller: Principal, request: SubmitTurn): Promise<SubmittedTurn>;
  /** What this key named in the last 24 h; null: nothing. With another body it is `idempotency_mismatch`. */
  repeated(caller: Principal, key: string, bodyHash: string): Promise<SubmittedTurn | null>;
  /** Whether this turn was ever submitted here. */
  hasTurn(caller: Principal, turn: string): Promise<boolean>;
  /** Waits for the end of the turn, or until it waits for somebody outside; a turn that is queued behind such a one waits, too. */
  answer(caller: Principal, turn: string): Promise<TurnAnswer>;
  /** Native SSE from the turn's first event, closed after `turn-end`, or after the event that asks when the turn waits. */
  stream(caller: Principal, turn: string): Promise<ReadableStream<Uint8Array>>;
  /**
   * Frames of one answer of a chat dialect: SSE, or one JSON document when `streamed` is false, which waits for its end. `not_found`
   * for an answer that this session did not give.
   */
  completion(caller: Principal, completion: string, options: CompletionOptions): Promise<ReadableStream<Uint8Array>>;
  /** What the turn of that answer worked with; null: no toolset. Throws `not_found` as above. */
  completionEdition(caller: Principal, completion: string): Promise<EditionPointer | null>;
  /** Events after `after`; waits up to `waitMs` when there are none yet. Bounded by one page. */
  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<SessionEvent[]>;
  /** What waits for a person's word, direct calls included, oldest first. */
  approvals(caller: Principal): Promise<ApprovalView[]>;
  approval(caller: Principal, callId: string): Promise<ApprovalView>;
  /**
   * The same word twice is one; another one after it is `conflict`, as is a word on what has expired or was used. `remember`
   * stores a rule for the workspace, which is the caller's business to be allowed.
   */
  decide(caller: Principal, callId: string, decision: Decision, options: { remember: boolean; round?: number | null }): Promise<Decided>;
  /** A nonce that stands for one decision on this approval; `storage/approval-link.ts` makes a link of it. */
  mintLink(caller: Principal, callId: string): Promise<{ nonce: string; expiresAt: number }>;
  /** By the nonce of a link, which is the right to it. `not_found` for one that is unknown, used up or expired. */
  linkedApproval(nonce: string): Promise<ApprovalView>;
  decideByLink(nonce: string, decision: Decision): Promise<Decided>;
  /** Results of the caller's own tools. `not_found` for a call that nobody waits for; the same result twice is one. */
  takeResults(caller: Principal, results: readonly ClientResult[]): Promise<ResultsTaken>;
  /** `not_found` for a call that asks nothing, `conflict` for other answers than before, `invalid_request` for what its form does not take. */
  giveInput(caller: Principal, given: GivenInputs): Promise<ResultsTaken>;
  /** `completion`: only the turn of that answer, if it runs or waits; one that is queued is `conflict`. */
  cancel(caller: Principal, completion?: string): Promise<{ turn: string | null; cancelled: boolean }>;
  /** Ends the running or waiting turn and all that are queued. `cancelled`: how many. */
  cancelAll(caller: Principal): Promise<{ cancelled: number }>;
  /** A direct call (`…/calls` with a session): the session's files, one audit row. */
  call(caller: Principal, request: SessionCallRequest): Promise<SessionCall>;
  /** What the policy says to a call that is not made. */
  explain(caller: Principal, request: SessionExplainRequest): Promise<PolicyAnswer>;
  /** As `repeated`, of a direct call: its answer, once it is there. */
  repeatedCall(caller: Principal, key: string, bodyHash: string): Promise<SessionCall | null>;
  /** With `recursive` names are paths from there. At most `limits.maxListedTree`; `truncated`: there are more. */
  listFiles(
    caller: Principal,
    path: string,
    options?: { recursive?: boolean },
  ): Promise<{
    path: string;
    entries: { name: string; kind: string; size: number; modifiedAt: string }[];
    truncated: boolean;
    usage: { files: number; bytes: number; maxFiles: number; maxBytes: number };
  }>;
  readFile(caller: Principal, path: string): Promise<{ content: Uint8Array; modifiedAt: string } | { directory: true }>;
  /** `path` in the answer is the absolute one. */
  writeFile(caller: Principal, path: string, content: Uint8Array, conditions?: FileConditions): Promise<{ path: string; created: boolean }>;
  /** A directory must be empty. */
  deleteFile(caller: Principal, path: string, conditions?: FileConditions): Promise<void>;
}

/**
 * `precondition_failed` where they do not hold. `ifMatch`: SHA-256 (hex) of the bytes that the file must still have, one of these; `*`: it must be
 * there. `ifNoneMatch`: it must not be there.
 */
export type FileConditions = { ifMatch?: '*' | readonly string[]; ifNoneMatch?: true };

export interface Sessions {
  /**
   * Makes one and indexes it (unless unlisted); answers its id. `key`: the same one gives the same session, made once, for as
   * long as it is there.
   */
  create(owner: Principal, setup: SessionSetup, key?: string): Promise<SessionView>;
  /** The id of the one that `create` makes with this key, made or not. */
  idOf(owner: Principal, key: string): Promise<string>;
  /** The one that `create` makes with this key; whether it was made shows on the first call. */
  keyed(owner: Principal, key: string): Promise<Session>;
  /** `not_found` for what cannot be an id; whether it exists shows on the first call. */
  get(id: string): Session;
}
