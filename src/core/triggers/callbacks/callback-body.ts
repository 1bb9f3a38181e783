/**
 * The body of a callback (Standard Webhooks, "payload structure": type, timestamp, data), built once and sent unchanged in every attempt.
 */
import type { TurnNotice } from './turn-notice.ts';

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
