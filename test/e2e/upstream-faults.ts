/** Provider failures as faults of a story: error statuses, broken connections, streams that stop, and each API's overload event. */
import type { Fault, Wire } from './fake-providers.ts';

/** Returns this error status to every request. */
export function refuses(status: number, headers: Record<string, string> = {}): Fault {
  return () => Promise.resolve(Response.json({ error: { message: 'not now' } }, { status, headers }));
}

/** The connection breaks before the first byte. */
export const breaks: Fault = () => Promise.reject(new Error('the connection breaks'));

/** No response, not even the head. */
export const isSilent: Fault = () => new Promise(() => undefined);

type Ending =
  /** The connection breaks. */
  | { by: 'breaks' }
  /** The body ends early without an error. */
  | { by: 'ends' }
  /** No more data is sent, and the connection stays open. */
  | { by: 'hangs' }
  /** The last event is repeated endlessly. */
  | { by: 'repeats' }
  /** The rest follows once `gate` resolves. */
  | { by: 'waits'; gate: Promise<void> }
  /** The API's overload event, then the end. */
  | { by: 'is overloaded'; wire: Wire };

/** The stand-in's stream up to the first event that matches `isLast`, null for nothing of it; then `ending`. */
export function stops(isLast: RegExp | null, ending: Ending): Fault {
  return async (answer) => {
    const response = await answer();
    const events = eventsOf(await response.text());
    const last = isLast === null ? -1 : events.findIndex((event) => isLast.test(event));
    if (isLast !== null && last < 0) throw new Error(`no event matches ${isLast}`);
    const said = events.slice(0, last + 1).join('');
    const rest = ending.by === 'repeats' ? (events[last] ?? '') : events.slice(last + 1).join('');
    return new Response(toBody(said, rest, ending), { headers: response.headers });
  };
}

function toBody(said: string, rest: string, ending: Ending): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = [said, ending.by === 'is overloaded' ? overload(ending.wire) : ''].filter((part) => part !== '');
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(encoder.encode(part));
    },
    async pull(controller) {
      // The events before the fault are sent first.
      await new Promise((resolve) => setTimeout(resolve, 30));
      switch (ending.by) {
        case 'breaks':
          controller.error(new Error('the connection breaks'));
          return;
        case 'hangs':
          await new Promise(() => undefined);
          return;
        case 'repeats':
          controller.enqueue(encoder.encode(rest));
          return;
        case 'waits':
          await ending.gate;
          controller.enqueue(encoder.encode(rest));
          controller.close();
          return;
        case 'ends':
        case 'is overloaded':
          controller.close();
          return;
        default:
          ending satisfies never;
      }
    },
  });
}

function eventsOf(text: string): string[] {
  return text.match(/[\s\S]+?(?:\r?\n){2}/g) ?? [];
}

/** The overload event in a stream with status 200. */
function overload(wire: Wire): string {
  const message = 'The model is overloaded. Please try again later.';
  switch (wire) {
    case 'openai':
    case 'text':
      return `data: ${JSON.stringify({ error: { message, type: 'server_error', code: 'overloaded' } })}\n\n`;
    case 'openai-responses':
      return `event: error\ndata: ${JSON.stringify({ type: 'error', code: 'server_error', message, param: null, sequence_number: 99 })}\n\n`;
    case 'anthropic':
      return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message } })}\n\n`;
    case 'gemini':
      return `data: ${JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } })}\r\n\r\n`;
    case 'cohere':
      return `event: message-end\ndata: ${JSON.stringify({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'service unavailable: overloaded' } })}\n\n`;
    default:
      return wire satisfies never;
  }
}

/** The event in which the arguments of a call begin, or the whole call if the wire sends no fragments. */
export const inCall: Readonly<Record<Wire, RegExp>> = {
  openai: /"function":\{"arguments":"[^"]/,
  'openai-responses': /function_call_arguments\.delta/,
  anthropic: /"partial_json":"[^"]/,
  gemini: /functionCall/,
  cohere: /"tool-call-delta"/,
  text: /save_note/,
};
