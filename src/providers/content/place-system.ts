/** Places in a conversation that models differ in: system messages behind the first other message, and an assistant message at the end. */
import type { MarkedText, Message } from '../../core/model/message.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest } from '../../ports/chat-model.ts';

/** Returns the conversation with system messages where the model takes them; the others are user messages that say what they are. */
export function placeSystem(messages: readonly Message[], { systemPlace }: Pick<Profile, 'systemPlace'>): readonly Message[] {
  const begins = lengthOfSystem(messages);
  if (systemPlace !== 'first' || !messages.some(({ role }, index) => role === 'system' && index > begins)) return messages;
  return messages.map((message, index) =>
    message.role === 'system' && index > begins
      ? { role: 'user', parts: [{ ...message.parts.at(-1), type: 'text', text: systemNote(message) }] }
      : message,
  );
}

/** For APIs with a field for the system text: the texts at the beginning, and the messages behind them. */
export function splitSystem(messages: readonly Message[]): { system: MarkedText[]; rest: readonly Message[] } {
  const begins = lengthOfSystem(messages);
  const system = messages.slice(0, begins).flatMap(({ role, parts }) => (role === 'system' ? parts : []));
  return { system, rest: messages.slice(begins) };
}

export function systemNote({ parts }: Extract<Message, { role: 'system' }>): string {
  return `[System message:]\n${parts.map(({ text }) => text).join('\n\n')}`;
}

function lengthOfSystem(messages: readonly Message[]): number {
  const begins = messages.findIndex(({ role }) => role !== 'system');
  return begins < 0 ? messages.length : begins;
}

/** Returns what a model that does not continue an assistant message is told behind it. */
export function askToContinue({ dropped }: Pick<ChatRequest, 'dropped'>): string {
  dropped?.add('assistant prefill', 'the model does not continue an assistant message, so a user message asks it to');
  return 'Continue.';
}
