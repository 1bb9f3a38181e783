/**
 * A session's answer to one chat request, derived from its log: from the request to the end of the turn, or to where the turn waits. Pure
 * and deterministic, so any later process can replay an answer or resume it at any frame. `objects/session/log/completion-store.ts` stores the ranges.
 */
import { questionText } from '../core/servers/elicitation.ts';
import type { AskKind } from '../core/policy/approval.ts';
import { decisionInstruction, waysWithoutApproval } from '../core/policy/approval-ways.ts';
import { Problem } from '../core/problem.ts';
import { oneLine } from '../core/text/paragraphs.ts';
import { toApprovalId, toInputId, toToolCallId } from '../core/text/reference.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import { applyEvent } from '../core/turn/fold-turn.ts';
import { showInvisible } from '../core/text/visible-text.ts';
import { beginTurn, isWaiting, type TurnState, pendingQuestions } from '../core/turn/turn-state.ts';
import {
  createAnswerMessage,
  type AnswerMessage,
  type MessageChange,
  type PendingParts,
  type RenderedClientCall,
} from './answer-message.ts';
import type { AnswerFrame, AnswerIdentity, CallReader, Dialect } from './dialect.ts';

/**
 * The answer contains the events of `turn` after `after`, the last event that the request found or wrote. `earlier`: events that no client
 * has received yet and that come first, from `earlier.after` on; of the same turn or of an earlier one.
 */
export type AnswerRange = { turn: string; after: number; earlier: { turn: string; after: number } | null };

/** `id` is `N` for an event's first frame, `N.1`, `N.2` … for more frames of the same event. */
export type NumberedFrame = AnswerFrame & { id: string };

/** What one event of the log adds to the answer. */
export type AnswerStep = { event: number; changes: MessageChange[] };

export type AnswerReader = {
  /** Takes every event of the log in order, from the start of the turn that was open at `after`, or of the earlier turn. */
  take(event: SessionEvent): AnswerStep[];
  isOver(): boolean;
  /** The turn that waits at the end of the answer; null: none, or the answer has not ended. */
  waiting(): string | null;
  message: AnswerMessage;
};

/**
 * Texts of steps are joined by a blank line. Server tool calls are never shown; only the client's calls are. `session` null: the turn belongs
 * to no session and ends with the answer, so that it waits for calls of the client only. `readCalls`: of a dialect that shows server tool calls and
 * asks for approvals itself, in place of a sentence; with `asksInput` also the questions of tools' servers.
 */
export function createAnswerReader(
  range: AnswerRange,
  session: string | null,
  restarts: 'silently' | 'as failures',
  readCalls?: CallReader,
  asksInput = false,
): AnswerReader {
  const message = createAnswerMessage({ restarts, continues: session !== null });
  const asked = new Map<string, RenderedClientCall>();
  const questions = new Map<string, InputEvent>();
  const approvals = new Map<string, AskedRequest>();
  /** The state of the current turn, which may belong to another request: a waiting turn blocks those after it. */
  let state = beginTurn('');
  /** Events before `after` are complete, so output of an interrupted run is dropped before it is shown. */
  let held: SessionEvent[] = [];

  const follow = (event: SessionEvent & { turn: string }): void => {
    if (event.turn !== state.turn) state = beginTurn(event.turn);
    applyEvent(state, event);
    if (event.type === 'input-required') questions.set(event.callId, event);
    if (event.type === 'approval-required') {
      const { callId, canonical, arguments: given, reason, entry, ask: kind, round, expiresAt } = event;
      approvals.set(callId, { callId, canonical, arguments: JSON.stringify(given), expiresAt, reason, round, ways: { kind, entry } });
    }
    if (event.type !== 'client-tool-required') return;
    const { callId, name, arguments: given } = event;
    asked.set(callId, { id: toToolCallId(callId, session), name, arguments: JSON.stringify(given) });
  };
  const show = (event: SessionEvent): AnswerStep => {
    const elsewhere = 'turn' in event && event.turn !== range.turn;
    const changes = elsewhere && (event.type === 'turn-end' || event.type === 'error') ? message.endStep() : message.take(event);
    return { event: event.id, changes: [...changes, ...(readCalls?.(event, true) ?? [])] };
  };
  const beginOf = (turn: string): number => {
    if (turn === range.earlier?.turn) return range.earlier.after;
    return turn === range.turn ? range.after : Number.POSITIVE_INFINITY;
  };

  return {
    message,
    isOver: () => message.isOver(),
    waiting: () => (isWaiting(state) ? state.turn : null),
    take(event) {
      if (message.isOver()) return [];
      let shown = false;
      if ('turn' in event) {
        follow(event);
        shown = event.id > beginOf(event.turn);
      }
      if (!shown) readCalls?.(event, false);
      if (shown && event.id <= range.after) {
        if (event.type === 'step-restart') held = held.filter(({ id }) => id < event.from);
        else held.push(event);
      }
      if (event.id < range.after) return [];
      const parts: AnswerStep[] = [];
      for (const one of held) if (!message.isOver()) parts.push(show(one));
      held = [];
      if (shown && event.id > range.after && !message.isOver()) parts.push(show(event));
      if (isWaiting(state) && !message.isOver()) {
        const last = parts.at(-1);
        const pending = pauseOf(state, { asked, questions, approvals }, session, { approvals: readCalls !== undefined, input: asksInput });
        const changes = message.pause(pending);
        if (last?.event === event.id) last.changes.push(...changes);
        else parts.push({ event: event.id, changes });
      }
      return parts;
    },
  };
}

/** `round`: counts the approval requests for the call from 1. `ways`: as in `waysWithoutApproval`. */
export type NotedRequest = {
  canonical: string;
  callId: string;
  reason: string;
  round: number;
  ways: { kind: AskKind; entry: string };
};

/** `arguments`: JSON text. */
type AskedRequest = NotedRequest & { arguments: string; expiresAt: string };

/**
 * The text that a client reads while a call waits for approval. Deterministic, so that it is recognized in the history that the client
 * sends back.
 */
export function approvalNote({ canonical, callId, reason, round, ways }: NotedRequest, session: string): string {
  return `Waiting for approval of ${canonical} (call ${callId}): ${showInvisible(oneLine(reason))}. ${decisionInstruction(session, callId, round)}, or a person decides with a link from POST …/link. Your next message continues the turn. ${waysWithoutApproval(ways, ways.entry)}`;
}

/** The same for a request for input by a tool's server. */
export function inputNote(
  { canonical, callId, question }: { canonical: string; callId: string; question: string },
  session: string,
): string {
  return `Waiting for input to ${canonical} (call ${callId}): ${question} POST /v1/sessions/${session}/tool-results with {"callId": "${callId}", "input": {…}} answers, as the turn's \`pending\` shows it. Your next message continues the turn.`;
}

/** Returns the call id of an input note; null for any other text. */
export function readInputNote(text: string): string | null {
  return /^Waiting for input to \S+ \(call (\S+)\): /.exec(text)?.[1] ?? null;
}

/** Returns the call id of an approval note; null for any other text. The caller compares the full text. */
export function readApprovalNote(text: string): string | null {
  return /^Waiting for approval of \S+ \(call (\S+)\): /.exec(text)?.[1] ?? null;
}

/** Encodes each frame once. A reader that resumes skips the frames that it has (`isAfter`). */
export function createAnswerEncoder(range: AnswerRange, identity: AnswerIdentity, session: string, dialect: Dialect) {
  const reader = createAnswerReader(range, session, 'as failures', dialect.createCallReader?.(session), dialect.asksInput);
  const write = dialect.createWriter(identity, reader.message);
  return {
    encode: (event: SessionEvent): NumberedFrame[] =>
      reader.take(event).flatMap(({ event: id, changes }) => {
        const frames = changes.length === 0 ? write(null) : changes.flatMap(write);
        return frames.map((frame, index) => ({ id: index === 0 ? String(id) : `${id}.${index}`, ...frame }));
      }),
    isOver: reader.isOver,
    parts: reader.message.parts,
  };
}

/**
 * The answer as one document. `document` throws the turn's `Problem` if it failed and is not in the background, and `internal` before the end
 * of the answer.
 */
export function createAnswerDocument(range: AnswerRange, identity: AnswerIdentity, session: string, dialect: Dialect) {
  const reader = createAnswerReader(range, session, 'silently');
  let last: MessageChange | undefined;
  return {
    take(event: SessionEvent): void {
      for (const { changes } of reader.take(event)) last = changes.at(-1) ?? last;
    },
    isOver: reader.isOver,
    parts: reader.message.parts,
    document: () => {
      const failed = last?.type === 'failure' ? dialect.toBackground?.(last.problem, identity, reader.message) : null;
      return failed ?? toAnswerDocument(last, identity, reader.message, dialect);
    },
    /** Returns the document so far, for an answer in the background; null: it is awaited. */
    unended: (isQueued: boolean) => dialect.toBackground?.(isQueued ? 'queued' : 'in_progress', identity, reader.message) ?? null,
  };
}

/** `end`: the change that ended the message. Throws the `Problem` of a failure. */
export function toAnswerDocument(end: MessageChange | undefined, identity: AnswerIdentity, message: AnswerMessage, dialect: Dialect) {
  if (end?.type === 'failure') throw Problem.fromBody(end.problem);
  if (end?.type !== 'end') throw new Problem('internal', 'The answer has no end.');
  return dialect.toDocument(end.finish, identity, message);
}

/** Returns the last event of the answer, and the turn that waits there, if any; null if the answer has not ended. */
export function answerEnd(
  events: Iterable<SessionEvent>,
  range: AnswerRange,
  session: string,
): { event: number; waiting: string | null } | null {
  const reader = createAnswerReader(range, session, 'silently');
  for (const event of events) {
    reader.take(event);
    if (reader.isOver()) return { event: event.id, waiting: reader.waiting() };
  }
  return null;
}

/** For a request that names an unknown previous answer. */
export function unknownCompletion(): Problem {
  return new Problem(
    'not_found',
    'The previous answer is unknown: this service did not create it, or its session was deleted. Send the earlier items instead.',
    { param: 'previous_response_id' },
  );
}

export const frameIdPattern = /^(0|[1-9][0-9]{0,14})(?:\.([1-9][0-9]{0,6}))?$/;

/** Returns whether the frame `id` comes after the frame `other`. Both are frame ids. */
export function isAfter(id: string, other: string): boolean {
  const [event, place] = numbers(id);
  const [otherEvent, otherPlace] = numbers(other);
  return event === otherEvent ? place > otherPlace : event > otherEvent;
}

function numbers(id: string): [number, number] {
  const match = frameIdPattern.exec(id);
  if (match === null) throw new TypeError(`not the id of a frame: ${id.slice(0, 80)}`);
  return [Number(match[1]), Number(match[2] ?? 0)];
}

type Waited = {
  asked: ReadonlyMap<string, RenderedClientCall>;
  questions: ReadonlyMap<string, InputEvent>;
  approvals: ReadonlyMap<string, AskedRequest>;
};

type InputEvent = Extract<SessionEvent, { type: 'input-required' }>;

/** `asksItself`: what the dialect asks in its own form. */
function pauseOf(
  state: TurnState,
  { asked, questions, approvals }: Waited,
  session: string | null,
  asksItself: { approvals: boolean; input: boolean },
): PendingParts {
  const open = pendingQuestions(state);
  return {
    notes: open.flatMap(({ asked: by, canonical, callId }) => {
      if (session === null) return [];
      if (by === 'input' && asksItself.input) return [];
      if (by === 'input') return [inputNote({ canonical, callId, question: questionText(questions.get(callId)?.requests ?? {}) }, session)];
      const approval = by === 'approval' ? approvals.get(callId) : undefined;
      return approval === undefined || asksItself.approvals ? [] : [approvalNote(approval, session)];
    }),
    approvals: open.flatMap(({ asked: by, callId }) => {
      const approval = by === 'approval' ? approvals.get(callId) : undefined;
      if (session === null || approval === undefined) return [];
      const { canonical, round, reason, expiresAt, arguments: given } = approval;
      return [{ type: 'approval', id: toApprovalId({ callId, round, session }), callId, canonical, arguments: given, reason, expiresAt }];
    }),
    inputs: open.flatMap(({ asked: by, callId }) => {
      const event = by === 'input' && asksItself.input ? questions.get(callId) : undefined;
      if (session === null || event === undefined) return [];
      const { canonical, arguments: given, requests, round, expiresAt } = event;
      return Object.entries(requests).map(([key, request]) => {
        const id = toInputId({ callId, round, session, key, isPage: request.params.mode === 'url' });
        return { type: 'input' as const, id, call: { callId, canonical, arguments: given }, request, expiresAt };
      });
    }),
    calls: open.flatMap(({ callId }) => asked.get(callId) ?? []),
  };
}
