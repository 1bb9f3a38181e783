/** A session as its callers see it: implemented by the `Session` Durable Object, used by the HTTP routes. */
import * as z from 'zod';
import { type ApprovalView, Decision, Pending } from '../core/policy/approval.ts';
import { Usage } from '../core/model/chat-event.ts';
import { isRecord } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import type { ElicitationAnswer } from '../core/servers/elicitation.ts';
import type { EditionPointer, EditionTool } from '../core/toolset/edition-tool.ts';
import type { Gathered } from '../core/turn/gathered-tools.ts';
import { type ClientResult, InputPart, type Message, Via } from '../core/model/message.ts';
import { type AskedOfTurn, type ClientTool, ClientToolInput, type Plan } from '../core/turn/plan.ts';
import type { PolicyAnswer } from '../core/policy/explain.ts';
import { ContentBlock, type ToolResult, ToolResultCode } from '../core/tools/tool.ts';
import type { Origin, Principal } from '../core/people/principal.ts';
import { PolicyRule } from '../core/policy/rule.ts';
import type { Taint } from '../core/policy/taint.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import { SessionStatus } from '../core/turn/session-summary.ts';
import type { FileChange, StoredFile } from './file-space.ts';
import type { DialectName } from '../core/text/reference.ts';
import { Proposal } from '../core/tools/ui-tool.ts';

export const ForkPoint = z
  .strictObject({
    session: z.string().min(1).max(200),
    turn: z.string().min(1).max(200).meta({ description: 'The last turn that is copied.' }),
  })
  .meta({ id: 'ForkPoint', example: { session: '0123…', turn: 'turn_1' } });
export type ForkPoint = z.infer<typeof ForkPoint>;

/** What the session was created with; it never changes. */
export type SessionSetup = {
  from?: ForkPoint;
  agent?: string;
  model?: string;
  toolset?: string;
  instructions?: string;
  /** The client's tools, for turns that bring none. */
  tools?: ClientTool[];
  listed: boolean;
  /** A hash of the request that created it, if a repeat is compared by it. */
  asked?: string;
  /** The session only stores the response of one direct call; it has no turns and is in no list. */
  forCall?: true;
  /** The object is that of a replay (`ports/replays.ts`), and no session. */
  replay?: true;
};

/** As in OpenAI's API. */
export const SessionMetadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, { message: 'must have at most 16 members' });
export type SessionMetadata = z.infer<typeof SessionMetadata>;

export const SessionView = z
  .object({
    id: z.string(),
    agent: z.string().optional(),
    model: z.string().optional(),
    toolset: z.string().nullable(),
    createdAt: z.iso.datetime(),
    turn: z.object({ id: z.string(), status: z.string(), reason: z.string().nullable() }).nullable(),
    queued: z.int(),
    from: ForkPoint.optional().meta({ description: 'For a fork: the session and turn after which it continues.' }),
    remembered: z.array(PolicyRule).optional().meta({ description: 'What approvals allow in this session from then on. Absent: nothing.' }),
    metadata: z.record(z.string(), z.string()).optional().meta({ description: 'Of a conversation. Absent: none.' }),
    title: z.string().nullable().meta({ description: 'The first line of the first input; null before it.' }),
    lastEvent: z.int().meta({ description: 'Number of the newest event: follow the log from here with `?after=`.' }),
    lastActivityAt: z.iso.datetime().meta({ description: 'When a turn last started or ended.' }),
    usage: Usage.meta({ description: 'Of all ended turns.' }),
  })
  .meta({ id: 'Session' });
export type SessionView = z.infer<typeof SessionView>;

export const StartedBy = z
  .object({ kind: z.enum(['webhook', 'schedule']), name: z.string() })
  .optional()
  .meta({ description: 'The trigger that started the session. Absent: it belongs to a key.' });

export const SessionRow = z
  .object({
    id: z.string(),
    agent: z.string().optional(),
    model: z.string().optional(),
    toolset: z.string().optional(),
    createdAt: z.iso.datetime(),
    trigger: StartedBy,
    title: SessionView.shape.title,
    status: SessionStatus.meta({ description: 'Of the newest turn. Up to a few seconds old; read the session for its current state.' }),
    lastActivityAt: SessionView.shape.lastActivityAt,
    usage: SessionView.shape.usage,
  })
  .meta({ id: 'SessionRow' });
/** A session in a list of the workspace. `trigger` is part of `keyId`. */
export type ListedSession = Omit<z.infer<typeof SessionRow>, 'trigger'> & { keyId: string };

export const TurnAnswer = z
  .object({
    turn: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted', 'waiting']),
    reason: z.string(),
    text: z.string().meta({ description: 'Text of the last step.' }),
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
    pending: z.array(Pending).optional().meta({ description: 'With status `waiting`: what the turn waits for.' }),
    proposals: z.array(Proposal).optional().meta({ description: 'UI tools that the user may want next, the best first. Absent: none.' }),
    problem: z.record(z.string(), z.unknown()).optional().meta({ description: 'For a failed turn: the problem that ended it.' }),
    usage: Usage,
  })
  .meta({ id: 'TurnAnswer' });
export type TurnAnswer = z.infer<typeof TurnAnswer>;

const isEmptyText = (part: InputPart) => part.type === 'text' && part.text === '';

/** A prompt of an MCP server, by the name that the toolset gives it. */
export const SessionPrompt = z
  .object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    server: z.string(),
    arguments: z.array(z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() })),
  })
  .meta({ id: 'SessionPrompt' });
export type SessionPrompt = z.infer<typeof SessionPrompt>;

export const TurnPrompt = z
  .strictObject({
    name: z.string().min(1).max(limits.maxUrlLength).meta({ description: 'As `GET /v1/sessions/{id}/prompts` lists it, or an alias.' }),
    arguments: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'TurnPrompt', example: { name: 'code_review', arguments: { file: 'src/main.ts' } } });
export type TurnPrompt = z.infer<typeof TurnPrompt>;

export const TurnRequest = z
  .strictObject({
    input: z
      .union(
        [
          z.string().min(1),
          z
            .array(InputPart)
            .min(1)
            .refine((parts) => !parts.every(isEmptyText), { message: 'must have content other than empty text' }),
        ],
        { error: 'must be a string or a list of parts' },
      )
      .optional()
      .meta({ description: 'Required without `prompt`; with it, it follows the messages of the prompt.' }),
    prompt: TurnPrompt.optional().meta({
      description:
        'A prompt of an MCP server that the toolset offers: its messages are the input. The request to the server is a direct call: with the code `approval_required` and `pending`, it waits for an approval, after which the same prompt is sent again.',
    }),
    tools: z.array(ClientToolInput).max(limits.maxClientTools).optional().meta({
      description:
        'Tools that the client runs itself: the turn waits for their results. Default: the tools that the session was created with.',
    }),
  })
  .refine(({ input, prompt }) => input !== undefined || prompt !== undefined, {
    path: ['input'],
    message: 'must be a string or a list of parts, unless there is a prompt',
    // Beside a misspelled member, too, which is usually meant as the input.
    when: ({ value }) => isRecord(value),
  })
  .meta({ id: 'TurnRequest', example: { input: '/shell echo hello' } });
export type TurnRequest = z.infer<typeof TurnRequest>;

export type SubmitTurn = {
  plan: Plan;
  input: InputPart[];
  /** The turn's id, if it was announced before: it is started once, however often it is submitted. Absent: a new one. */
  turn?: string;
  /** True if the client waits for the answer, without the events before it. */
  awaitsAnswer?: boolean;
  idempotencyKey?: string;
  /** SHA-256 of the request body, compared when the idempotency key repeats. */
  bodyHash?: string;
  /** The messages before the input, if the client resends its history: skipped if they match the stored ones, otherwise the session is forked. */
  history?: Message[];
  /** For a fork: the tools discovered in the conversation of `history`, in order. */
  gathered?: readonly Gathered[];
  /**
   * What the conversation has seen before or sees with this input: for a fork, and where the input is untrusted. Absent with a `history`: the
   * session judges the client's history (`engine/policy/judge-history.ts`).
   */
  taint?: Taint;
  /**
   * For a chat dialect: how the answer will be shown. Such a request resumes a waiting turn instead of queueing after it: `results` are those
   * of calls the client was given; `input` may then be empty. `decided`: the request brought decisions, which were applied. `previous`: the id of the answer to continue from; if it is not the newest, the
   * conversation up to there continues in a new session.
   */
  chat?: {
    dialect: DialectName;
    model: string;
    includeUsage: boolean;
    echo: Record<string, unknown>;
    results: ClientResult[];
    decided?: true;
    previous?: string;
  };
};

/**
 * Options of a chat dialect's answer, returned as frames or as one document. `after`: id of the last frame the client has; `startingAfter`:
 * its position from 0, for dialects that number their frames. `echo`: of this request, in place of that of the first request for the answer.
 */
export type CompletionOptions = { streamed: boolean; after?: string; startingAfter?: number; echo?: Record<string, unknown> };

/**
 * `position`: the number of turns ahead of it. `edition`: the turn's own, since a repeat under its key may join a turn of an earlier edition.
 * `completion`: for a chat dialect, the id for `Session.completion`.
 */
export type SubmittedTurn = {
  turn: string;
  position: number;
  session: string;
  edition: EditionPointer | null;
  completion: string | null;
};

export const DecisionOutcome = z
  .object({
    callId: z.string(),
    decision: Decision,
    turn: z.string().nullable().meta({ description: 'null for a direct call, which must be sent again.' }),
    status: z.string().nullable().meta({ description: 'Current status of the turn.' }),
    knownHosts: z.array(z.string()).optional().meta({ description: 'Hosts that are known to the workspace from now on. Absent: none.' }),
    warning: z.string().optional().meta({ description: 'Why the hosts could not be made known. The decision stands.' }),
  })
  .meta({ id: 'DecisionAnswer', example: { callId: 'call_1', decision: 'approve', turn: 'turn_1', status: 'running' } });
export type DecisionOutcome = z.infer<typeof DecisionOutcome>;

/**
 * The user's answers to the questions of a tool's server, by the server's keys. `round`: the question they answer; absent: the call's last one.
 */
export type GivenInputs = { callId: string; input: Readonly<Record<string, ElicitationAnswer>>; round?: number };

export const DirectoryListing = z
  .object({
    path: z.string(),
    entries: z
      .array(z.object({ name: z.string(), kind: z.enum(['file', 'directory']), size: z.int(), modifiedAt: z.iso.datetime() }))
      .meta({ description: `At most ${limits.maxListedTree}. With \`recursive\`, names are relative paths.` }),
    truncated: z.boolean().meta({ description: 'true: more entries exist. List a subdirectory.' }),
    usage: z
      .object({ files: z.int(), bytes: z.int(), maxFiles: z.int(), maxBytes: z.int() })
      .meta({ description: 'Number and size of all files and directories of the session, with their limits.' }),
  })
  .meta({ id: 'DirectoryListing' });
export type DirectoryListing = z.infer<typeof DirectoryListing>;

/** The turn's state after results of client tools, and what it still waits for. */
export type ResultsAccepted = { turn: string; status: string; pending: Pending[] };

/** Messages of the transcript; `parts` as in `core/model/message.ts`, without native parts. */
export type TranscriptMessage = { role: 'user' | 'assistant' | 'tool'; turn: string; parts: Record<string, unknown>[] };

/** The event that started the turn of a message, or imported it, and its index in that turn. */
export type MessagePlace = { event: number; index: number };
/** `cursor`: from the page before, of the same order. `from`: the first message of the page, in its place. `through`: the last event that is read. Without a limit a page is bounded by bytes only. */
export type MessageQuery = { cursor?: string; from?: MessagePlace; through?: number; limit?: number; order?: 'asc' | 'desc' };
/** Oldest first, or newest first with order `desc`; null on the last page. `places`: of the items. */
export type MessagePage = { items: TranscriptMessage[]; places: MessagePlace[]; nextCursor: string | null };

/** What a fork takes over from its session. */
export type ForkedConversation = { history: Message[]; gathered: readonly Gathered[]; taint: Taint; title: string | null };

/**
 * What is recorded of one turn. `history`: the conversation before it, as its model had it; `gathered`: the tools gathered there. `events`: its own.
 * `asked`: what its request had besides the setup; absent: nothing.
 */
export type RecordedConversation = {
  setup: SessionSetup;
  asked?: AskedOfTurn;
  history: Message[];
  gathered: readonly Gathered[];
  events: SessionEvent[];
};

/** Events between `after` and `before`, which are event numbers: with `after` alone the first ones, otherwise the last ones. */
export type EventPageQuery = { after?: number; before?: number; limit: number };
/** Oldest first; fewer than `limit` if they are long. `lastEvent`: the number of the newest event of the session. */
export type EventPage = { items: SessionEvent[]; lastEvent: number };

/** `scratch`: with scratch files, as a call without a session has. */
export type SessionCallRequest = {
  plan: Plan;
  name: string;
  arguments: Record<string, unknown>;
  idempotencyKey?: string;
  bodyHash?: string;
  scratch?: boolean;
  /** A request for a prompt is a call of this tool, which stands for it. Absent: `name` is a tool of the plan. */
  offer?: EditionTool;
};

/** What the policy would decide about a direct call. `agent`, `key`: as if they made the call. `rules`: instead of those of the workspace. */
export type SessionExplainRequest = {
  plan: Plan;
  name: string;
  arguments: Record<string, unknown>;
  agent?: string;
  key?: string;
  rules?: readonly PolicyRule[];
};

/** The outcome of one direct call. */
export type SessionCall = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  result: ToolResult;
  durationMs: number;
  /** With code `approval_required` in a session: after approval of its `callId`, the same call sent again runs once. */
  pending?: Pending[];
};

/** A link whose signature was checked. `origin`: what it was made with. */
export type FollowedLink = { nonce: string; origin: Origin };

/**
 * Every method checks the caller against the owner and throws `not_found` for anyone else but `admin`, as for an unknown id. `signal`s are not
 * passed: a reader that disconnects closes its stream, nothing else.
 */
export interface SessionPort {
  view(caller: Principal): Promise<SessionView>;
  /** Returns what the session was created with, including instructions: a turn's plan is made from it. */
  setup(caller: Principal): Promise<SessionSetup>;
  /**
   * Creates a session of the caller that continues after this turn, with the setup, the conversation up to there, the marks and the current
   * files of this session. `key`: as in `Sessions.create`. Throws `not_found` for an unknown turn and `conflict` for one that has not ended.
   */
  fork(caller: Principal, turn: string, key?: string): Promise<SessionView>;
  /** For `fork`: has an effect on an empty session only. */
  importConversation(caller: Principal, conversation: ForkedConversation): Promise<void>;
  /**
   * Adds messages between turns; they count to the turn before them. Returns the number of their event. Throws `conflict` if a turn has not
   * ended.
   */
  appendHistory(caller: Principal, added: Pick<ForkedConversation, 'history' | 'taint'>): Promise<{ event: number }>;
  setMetadata(caller: Principal, metadata: SessionMetadata): Promise<SessionView>;
  /** `of`: of any kind, also a replay. Absent: a session. */
  remove(caller: Principal, of?: 'any'): Promise<void>;
  /** Deletes the session if it was not used since (milliseconds since the epoch) and nothing in it runs or waits. Returns whether it did. */
  removeIfUnused(caller: Principal, since: number): Promise<boolean>;
  messages(caller: Principal, query?: MessageQuery): Promise<MessagePage>;
  /** The turn is stored when it resolves. `session` differs from this session's id if the history did not match and was forked. */
  submit(caller: Principal, request: SubmitTurn): Promise<SubmittedTurn>;
  /** Returns the turn submitted under this key in the last 24 h; null: none. Throws `idempotency_mismatch` for a different body. */
  findByIdempotencyKey(caller: Principal, key: string, bodyHash: string): Promise<SubmittedTurn | null>;
  /** Whether this turn was ever submitted here. */
  hasTurn(caller: Principal, turn: string): Promise<boolean>;
  /** Resolves when the turn ends or waits for an external answer; a turn queued after a waiting one is waited for, too. */
  waitForAnswer(caller: Principal, turn: string): Promise<TurnAnswer>;
  /** Native SSE from the turn's first event; closed after `turn-end`, or after the event with the question when the turn waits. */
  stream(caller: Principal, turn: string): Promise<ReadableStream<Uint8Array>>;
  /**
   * Returns the frames of one answer in a chat dialect: SSE, or one JSON document after its end if `streamed` is false. Throws `not_found` for
   * an answer that is not of this session.
   */
  completion(caller: Principal, completion: string, options: CompletionOptions): Promise<ReadableStream<Uint8Array>>;
  /**
   * Returns that answer's turn, its edition (null: no toolset), and the last event of its input. Throws `not_found` as above.
   */
  completionTurn(caller: Principal, completion: string): Promise<{ turn: string; edition: EditionPointer | null; inputThrough: number }>;
  /** Its messages stay in the session. Throws `not_found` as above, and `conflict` for an answer that has not ended. */
  deleteCompletion(caller: Principal, completion: string): Promise<void>;
  /** Returns the events after `after`, at most one page; waits up to `waitMs` for the first one. */
  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<SessionEvent[]>;
  eventPage(caller: Principal, query: EventPageQuery): Promise<EventPage>;
  /** Throws `not_found` for an unknown turn, `conflict` for one that has not ended, and `body_too_large`. */
  recordedTurn(caller: Principal, turn: string): Promise<RecordedConversation>;
  /** Returns the pending approvals, including those of direct calls, oldest first. */
  approvals(caller: Principal): Promise<ApprovalView[]>;
  approval(caller: Principal, callId: string): Promise<ApprovalView>;
  /**
   * `reason`: of the person who decides. Repeating a decision has no effect; a different one throws `conflict`, as does a decision on an expired or used approval. `remember`:
   * true stores rules for the workspace, which the caller must authorize; `session` stores them for this session; absent: new hosts become known
   * to the workspace if the caller may change its policy; false: nothing.
   */
  decide(
    caller: Principal,
    callId: string,
    decision: Decision,
    options: { reason?: string | undefined; remember?: boolean | 'session' | undefined; round?: number | null },
  ): Promise<DecisionOutcome>;
  /** Returns a nonce for one decision on this approval; `storage/keys/signed-token.ts` builds a link from it. */
  mintLink(caller: Principal, callId: string): Promise<{ nonce: string; expiresAt: number }>;
  /**
   * Reads an approval by a link, which authorizes it. Throws `not_found` if its nonce is unknown, used or expired, and if what made the link may
   * not decide any more.
   */
  linkedApproval(link: FollowedLink): Promise<ApprovalView>;
  decideByLink(
    link: FollowedLink,
    decision: Decision,
    options?: { reason?: string | undefined; remember?: 'session' | undefined },
  ): Promise<DecisionOutcome>;
  /** Submits results of client tools. Throws `not_found` for a call that waits for none; repeating a result has no effect. */
  submitResults(caller: Principal, results: readonly ClientResult[]): Promise<ResultsAccepted>;
  /** Submits input. Throws `not_found` for a call that asks nothing, `conflict` for answers that differ from earlier ones, `invalid_request` for invalid answers. */
  submitInput(caller: Principal, given: GivenInputs): Promise<ResultsAccepted>;
  /** `completion`: cancels only the turn of that answer, if it runs or waits; throws `conflict` if it is queued. */
  cancel(caller: Principal, completion?: string): Promise<{ turn: string | null; cancelled: boolean }>;
  /** Ends the running or waiting turn and all that are queued. `cancelled`: how many. */
  cancelAll(caller: Principal): Promise<{ cancelled: number }>;
  /** Makes a direct call (`…/calls` with a session): on the session's files, with one audit row. */
  call(caller: Principal, request: SessionCallRequest): Promise<SessionCall>;
  /** Returns the policy's answer for a call without making it. */
  explain(caller: Principal, request: SessionExplainRequest): Promise<PolicyAnswer>;
  /** Like `repeated`, for a direct call: returns its outcome once there is one. */
  findCallByIdempotencyKey(caller: Principal, key: string, bodyHash: string): Promise<SessionCall | null>;
  /** With `recursive`, names are relative paths. Returns at most `limits.maxListedTree` entries; `truncated`: there are more. */
  listFiles(caller: Principal, path: string, options?: { recursive?: boolean }): Promise<DirectoryListing>;
  readFile(caller: Principal, path: string): Promise<{ content: Uint8Array; modifiedAt: string } | { directory: true }>;
  /** Returns the absolute path. */
  writeFile(caller: Principal, path: string, content: Uint8Array, conditions?: FileConditions): Promise<{ path: string; created: boolean }>;
  /** Returns all files with their content, for a call outside of the session. Throws `body_too_large`. */
  loadFiles(caller: Principal): Promise<StoredFile[]>;
  applyFiles(caller: Principal, changes: readonly FileChange[]): Promise<void>;
  /** A directory must be empty. */
  deleteFile(caller: Principal, path: string, conditions?: FileConditions): Promise<void>;
}

/**
 * Throws `precondition_failed` if a condition fails. `ifMatch`: the file's content must have one of these SHA-256 hashes (hex); `*`: the file
 * must exist. `ifNoneMatch`: the file must not exist.
 */
export type FileConditions = { ifMatch?: '*' | readonly string[]; ifNoneMatch?: true };

export interface Sessions {
  /**
   * Creates a session, which GET /v1/sessions lists: one with `listed` from the start, others soon after, until they delete themselves. `key`: returns the same session for the same key, created once, as long as it exists.
   */
  create(owner: Principal, setup: SessionSetup, key?: string): Promise<SessionView>;
  /** Returns the id of the session that `create` makes with this key, whether it exists or not. */
  idOf(owner: Principal, key: string): Promise<string>;
  /** Returns the session that `create` makes with this key; the first call fails if it does not exist. */
  getByKey(owner: Principal, key: string): Promise<SessionPort>;
  /** Throws `not_found` for an invalid id; for a valid one, the first call fails if the session does not exist. */
  get(id: string): SessionPort;
}
