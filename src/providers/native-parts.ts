/**
 * Native parts: data that a model requires back unchanged (signatures, reasoning items, tool plans). An adapter emits them in stream order
 * and finds them between the other parts of the message. They are only sent to the model that produced them.
 */
import type { AssistantPart, Message, NativePart, ToolCallPart } from '../core/turn/message.ts';
import type { ChatRequest } from '../ports/chat-model.ts';

type Assistant = Extract<Message, { role: 'assistant' }>;

/** Returns whether this model wrote the message. A message without a model (a client's history) is judged by its parts alone. */
export function isNativeMessage(message: Assistant, { access, model }: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return message.model === undefined || message.model === `${access.name}/${model}`;
}

/** Returns whether the part may be returned with its message. This provider's adapter wrote its `data`. */
export function isNativePart(part: NativePart, message: Assistant, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return part.provider === request.access.name && isNativeMessage(message, request);
}

/**
 * Returns the conversation with the signed calls of the current turn under the names that the model used, because signed content must be
 * returned unchanged. Calls of earlier turns keep their current names, and their signatures are dropped.
 */
export function withSignedNames(messages: readonly Message[], request: Pick<ChatRequest, 'access' | 'model'>): readonly Message[] {
  const from = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const names = new Map<string, string>();
  for (const message of messages.slice(from)) {
    if (message.role !== 'assistant') continue;
    for (const [index, part] of message.parts.entries())
      if (part.type === 'tool-call' && part.said !== undefined && isSigned(message, index, request)) names.set(part.callId, part.said);
  }
  if (names.size === 0) return messages;
  const restore = (part: AssistantPart): AssistantPart => {
    if (part.type !== 'tool-call' || !names.has(part.callId)) return part;
    const { said, ...call } = part;
    return { ...call, requested: said ?? call.requested };
  };
  return messages.map((message, index): Message => {
    if (index < from) return message;
    if (message.role === 'assistant') return { ...message, parts: message.parts.map(restore) };
    if (message.role !== 'tool') return message;
    return { ...message, parts: message.parts.map((part) => ({ ...part, requested: names.get(part.callId) ?? part.requested })) };
  });
}

/** Returns whether a signature after the call still matches: it covers the name that the model used. */
export function isUnchangedCall(call: ToolCallPart): boolean {
  return call.said === undefined;
}

function isSigned(message: Assistant, index: number, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  const next = message.parts[index + 1];
  return next?.type === 'native' && isNativePart(next, message, request);
}
