/**
 * How clients of the chat APIs learn that the calls of a reply stood in its text (`text-protocol/leaked-calls.ts`): the header of a plain
 * reply, and a comment of a stream before the calls, because its headers are sent by then. Not in the calls, which clients send back.
 */
import { type ChatEvent, isRecovered } from './chat-event.ts';
import { nameInHeader } from './dropped.ts';

export const recoveredHeader = 'x-moniker-recovered';

/** Returns the header with the tools of the recovered calls; none if there are none. */
export function recoveredHeaders(events: readonly ChatEvent[]): Record<string, string> {
  const names = recoveredNames(events);
  return names.length === 0 ? {} : { [recoveredHeader]: names.join(', ') };
}

/** The same as a comment of an event stream; '' if there are none. */
export function recoveredComment(events: readonly ChatEvent[]): string {
  const names = recoveredNames(events);
  return names.length === 0 ? '' : `: ${recoveredHeader}: ${names.join(', ')}\n\n`;
}

/** Recovered calls arrive at once, with nothing else. */
function recoveredNames(events: readonly ChatEvent[]): string[] {
  if (!events.some(isRecovered)) return [];
  return events.flatMap((event) => (event.type === 'call-start' ? [nameInHeader(event.name)] : []));
}
