/** The body of a callback (Standard Webhooks, "payload structure": type, timestamp, data), made once and sent unchanged in every attempt. */
import type { TurnNotice } from './turn-notice.ts';

export function callbackBody(notice: TurnNotice): string {
  const { type, at, trigger, agent, session, turn, status, reason, text, truncated, pending, problem, usage } = notice;
  // What is undefined is left out by `stringify`.
  const data = { trigger, agent, session, turn, status, reason, text, truncated, pending, problem, usage };
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
