/** A session's notification about one of its turns. Stored with the event that it is about, and delivered at least once. */
import type { Pending } from '../../policy/approval.ts';
import type { Usage } from '../../model/chat-event.ts';
import { limits } from '../../limits/limits.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { TurnTrigger } from '../../turn/turn-trigger.ts';
import type { TurnEvent } from './callback.ts';
import { KB } from '../../limits/units.ts';

/** The size of a notice in addition to its text, in the body of its callback: names, ids, and the surrounding JSON. */
const noticeFrameBytes = 16 * KB;

/** `turn.resumed`: the turn no longer waits. Only its delivery's state uses it; it is never sent outside. */
export type NoticeType = TurnEvent | 'turn.resumed';

export type TurnNotice = {
  session: string;
  /** Counts the notices of one session, to recognize duplicates. */
  sequence: number;
  type: NoticeType;
  turn: string;
  /** Milliseconds since the epoch. */
  at: number;
  agent?: string;
  trigger?: TurnTrigger;
  /** As in the turn's answer (`ports/session.ts`); `running` for a resumed turn. */
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting' | 'running';
  reason: string;
  /** The text of the last step, at most `limits.maxCallbackTextBytes`; `truncated` if it was longer. */
  text: string;
  truncated?: true;
  pending?: Pending[];
  problem?: Record<string, unknown>;
  usage: Usage;
};

/**
 * Bounds a notice for RPC and for the body of a callback: cuts the text, and if that is not enough, removes the arguments of pending calls.
 */
export function truncateNotice(notice: TurnNotice): TurnNotice {
  const text = boundText(notice.text);
  const cut: TurnNotice = { ...notice, text, ...(text.length < notice.text.length && { truncated: true }) };
  if (sizeOf(cut) <= limits.maxCallbackBodyBytes - noticeFrameBytes) return cut;
  const { pending, problem } = cut;
  return {
    ...cut,
    truncated: true,
    ...(pending !== undefined && { pending: pending.map(withoutArguments) }),
    ...(problem !== undefined && { problem: shortProblem(problem) }),
  };
}

/** A control character takes six bytes in JSON, so a text full of them is cut earlier; the JSON never exceeds twice the limit. */
function boundText(whole: string): string {
  const text = textStart(whole, limits.maxCallbackTextBytes);
  return sizeOf(text) <= 2 * limits.maxCallbackTextBytes ? text : textStart(text, limits.maxCallbackTextBytes / 3);
}

/** Returns as many whole characters as fit. */
function textStart(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

function sizeOf(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

/** The full arguments are available at the session (`/v1/sessions/{id}/approvals`). */
function withoutArguments({ requests: _requests, reason, ...pending }: Pending): Pending {
  return { ...pending, arguments: {}, reason: textStart(reason, limits.maxDescriptionBytes) };
}

function shortProblem({ type, title, status, detail, code }: Record<string, unknown>): Record<string, unknown> {
  return { type, title, status, detail: textStart(String(detail), limits.maxDescriptionBytes), code };
}

/**
 * The body of a callback (Standard Webhooks, "payload structure": type, timestamp, data), built once and sent unchanged in every attempt.
 */
export function callbackBody(notice: TurnNotice): string {
  const { type, at, trigger, agent, session, turn, status, reason, text, truncated, pending, problem, usage } = notice;
  // `stringify` omits undefined members.
  const data = { trigger, agent, session, turn, status, reason, text, truncated, pending, problem, usage };
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

/** The same message after its session was deleted: reports the end of the turn without its content. `body`: from `callbackBody`. */
export function redactedBody(body: string): string {
  const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: Record<string, unknown> };
  const { trigger, agent, session, turn, status, reason, usage } = data;
  return JSON.stringify({
    type,
    timestamp,
    data: { trigger, agent, session, turn, status, reason, text: '', sessionDeleted: true, usage },
  });
}
