/**
 * What a passed reply is, JSON or an event stream, by its first character: servers and gateways label both with any type. Nothing is read for it
 * of a reply whose label is one of the two; it is compared with what was read in any case.
 */
import { limits } from '../../core/limits/limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Clock } from '../../ports/runtime.ts';
import { readStarted, type StartedReply } from './reply-start.ts';

type Form = 'json' | 'stream';

/** The first characters of fields and comments of an event stream. */
const streamStarts = new TextEncoder().encode('deir:');
const types: Readonly<Record<Form, string>> = { json: 'application/json', stream: 'text/event-stream; charset=utf-8' };

/** Returns null for anything else, such as a page. */
function formOf(bytes: Uint8Array): Form | null {
  // Not a byte order mark.
  const first = bytes.find((byte) => byte > 0x20 && byte < 0x80);
  if (first === undefined) return null;
  return first === 0x7b || first === 0x5b ? 'json' : streamStarts.includes(first) ? 'stream' : null;
}

/** Returns the response with the label of its content, if it has another label than these; its bytes are unchanged. */
export async function relabelled(response: Response): Promise<Response> {
  const { headers, status } = response;
  const type = headers.get('content-type') ?? '';
  if (/^(?:application\/json|text\/event-stream)/i.test(type) || headers.get('content-length') === '0' || response.body === null)
    return response;
  const [start, body] = response.body.tee();
  const reader = start.getReader();
  const read = await withTimeout(systemClock, reader.read(), limits.providerIdleTimeoutMs, () => null);
  reader.cancel().catch(() => undefined);
  const form = read?.value === undefined ? null : formOf(read.value);
  const own = new Headers(headers);
  if (form !== null) own.set('content-type', types[form]);
  return new Response(body, { status, headers: own });
}

/** Returns whether the reply is in the other form than was asked for. */
export function isOther({ head }: StartedReply, isStream: boolean): boolean {
  const form = formOf(head);
  return form !== null && (form === 'stream') !== isStream;
}

/** Returns the reply with what was read of it. */
export function responseOf({ head, body, pending }: StartedReply, clock: Clock): Response {
  if (body === null) return new Response(head);
  const reader = readStarted({ head, body, pending }, clock);
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done || value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  );
}
