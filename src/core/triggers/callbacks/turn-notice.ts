/** What a session tells of its turns to whoever is to hear of them: stored with the event that it is about, told at least once. */
import type { Pending } from '../../approval.ts';
import type { Usage } from '../../chat-event.ts';
import { limits } from '../../limits.ts';
import { utf8Length } from '../../utf8.ts';
import type { TurnTrigger } from '../delivery.ts';
import type { TriggerEvent } from './callback-settings.ts';

/** `turn.resumed`: what it waited for has been said. Only its delivery follows that; nobody outside is told. */
export type NoticeType = TriggerEvent | 'turn.resumed';

export type TurnNotice = {
  session: string;
  /** Counts the notices of one session: with it, a notice that comes twice is known again. */
  sequence: number;
  type: NoticeType;
  turn: string;
  /** Milliseconds since the epoch. */
  at: number;
  agent?: string;
  trigger?: TurnTrigger;
  /** As in the turn's answer (`ports/session.ts`); `running` of one that goes on. */
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting' | 'running';
  reason: string;
  /** Of the last step; at most `limits.maxCallbackTextBytes`, `truncated` when it is more. */
  text: string;
  truncated?: true;
  pending?: Pending[];
  problem?: Record<string, unknown>;
  usage: Usage;
};

/** So that it fits into RPC and into the body of a callback: the text is cut, and where that is not enough, what calls would be made with. */
export function boundNotice(notice: TurnNotice): TurnNotice {
  const text = boundText(notice.text);
  const cut: TurnNotice = { ...notice, text, ...(text.length < notice.text.length && { truncated: true }) };
  if (sizeOf(cut) <= limits.maxCallbackBodyBytes - limits.noticeFrameBytes) return cut;
  const { pending, problem } = cut;
  return {
    ...cut,
    truncated: true,
    ...(pending !== undefined && { pending: pending.map(withoutArguments) }),
    ...(problem !== undefined && { problem: shortProblem(problem) }),
  };
}

/** In JSON a control character is six bytes: of a text full of them there is less, so that it is never more than twice its bound there. */
function boundText(whole: string): string {
  const text = textStart(whole, limits.maxCallbackTextBytes);
  return sizeOf(text) <= 2 * limits.maxCallbackTextBytes ? text : textStart(text, limits.maxCallbackTextBytes / 3);
}

/** As many whole characters as fit. */
function textStart(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

function sizeOf(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

/** Whoever decides reads them in full at the session (`/v1/sessions/{id}/approvals`). */
function withoutArguments({ requests: _requests, reason, ...pending }: Pending): Pending {
  return { ...pending, arguments: {}, reason: textStart(reason, limits.maxDescriptionBytes) };
}

function shortProblem({ type, title, status, detail, code }: Record<string, unknown>): Record<string, unknown> {
  return { type, title, status, detail: textStart(String(detail), limits.maxDescriptionBytes), code };
}
