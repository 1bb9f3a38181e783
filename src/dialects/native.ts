/**
 * The native stream (contract §5): session events as server-sent events, and the frame encoder. Content cannot forge a field: data is split
 * at every SSE line ending, and control fields with a line ending are rejected. Everything that writes an event stream uses it.
 */
import type { ProblemBody } from '../core/problem.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';

/** `id:` is the event's number, `event:` its type, `data:` the whole event. */
export function encodeEvent(event: SessionEvent): string {
  return encodeFrame({ id: String(event.id), event: event.type, data: JSON.stringify(toVisibleEvent(event)) });
}

/** A failure after the stream began. Without `id:`, because it is not in the log, so a reader resumes at the last event. */
export function encodeProblem(problem: ProblemBody): string {
  return encodeFrame({ event: 'error', data: JSON.stringify({ type: 'error', problem }) });
}

/** A comment that keeps intermediaries from closing an idle connection. */
export const heartbeatFrame = ': heartbeat\n\n';

/** Sets how long a client waits before it reconnects. */
export function retryFrame(delayMs: number): string {
  return encodeFrame({ retry: delayMs });
}

export type NativeFrame = { id?: string; event?: string; retry?: number; data?: string };

/** One SSE message (WHATWG HTML §9.2.6). Throws `RangeError` for a control field with a line ending. */
export function encodeFrame({ id, event, retry, data }: NativeFrame): string {
  let text = '';
  if (id !== undefined) text += `id: ${controlText('id', id)}\n`;
  if (event !== undefined) text += `event: ${controlText('event', event)}\n`;
  if (retry !== undefined) {
    if (!Number.isInteger(retry) || retry < 0) throw new RangeError('retry must be an integer number of milliseconds');
    text += `retry: ${retry}\n`;
  }
  // Searching for a character is faster than the expression, and data can be long.
  const isOneLine = data === undefined || !(data.includes('\n') || data.includes('\r'));
  if (data !== undefined) text += `data: ${isOneLine ? data : data.split(lineEnd).join('\ndata: ')}\n`;
  return `${text}\n`;
}

/** Removes provider data from the event; the event itself is sent, so that the numbers have no gap. */
export function toVisibleEvent(event: SessionEvent): SessionEvent | Omit<Extract<SessionEvent, { type: 'native' }>, 'data'> {
  if (event.type !== 'native') return event;
  const { data: _data, ...rest } = event;
  return rest;
}

const lineEnd = /\r\n|\r|\n/;

function controlText(field: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new RangeError(`${field} must not contain a line ending or NUL`);
  return text;
}
