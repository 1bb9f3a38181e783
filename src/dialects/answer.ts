/**
 * A session's answer to one chat request, cut out of its log: from where the request came in to the turn's end, or to where
 * the turn waits. Pure and deterministic, so that an answer can be read again, and gone on from at any frame, by any later
 * process. Who stores what an answer is made from is `session/completion-store.ts`.
 */
import { questionOf } from '../core/elicitation.ts';
import { Problem } from '../core/problem.ts';
import { oneLine } from '../core/paragraphs.ts';
import { toToolCallId } from '../core/reference.ts';
import type { SessionEvent } from '../core/session-event.ts';
import { applyEvent } from '../core/fold-turn.ts';
import { visibleText } from '../core/visible-text.ts';
import { beginTurn, isWaiting, type TurnState, waitedFor } from '../core/turn-state.ts';
import { createMessage, type AnswerMessage, type Change, type ClientCall } from './answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from './dialect.ts';

/**
 * `turn` is shown from the event after `after` on, and `after` is what the request found or wrote last. `earlier`: what nobody
 * has been shown yet comes first: of this turn, or of one before it, from the event after `earlier.after` on.
 */
export type AnswerRange = { turn: string; after: number; earlier: { turn: string; after: number } | null };

/** `id` is `N` for an event's first frame, `N.1`, `N.2` … for more of the same event. */
export type NumberedFrame = AnswerFrame & { id: string };

/** What one event of the log adds to the answer. */
export type AnswerStep = { event: number; changes: Change[] };

export type AnswerReader = {
  /** To be fed with every event of the log, in order, from the begin of the turn that was open at `after`, or of the earlier one. */
  take(event: SessionEvent): AnswerStep[];
  isOver(): boolean;
  /** The turn that waits at its end; null: none, or there is no end yet. */
  waiting(): string | null;
  message: AnswerMessage;
};

/** Texts of steps are joined by a blank line. Calls of server tools are never shown; calls of the client's are all there are. */
export function createAnswerReader(range: AnswerRange, session: string, restarts: 'silently' | 'as failures'): AnswerReader {
  const message = createMessage({ restarts });
  const asked = new Map<string, ClientCall>();
  const questions = new Map<string, string>();
  const approvals = new Map<string, NotedQuestion>();
  /** Of the turn at hand, whosever: one that waits keeps those behind it waiting. */
  let state = beginTurn('');
  /** Before `after` all is known, so what a dead run had said is taken back before it is shown. */
  let held: SessionEvent[] = [];

  const follow = (event: SessionEvent & { turn: string }): void => {
    if (event.turn !== state.turn) state = beginTurn(event.turn);
    applyEvent(state, event);
    if (event.type === 'input-required') questions.set(event.callId, questionOf(event.requests));
    if (event.type === 'approval-required') {
      const { callId, canonical, reason, round = 1 } = event;
      approvals.set(callId, { callId, canonical, reason, round });
    }
    if (event.type !== 'client-tool-required') return;
    const { callId, name, arguments: given } = event;
    asked.set(callId, { id: toToolCallId(callId, session), name, arguments: JSON.stringify(given) });
  };
  const show = (event: SessionEvent): AnswerStep => {
    const elsewhere = 'turn' in event && event.turn !== range.turn;
    const changes = elsewhere && (event.type === 'turn-end' || event.type === 'error') ? message.endStep() : message.take(event);
    return { event: event.id, changes: [...changes] };
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
        const changes = message.pause(pauseOf(state, { asked, questions, approvals }, session));
        if (last?.event === event.id) last.changes.push(...changes);
        else parts.push({ event: event.id, changes });
      }
      return parts;
    },
  };
}

/** `reason`: null in the notes of older releases. `round`: counts the questions about the call from 1. */
export type NotedQuestion = { canonical: string; callId: string; reason: string | null; round: number };

/** What a client reads while a call waits for approval: one line, the same each time, so that it is recognized in the history that comes back. */
export function approvalNote({ canonical, callId, reason, round }: NotedQuestion, session: string): string {
  const approve = round === 1 ? '{"decision": "approve"}' : `{"decision": "approve", "round": ${round}}`;
  const why = reason === null ? '' : `${visibleText(oneLine(reason))}. `;
  return `Waiting for approval of ${canonical} (call ${callId}): ${why}POST /v1/sessions/${session}/approvals/${callId} with ${approve} or {"decision": "deny"} decides, or a link minted at its /link; the next message goes on from there.`;
}

/** The same for a question of a tool's server. */
export function inputNote(
  { canonical, callId, question }: { canonical: string; callId: string; question: string },
  session: string,
): string {
  return `Waiting for input to ${canonical} (call ${callId}): ${question} POST /v1/sessions/${session}/tool-results with {"callId": "${callId}", "input": {…}} answers, as the turn's \`pending\` shows it; the next message goes on from there.`;
}

/** The call that such a note is about; null for any other text. */
export function readInputNote(text: string): string | null {
  return /^Waiting for input to \S+ \(call (\S+)\): /.exec(text)?.[1] ?? null;
}

/** The call that a note is about; null for any other text. Whether it is the very note, only its text says. */
export function readApprovalNote(text: string): string | null {
  return /^Waiting for approval of \S+ \(call (\S+)\): /.exec(text)?.[1] ?? null;
}

/** Each frame once, whatever was shown before it: a reader that comes back leaves out what it has (`isAfter`). */
export function createAnswerEncoder(range: AnswerRange, identity: AnswerIdentity, session: string, dialect: Dialect) {
  const reader = createAnswerReader(range, session, 'as failures');
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

/** The answer as one document. `document` throws the `Problem` that the turn failed with, and `internal` before the answer is over. */
export function createAnswerDocument(range: AnswerRange, identity: AnswerIdentity, session: string, dialect: Dialect) {
  const reader = createAnswerReader(range, session, 'silently');
  let last: Change | undefined;
  return {
    take(event: SessionEvent): void {
      for (const { changes } of reader.take(event)) last = changes.at(-1) ?? last;
    },
    isOver: reader.isOver,
    parts: reader.message.parts,
    document: () => toDocument(last, identity, reader.message, dialect),
  };
}

/** `end`: the change that ended the message. Throws the `Problem` of a failure. */
export function toDocument(end: Change | undefined, identity: AnswerIdentity, message: AnswerMessage, dialect: Dialect) {
  if (end?.type === 'failure') throw Problem.fromBody(end.problem);
  if (end?.type !== 'end') throw new Problem('internal', 'The answer has no end.');
  return dialect.toDocument(end.finish, identity, message);
}

/** Where the answer ends, and the turn that waits there, if it is no turn's end; null while it has none. */
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

/** Of a request that names an answer to go on from. */
export function unknownCompletion(): Problem {
  return new Problem(
    'not_found',
    'There is no such answer to go on from: it is none of this service, or its session is gone. Send the items before it instead.',
    { param: 'previous_response_id' },
  );
}

export const frameIdPattern = /^(0|[1-9][0-9]{0,14})(?:\.([1-9][0-9]{0,6}))?$/;

/** True when the frame comes after the one of the other id. Both are ids of frames. */
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
  asked: ReadonlyMap<string, ClientCall>;
  questions: ReadonlyMap<string, string>;
  approvals: ReadonlyMap<string, NotedQuestion>;
};

function pauseOf(state: TurnState, { asked, questions, approvals }: Waited, session: string) {
  const open = waitedFor(state);
  return {
    notes: open.flatMap(({ asked: by, canonical, callId }) => {
      if (by === 'input') return [inputNote({ canonical, callId, question: questions.get(callId) ?? '' }, session)];
      const approval = by === 'approval' ? approvals.get(callId) : undefined;
      return approval === undefined ? [] : [approvalNote(approval, session)];
    }),
    calls: open.flatMap(({ callId }) => asked.get(callId) ?? []),
  };
}
