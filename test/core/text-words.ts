/** A model's text as parsed by `tool-calls.ts`: the remaining text, the reasoning and the calls. Used by its tests. */
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { ArgumentState } from '../../src/core/json/json-repair.ts';
import { TextToolCalls } from '../../src/core/text-protocol/tool-calls.ts';

export type CallRead = {
  name: string;
  state: ArgumentState | null;
  arguments: Record<string, unknown> | null;
  raw: string;
  deltas: string;
};
export type WordsRead = { text: string; reasoning: string; calls: CallRead[] };

export type WordsOptions = { ended?: boolean; length?: boolean; isTool?: (name: string) => boolean };

/** `pieces`: the text in chunks. */
export function readWords(pieces: Iterable<string>, { ended = true, length = false, isTool = () => true }: WordsOptions = {}): WordsRead {
  const reader = new TextToolCalls({ isTool });
  const events: ChatEvent[] = [];
  for (const piece of pieces) events.push(...reader.push(piece));
  events.push(...reader.finish({ ended, length }));
  return gather(events);
}

export function gather(events: readonly ChatEvent[]): WordsRead {
  const read: WordsRead = { text: '', reasoning: '', calls: [] };
  const byNumber = new Map<number, CallRead>();
  for (const event of events) {
    if (event.type === 'text') read.text += event.text;
    else if (event.type === 'reasoning') read.reasoning += event.text;
    else if (event.type === 'call-start') {
      const call: CallRead = { name: event.name, state: null, arguments: null, raw: '', deltas: '' };
      byNumber.set(event.call, call);
      read.calls.push(call);
    } else if (event.type === 'call-delta') {
      const call = byNumber.get(event.call);
      if (call !== undefined) call.deltas += event.text;
    } else if (event.type === 'call-end') {
      const call = byNumber.get(event.call);
      if (call !== undefined) Object.assign(call, { state: event.state, arguments: event.arguments, raw: event.raw });
    }
  }
  return read;
}
