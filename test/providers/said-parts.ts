/** Converts a reply's events to conversation parts as a session's log stores them, for tests of returned data. */
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { AssistantPart } from '../../src/core/model/message.ts';
import type { SessionEventBody } from '../../src/core/turn/session-event.ts';
import { createTranscript } from '../../src/core/turn/transcript.ts';

const at = { turn: 't1', step: 1 };

/** Calls get the ids `call_0`, `call_1` … in the order of their start, and each has a result, without which it would not be sent. */
export function partsOf(events: readonly ChatEvent[]): AssistantPart[] {
  const transcript = createTranscript();
  transcript.apply({ type: 'turn-start', turn: 't1', input: [{ type: 'text', text: 'hi' }], model: 'any/model' });
  transcript.apply({ type: 'step-start', ...at });
  for (const event of events) for (const row of rowsOf(event)) transcript.apply(row);
  transcript.apply({ type: 'step-end', ...at, reason: 'stop', model: 'any/model' });
  const assistant = transcript.messages().find((message) => message.role === 'assistant');
  return assistant?.role === 'assistant' ? assistant.parts : [];
}

function rowsOf(event: ChatEvent): SessionEventBody[] {
  switch (event.type) {
    case 'text':
      return [{ type: 'text-delta', ...at, text: event.text }];
    case 'reasoning':
      return [{ type: 'reasoning-delta', ...at, text: event.text }];
    case 'native':
      return [{ type: 'native', ...at, provider: event.provider, data: event.data }];
    case 'call-start': {
      const { name, nativeId } = event;
      const callId = `call_${event.call}`;
      return [{ type: 'tool-input-start', ...at, callId, name, canonical: name, via: 'wire', ...(nativeId !== null && { nativeId }) }];
    }
    case 'call-end': {
      const callId = `call_${event.call}`;
      const cut = event.arguments === null ? { raw: event.raw } : {};
      return [
        { type: 'tool-input-end', ...at, callId, arguments: event.arguments, repaired: event.state === 'repaired', ...cut },
        { type: 'tool-result', ...at, callId, name: 'any', canonical: 'any', via: 'wire', isError: false, content: [] },
      ];
    }
    default:
      return [];
  }
}
