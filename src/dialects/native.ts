/**
 * The native stream (DESIGN §5): session events as server-sent events, and the frame writer beneath it. Content can never
 * forge a field: data is cut at every line end that SSE knows, and control fields with one are refused. Used by the
 * session's own streams and by `http/event-stream.ts`.
 */
import type { ProblemBody } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';

/** `id:` is the event's number, `event:` its type, `data:` the whole event. */
export function encodeEvent(event: SessionEvent): string {
  return encodeFrame({ id: String(event.id), event: event.type, data: JSON.stringify(visible(event)) });
}

/** The failure of a stream that already began. No `id:`: it stands in no log, so a reader resumes where it was. */
export function encodeProblem(problem: ProblemBody): string {
  return encodeFrame({ event: 'error', data: JSON.stringify({ type: 'error', problem }) });
}

/** Nothing to read; keeps what lies between from closing the connection. */
export const heartbeatFrame = ': heartbeat\n\n';

/** Tells a client how long to wait before it comes back. */
export function retryFrame(delayMs: number): string {
  return encodeFrame({ retry: delayMs });
}

export type Frame = { id?: string; event?: string; retry?: number; data?: string };

/** One SSE message (WHATWG HTML §9.2.6). Throws `RangeError` for a control field that would end its line. */
export function encodeFrame({ id, event, retry, data }: Frame): string {
  let text = '';
  if (id !== undefined) text += `id: ${controlText('id', id)}\n`;
  if (event !== undefined) text += `event: ${controlText('event', event)}\n`;
  if (retry !== undefined) {
    if (!Number.isInteger(retry) || retry < 0) throw new RangeError('retry must be whole milliseconds');
    text += `retry: ${retry}\n`;
  }
  if (data !== undefined) text += `data: ${lineEnd.test(data) ? data.split(lineEnd).join('\ndata: ') : data}\n`;
  return `${text}\n`;
}

/** What only an adapter can read stays inside; the event itself is shown, so that numbers have no gap. */
function visible(event: SessionEvent): SessionEvent | Omit<Extract<SessionEvent, { type: 'native' }>, 'data'> {
  if (event.type !== 'native') return event;
  const { data: _data, ...rest } = event;
  return rest;
}

const lineEnd = /\r\n|\r|\n/;

function controlText(field: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new RangeError(`${field} must not hold a line end or NUL`);
  return text;
}
