/** A session's log as a client reads it: `GET …/events`, up to the end of its newest turn. */
import { parseEvents, type RunningService, type StreamEvent } from './service.ts';

type Service = Pick<RunningService, 'url' | 'key'>;

/** Reads the events after event `after` until `turns` turns have ended. */
export async function readLog({ url, key }: Service, session: string, turns = 1, after = 0): Promise<StreamEvent[]> {
  const response = await fetch(`${url}/v1/sessions/${session}/events?after=${after}`, { headers: { authorization: `Bearer ${key}` } });
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.split('event: turn-end').length > turns && text.endsWith('\n\n')) break;
  }
  return parseEvents(text);
}

/** The values of a field over all events of one type, in order. */
export function fieldsOf(events: readonly StreamEvent[], type: string, field: string): unknown[] {
  return events.flatMap((event) => (event.type === type ? [event.data[field]] : []));
}

/** The concatenated deltas of one type, by step. */
export function deltaTexts(events: readonly StreamEvent[], type: 'text-delta' | 'reasoning-delta'): string[] {
  const said: string[] = [];
  for (const event of events) {
    if (event.type === 'step-start') said.push('');
    if (event.type === type) said[said.length - 1] += String(event.data.text);
  }
  return said;
}
