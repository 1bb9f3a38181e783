/**
 * Turns the event streams of Bedrock into server-sent events of the Messages API: those of `InvokeModelWithResponseStream` have its events as
 * base64, those of `ConverseStream` are renamed (`converse.ts`). Exceptions become its `error` events.
 */
import { fromBase64 } from '../../core/text/bytes.ts';
import { type Json, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { Problem } from '../../core/problem.ts';
import { AwsEventStream, type AwsMessage } from '../../net/aws-event-stream.ts';
import { withoutLength } from './reply-headers.ts';
import { converseEvents } from './converse.ts';

export function toServerEvents({ body, headers, status }: Response, form: 'converse' | 'invoke'): Response {
  const stream = new AwsEventStream();
  const encoder = new TextEncoder();
  /** A damaged stream ends with an error event, which clients of the API can read. */
  const read = (controller: TransformStreamDefaultController<Uint8Array>, take: () => Iterable<AwsMessage>): void => {
    let text = '';
    let fault: Problem | null = null;
    try {
      for (const message of take()) text += eventText(message, form);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fault = error;
      text += eventsText([{ type: 'error', error: { type: 'api_error', message: error.detail } }]);
    }
    if (text !== '') controller.enqueue(encoder.encode(text));
    if (fault !== null) controller.terminate();
  };
  const events = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => read(controller, () => stream.push(bytes)),
    flush: (controller) => read(controller, () => stream.end()),
  });
  const own = withoutLength(headers);
  own.set('content-type', 'text/event-stream');
  return new Response(body?.pipeThrough(events) ?? null, { status, headers: own });
}

function eventText({ headers, payload }: AwsMessage, form: 'converse' | 'invoke'): string {
  const text = new TextDecoder().decode(payload);
  const value = recordOf(tryParse(text));
  const { ':message-type': type, ':event-type': name = '' } = headers;
  // An exception has its name in a header, an error also its message.
  const failure = headers[':exception-type'] ?? headers[':error-code'];
  if (type !== 'event' || failure !== undefined)
    return eventsText([
      { type: 'error', error: { type: failure ?? 'error', message: stringOf(value.message) || headers[':error-message'] || text } },
    ]);
  if (form === 'converse') return eventsText(converseEvents(name, value));
  const bytes = name === 'chunk' ? fromBase64(stringOf(value.bytes)) : null;
  return bytes === null ? '' : eventsText([recordOf(tryParse(new TextDecoder().decode(bytes)))]);
}

function eventsText(events: readonly Json[]): string {
  return events.map((event) => `event: ${stringOf(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
