/**
 * Builds an answer's assistant message: what each event adds, and all parts in order. Pure and independent of the dialect; used for
 * sessions and for the proxy's translated replies. The dialects write it.
 */
import { addUsage, type ChatEvent, type FinishReason, type Usage } from '../core/model/chat-event.ts';
import { type Citation, shiftCitations } from '../core/model/citation.ts';
import type { NativePart } from '../core/model/message.ts';
import type { MadeSearch } from '../core/model/web-search.ts';
import { Problem, type ProblemBody } from '../core/problem.ts';
import type { InputRequest } from '../core/tools/mcp-input.ts';
import type { ToolResult } from '../core/tools/tool.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';

export type AnyEvent = ChatEvent | SessionEvent;

/**
 * A call that the client must run. `index` counts from 0; `text` is the arguments as JSON text, or free text if `custom`. `isCut`: the call
 * ended before its text was complete.
 */
export type AnswerCall = { index: number; id: string; name: string; text: string; custom: boolean; isCut?: true };

/** `nativeId`: for reasoning, see `ChatEvent`. */
type Words = { type: 'text' | 'refusal' | 'reasoning'; text: string; nativeId?: string };

/** Sources of the text before them. Their places count from the begin of the message's text, of all steps. */
type Cited = { type: 'citations'; citations: readonly Citation[] };

/** A web search that has ended. `index` counts those of the message from 0. */
export type ShownSearch = { type: 'search'; index: number } & MadeSearch;

/** An image that the model made, as base64. `index` counts the images of the message from 0. */
export type MadeImage = { type: 'image'; index: number; mediaType: string; data: string };

/** A call that waits for an approval, for dialects that have such questions. `id`: as in `toApprovalId`. `arguments` is JSON text. */
export type AskedApproval = {
  type: 'approval';
  id: string;
  callId: string;
  canonical: string;
  arguments: string;
  reason: string;
  expiresAt: string;
};

/** A question of a tool's server, for dialects with `asksInput`. `id`: as in `toInputId`. */
export type AskedInput = {
  type: 'input';
  id: string;
  call: ServerCall;
  request: InputRequest;
  expiresAt: string;
};

/**
 * A call of a server tool, for dialects that show them: its input, and its result. `denied`: an approver denied it. `question`: `AskedApproval.id`
 * of a question that was decided.
 */
export type ServerCallChange =
  | ({ type: 'server-call' } & ServerCall)
  | { type: 'server-decision'; call: ServerCall; question: string; approved: boolean; reason?: string | undefined }
  | { type: 'server-result'; call: ServerCall; result: Pick<ToolResult, 'isError' | 'content' | 'structuredContent'>; denied: boolean };

/** `arguments` is null if the model's text was no JSON. */
export type ServerCall = { callId: string; canonical: string; arguments: Readonly<Record<string, unknown>> | null };

/** A part of a message. Adjacent parts of one kind within a step are merged. */
export type AnswerPart =
  | Words
  | { type: 'call'; call: AnswerCall }
  /** Data that the provider requires in the next request; only without a session, which stores it. */
  | { type: 'native'; part: NativePart }
  | Cited
  | ShownSearch
  | MadeImage
  | AskedApproval;

/** What an event adds to the message; the last two end it. The texts of steps are joined by a blank line, which is part of `text`. */
export type MessageChange =
  | Words
  | { type: 'native'; part: NativePart }
  | Cited
  | ShownSearch
  | MadeImage
  | AskedApproval
  | AskedInput
  | ServerCallChange
  | { type: 'call-start'; call: AnswerCall }
  | { type: 'call-delta'; call: AnswerCall; text: string }
  | { type: 'call-end'; call: AnswerCall }
  | { type: 'end'; finish: FinishReason }
  | { type: 'failure'; problem: ProblemBody };

/** A call that the client must run: `arguments` is JSON text. */
export type RenderedClientCall = { id: string; name: string; arguments: string };

/** What a turn waits for. `notes`: in words, for people; `approvals`: some of it once more, for clients; `inputs`: what has no note. */
export type PendingParts = {
  notes: readonly string[];
  approvals: readonly AskedApproval[];
  inputs: readonly AskedInput[];
  calls: readonly RenderedClientCall[];
};

export type AnswerMessage = ReturnType<typeof createAnswerMessage>;

const nothing: readonly MessageChange[] = [];

/**
 * `unique`: begins the ids of calls that have none, so that they differ from those of other answers. `restarts`: how to handle the restart of a step that already produced output: a stream cannot revoke it and fails; a document is not
 * written yet and continues silently. `continues`: the turn continues in a session when the stream has failed.
 */
export function createAnswerMessage({
  restarts = 'as failures',
  unique = '',
  continues = true,
}: {
  restarts?: 'silently' | 'as failures';
  unique?: string;
  continues?: boolean;
} = {}) {
  const parts: AnswerPart[] = [];
  /** The index of the current step's first part. */
  let stepStart = 0;
  /** Whether an earlier step produced output. */
  let saidBefore = false;
  /** Whether the current step produced output. */
  let hasSpoken = false;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let over = false;
  let cancelled = false;
  let lastAt: number | null = null;
  const calls = new Map<number, AnswerCall>();
  const ids = new Set<string>();

  const countOf = (kind: AnswerPart['type']): number => parts.filter(({ type }) => type === kind).length;
  const append = ({ type, text, ...named }: Words): void => {
    const last = parts.length > stepStart ? parts.at(-1) : undefined;
    if (last?.type === type && named.nativeId === undefined) last.text += text;
    else parts.push({ type, text, ...named });
  };
  const add = (type: Words['type'], piece: string, nativeId?: string): readonly MessageChange[] => {
    if (piece === '') return nothing;
    // The first text of a step after the first one starts a new paragraph.
    const text = type === 'text' && saidBefore && !hasSpoken ? `\n\n${piece}` : piece;
    hasSpoken ||= type === 'text';
    const words: Words = { type, text, ...(nativeId !== undefined && { nativeId }) };
    append(words);
    return [words];
  };
  const endStep = (): readonly MessageChange[] => {
    saidBefore ||= hasSpoken;
    hasSpoken = false;
    stepStart = parts.length;
    return nothing;
  };
  const fail = (problem: ProblemBody): readonly MessageChange[] => {
    over = true;
    return [{ type: 'failure', problem }];
  };
  const finish = (reason: FinishReason): readonly MessageChange[] => {
    over = true;
    return [{ type: 'end', finish: reason }];
  };
  const uniqueId = (nativeId: string | null, index: number): string => {
    const wished = nativeId ?? `call_${unique}${index}`;
    // A number of a later call may follow the id already.
    let id = wished;
    for (let more = index; ids.has(id); more++) id = `${wished}_${more}`;
    ids.add(id);
    return id;
  };
  const startCall = (key: number, call: AnswerCall): MessageChange => {
    calls.set(key, call);
    parts.push({ type: 'call', call });
    return { type: 'call-start', call: { ...call } };
  };
  const callDelta = (key: number, piece: string): readonly MessageChange[] => {
    const call = calls.get(key);
    if (call === undefined || piece === '') return nothing;
    call.text += piece;
    return [{ type: 'call-delta', call, text: piece }];
  };
  const endCall = (key: number, isCut = false): readonly MessageChange[] => {
    const call = calls.get(key);
    if (call === undefined) return nothing;
    if (isCut) call.isCut = true;
    return [{ type: 'call-end', call }];
  };

  const take = (event: AnyEvent): readonly MessageChange[] => {
    if ('at' in event) lastAt = event.at;
    switch (event.type) {
      case 'text':
        return add(event.refusal ? 'refusal' : 'text', event.text);
      case 'text-delta':
        return add('text', event.text);
      case 'reasoning':
        return add('reasoning', event.text, event.nativeId);
      case 'reasoning-delta':
        return add('reasoning', event.text);
      case 'call-start': {
        const index = calls.size;
        const call = { index, id: uniqueId(event.nativeId, index), name: event.name, text: '', custom: event.custom === true };
        return [startCall(event.call, call)];
      }
      case 'call-delta':
        return callDelta(event.call, event.text);
      case 'call-end': {
        const isEmpty = event.state === 'ok' && ['', 'null'].includes(event.raw.trim());
        return [...(isEmpty ? callDelta(event.call, '{}') : nothing), ...endCall(event.call, event.state === 'truncated')];
      }
      case 'native': {
        // A session stores these itself.
        if ('turn' in event) return nothing;
        const part: NativePart = { type: 'native', provider: event.provider, data: event.data };
        parts.push({ type: 'native', part });
        return [{ type: 'native', part }];
      }
      case 'image': {
        const image: MadeImage = { type: 'image', index: countOf('image'), mediaType: event.mediaType, data: event.data };
        parts.push(image);
        return [image];
      }
      case 'citations': {
        const before = answerText(parts.slice(0, stepStart), 'text').length + (saidBefore ? 2 : 0);
        const cited: Cited = { type: 'citations', citations: shiftCitations(event.citations, before) };
        parts.push(cited);
        return [cited];
      }
      case 'search': {
        const { queries, sources, failed } = event;
        const search: ShownSearch = { type: 'search', index: countOf('search'), queries, sources, ...(failed && { failed }) };
        parts.push(search);
        return [search];
      }
      case 'usage':
        usage = addUsage(usage, event.usage);
        return nothing;
      case 'finish':
        return finish(event.reason);
      case 'step-start':
      case 'step-end':
        return endStep();
      case 'step-restart':
        // Output that the reader has received cannot be revoked.
        if (hasSpoken && restarts === 'as failures') {
          const next = continues ? 'The turn continues in its session.' : 'Send the request again.';
          return fail(new Problem('upstream_error', `The model’s answer was interrupted. ${next}`).toBody());
        }
        parts.length = stepStart;
        hasSpoken = false;
        return nothing;
      case 'error':
        return fail(event.problem);
      case 'turn-end':
        cancelled = event.status === 'cancelled';
        return endTurn(event, finish, fail);
      case 'history':
      case 'turn-start':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-start':
      case 'approval-required':
      case 'approval-decided':
      case 'client-tool-required':
      case 'tool-progress':
      case 'inner-call':
      case 'inner-result':
      case 'guard-decided':
      case 'input-required':
      case 'input-given':
      case 'tool-result':
      case 'turn-resume':
      case 'turn-input':
      case 'proposal':
      case 'compaction':
      case 'dropped':
      // Of no turn.
      case 'replay-case':
      case 'replay-end':
        return nothing;
      default:
        return unknownKind(event);
    }
  };

  return {
    take,
    /** Ends the current step. */
    endStep,
    /** Ends the message of a turn that waits: adds a paragraph for each note, then the approvals and calls. */
    pause({ notes, approvals, inputs, calls: asked }: PendingParts): MessageChange[] {
      const changes: MessageChange[] = [];
      for (const note of notes) {
        endStep();
        changes.push(...add('text', note));
      }
      parts.push(...approvals);
      changes.push(...approvals, ...inputs);
      for (const { id, name, arguments: given } of asked) {
        const index = calls.size;
        changes.push(startCall(index, { index, id, name, text: '', custom: false }), ...callDelta(index, given), ...endCall(index));
      }
      return [...changes, ...finish(asked.length > 0 ? 'tool-calls' : 'stop')];
    },
    isOver: () => over,
    /** Whether the turn was cancelled. Its message ends with the output so far. */
    isCancelled: () => cancelled,
    /** When the last event happened (milliseconds since the epoch); null: events of no session have no time. */
    lastAt: () => lastAt,
    usage: () => usage,
    /** All parts so far, in order. */
    parts: (): readonly AnswerPart[] => parts,
  };
}

/** New kinds may be added to the log (`core/turn/session-event.ts`); an answer ignores unknown ones. */
function unknownKind(_event: never): readonly MessageChange[] {
  return nothing;
}

/** Returns all text of one kind. */
export function answerText(parts: readonly AnswerPart[], kind: 'text' | 'refusal' | 'reasoning'): string {
  return parts.map((part) => (part.type === kind ? part.text : '')).join('');
}

function endTurn(
  event: Extract<SessionEvent, { type: 'turn-end' }>,
  finish: (reason: FinishReason) => readonly MessageChange[],
  fail: (problem: ProblemBody) => readonly MessageChange[],
): readonly MessageChange[] {
  if (event.status === 'failed' || event.status === 'interrupted') {
    // An `error` event that has no details of a provider's failure; otherwise it is an internal error.
    const code = event.reason === 'upstream_error' ? 'upstream_error' : 'internal';
    return fail(new Problem(code, `The turn ended early: ${event.reason}.`).toBody());
  }
  if (event.reason === 'length' || event.reason === 'max_tokens' || event.reason === 'max_cost') return finish('length');
  return finish(event.reason === 'content_filter' ? 'content-filter' : 'stop');
}
